/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Straggler, direct: an allreduce around stragglers that arrive together, or around one.
 *
 * The w = n - k ranks in time reduce-scatter the vector among themselves, around a ring: each then
 * owns a part of 1/w. Once the k stragglers have arrived, each sends every owner its contribution
 * to that part, which the owner adds; then it sends the sum to all. Parts are cut into m segments,
 * so that both phases overlap:
 *
 *     round 0 .. w-2     the ring
 *     round w-1+t        segment t of every part: from each straggler to its owner (t < m)
 *                        segment t-1: from its owner to all others (t > 0)
 *
 * n = 4, stragglers 2 and 3, m = 2; 0>3 A0: rank 0 sends rank 3 segment 0 of part A, which it owns.
 *
 *     round    0        1                         2                         3
 *              0>1 B    2>0 A0  3>0 A0            2>0 A1  3>0 A1            0>1 A1  0>2 A1  0>3 A1
 *              1>0 A    2>1 B0  3>1 B0            2>1 B1  3>1 B1            1>0 B1  1>2 B1  1>3 B1
 *                                                 0>1 A0  0>2 A0  0>3 A0
 *                                                 1>0 B0  1>2 B0  1>3 B0
 *
 * After the last arrival a straggler sends a vector and receives one, which is the least possible;
 * an owner sends (n - 1)/w vectors and receives as many. Rounds w + m; any n, and up to n - 1
 * stragglers. Messages are short: n - 1 in a round, of 1/(wm) of the vector.
 */
#include "algorithms/ring.h"
#include "algorithms/straggler.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

/* Counts of segments of a part that are compared: 1, 2, 4, ..; and the default. */
enum { CHOICES = 8, PREFERRED = 8, BLOCKS_MAX = INT_MAX / 4 };

/* The ranks of a problem. */
struct ranks {
    int late, owners; /* how many */
    int32_t *list;    /* [n]: the owners, ascending, then the stragglers in order of arrival */
    int32_t *at;      /* [rank]: its place in the list */
};

/* ---- Who is late ---- */

/* @return seconds, the most if there are several delays; negative if the rank is in time */
static double delay_of(const struct strag_state *state, int rank)
{
    double delay = -1;
    for (int i = 0; i < state->nstragglers; i++) {
        if (state->straggler[i].rank == rank)
            delay = fmax(delay, state->straggler[i].delay);
    }
    return delay;
}

static int count_owners(const struct strag_problem *problem)
{
    int owners = 0;
    for (int rank = 0; rank < problem->n; rank++)
        owners += delay_of(problem->state, rank) < 0;
    return owners;
}

/* Stragglers are sorted by their delays, since owners add their contributions in this order. */
static void list_ranks(const struct strag_problem *problem, struct ranks *ranks)
{
    int32_t *list = ranks->list;
    for (int rank = 0, owner = 0, end = ranks->owners; rank < problem->n; rank++) {
        const double delay = delay_of(problem->state, rank);
        int at = delay < 0 ? owner++ : end++;
        for (; at > ranks->owners && delay_of(problem->state, list[at - 1]) > delay; at--)
            list[at] = list[at - 1];
        list[at] = rank;
    }
    for (int i = 0; i < problem->n; i++)
        ranks->at[list[i]] = i;
}

static void unshare(void *shared)
{
    struct ranks *ranks = shared;
    free(ranks->list);
    free(ranks->at);
    free(ranks);
}

static int share(const struct strag_problem *problem, void **shared, struct strag_error *err)
{
    const size_t n = (size_t)problem->n;
    struct ranks *ranks = calloc(1, sizeof *ranks);
    if (ranks) {
        ranks->list = malloc(n * sizeof *ranks->list);
        ranks->at = malloc(n * sizeof *ranks->at);
    }
    if (!ranks || !ranks->list || !ranks->at) {
        if (ranks)
            unshare(ranks);
        return strag_fail(err, STRAG_ERR_MEMORY, "out of memory for the order of %d ranks",
                          problem->n);
    }
    ranks->owners = count_owners(problem);
    ranks->late = problem->n - ranks->owners;
    list_ranks(problem, ranks);
    *shared = ranks;
    return STRAG_OK;
}

/* ---- The algorithm ---- */

static int check(const struct strag_problem *problem, struct strag_error *err)
{
    if (problem->n == 1)
        return STRAG_OK;
    const int owners = count_owners(problem);
    if (owners == 0)
        return strag_fail(err, STRAG_ERR_UNSUPPORTED,
                          "straggler-direct needs a rank that is not late, all %d are", problem->n);
    return strag_straggler_check_blocks(problem, owners, BLOCKS_MAX, err);
}

