/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Recursive doubling: in every round pairs of ranks swap all they have, and both reduce it.
 *
 * Fewest rounds, most bytes: for short vectors. With p = 8, who swaps with whom:
 *
 *     round 0    0-1   2-3   4-5   6-7      each holds the sum of 2
 *     round 1    0-2   1-3   4-6   5-7      of 4
 *     round 2    0-4   1-5   2-6   3-7      of 8
 *
 * Both ranks of a pair compute the same sum, so they must put the same operand left of the
 * operator; it is the lower rank's. Ranks above a power of two are folded (fold.h).
 *
 * Rounds log2 p (+ 2 with a fold), each rank sends log2 p vectors (+ 1). (R. Thakur,
 * R. Rabenseifner and W. Gropp, "Optimization of collective communication operations in MPICH".)
 */
#include "algorithms/butterfly.h"

static const struct strag_butterfly doubling = {
    .whole = true, .line = true, .peer = strag_butterfly_peer, .half = strag_butterfly_half};

const struct strag_algorithm strag_recursive_doubling = {
    .name = "recursive-doubling",
    .summary = "pairs swap whole vectors; fewest rounds, for short vectors",
    .rounds = "log2 p (+2 if n > p)",
    .sent = "log2 p (+1 if n > p)",
    .stock = true,
    .form = &doubling,
    .claim = strag_butterfly_claim,
    .build = strag_butterfly_build,
};
