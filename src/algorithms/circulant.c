/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Circulant reduce-scatter and allgather: for ANY n as few rounds as a power of two needs, and the
 * least traffic.
 *
 * With q = ceil(log2 n) the skips are s[q] = n, s[k] = ceil(s[k+1] / 2), down to s[0] = 1. Count
 * blocks from the rank's own: block i of rank r is block r+i of the vector (modulo n). In the round
 * of skip k rank r sends its blocks s[k] .. s[k+1]-1 to rank r + s[k], for which they are the first
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
 * The longest messages go the farthest, n/2 ranks away. Ranks that are near in their order are
 * often near on the network, so as long as the ranks are even in number pairs swap halves first: of
 * n = 2^a m ranks those 1, 2, .. 2^(a-1) apart, as in recursive halving with the nearest first. The
 * m ranks that are 2^a apart then share a range of m blocks, and do as above. That takes no more
 * rounds or bytes. n = 12 = 2^2 * 3; what rank 5 does (its half is the upper one, then the lower):
 *
 *     round   sends                      receives
 *       0     blocks 0..5 to rank 4      6..11 from rank 4, reduced       pairs 1 apart
 *       1     9..11 to 7                 6..8 from 7, reduced             2 apart
 *       2     6 to 1                     7 from 9, reduced                ranks 1 5 9, blocks 6 7 8
 *       3     8 to 9                     7 from 1, reduced
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

/* A range of the members' blocks, which may run over the last one. */
static void add_range(struct strag_builder *builder, struct strag_members members,
                      enum strag_kind kind, int round, int peer, int first, int count)
{
    const int head = count < members.count - first ? count : members.count - first;
    strag_cyclic(builder, kind, round, peer, members.block + first, head);
    strag_cyclic(builder, kind, round, peer, members.block, count - head);
}

/* One round, of skip k: the reduce-scatter's, or the allgather's with all messages reversed. */
static void build_round(struct strag_builder *builder, struct strag_members members, int node,
                        int round, const int *s, int k, bool reduce)
{
    int above = up(node, s[k], members.count);
    int below = up(node, members.count - s[k], members.count);
    int upper = strag_member_rank(members, above), lower = strag_member_rank(members, below);
    int count = s[k + 1] - s[k];
    add_range(builder, members, STRAG_SEND, round, reduce ? upper : lower, reduce ? above : node,
              count);
    if (reduce)
        add_range(builder, members, STRAG_RECV_REDUCE, round, lower, node, count);
    else
        add_range(builder, members, STRAG_RECV, round, upper, above, count);
}

int strag_circulant_reduce_scatter(struct strag_builder *builder, struct strag_members members,
                                   int node, int round)
{
    int s[STRAG_SKIPS_MAX];
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
        .one_ported = true,
        .in_step = true,
    };
}

/* How often the ranks can be halved. */
static int halvings(int n)
{
    int log = 0;
    while ((n >> log) % 2 == 0)
        log++;
    return log;
}

/* The pair of a rank that halves step t's range, which begins with a block: its own half is that of
 * its bit. @return where that begins */
static int build_pair(struct strag_builder *builder, int rank, int t, int begin, int half,
                      int round, bool reduce)
{
    const int peer = rank ^ 1 << t, bit = rank >> t & 1;
    const int mine = begin + bit * half, theirs = begin + !bit * half;
    strag_stage(builder, reduce ? "reduce-scatter" : "allgather");
    strag_send(builder, round, peer, reduce ? theirs : mine, half);
    if (reduce)
        strag_recv_reduce(builder, round, peer, mine, half);
    else
        strag_recv(builder, round, peer, theirs, half);
    return mine;
}

static void build(const struct strag_problem *problem, int rank, struct strag_builder *builder)
{
    const int n = problem->n, log = halvings(n);
    int begin[STRAG_SKIPS_MAX] = {0}, round = 0;
    for (int t = 0; t < log; t++)
        begin[t + 1] = build_pair(builder, rank, t, begin[t], n >> (t + 1), round++, true);
    const struct strag_members members = {.count = n >> log,
                                          .without = n >> log,
                                          .log = log,
                                          .lowest = rank & ((1 << log) - 1),
                                          .block = begin[log]};
    round = strag_circulant_reduce_scatter(builder, members, rank >> log, round);
    round = strag_circulant_allgather(builder, members, rank >> log, round);
    for (int t = log - 1; t >= 0; t--)
        build_pair(builder, rank, t, begin[t], n >> (t + 1), round++, false);
}

/* All ranks move on by one: their pairs' members change places, and so do the others. */
static int like(const struct strag_problem *problem, enum strag_machine machine, int rank)
{
    const struct strag_topology *topology = problem->topology;
    bool alone = !topology || topology->ranks_per_host == 1;
    return machine == STRAG_MACHINE_SWITCH && alone ? 0 : rank;
}

const struct strag_algorithm strag_circulant = {
    .name = "circulant",
    .summary = "least traffic in few rounds for any n",
    .rounds = "2 ceil(log2 n)",
    .sent = "2(n-1)/n",
    .claim = claim,
    .build = build,
    .like = like,
};
