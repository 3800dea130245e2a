/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds what waiting for the last rank has cost, from the times of all ranks' blocking calls.
 *
 * All calls are brought to one clock first (clocks.h). A call's loss is how long the median rank
 * waited for the last one: with an even number of ranks half of them waited at least that long. So
 * one late rank costs its delay, and so do two that come late together.
 *
 * Ranks never come at exactly the same time. So a call counts only if its loss is above a tenth of
 * the time that it takes from the last arrival on.
 */
#ifndef STRAG_LOSS_H
#define STRAG_LOSS_H

#include "report/clocks.h"

#include <stddef.h>

enum { STRAG_LOSS_OFTEN = 4 };

struct strag_loss {
    int ranks;      /* whose times are known; if below 2, all else is 0 */
    uint64_t calls; /* that were sampled */
    double seconds; /* that the median rank was in blocking calls */
    double own;     /* of these seconds, from the last arrival to the end */
    double lost;    /* ... and the median rank's wait for the last one */

    /* The ranks that cost most; entries after the last one have 0 calls. */
    struct strag_loss_of {
        int rank;
        uint64_t calls; /* sampled calls in which the rank was last */
        double cost;    /* seconds of `lost` */
        double alone;   /* seconds saved had it come with the last but one */
        double median;  /* seconds that it came after the median rank */
    } of[STRAG_LOSS_OFTEN];
};

/**
 * If only some calls' times are kept, seconds are scaled to all calls.
 *
 * @param ranks  [n]
 * @return STRAG_OK or STRAG_ERR_MEMORY
 */
int strag_loss_find(const struct strag_stays *ranks, int n, struct strag_loss *loss);

#endif
