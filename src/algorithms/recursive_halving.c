/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Recursive halving and doubling (Rabenseifner): pairs swap halves of their remaining blocks, then
 * put the pieces together again in the opposite order.
 *
 * p ranks, p blocks. Each rank is responsible for a range of blocks, at first all of them. In every
 * round of the reduce-scatter it keeps the half that its partner does not, and sends the other:
 * most to the nearest rank, which is on the nearest host if ranks are in the order of the machine.
 * With p = 8 rank 0 does this:
 *
 *     round    partner    sends     receives
 *       0         1       4 .. 7    0 .. 3     reduced      reduce-scatter
 *       1         2       2 .. 3    0 .. 1     reduced
 *       2         4       1         0          reduced
 *       3         4       0         1          replaced     allgather
 *       4         2       0 .. 1    2 .. 3     replaced
 *       5         1       0 .. 3    4 .. 7     replaced
 *
 * Ranks above a power of two are folded (fold.h).
 *
 * Rounds 2 log2 p (+ 2 with a fold), each rank sends 2(p-1)/p vectors (+ 1 with a fold).
 * (R. Thakur, R. Rabenseifner and W. Gropp, "Optimization of collective communication operations in
 * MPICH".)
 */
#include "algorithms/butterfly.h"

static const struct strag_butterfly halving = {
    .line = true, .peer = strag_butterfly_peer, .half = strag_butterfly_half};

const struct strag_algorithm strag_recursive_halving = {
    .name = "recursive-halving",
    .summary = "pairs swap halves, then join them; least traffic in few rounds if n = 2^k",
    .rounds = "2 log2 p (+2 if n > p)",
    .sent = "2(p-1)/p (+1 if n > p)",
    .stock = true,
    .form = &halving,
    .claim = strag_butterfly_claim,
    .build = strag_butterfly_build,
};
