/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Leaders: every host reduces its vectors onto one rank. These leaders do an allreduce by ring, and
 * broadcast the result within their hosts.
 *
 * This is the simplest way to send little over the uplinks, but only one rank of a host works at a
 * time, and with whole vectors. The local phases are binomial trees (binomial.h); the leader is the
 * first rank of a host in the tree. Hosts of 2 and 3 ranks, two blocks; what goes where:
 *
 *     round 0   1->0  3->2                reduce, whole vectors
 *     round 1         4->2
 *     round 2   0<->2                     reduce-scatter, a block each way
 *     round 3   0<->2                     allgather
 *     round 4         2->4                broadcast, whole vectors
 *     round 5   0->1  2->3
 *
 * With q hosts, the largest of which has g ranks:
 *
 *     rounds  2 ceil(log2 g) + 2(q-1)        sent by a rank  up to ceil(log2 g) + 2(q-1)/q
 *
 * For comparison with flexreduce. (Jia et al., "Highly scalable deep learning training system with
 * mixed-precision", as described in the FlexReduce paper, section II.)
 */
#include "algorithms/binomial.h"
#include "algorithms/ring.h"
#include "algorithms/tree.h"

#include <stdlib.h>

/* The hosts, in the order of the tree. */
struct hosts {
    int q, steps; /* how many hosts; steps of a local phase */
    int n;
    struct {
        int32_t rank_at; /* [place]: ranks, host by host */
        int32_t first;   /* [host]: its first place; [q]: n */
        int32_t host_of; /* [rank] */
        int32_t member;  /* [rank]: its number within the host */
    } at[];              /* n + 1 */
};

/* Without a topology every rank is a host of its own. */
static void fill(struct hosts *hosts, const struct strag_topology *topology)
{
    for (int p = 0, before = -1; p < hosts->n; p++) {
        int rank = topology ? topology->leaf_rank[p] : p;
        int host = topology ? topology->host_node[rank] : p;
        if (host != before)
            hosts->at[hosts->q++].first = p;
        before = host;
        hosts->at[p].rank_at = rank;
        hosts->at[rank].host_of = hosts->q - 1;
        hosts->at[rank].member = p - hosts->at[hosts->q - 1].first;
    }
    hosts->at[hosts->q].first = hosts->n;
    for (int h = 0; h < hosts->q; h++) {
        int steps = strag_log2_ceil(hosts->at[h + 1].first - hosts->at[h].first);
        hosts->steps = steps > hosts->steps ? steps : hosts->steps;
    }
}

static int prepare(const struct strag_problem *problem, void **out, struct strag_error *err)
{
    size_t n = (size_t)problem->n;
    struct hosts *hosts = calloc(1, sizeof *hosts + (n + 1) * sizeof *hosts->at);
    if (!hosts)
        return strag_fail(err, STRAG_ERR_MEMORY, "out of memory for the hosts of %zu ranks", n);
    hosts->n = problem->n;
    fill(hosts, problem->topology);
    *out = hosts;
    return STRAG_OK;
}

static int size_of(const struct hosts *hosts, int host)
{
    return hosts->at[host + 1].first - hosts->at[host].first;
}

static double sent_max(const struct strag_problem *problem)
{
    const struct hosts *hosts = problem->prepared;
    double ring = 2.0 * (hosts->q - 1) / hosts->q, most = 0;
    for (int rank = 0; rank < hosts->n; rank++) {
        int member = hosts->at[rank].member;
        double sent = strag_binomial_children(size_of(hosts, hosts->at[rank].host_of), member) +
                      (member ? 1 : ring);
        most = sent > most ? sent : most;
    }
    return most;
}

static void claim(const struct strag_problem *problem, struct strag_claim *claim)
{
    const struct hosts *hosts = problem->prepared;
    int q = hosts->q;
    *claim = (struct strag_claim){
        .rounds = 2 * hosts->steps + 2 * (q - 1),
        .blocks = q,
        .ports = 1,
    };
}

/* Append a step of the reduction within the host, or of the broadcast. */
static void build_local(const struct hosts *hosts, int rank, int step, bool broadcast, int round,
                        struct strag_builder *builder)
{
    int host = hosts->at[rank].host_of;
    bool sends;
    int partner =
        strag_binomial_partner(size_of(hosts, host), hosts->at[rank].member, step, &sends);
    if (partner < 0)
        return;
    int peer = hosts->at[hosts->at[host].first + partner].rank_at;
    strag_binomial_round(sends, broadcast, round, peer, hosts->q, builder);
}

/* A leader's place in their ring. */
static struct strag_ring_place find_place(const struct hosts *hosts, int host)
{
    int q = hosts->q;
    return (struct strag_ring_place){
        .at = host,
        .size = q,
        .next = hosts->at[hosts->at[(host + 1) % q].first].rank_at,
        .previous = hosts->at[hosts->at[(host + q - 1) % q].first].rank_at,
        .chunk = 1,
    };
}

static void build(const struct strag_problem *problem, int rank, struct strag_builder *builder)
{
    const struct hosts *hosts = problem->prepared;
    struct strag_rounds wanted = strag_rounds_wanted(builder);
    const struct strag_ring_place place = find_place(hosts, hosts->at[rank].host_of);
    int half = hosts->q - 1, ring = 2 * half, rounds = 2 * hosts->steps + ring;
    for (int round = wanted.first; round < wanted.end && round < rounds; round++) {
        int t = round - hosts->steps;
        if (t < 0)
            build_local(hosts, rank, round, false, round, builder);
        else if (t >= ring)
            build_local(hosts, rank, rounds - 1 - round, true, round, builder);
        else if (hosts->at[rank].member == 0)
            strag_ring_step(&place, t % half, t >= half, round, builder);
    }
}

/* Rounds are identical within each half of the ring. */
static int same_rounds(const struct strag_problem *problem, int round, int *period)
{
    (void)period;
    const struct hosts *hosts = problem->prepared;
    int t = round - hosts->steps;
    return t < 0 || t >= 2 * (hosts->q - 1) ? 1 : strag_ring_same_rounds(hosts->q, t);
}

const struct strag_algorithm strag_leaders = {
    .name = "leaders",
    .summary = "reduce onto a leader per host, ring of leaders, broadcast; for comparison",
    .rounds = "2 log2 g + 2(q-1)",
    .sent = "log2 g + 2(q-1)/q",
    .prepare = prepare,
    .release = free,
    .adds_nothing = strag_tree_is_flat,
    .claim = claim,
    .sent_max = sent_max,
    .build = build,
    .same_rounds = same_rounds,
};
