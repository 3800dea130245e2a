/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Butterflies on a torus: in every step all ranks meet in pairs, along one dimension, and the
 * dimensions take turns. The algorithms differ in which hosts of a ring of 2^k meet.
 *
 * Short vectors are swapped whole. Of long ones a rank keeps one half and sends the other, and the
 * allgather is the same backwards. A rank always keeps one range of blocks, since each step cuts it
 * in half. It ends with the block whose number has the kept halves as binary digits, the first
 * step's in front.
 *
 * A torus of 4 x 2 hosts whose pairs are 2^t apart, rank r at (r % 4, r / 4), 8 blocks:
 *
 *     step     dimension   rank 0 meets   sends          rank 5 meets   sends
 *      0       0, t = 0    1              blocks 4 .. 7  4              blocks 0 .. 3
 *      1       1, t = 0    4              2 .. 3         1              4 .. 5
 *      2       0, t = 1    2              1              7              7
 *
 * With up to 2D ports the vector has as many parts, each with a butterfly of its own: D plain ones,
 * which begin in another dimension each, and D mirrored ones, in which every coordinate is negated,
 * so that they use the links that the plain ones leave free.
 *
 * If a dimension's size d is no power of two, its first 2 (d - 2^k) coordinates are folded
 * (fold.h): dimension after dimension, one round each, before the butterfly and again after it.
 *
 *     form     rounds                             sent by a rank (P = product of the 2^k)
 *     whole    sum(k_i) + 2 folded dimensions     sum(k_i) vectors + 1 per folded dimension
 *     halves   2 sum(k_i) + 2 folded dimensions   2 (P-1)/P + 1 per folded dimension
 *
 * On a grid there is one rank per host. Elsewhere all ranks are one dimension, in the tree's order.
 */
#ifndef STRAG_BUTTERFLY_H
#define STRAG_BUTTERFLY_H

#include "plan/algorithm.h"

/* The `form` of a row. */
struct strag_butterfly {
    bool whole;     /* pairs swap whole vectors, else halves of the rest */
    bool far_first; /* if whole: the steps are in the opposite order */
    bool line;      /* on every machine all ranks are one dimension, in their own order */

    /** The peer of x in step t of a ring of 2^log. */
    int (*peer)(int x, int t, int log);
    /** The half that x keeps, 0 or 1; its peer keeps the other. The peers of x in later steps have
     * the same halves as x up to step t. If whole vectors are swapped, it says whose value stands
     * left, and must be the same for the earlier peers of x. */
    int (*half)(int x, int t, int log);
};

/** Pairs that are 2^t apart. */
static inline int strag_butterfly_peer(int x, int t, int log)
{
    (void)log;
    return x ^ 1 << t;
}

static inline int strag_butterfly_half(int x, int t, int log)
{
    (void)log;
    return x >> t & 1;
}

/* The functions of butterflies' rows. */
int strag_butterfly_check(const struct strag_problem *problem, struct strag_error *err);
int strag_butterfly_choices(const struct strag_problem *problem, int *blocks);
void strag_butterfly_claim(const struct strag_problem *problem, struct strag_claim *claim);
void strag_butterfly_build(const struct strag_problem *problem, int rank,
                           struct strag_builder *builder);

#endif
