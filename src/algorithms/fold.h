/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fold any number of ranks onto a power of two, for the recursive algorithms.
 *
 * p is the largest power of two that is not above n; n - p ranks are too many. Among the first
 * 2(n-p) ranks each even one gives its whole vector to the odd one above it and gets the result
 * back at the end; the p ranks that remain are numbered anew:
 *
 *     n = 6, p = 4     rank     0   1   2   3   4   5
 *                      folds    ->  1   ->  3
 *                      number       0       1   2   3
 */
#ifndef STRAG_FOLD_H
#define STRAG_FOLD_H

#include "plan/algorithm.h"

struct strag_fold {
    int active; /* p */
    int log;    /* log2 p */
    int extra;  /* n - p */
};

static inline struct strag_fold strag_fold(int n)
{
    struct strag_fold fold = {1, 0, 0};
    while (fold.active <= n / 2) {
        fold.active *= 2;
        fold.log++;
    }
    fold.extra = n - fold.active;
    return fold;
}

/** A rank's number among the active ones, or -1 if it is folded away. */
static inline int strag_fold_number(const struct strag_fold *fold, int rank)
{
    if (rank >= 2 * fold->extra)
        return rank - fold->extra;
    return rank % 2 ? rank / 2 : -1;
}

/** The rank behind an active number. */
static inline int strag_fold_rank(const struct strag_fold *fold, int number)
{
    return number < fold->extra ? 2 * number + 1 : number + fold->extra;
}

/** Round 0: the folded ranks hand over all `blocks` blocks. @return the next round */
static inline int strag_fold_in(const struct strag_fold *fold, int rank, int blocks,
                                struct strag_builder *builder)
{
    if (!fold->extra)
        return 0;
    strag_stage(builder, "fold");
    if (rank < 2 * fold->extra) {
        if (rank % 2)
            strag_recv_reduce(builder, 0, rank - 1, 0, blocks);
        else
            strag_send(builder, 0, rank + 1, 0, blocks);
    }
    return 1;
}

/** The last round: the folded ranks get the result. */
static inline void strag_fold_out(const struct strag_fold *fold, int rank, int round, int blocks,
                                  struct strag_builder *builder)
{
    if (rank >= 2 * fold->extra)
        return;
    strag_stage(builder, "unfold");
    if (rank % 2)
        strag_send(builder, round, rank - 1, 0, blocks);
    else
        strag_recv(builder, round, rank + 1, 0, blocks);
}

#endif
