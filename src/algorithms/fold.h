/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fold any number of ranks onto a power of two, for the recursive algorithms.
 *
 * p is the largest power of two that is not above n; n - p ranks are too many. Among the first
 * 2(n-p) ranks each even one gives its whole vector to the odd one above it and gets the result
 * back at the end; the p ranks that remain get new numbers:
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

/** The rank that has an active number. */
static inline int strag_fold_rank(const struct strag_fold *fold, int number)
{
    return number < fold->extra ? 2 * number + 1 : number + fold->extra;
}

/** Append a round of the fold, or of the unfold, for a member below 2 * extra; `peer` is the rank
 * of its neighbour, member ^ 1. */
static inline void strag_fold_round(int member, bool out, int round, int peer, int blocks,
                                    struct strag_builder *builder)
{
    enum strag_kind comes = out ? STRAG_RECV : STRAG_RECV_REDUCE;
    strag_stage(builder, out ? "unfold" : "fold");
    strag_cyclic(builder, member % 2 == out ? STRAG_SEND : comes, round, peer, 0, blocks);
}

#endif
