/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which ranks are last most often, in a fixed number of counters ("space-saving", Metwally, Agrawal
 * and El Abbadi 2005): a rank without a counter takes over the lowest one, count and all. A rank
 * that is last in more than 1 of STRAG_OFTEN_COUNTERS calls always has one, and counts are too high
 * by at most the lowest.
 */
#ifndef STRAG_OFTEN_H
#define STRAG_OFTEN_H

#include <stdint.h>

enum { STRAG_OFTEN_COUNTERS = 16 };

/* All 0: nobody was last. */
struct strag_often {
    struct strag_often_counter {
        int32_t rank;
        uint32_t wrongly; /* of `times`: the most that may be another rank's */
        uint64_t times;   /* 0: the counter is free */
    } counter[STRAG_OFTEN_COUNTERS];
};

void strag_often_add(struct strag_often *often, int rank);

/** How often a rank was last, without what may be another's. */
uint64_t strag_often_times(const struct strag_often *often, int rank);

/** The rank that was last most often, the lowest of equals. @return -1: there is none */
int strag_often_most(const struct strag_often *often);

#endif
