/* SPDX-License-Identifier: BSD-3-Clause */
#include "detect/probe_clock.h"

struct strag_probe_clock strag_probe_clock_start(int pieces, int warm_up, double now)
{
    return (struct strag_probe_clock){
        .pieces = pieces, .warm_up = warm_up, .begin = now, .end = now};
}

void strag_probe_clock_look(struct strag_probe_clock *clock, double now, int seen)
{
    if (seen == clock->seen && seen < clock->warm_up)
        clock->begin = now;
    if (seen == clock->pieces && clock->seen < seen)
        clock->end = now;
    clock->seen = seen;
}

double strag_probe_clock_rate(const struct strag_probe_clock *clock, double bytes)
{
    if (clock->seen < clock->pieces || !(clock->end > clock->begin))
        return 0;
    return (clock->pieces - clock->warm_up) * bytes / (clock->end - clock->begin);
}
