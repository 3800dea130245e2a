/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Weighted: links of any rates, each as busy as it can be, and all of them until the end.
 *
 * Every block has an owner: all others' contributions go to it, and the sum comes from it. A rank
 * that owns the part f of the vector sends 1 - f to the other owners, and its own part to the n - 1
 * others: 1 + (n-2) f, and it receives as much. So a slow link needs a small part. With the rates
 * w_i of the links (1 is a fast one), all links are busy for the same time T (in vectors over a
 * fast link) if
 *
 *     f_i = (T w_i - 1) / (n - 2)        T = 2(n-1) / sum(w)
 *
 * which is the lower bound of theorem 2 for any rates. A link that is so slow that its f would be
 * negative owns nothing and takes T = 1 / w: the others share as above with this T, cut down to 1.
 * n = 5, rank 4 at half the speed: T = 16/9; ranks 0 to 3 own 7/27 each... (7/9 / 3), rank 4 none
 * (8/9 - 1 < 0), so T = 2 and a quarter for each of the others.
 *
 * The owners' halves overlap: while contributions to segment m travel, sums of segment m-1 do. Fast
 * ranks do both around a ring; with a slow rank everybody exchanges directly, piece by piece, a
 * piece in every round. So a fast rank's link has one flow of the ring and thin ones of the slow
 * ranks, always the same; a slow link has thin flows only, and none of them waits for another.
 * Ranks 0 to 3 fast, 4 slow, as above; segment m; "4b1" is rank 4's contribution to the second
 * third of rank 1's block, "4b." one to each:
 *
 *     round    ring: contributions    ring: sums (m-1)       slow rank 4
 *     3m       r sends block r-1      r sends block r        sends the first thirds of 0..3
 *     3m + 1   r sends block r-2      r sends block r-1      the second thirds
 *     3m + 2   r sends block r-3      r sends block r-2      the last thirds; and in all of them
 *                                                            it gets the thirds of segment m-1
 *
 * With several ranks per host the hosts do that, once for every local rank, each with its part of
 * the vector: a segment's part is collected from the siblings one body before, and given to them
 * one body after (siblings.h). Without slow links it is the ring.
 *
 * (ALGORITHMS.md section 4, "beyond the paper"; theorem 2 is that of P. Chen et al., "Don't let a
 * few network failures slow the entire allreduce".)
 */
#include "siblings.h"

#include <limits.h>
#include <stdlib.h>

/* By default; and how many are compared, if they make no more rounds than that. */
enum { SEGMENTS_MIN = 2, SEGMENTS = 16, SEGMENTS_MAX = 256, ROUNDS = 4096 };

/* Of a block, for exchanges with slow ranks; and flows on a slow link. */
enum { PIECES_MAX = 32 };

struct weighted {
    struct strag_uplinks uplinks;
    int owners;     /* fast hosts, and slow ones that own something: the last ones in order */
    int slow_own;   /* the first of these */
    int64_t *share; /* [place] */
    int64_t shares; /* of all owners */
    int segments;
    int pieces; /* that every owner's block of a segment is cut into */
    int body;   /* rounds per segment */
    int before; /* bodies before a segment sets out on the network: 1 with siblings */
};

/* ---- Shares ---- */

static int64_t divisor(int64_t a, int64_t b)
{
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* What a host may own, as a multiple of something that is the same for all. */
static int64_t weight(const struct strag_uplinks *uplinks, int64_t total, int place)
{
    int64_t rate = uplinks->rate[place];
    if (uplinks->slow == 0)
        return 1;
    int64_t slowest = uplinks->rate[uplinks->fast], hosts = uplinks->hosts;
    return 2 * (hosts - 1) * slowest > total ? 2 * (hosts - 1) * rate - total : rate - slowest;
}

static void find_shares(struct weighted *weighted)
{
    const struct strag_uplinks *uplinks = &weighted->uplinks;
    int64_t common = 0, total = strag_uplinks_total(uplinks);
    weighted->slow_own = uplinks->fast;
    for (int place = 0; place < uplinks->hosts; place++) {
        weighted->share[place] = weight(uplinks, total, place);
        weighted->slow_own += weighted->share[place] == 0;
        common = divisor(common, weighted->share[place]);
    }
    weighted->owners = uplinks->hosts - (weighted->slow_own - uplinks->fast);
    for (int place = 0; place < uplinks->hosts; place++) {
        weighted->share[place] /= common;
        weighted->shares += weighted->share[place];
    }
}

/* The number of a host's block within a part of a segment, or -1: it owns nothing. */
static int owner(const struct weighted *weighted, int place)
{
    if (place < weighted->uplinks.fast)
        return place;
    return place < weighted->slow_own ? -1 : place - (weighted->slow_own - weighted->uplinks.fast);
}

/* The host of a block. */
static int owner_place(const struct weighted *weighted, int number)
{
    return number < weighted->uplinks.fast ? number
                                           : number + (weighted->slow_own - weighted->uplinks.fast);
}

/* ---- Preparing ---- */

/* Blocks of one part of a segment. */
static int part_blocks(const struct weighted *weighted)
{
    return weighted->owners * weighted->pieces;
}

static void release(void *prepared)
{
    struct weighted *weighted = prepared;
    strag_uplinks_close(&weighted->uplinks);
    free(weighted->share);
    free(weighted);
}

static int find_body(const struct strag_problem *problem, struct weighted *weighted,
                     struct strag_error *err)
{
    const struct strag_uplinks *uplinks = &weighted->uplinks;
    if (uplinks->hosts < 2)
        return strag_fail(err, STRAG_ERR_UNSUPPORTED, "weighted needs two hosts at least, not 1");
    if (uplinks->hosts > 1 << 20)
        return strag_fail(err, STRAG_ERR_UNSUPPORTED, "weighted counts up to %d hosts, not %d",
                          1 << 20, uplinks->hosts);
    find_shares(weighted);
    weighted->body = uplinks->fast > 2 ? uplinks->fast - 1 : 1;
    weighted->pieces = weighted->body < PIECES_MAX ? weighted->body : PIECES_MAX;
    if (uplinks->slow == 0)
        weighted->pieces = 1;
    weighted->before = uplinks->ranks_per_host > 1;
    int64_t parts = (int64_t)part_blocks(weighted) * uplinks->ranks_per_host;
    weighted->segments = uplinks->slow == 0 ? 1 : SEGMENTS;
    while (weighted->segments > SEGMENTS_MIN && weighted->segments * weighted->body > ROUNDS)
        weighted->segments /= 2;
    if (problem->blocks >= parts)
        weighted->segments = (int)(problem->blocks / parts);
    int64_t rounds = ((int64_t)weighted->segments + 3) * weighted->body;
    if (parts * weighted->segments > INT32_MAX - 1 || rounds > INT32_MAX - 1)
        return strag_fail(err, STRAG_ERR_UNSUPPORTED,
                          "weighted cuts the vector into %d blocks at most, too few for %d ranks",
                          INT32_MAX - 1, problem->n);
    return STRAG_OK;
}

static int prepare(const struct strag_problem *problem, void **prepared, struct strag_error *err)
{
    struct weighted *weighted = calloc(1, sizeof *weighted);
    if (!weighted)
        return strag_fail(err, STRAG_ERR_MEMORY, "out of memory for %d ranks", problem->n);
    int status = strag_uplinks_open(problem, &weighted->uplinks, err);
    if (status == STRAG_OK) {
        weighted->share = calloc((size_t)weighted->uplinks.hosts, sizeof *weighted->share);
        status = weighted->share
                     ? find_body(problem, weighted, err)
                     : strag_fail(err, STRAG_ERR_MEMORY, "out of memory for the shares of %d ranks",
                                  problem->n);
    }
    if (status == STRAG_OK)
        *prepared = weighted;
    else
        release(weighted);
    return status;
}

/* With more segments less is lost at both ends, but more rounds wait for their latency. */
static int choices(const struct strag_problem *problem, int *blocks)
{
    void *prepared;
    int count = 0;
    if (prepare(problem, &prepared, NULL) == STRAG_OK) {
        const struct weighted *weighted = prepared;
        int64_t parts = (int64_t)part_blocks(weighted) * weighted->uplinks.ranks_per_host;
        int64_t segments = SEGMENTS_MIN;
        for (; weighted->uplinks.slow && segments <= SEGMENTS_MAX; segments *= 2) {
            if (count == 0 || (segments * weighted->body <= ROUNDS && segments * parts < INT32_MAX))
                blocks[count++] = (int)(segments * parts);
        }
        release(prepared);
    }
    if (count == 0)
        blocks[count++] = 0;
    return count;
}

/* ---- Claims ---- */

static double sent_by(const struct weighted *weighted, int place)
{
    double hosts = weighted->uplinks.hosts, g = weighted->uplinks.ranks_per_host;
    double own = (double)weighted->share[place] / (double)weighted->shares;
    return (1 + (hosts - 2) * own) / g + 2 * (g - 1) / g;
}

static void claim(const struct strag_problem *problem, struct strag_claim *claim)
{
    const struct weighted *weighted = problem->prepared;
    const struct strag_uplinks *uplinks = &weighted->uplinks;
    *claim = (struct strag_claim){
        .rounds = (weighted->segments + 1 + 2 * weighted->before) * weighted->body,
        .blocks = weighted->segments * uplinks->ranks_per_host * part_blocks(weighted),
        .one_ported = uplinks->slow == 0 && uplinks->ranks_per_host == 1,
    };
    for (int place = 0; place < uplinks->hosts; place++) {
        double sent = sent_by(weighted, place);
        claim->sent_max = sent > claim->sent_max ? sent : claim->sent_max;
    }
}

static void bounds(const struct strag_problem *problem, struct strag_bounds *bounds)
{
    const struct weighted *weighted = problem->prepared;
    int64_t start = 0;
    for (int b = 0; b < bounds->blocks; b++) {
        int number = b / weighted->pieces % weighted->owners;
        bounds->numerator[b] = start;
        start += weighted->share[owner_place(weighted, number)];
    }
    bounds->numerator[bounds->blocks] = start;
    bounds->denominator = start;
}

/* ---- Plans ---- */

/* One rank, in one round. */
struct turn {
    const struct weighted *weighted;
    struct strag_builder *builder;
    int rank, place, index;
    int round;
    int step;          /* within the body */
    int adding, given; /* segments: contributions to this one travel, and sums of that one */
};

static bool exists(const struct weighted *weighted, int segment)
{
    return segment >= 0 && segment < weighted->segments;
}

/* The first block of a part of a segment. */
static int part_first(const struct turn *turn, int segment, int part)
{
    const struct weighted *weighted = turn->weighted;
    return (segment * weighted->uplinks.ranks_per_host + part) * part_blocks(weighted);
}

static int peer(const struct turn *turn, int place)
{
    return strag_uplinks_rank(&turn->weighted->uplinks, place, turn->index);
}

/* The block of a fast host `back` places behind, all its pieces. */
static int ring_block(const struct turn *turn, int segment, int back)
{
    int fast = turn->weighted->uplinks.fast;
    int number = ((turn->place - back) % fast + fast) % fast;
    return part_first(turn, segment, turn->index) + number * turn->weighted->pieces;
}

static void ring_step(const struct turn *turn)
{
    const struct weighted *weighted = turn->weighted;
    int fast = weighted->uplinks.fast, t = turn->step, count = weighted->pieces;
    if (turn->place >= fast || fast < 2)
        return;
    int next = peer(turn, (turn->place + 1) % fast);
    int previous = peer(turn, (turn->place + fast - 1) % fast);
    if (exists(weighted, turn->adding)) {
        strag_stage(turn->builder, "reduce-scatter");
        strag_send(turn->builder, turn->round, next, ring_block(turn, turn->adding, t + 1), count);
        strag_recv_reduce(turn->builder, turn->round, previous,
                          ring_block(turn, turn->adding, t + 2), count);
    }
    if (exists(weighted, turn->given)) {
        strag_stage(turn->builder, "allgather");
        strag_send(turn->builder, turn->round, next, ring_block(turn, turn->given, t), count);
        strag_recv(turn->builder, turn->round, previous, ring_block(turn, turn->given, t + 1),
                   count);
    }
}

/* A piece of what I own, and one of what the other host owns. */
static void exchange(const struct turn *turn, int place, int piece)
{
    const struct weighted *weighted = turn->weighted;
    int mine = owner(weighted, turn->place), theirs = owner(weighted, place);
    if (exists(weighted, turn->adding)) {
        int first = part_first(turn, turn->adding, turn->index) + piece;
        strag_stage(turn->builder, "reduce-scatter");
        if (theirs >= 0)
            strag_send(turn->builder, turn->round, peer(turn, place),
                       first + theirs * weighted->pieces, 1);
        if (mine >= 0)
            strag_recv_reduce(turn->builder, turn->round, peer(turn, place),
                              first + mine * weighted->pieces, 1);
    }
    if (exists(weighted, turn->given)) {
        int first = part_first(turn, turn->given, turn->index) + piece;
        strag_stage(turn->builder, "allgather");
        if (mine >= 0)
            strag_send(turn->builder, turn->round, peer(turn, place),
                       first + mine * weighted->pieces, 1);
        if (theirs >= 0)
            strag_recv(turn->builder, turn->round, peer(turn, place),
                       first + theirs * weighted->pieces, 1);
    }
}

/* A body has a window of rounds for every piece, usually one round; within a longer window two
 * hosts meet in the round that the sum of their numbers says, so that meetings are spread. */
static void meet_slow(const struct turn *turn)
{
    const struct weighted *weighted = turn->weighted;
    const struct strag_uplinks *uplinks = &weighted->uplinks;
    int64_t body = weighted->body, pieces = weighted->pieces;
    int piece = (int)(((turn->step + 1) * pieces - 1) / body);
    int start = (int)(piece * body / pieces), end = (int)((piece + 1) * body / pieces);
    int length = end - start;
    int first = turn->place < uplinks->fast ? uplinks->fast : 0;
    int wait = (turn->step - start - turn->place - first) % length;
    for (int place = first + (wait + length) % length; place < uplinks->hosts; place += length) {
        if (place != turn->place)
            exchange(turn, place, piece);
    }
}

/* The part of a segment's blocks that siblings exchange in this round. */
static struct strag_strided local_blocks(const struct turn *turn, int segment)
{
    const struct weighted *weighted = turn->weighted;
    int64_t blocks = part_blocks(weighted);
    int begin = (int)(turn->step * blocks / weighted->body);
    int end = (int)((turn->step + 1) * blocks / weighted->body);
    return (struct strag_strided){
        .first = part_first(turn, segment, 0) + begin,
        .count = end - begin,
        .part = (int)blocks,
    };
}

static void meet_siblings(const struct turn *turn)
{
    const struct weighted *weighted = turn->weighted;
    int collected = turn->round / weighted->body, distributed = collected - 3;
    if (exists(weighted, collected))
        strag_siblings_collect(&weighted->uplinks, turn->rank, turn->round,
                               local_blocks(turn, collected), turn->builder);
    if (exists(weighted, distributed))
        strag_siblings_distribute(&weighted->uplinks, turn->rank, turn->round,
                                  local_blocks(turn, distributed), turn->builder);
}

static void build(const struct strag_problem *problem, int rank, struct strag_builder *builder)
{
    const struct weighted *weighted = problem->prepared;
    struct strag_rounds wanted = strag_rounds_wanted(builder);
    struct turn turn = {
        .weighted = weighted,
        .builder = builder,
        .rank = rank,
        .place = weighted->uplinks.place[rank],
        .index = weighted->uplinks.index[rank],
    };
    for (turn.round = wanted.first; turn.round < wanted.end; turn.round++) {
        turn.step = turn.round % weighted->body;
        turn.adding = turn.round / weighted->body - weighted->before;
        turn.given = turn.adding - 1;
        ring_step(&turn);
        meet_slow(&turn);
        if (weighted->uplinks.ranks_per_host > 1)
            meet_siblings(&turn);
    }
}

/* Bodies with all stages are alike, and so are the rounds of a body if nobody is slow. */
static bool is_ring(const struct weighted *weighted)
{
    return weighted->uplinks.slow == 0 && weighted->uplinks.ranks_per_host == 1;
}

static int period(const struct strag_problem *problem, int round)
{
    const struct weighted *weighted = problem->prepared;
    return is_ring(weighted) || round % weighted->body ? 1 : weighted->body;
}

static int alike(const struct strag_problem *problem, int round)
{
    const struct weighted *weighted = problem->prepared;
    int body = round / weighted->body, first = 1 + 2 * weighted->before;
    int bodies = body >= first && body < weighted->segments ? weighted->segments - body : 1;
    if (is_ring(weighted))
        return bodies * weighted->body - round % weighted->body;
    return round % weighted->body ? 1 : bodies;
}

const struct strag_algorithm strag_weighted = {
    .name = "weighted",
    .summary = "links of any rates: a slow one carries as much less",
    .rounds = "(k+1)(h-1)",
    .sent = "1+(n-2)f",
    .prepare = prepare,
    .release = release,
    .choices = choices,
    .claim = claim,
    .build = build,
    .bounds = bounds,
    .alike = alike,
    .period = period,
};
