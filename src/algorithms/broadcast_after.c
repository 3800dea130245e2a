/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Broadcast after the arrival: the plain way to use the time until a straggler arrives.
 *
 * The other n - 1 ranks do an allreduce among themselves. Then one of them and the straggler
 * exchange whole vectors, and these two broadcast the result: in every round each rank that has it
 * sends it to one that does not. With the straggler as node 0, its partner as node 1 and so on,
 * n = 6:
 *
 *     round      0       1       2
 *              0 - 1   0 > 2   0 > 4       after the arrival, whole vectors
 *                      1 > 3   1 > 5
 *
 * There are 2 ceil(log2 (n - 1)) rounds before the arrival and ceil(log2 n) of whole vectors after
 * it. It is for comparison, and good for short vectors only. (A. Devraj et al., "Accelerating
 * AllReduce with a persistent straggler", section 4.1.)
 */
#include "algorithms/straggler.h"

/* Node 1 sends the most: 2(n - 2)/(n - 1) vectors before, one in the exchange, and one each to
 * nodes 3, 5, 9, ... if they exist. For n = 3 node 0 sends the most, to nodes 1 and 2. */
static double most_sent(int n)
{
    double sent = 2.0 * (n - 2) / (n - 1) + 1;
    for (int have = 2; have < n - 1; have *= 2)
        sent++;
    return n == 3 ? 2 : sent;
}

static void claim(const struct strag_problem *problem, struct strag_claim *claim)
{
    int n = problem->n, before = 2 * strag_log2_ceil(n - 1);
    *claim = (struct strag_claim){
        .rounds = before + strag_log2_ceil(n),
        .blocks = n - 1,
        .sent_max = most_sent(n),
        .ports = 1,
        .waits = true,
        .straggler = strag_awaited_straggler(problem),
        .before = before,
    };
}

/* Node 0 is the straggler; the others follow in order. */
static int rank_of(int node, struct strag_members others)
{
    return node ? strag_member_rank(others, node - 1) : others.without;
}

static void build(const struct strag_problem *problem, int rank, struct strag_builder *builder)
{
    int n = problem->n, round = 2 * strag_log2_ceil(n - 1);
    struct strag_members others = strag_others(n, strag_awaited_straggler(problem));
    int node = rank == others.without ? 0 : strag_member_node(others, rank) + 1;
    struct strag_rounds wanted = strag_rounds_wanted(builder);
    if (node) {
        strag_circulant_reduce_scatter(builder, others, node - 1);
        strag_circulant_allgather(builder, others, node - 1, round / 2);
    }
    strag_stage(builder, "exchange");
    if (node < 2 && strag_is_wanted(wanted, round)) {
        int partner = rank_of(1 - node, others);
        strag_send(builder, round, partner, 0, n - 1);
        strag_exchange_reduce(builder, round, partner, 0, n - 1);
    }
    strag_stage(builder, "broadcast");
    for (int have = 2; have < n; have *= 2) {
        round++;
        if (!strag_is_wanted(wanted, round))
            continue;
        if (node < have && node < n - have)
            strag_send(builder, round, rank_of(node + have, others), 0, n - 1);
        else if (node >= have && node - have < have)
            strag_recv(builder, round, rank_of(node - have, others), 0, n - 1);
    }
}

const struct strag_algorithm strag_broadcast_after = {
    .name = "broadcast-after",
    .summary = "a straggler: the others go ahead, then it exchanges and broadcasts",
    .rounds = "ceil(log2 n)",
    .sent = "ceil(log2 n) + 2",
    .needs_straggler = true,
    .claim = claim,
    .build = build,
};
