/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sums for each host, and one open interval: from the last end on, if it may count.
 */
#include "watch/meter.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct lane {
    int in_flight; /* sends */
    double bytes, seconds;
};

struct strag_meter {
    int hosts;
    int busy;      /* hosts with sends in flight */
    bool counting; /* since `mark`, sends were waiting for a single host */
    double mark;   /* the last end */
    struct lane lanes[];
};

struct strag_meter *strag_meter_create(int hosts)
{
    struct strag_meter *meter = calloc(1, sizeof *meter + (size_t)hosts * sizeof *meter->lanes);
    if (meter)
        meter->hosts = hosts;
    return meter;
}

void strag_meter_free(struct strag_meter *meter)
{
    free(meter);
}

void strag_meter_begin(struct strag_meter *meter, int host)
{
    if (meter->lanes[host].in_flight++ > 0)
        return;
    meter->busy++;
    meter->counting = false;
}

void strag_meter_end(struct strag_meter *meter, int host, size_t bytes, double now)
{
    struct lane *lane = &meter->lanes[host];
    if (meter->counting) {
        lane->bytes += (double)bytes;
        lane->seconds += now - meter->mark;
    }
    if (--lane->in_flight == 0)
        meter->busy--;
    meter->counting = meter->busy == 1 && lane->in_flight > 0;
    meter->mark = now;
}

/* The host with the most seconds; those in the note have none left. @return -1: none has any */
static int find_longest(const struct strag_meter *meter)
{
    int longest = -1;
    for (int host = 0; host < meter->hosts; host++) {
        if (meter->lanes[host].seconds > (longest < 0 ? 0 : meter->lanes[longest].seconds))
            longest = host;
    }
    return longest;
}

void strag_meter_take(struct strag_meter *meter, struct strag_meter_note *note)
{
    for (int i = 0; i < STRAG_METER_HOSTS; i++) {
        int host = find_longest(meter);
        note->to[i] = (struct strag_drained){.host = host};
        if (host < 0)
            continue;
        struct lane *lane = &meter->lanes[host];
        note->to[i].bytes = (float)lane->bytes;
        note->to[i].seconds = (float)lane->seconds;
        lane->seconds = 0;
    }
    for (int host = 0; host < meter->hosts; host++)
        meter->lanes[host].bytes = meter->lanes[host].seconds = 0;
    meter->counting = false;
}
