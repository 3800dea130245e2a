/* SPDX-License-Identifier: BSD-3-Clause */
#include "detect/often.h"

#include <stdbool.h>

static uint64_t surely(const struct strag_often_counter *counter)
{
    return counter->times - counter->wrongly;
}

void strag_often_add(struct strag_often *often, int rank)
{
    struct strag_often_counter *lowest = often->counter;
    for (int c = 0; c < STRAG_OFTEN_COUNTERS; c++) {
        struct strag_often_counter *counter = &often->counter[c];
        if (counter->times > 0 && counter->rank == rank) {
            counter->times++;
            return;
        }
        if (counter->times < lowest->times)
            lowest = counter;
    }
    lowest->rank = rank;
    lowest->wrongly = (uint32_t)lowest->times;
    lowest->times++;
}

uint64_t strag_often_times(const struct strag_often *often, int rank)
{
    for (int c = 0; c < STRAG_OFTEN_COUNTERS; c++) {
        if (often->counter[c].times > 0 && often->counter[c].rank == rank)
            return surely(&often->counter[c]);
    }
    return 0;
}

/* Does a counter come after a rank that was last `times`? */
static bool is_after(const struct strag_often_counter *counter, int rank, uint64_t times)
{
    return surely(counter) < times || (surely(counter) == times && counter->rank > rank);
}

int strag_often_next(const struct strag_often *often, int before)
{
    const uint64_t times = before < 0 ? UINT64_MAX : strag_often_times(often, before);
    const struct strag_often_counter *next = 0;
    for (int c = 0; c < STRAG_OFTEN_COUNTERS; c++) {
        const struct strag_often_counter *counter = &often->counter[c];
        if (counter->times > 0 && surely(counter) > 0 && is_after(counter, before, times) &&
            (!next || is_after(next, counter->rank, surely(counter))))
            next = counter;
    }
    return next ? next->rank : -1;
}
