/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Circulant reduce-scatter and allgather: for ANY n as few rounds as a power of two needs, and the
 * least traffic.
 *
 * With q = ceil(log2 n) the skips are s[q] = n, s[k] = ceil(s[k+1] / 2), down to s[0] = 1. Count
 * blocks from the rank's own: block i of rank r is block r+i of the vector (modulo n). In the round
 * of skip k rank r sends its blocks s[k] .. s[k+1]-1 to rank r + s[k], where they are the first
 * ones, and reduces what rank r - s[k] sends into its own first blocks. Each round drops the upper
 * half of the blocks, until only block 0, the rank's own, is left and complete. The allgather is
 * the same backwards. n = 5, skips 5 3 2 1, as seen from rank r:
 *
 *     round   k   sends to     blocks     receives from   into blocks
 *       0     2     r+3        3 4            r-3          0 1            reduce-scatter
 *       1     1     r+2        2              r-2          0
 *       2     0     r+1        1              r-1          0
 *       3     0     r-1        0              r+1          1              allgather
 *       4     1     r-2        0              r+2          2
 *       5     2     r-3        0 1            r+3          3 4
 *
 * A range that passes the end of the vector is two messages to the same rank.
 *
 * Rounds 2 ceil(log2 n), each rank sends 2(n-1)/n of the vector. (J. L. Traeff, "Optimal,
 * non-pipelined reduce-scatter and allreduce algorithms".)
 */
#include "algorithms/circulant.h"

/* Node v + distance of n, for 0 < distance < n; n may be near INT_MAX. */
static int up(int v, int distance, int n)
{
    return v < n - distance ? v + distance : v - (n - distance);
}

/* One round, of skip k: the reduce-scatter's, or the allgather's with all messages reversed. */
static void build_round(struct strag_builder *builder, struct strag_members members, int node,
                        int round, const int *s, int k, bool reduce)
{
    int above = up(node, s[k], members.count);
    int below = up(node, members.count - s[k], members.count);
    int upper = strag_member_rank(members, above), lower = strag_member_rank(members, below);
    int count = s[k + 1] - s[k];
    strag_cyclic(builder, STRAG_SEND, round, reduce ? upper : lower, reduce ? above : node, count);
    if (reduce)
        strag_cyclic(builder, STRAG_RECV_REDUCE, round, lower, node, count);
    else
        strag_cyclic(builder, STRAG_RECV, round, upper, above, count);
}

int strag_circulant_reduce_scatter(struct strag_builder *builder, struct strag_members members,
                                   int node)
{
    int s[STRAG_SKIPS_MAX], round = 0;
    struct strag_rounds wanted = strag_rounds_wanted(builder);
    strag_stage(builder, "reduce-scatter");
    for (int k = strag_skips(members.count, s) - 1; k >= 0; k--, round++) {
        if (strag_is_wanted(wanted, round))
            build_round(builder, members, node, round, s, k, true);
    }
    return round;
}

int strag_circulant_allgather(struct strag_builder *builder, struct strag_members members, int node,
                              int round)
{
    int s[STRAG_SKIPS_MAX], q = strag_skips(members.count, s);
    struct strag_rounds wanted = strag_rounds_wanted(builder);
    strag_stage(builder, "allgather");
    for (int k = 0; k < q; k++, round++) {
        if (strag_is_wanted(wanted, round))
            build_round(builder, members, node, round, s, k, false);
    }
    return round;
}

/* ---- The algorithm ---- */

static void claim(const struct strag_problem *problem, struct strag_claim *claim)
{
    int n = problem->n;
    *claim = (struct strag_claim){
        .rounds = 2 * strag_log2_ceil(n),
        .blocks = n,
        .sent_max = 2.0 * (n - 1) / n,
        .ports = 1,
        .in_step = true,
    };
}

static void build(const struct strag_problem *problem, int rank, struct strag_builder *builder)
{
    const struct strag_members all = {.count = problem->n, .without = problem->n};
    int round = strag_circulant_reduce_scatter(builder, all, rank);
    strag_circulant_allgather(builder, all, rank, round);
}

const struct strag_algorithm strag_circulant = {
    .name = "circulant",
    .summary = "least traffic in few rounds for any n",
    .rounds = "2 ceil(log2 n)",
    .sent = "2(n-1)/n",
    .claim = claim,
    .build = build,
};
