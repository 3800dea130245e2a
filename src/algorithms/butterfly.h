/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Butterflies on a torus: in every step all ranks meet in pairs, along one dimension, and the
 * dimensions take turns. What the algorithms differ in is who meets whom in a ring of 2^k hosts.
 *
 * Short vectors are swapped whole; of long ones a rank keeps one half and sends the other, and the
 * allgather is the same backwards. What a rank keeps is always one range of blocks, since the steps
 * cut it in halves: with the steps' halves as binary digits, the first step's in front, a rank ends
 * with the block of that number.
 *
 * A torus of 4 x 2 hosts whose pairs are 2^t apart, rank r at (r % 4, r / 4), 8 blocks:
 *
 *     step     dimension   rank 0 meets   sends          rank 5 meets   sends
 *      0       0, t = 0    1              blocks 4 .. 7  4              blocks 0 .. 3
 *      1       1, t = 0    4              2 .. 3         1              4 .. 5
 *      2       0, t = 1    2              1              7              7
 *
 * With up to 2D ports the vector has as many parts, each with a butterfly of its own: D plain ones,
 * which begin in another dimension each, and D mirrored ones, which do the same with every
 * coordinate negated and so use the links that the plain ones leave.
 *
 * In a dimension of d hosts that is no power of two the first 2 (d - 2^k) coordinates are folded
 * (fold.h): dimension after dimension, one round each, before the butterfly and once more behind
 * it.
 *
 *     form     rounds                             sent by a rank (P = product of the 2^k)
 *     whole    sum(k_i) + 2 folded dimensions     sum(k_i) vectors + 1 per folded dimension
 *     halves   2 sum(k_i) + 2 folded dimensions   2 (P-1)/P + 1 per folded dimension
 *
 * One rank per host on a grid. Elsewhere all ranks are one dimension, in the order of the tree.
 */
#ifndef STRAG_BUTTERFLY_H
#define STRAG_BUTTERFLY_H

#include "plan/algorithm.h"

/* The `form` of a row. */
struct strag_butterfly {
    bool whole;     /* pairs swap whole vectors, or halves of what is left */
    bool far_first; /* whole: the steps in the opposite order */
    bool line;      /* on every machine all ranks are one dimension, in their own order */

    /** Whom x meets in step t of a ring of 2^log. */
    int (*peer)(int x, int t, int log);
    /** Which half x keeps, 0 or 1, and its peer the other. Those that x meets in later steps have
     * the same halves up to t as x. If whole vectors are swapped, it says whose value stands
     * left, and must be the same for those that x has met before. */
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

/* The functions of these rows. */
int strag_butterfly_check(const struct strag_problem *problem, struct strag_error *err);
int strag_butterfly_choices(const struct strag_problem *problem, int *blocks);
void strag_butterfly_claim(const struct strag_problem *problem, struct strag_claim *claim);
void strag_butterfly_build(const struct strag_problem *problem, int rank,
                           struct strag_builder *builder);

#endif