static int choices(const struct strag_problem *problem, int *blocks)
{
    const struct ranks *ranks = problem->shared;
    int count = 0;
    while (count < CHOICES && ranks->owners <= BLOCKS_MAX >> count) {
        blocks[count] = ranks->owners << count;
        count++;
    }
    return count;
}

/* The segments of a part. */
static int segments_of(const struct strag_problem *problem)
{
    const struct ranks *ranks = problem->shared;
    return problem->blocks ? problem->blocks / ranks->owners : PREFERRED;
}

static void claim(const struct strag_problem *problem, struct strag_claim *claim)
{
    const struct ranks *ranks = problem->shared;
    const int owners = ranks->owners, segments = segments_of(problem);
    *claim = (struct strag_claim){
        .rounds = owners + segments,
        .blocks = owners * segments,
        .sent_max = (double)(owners - 1 + problem->n - 1) / owners,
        .chain = owners + 1,
        .waits = true,
        .straggler = strag_awaited_straggler(problem),
        .before = owners - 1,
    };
}

/* A rank, by its place in the list, in a round. */
struct turn {
    const struct ranks *ranks;
    struct strag_builder *builder;
    int segments, at, round;
};

/* Append the messages in which segment t of every part is handed in. */
static void hand_in(const struct turn *turn, int t)
{
    const struct ranks *ranks = turn->ranks;
    struct strag_builder *builder = turn->builder;
    const int owners = ranks->owners, n = owners + ranks->late, at = turn->at, m = turn->segments;
    strag_stage(builder, "hand in");
    for (int i = 0; at >= owners && i < owners; i++) {
        const int owner = (at + i) % owners; /* so that stragglers begin with different owners */
        strag_send(builder, turn->round, ranks->list[owner], owner * m + t, 1);
    }
    for (int late = owners; at < owners && late < n; late++)
        strag_recv_reduce(builder, turn->round, ranks->list[late], at * m + t, 1);
}

/* Append the messages in which segment t of every part, now complete, goes to all. */
static void spread(const struct turn *turn, int t)
{
    const struct ranks *ranks = turn->ranks;
    struct strag_builder *builder = turn->builder;
    const int owners = ranks->owners, n = owners + ranks->late, at = turn->at, m = turn->segments;
    strag_stage(builder, "spread");
    for (int i = 1; at < owners && i < n; i++)
        strag_send(builder, turn->round, ranks->list[(at + i) % n], at * m + t, 1);
    for (int owner = 0; owner < owners; owner++) {
        if (owner != at)
            strag_recv(builder, turn->round, ranks->list[owner], owner * m + t, 1);
    }
}

static void build(const struct strag_problem *problem, int rank, struct strag_builder *builder)
{
    const struct ranks *ranks = problem->shared;
    const struct strag_rounds wanted = strag_rounds_wanted(builder);
    const int owners = ranks->owners, at = ranks->at[rank], segments = segments_of(problem);
    struct turn turn = {ranks, builder, segments, at, wanted.first};
    /* A member of a ring ends with the part whose number is one higher than its own. */
    const struct strag_ring_place place = {.at = at - 1,
                                           .size = owners,
                                           .next = ranks->list[(at + 1) % owners],
                                           .previous = ranks->list[(at + owners - 1) % owners],
                                           .first = 0,
                                           .chunk = segments};
    for (; turn.round < wanted.end && turn.round < owners + segments; turn.round++) {
        const int t = turn.round - (owners - 1);
        if (t < 0 && at < owners)
            strag_ring_step(&place, turn.round, false, turn.round, builder);
        if (t >= 0 && t < segments)
            hand_in(&turn, t);
        if (t > 0)
            spread(&turn, t - 1);
    }
}

/* The rounds of the ring, and those in which segments are both handed in and spread. */
static int same_rounds(const struct strag_problem *problem, int round, int *period)
{
    (void)period;
    const struct ranks *ranks = problem->shared;
    const int segments = segments_of(problem), t = round - (ranks->owners - 1);
    if (t < 0)
        return -t;
    return t > 0 && t < segments ? segments - t : 1;
}

const struct strag_algorithm strag_straggler_direct = {
    .name = "straggler-direct",
    .summary = "stragglers that come together: others go ahead, then all messages at once",
    .rounds = "m + 1",
    .sent = "about 2",
    .needs_straggler = true,
    .check = check,
    .share = share,
    .unshare = unshare,
    .choices = choices,
    .claim = claim,
    .build = build,
    .same_rounds = same_rounds,
};
