/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Recursive doubling on a torus, for short vectors and for long ones: pairs that are 1, 2, 4, ...
 * hosts apart, one dimension after the other at each distance. On 4 x 4 hosts, who meets whom, as
 * coordinates that differ:
 *
 *     round    0          1          2          3
 *              x ^ 1      y ^ 1      x ^ 2      y ^ 2
 *
 * torus-doubling swaps whole vectors, the result is complete after these rounds. torus-halving
 * swaps halves of what is left, so that the longest messages go to neighbours, and then comes back
 * the same way. butterfly.h has the blocks, the ports, the folds, and the numbers.
 *
 * (Sack and Gropp, "Collective algorithms for multiported torus networks";
 * the mirrored parts are those of De Sensi et al., "Swing", section 4.)
 */
#include "algorithms/butterfly.h"
#include "algorithms/tree.h"

static int peer(int x, int t, int log)
{
    (void)log;
    return x ^ 1 << t;
}

static int half(int x, int t, int log)
{
    (void)log;
    return x >> t & 1;
}

static const struct strag_butterfly doubling = {"torus-doubling", true, false, peer, half},
                                    halving = {"torus-halving", false, false, peer, half};

static int check_doubling(const struct strag_problem *problem, struct strag_error *err)
{
    return strag_butterfly_check(&doubling, problem, err);
}

static void claim_doubling(const struct strag_problem *problem, struct strag_claim *claim)
{
    strag_butterfly_claim(&doubling, problem, claim);
}

static void build_doubling(const struct strag_problem *problem, int rank,
                           struct strag_builder *builder)
{
    strag_butterfly_build(&doubling, problem, rank, builder);
}

static int check_halving(const struct strag_problem *problem, struct strag_error *err)
{
    return strag_butterfly_check(&halving, problem, err);
}

static void claim_halving(const struct strag_problem *problem, struct strag_claim *claim)
{
    strag_butterfly_claim(&halving, problem, claim);
}

static void build_halving(const struct strag_problem *problem, int rank,
                          struct strag_builder *builder)
{
    strag_butterfly_build(&halving, problem, rank, builder);
}

const struct strag_algorithm strag_torus_doubling = {
    .name = "torus-doubling",
    .summary = "recursive doubling, dimensions in turn; for short vectors on a torus",
    .rounds = "sum(log2 d_i) (+2 per d_i != 2^k)",
    .sent = "sum(log2 d_i) (+1 per d_i != 2^k)",
    .check = check_doubling,
    .adds_nothing = strag_tree_is_one_switch,
    .claim = claim_doubling,
    .build = build_doubling,
};

const struct strag_algorithm strag_torus_halving = {
    .name = "torus-halving",
    .summary = "recursive halving and doubling, dimensions in turn, near ranks first",
    .rounds = "2 sum(log2 d_i) (+2 per d_i != 2^k)",
    .sent = "2(p-1)/p (+1 per d_i != 2^k)",
    .check = check_halving,
    .adds_nothing = strag_tree_is_one_switch,
    .claim = claim_halving,
    .build = build_halving,
};
