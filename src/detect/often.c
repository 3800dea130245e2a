/* SPDX-License-Identifier: BSD-3-Clause */
#include "detect/often.h"

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

int strag_often_most(const struct strag_often *often)
{
    const struct strag_often_counter *most = &often->counter[0];
    for (int c = 1; c < STRAG_OFTEN_COUNTERS; c++) {
        const struct strag_often_counter *counter = &often->counter[c];
        if (surely(counter) > surely(most) ||
            (surely(counter) == surely(most) && counter->rank < most->rank))
            most = counter;
    }
    return surely(most) > 0 ? most->rank : -1;
}
