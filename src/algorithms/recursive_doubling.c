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
#include "algorithms/fold.h"

static void claim(const struct strag_problem *problem, struct strag_claim *claim)
{
    struct strag_fold fold = strag_fold(problem->n);
    *claim = (struct strag_claim){
        .rounds = fold.log + (fold.extra ? 2 : 0),
        .blocks = 1,
        .sent_max = fold.log + (fold.extra ? 1 : 0),
        .one_ported = true,
    };
}

static void build(const struct strag_problem *problem, int rank, struct strag_builder *builder)
{
    struct strag_fold fold = strag_fold(problem->n);
    int number = strag_fold_number(&fold, rank);
    int round = strag_fold_in(&fold, rank, 1, builder);
    strag_stage(builder, "doubling");
    for (int distance = 1; distance < fold.active; distance *= 2, round++) {
        if (number < 0)
            continue;
        int peer = strag_fold_rank(&fold, number ^ distance);
        strag_send(builder, round, peer, 0, 1);
        strag_exchange_reduce(builder, round, peer, 0, 1);
    }
    strag_fold_out(&fold, rank, round, 1, builder);
}

/* All meet whom they meet at the same distances, if nobody is folded: ranks whose numbers differ in
 * a bit change places, and so do the nodes above them, of which there are 2^k on every level. */
static int like(const struct strag_problem *problem, enum strag_machine machine, int rank)
{
    return machine != STRAG_MACHINE_TORUS && strag_fold(problem->n).extra == 0 ? 0 : rank;
}

const struct strag_algorithm strag_recursive_doubling = {
    .name = "recursive-doubling",
    .summary = "pairs swap whole vectors; fewest rounds, for short vectors",
    .rounds = "log2 p (+2 if n > p)",
    .sent = "log2 p (+1 if n > p)",
    .stock = true,
    .claim = claim,
    .build = build,
    .like = like,
};
