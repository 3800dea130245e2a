/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What waiting for the last rank has cost, from the times at which each rank was in its blocking
 * calls.
 *
 * All calls are brought to one clock first (clocks.h). A call's loss is how long the median rank
 * waited for the last one: with an even number of ranks half of them waited at least that long. So
 * one late rank costs its delay, and two that come late together do, too.
 *
 * Nobody comes at exactly the same time: a call counts where the loss is above a tenth of the time
 * that the call itself takes from the last arrival on.
 */
#ifndef STRAG_LOSS_H
#define STRAG_LOSS_H

#include "report/clocks.h"

#include <stddef.h>

enum { STRAG_LOSS_OFTEN = 4 };

struct strag_loss {
    int ranks;      /* whose times are known; below 2: all else is 0 */
    uint64_t calls; /* that were sampled */
    double seconds; /* that the median rank was in blocking calls */
    double own;     /* of these, from the last arrival to the end */
    double lost;    /* ... and waiting for the last one, the median rank */

    /* The ranks that cost most. 0 calls: no more. */
    struct strag_loss_of {
        int rank;
        uint64_t calls; /* of the sampled ones, in which it was last */
        double cost;    /* seconds of `lost` */
        double alone;   /* what would have been saved if it had come with the last but one */
        double median;  /* of how late it was in these calls, after the median rank */
    } of[STRAG_LOSS_OFTEN];
};

/**
 * Where times are not those of all calls, seconds are scaled to all of them.
 *
 * @param ranks  [n]
 * @return STRAG_OK or STRAG_ERR_MEMORY
 */
int strag_loss_find(const struct strag_stays *ranks, int n, struct strag_loss *loss);

#endif
