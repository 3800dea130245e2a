/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Recursive halving and doubling (Rabenseifner): pairs swap halves of what is left, then put the
 * pieces together again in the opposite order.
 *
 * p ranks, p blocks. Each rank is responsible for a range of blocks, at first all of them. In every
 * round of the reduce-scatter it keeps the half that its partner does not, and sends the other.
 * With p = 8 rank 0 does this:
 *
 *     round    partner    sends     receives
 *       0         4       4 .. 7    0 .. 3     reduced      reduce-scatter
 *       1         2       2 .. 3    0 .. 1     reduced
 *       2         1       1         0          reduced
 *       3         1       0         1          replaced     allgather
 *       4         2       0 .. 1    2 .. 3     replaced
 *       5         4       0 .. 3    4 .. 7     replaced
 *
 * Ranks above a power of two are folded (fold.h).
 *
 * Rounds 2 log2 p (+ 2 with a fold), each rank sends 2(p-1)/p vectors (+ 1 with a fold).
 * (R. Thakur, R. Rabenseifner and W. Gropp, "Optimization of collective communication operations in
 * MPICH".)
 */
#include "algorithms/fold.h"

static void claim(const struct strag_problem *problem, struct strag_claim *claim)
{
    struct strag_fold fold = strag_fold(problem->n);
    *claim = (struct strag_claim){
        .rounds = 2 * fold.log + (fold.extra ? 2 : 0),
        .blocks = fold.active,
        .sent_max = 2.0 * (fold.active - 1) / fold.active + (fold.extra ? 1 : 0),
        .one_ported = true,
    };
}

static void build(const struct strag_problem *problem, int rank, struct strag_builder *builder)
{
    struct strag_fold fold = strag_fold(problem->n);
    int p = fold.active;
    int number = strag_fold_number(&fold, rank);
    int round = strag_fold_in(&fold, rank, p, builder);
    struct strag_rounds wanted = strag_rounds_wanted(builder);

    strag_stage(builder, "reduce-scatter");
    for (int half = p / 2; half >= 1; half /= 2, round++) {
        if (number < 0 || !strag_is_wanted(wanted, round))
            continue;
        int peer = strag_fold_rank(&fold, number ^ half);
        int mine = number & ~(half - 1), theirs = mine ^ half;
        strag_send(builder, round, peer, theirs, half);
        strag_recv_reduce(builder, round, peer, mine, half);
    }
    strag_stage(builder, "allgather");
    for (int half = 1; half < p; half *= 2, round++) {
        if (number < 0 || !strag_is_wanted(wanted, round))
            continue;
        int peer = strag_fold_rank(&fold, number ^ half);
        int mine = number & ~(half - 1), theirs = mine ^ half;
        strag_send(builder, round, peer, mine, half);
        strag_recv(builder, round, peer, theirs, half);
    }
    strag_fold_out(&fold, rank, round, p, builder);
}

/* All meet whom they meet at the same distances, if nobody is folded: ranks whose numbers differ in
 * a bit change places, and so do the nodes above them, of which there are 2^k on every level. */
static int like(const struct strag_problem *problem, enum strag_machine machine, int rank)
{
    return machine != STRAG_MACHINE_TORUS && strag_fold(problem->n).extra == 0 ? 0 : rank;
}

const struct strag_algorithm strag_recursive_halving = {
    .name = "recursive-halving",
    .summary = "pairs swap halves, then put them together; least traffic in few rounds if n = 2^k",
    .rounds = "2 log2 p (+2 if n > p)",
    .sent = "2(p-1)/p (+1 if n > p)",
    .stock = true,
    .claim = claim,
    .build = build,
    .like = like,
};
