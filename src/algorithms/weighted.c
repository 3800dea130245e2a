/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Weighted: links of any rates, all of them as busy as possible until the end.
 *
 * Every block has an owner: all others' contributions go to it, and the sum comes from it. A rank
 * that owns the part f of the vector sends 1 - f to the other owners, and its own part to the n - 1
 * others: 1 + (n-2) f in all, and it receives as much. So a slow link needs a small part. With the
 * rates w_i of the links (1 is a fast one), all links are busy for the same time T (in vectors over
 * a fast link) if
 *
 *     f_i = (T w_i - 1) / (n - 2)        T = 2(n-1) / sum(w)
 *
 * which is the lower bound of theorem 2 for any rates. A link that is so slow that its f would be
 * negative owns nothing and takes T = 1 / w; the others share as above with this T, cut down to 1.
 *
 *     n = 5, rank 4 at 4/5 of the speed    T = 8/4.8 = 5/3    rank 4 owns 1/9, the others 2/9 each
 *     n = 5, rank 4 at half the speed      T = 2              rank 4 owns none, the others 1/4 each
 *
 * Both halves overlap: while contributions to segment m travel, so do sums of segment m-1. Fast
 * ranks do both around a ring. With a slow rank all ranks exchange directly, a piece in every
 * round. So a fast rank's link always has one flow of the ring and thin flows of the slow ranks; a
 * slow link has thin flows only, and none of them waits for another. Ranks 0 to 3 are fast, rank 4
 * has half the speed; what they send around segment m:
 *
 *     round    ring: contributions    ring: sums of m-1      rank 4
 *     3m       r sends block r-1      r sends block r        its first thirds to 0, 1, 2 and 3
 *     3m + 1   r sends block r-2      r sends block r-1      its second thirds to all of them
 *     3m + 2   r sends block r-3      r sends block r-2      its last thirds
 *
 * while each of the others sends rank 4 a third of its sum of segment m-1 in every round.
 *
 * With several ranks per host, the hosts do this once for every local rank, each with its part of
 * the vector: a segment's part is collected from the siblings one body before, and given to them
 * one body after (siblings.h). Without slow links it is the ring.
 *
 * (Not in the paper; theorem 2 is that of P. Chen et al., "Don't let a
 * few network failures slow the entire allreduce".)
 */
#include "algorithms/ring.h"
#include "algorithms/siblings.h"
#include "algorithms/skips.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

enum { SEGMENTS_MIN = 2 };

/* The most pieces of a block, for exchanges with slow ranks, and so of flows on a slow link. */
enum { PIECES_MAX = 32 };

enum { HOSTS_MAX = 1 << 20 }; /* so that shares fit into 64 bits */

struct weighted {
    struct strag_uplinks uplinks;
    int ranks_per_host;
    int fast, slow; /* hosts */
    int owners;     /* fast hosts, and slow ones that own something, the last in order */
    int slow_own;   /* the first of these slow hosts */
    int64_t *share; /* [place] */
    int64_t shares; /* of all owners */
    int segments;
    int pieces; /* that every owner's block of a segment is cut into */
    int body;   /* rounds per segment */
    int before; /* bodies before a segment sets out on the network: 1 with siblings */
};

/* ---- Shares ---- */

/* What a host may own, in a unit that is the same for all. */
static int64_t weight(const struct strag_uplinks_count *count, int64_t rate)
{
    int64_t twice = 2 * ((int64_t)count->fast + count->slow - 1);
    if (count->slow == 0)
        return 1;
    return twice * count->slowest > count->total ? twice * rate - count->total
                                                 : rate - count->slowest;
}

static void find_shares(struct weighted *weighted, const struct strag_uplinks_count *count)
{
    const struct strag_uplinks *uplinks = &weighted->uplinks;
    int64_t common = 0;
    for (int place = 0; place < uplinks->hosts; place++) {
        weighted->share[place] = weight(count, uplinks->rate[place]);
        common = strag_gcd(common, weighted->share[place]);
    }
    for (int place = 0; place < uplinks->hosts; place++) {
        weighted->share[place] /= common;
        weighted->shares += weighted->share[place];
    }
}

/* The number of a host's block within a part of a segment, or -1 if it owns nothing. */
static int owner(const struct weighted *weighted, int place)
{
    if (place < weighted->fast)
        return place;
    return place < weighted->slow_own ? -1 : place - (weighted->slow_own - weighted->fast);
}

/* The host of a block. */
static int owner_place(const struct weighted *weighted, int number)
{
    return number < weighted->fast ? number : number + (weighted->slow_own - weighted->fast);
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

static void set_hosts(struct weighted *weighted, const struct strag_uplinks_count *count)
{
    int none = count->slow > 0 && weight(count, count->slowest) == 0 ? count->slowest_ones : 0;
    weighted->ranks_per_host = count->ranks_per_host;
    weighted->fast = count->fast;
    weighted->slow = count->slow;
    weighted->slow_own = count->fast + none;
    weighted->owners = count->fast + count->slow - none;
    weighted->body = count->fast > 2 ? count->fast - 1 : 1;
    weighted->pieces = weighted->body < PIECES_MAX ? weighted->body : PIECES_MAX;
    if (count->slow == 0)
        weighted->pieces = 1;
    weighted->before = count->ranks_per_host > 1;
}

/* Blocks of a segment. */
static int64_t segment_blocks(const struct weighted *weighted)
{
    return (int64_t)weighted->owners * weighted->pieces * weighted->ranks_per_host;
}

static int find_segments(const struct strag_problem *problem, struct weighted *weighted,
                         struct strag_error *err)
{
    int64_t blocks = segment_blocks(weighted), segments = 1;
    if (weighted->slow)
        segments = strag_uplinks_segments(SEGMENTS_MIN, weighted->body);
    if (problem->blocks >= blocks)
        segments = problem->blocks / blocks;
    double units = (double)weighted->shares * weighted->body * weighted->ranks_per_host;
    if (units * (double)segments > 4e18)
        return strag_fail(err, STRAG_ERR_UNSUPPORTED,
                          "weighted cannot count the shares of %d hosts in %lld segments",
                          weighted->uplinks.hosts, (long long)segments);
    if (segments * blocks > INT32_MAX - 1 || (segments + 3) * weighted->body > INT32_MAX - 1)
        return strag_fail(err, STRAG_ERR_UNSUPPORTED,
                          "weighted cuts the vector into %d blocks at most, too few for %d ranks",
                          INT32_MAX - 1, problem->n);
    weighted->segments = (int)segments;
    return STRAG_OK;
}

static int check(const struct strag_problem *problem, struct strag_error *err)
{
    const struct strag_uplinks_count count = strag_uplinks_count(problem);
    if (count.fast + count.slow > HOSTS_MAX)
        return strag_fail(err, STRAG_ERR_UNSUPPORTED, "weighted counts up to %d hosts, not %d",
                          HOSTS_MAX, count.fast + count.slow);
    return strag_uplinks_check(problem, err);
}

static int prepare(const struct strag_problem *problem, void **prepared, struct strag_error *err)
{
    const struct strag_uplinks_count count = strag_uplinks_count(problem);
    struct weighted *weighted = calloc(1, sizeof *weighted);
    if (!weighted)
        return strag_fail(err, STRAG_ERR_MEMORY, "out of memory for %d ranks", problem->n);
    int status = strag_uplinks_open(problem, count.fast, &weighted->uplinks, err);
    if (status == STRAG_OK) {
        set_hosts(weighted, &count);
        weighted->share = calloc((size_t)weighted->uplinks.hosts, sizeof *weighted->share);
        if (weighted->share)
            find_shares(weighted, &count);
        status = weighted->share
                     ? find_segments(problem, weighted, err)
                     : strag_fail(err, STRAG_ERR_MEMORY, "out of memory for the shares of %d ranks",
                                  problem->n);
    }
    if (status == STRAG_OK)
        *prepared = weighted;
    else
        release(weighted);
    return status;
}

static int64_t blocks_of(void *of, int segments)
{
    return segments * segment_blocks(of);
}

/* With more segments, less is lost at both ends, but more rounds wait for their latency. */
static int choices(const struct strag_problem *problem, int *blocks)
{
    const struct strag_uplinks_count hosts = strag_uplinks_count(problem);
    struct weighted weighted = {.slow = 0};
    set_hosts(&weighted, &hosts);
    return strag_uplinks_choices(weighted.slow, SEGMENTS_MIN, weighted.body, blocks_of, &weighted,
                                 blocks);
}

/* ---- Claims ---- */

static bool is_ring(const struct weighted *weighted)
{
    return weighted->slow == 0 && weighted->ranks_per_host == 1;
}

static double sent_by(const struct weighted *weighted, int place)
{
    double hosts = weighted->uplinks.hosts, g = weighted->ranks_per_host;
    double own = (double)weighted->share[place] / (double)weighted->shares;
    return (1 + (hosts - 2) * own) / g + 2 * (g - 1) / g;
}

static double sent_max(const struct strag_problem *problem)
{
    const struct weighted *weighted = problem->prepared;
    double most = 0;
    for (int place = 0; place < weighted->uplinks.hosts; place++)
        most = fmax(most, sent_by(weighted, place));
    return most;
}

static void claim(const struct strag_problem *problem, struct strag_claim *claim)
{
    const struct weighted *weighted = problem->prepared;
    const struct strag_uplinks *uplinks = &weighted->uplinks;
    *claim = (struct strag_claim){
        .rounds = (weighted->segments + 1 + 2 * weighted->before) * weighted->body,
        .blocks = weighted->segments * uplinks->ranks_per_host * part_blocks(weighted),
        .ports = is_ring(weighted),
    };
}

/* A body has a window of rounds for every piece; a longer window has a larger piece. @return the
 * window's first round, or the body's end if `piece` is the number of pieces */
static int window_first(const struct weighted *weighted, int piece)
{
    return (int)((int64_t)piece * weighted->body / weighted->pieces);
}

/* There may be hundreds of thousands of blocks, so there is no division for each. */
static void bounds(const struct strag_problem *problem, struct strag_bounds *bounds)
{
    const struct weighted *weighted = problem->prepared;
    int64_t start = 0, window[PIECES_MAX] = {0};
    for (int piece = 0; piece < weighted->pieces; piece++)
        window[piece] = window_first(weighted, piece + 1) - window_first(weighted, piece);
    for (int b = 0, number = 0; b < bounds->blocks; number = (number + 1) % weighted->owners) {
        const int64_t share = weighted->share[owner_place(weighted, number)];
        for (int piece = 0; piece < weighted->pieces; piece++) {
            bounds->numerator[b++] = start;
            start += share * window[piece];
        }
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
    int adding, given; /* the segments whose contributions, and whose sums, travel */
};

static bool exists(const struct weighted *weighted, int segment)
{
    return segment >= 0 && segment < weighted->segments;
}

/* The first block of a part of a segment. */
static int part_first(const struct turn *turn, int segment, int part)
{
    const struct weighted *weighted = turn->weighted;
    return (segment * weighted->ranks_per_host + part) * part_blocks(weighted);
}

static int peer(const struct turn *turn, int place)
{
    return strag_uplinks_rank(&turn->weighted->uplinks, place, turn->index);
}

/* A fast host's place in the ring, for a segment. */
static struct strag_ring_place ring_place(const struct turn *turn, int segment)
{
    int fast = turn->weighted->fast, before = (turn->place + fast - 1) % fast;
    return (struct strag_ring_place){
        .at = before, /* so that each ends with the sum of its own block */
        .size = fast,
        .next = peer(turn, (turn->place + 1) % fast),
        .previous = peer(turn, before),
        .first = part_first(turn, segment, turn->index),
        .chunk = turn->weighted->pieces,
    };
}

static void ring_step(const struct turn *turn)
{
    const struct weighted *weighted = turn->weighted;
    if (turn->place >= weighted->fast || weighted->fast < 2)
        return;
    for (int gather = 0; gather < 2; gather++) {
        int segment = gather ? turn->given : turn->adding;
        const struct strag_ring_place place = ring_place(turn, segment);
        if (exists(weighted, segment))
            strag_ring_step(&place, turn->step, gather, turn->round, turn->builder);
    }
}

/* Append the exchange of a piece of the own host's block, and of a piece of the other host's. */
static void exchange(const struct turn *turn, int place, int piece)
{
    const struct weighted *weighted = turn->weighted;
    int mine = owner(weighted, turn->place), theirs = owner(weighted, place);
    for (int gather = 0; gather < 2; gather++) {
        int segment = gather ? turn->given : turn->adding;
        int first = part_first(turn, segment, turn->index) + piece;
        int sent = gather ? mine : theirs, received = gather ? theirs : mine;
        if (!exists(weighted, segment))
            continue;
        strag_stage(turn->builder, gather ? "allgather" : "reduce-scatter");
        if (sent >= 0)
            strag_send(turn->builder, turn->round, peer(turn, place),
                       first + sent * weighted->pieces, 1);
        if (received >= 0)
            strag_cyclic(turn->builder, gather ? STRAG_RECV : STRAG_RECV_REDUCE, turn->round,
                         peer(turn, place), first + received * weighted->pieces, 1);
    }
}

/* Append exchanges with slow hosts. In a window of several rounds, the sum of two hosts' numbers
 * selects the round in which they meet, so that meetings are spread. */
static void meet_slow(const struct turn *turn)
{
    const struct weighted *weighted = turn->weighted;
    const struct strag_uplinks *uplinks = &weighted->uplinks;
    int64_t passed = (int64_t)(turn->step + 1) * weighted->pieces - 1;
    int piece = (int)(passed / weighted->body);
    int start = window_first(weighted, piece);
    int length = window_first(weighted, piece + 1) - start;
    int first = turn->place < weighted->fast ? weighted->fast : 0;
    int wait = (turn->step - start - turn->place - first) % length;
    for (int place = first + (wait + length) % length; place < uplinks->hosts; place += length) {
        if (place != turn->place)
            exchange(turn, place, piece);
    }
}

/* The part of a segment's blocks that siblings exchange in this round. */
static struct strag_strided local_blocks(const struct turn *turn, int segment)
{
    return strag_siblings_share(part_first(turn, segment, 0), part_blocks(turn->weighted),
                                turn->step, turn->weighted->body);
}

static void meet_siblings(const struct turn *turn, int segment, bool collect)
{
    const struct weighted *weighted = turn->weighted;
    if (exists(weighted, segment))
        strag_siblings_exchange(&weighted->uplinks, turn->rank, turn->round,
                                local_blocks(turn, segment), collect, turn->builder);
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
        if (weighted->ranks_per_host > 1) {
            int body = turn.round / weighted->body;
            meet_siblings(&turn, body, true);
            meet_siblings(&turn, body - 3, false);
        }
    }
}

/* Without slow hosts a body's rounds differ only in how many blocks siblings exchange. */
static int same_to_end(const struct weighted *weighted, int round)
{
    const int steps = weighted->body, step = round % steps;
    int end = step + 1;
    while (end < steps && strag_siblings_share(0, part_blocks(weighted), end, steps).count ==
                              strag_siblings_share(0, part_blocks(weighted), step, steps).count)
        end++;
    return end - step;
}

/* Bodies with all stages are identical, and so are the rounds of a body if no host is slow. */
static int same_rounds(const struct strag_problem *problem, int round, int *period)
{
    const struct weighted *weighted = problem->prepared;
    int body = round / weighted->body, first = 1 + 2 * weighted->before;
    int bodies = body >= first && body < weighted->segments ? weighted->segments - body : 1;
    if (is_ring(weighted))
        return bodies * weighted->body - round % weighted->body;
    if (weighted->slow == 0)
        return same_to_end(weighted, round);
    if (round % weighted->body)
        return 1;
    *period = weighted->body;
    return bodies;
}

/* The blocks of a segment. */
static int unit(const struct strag_problem *problem)
{
    return (int)segment_blocks(problem->prepared);
}

const struct strag_algorithm strag_weighted = {
    .name = "weighted",
    .summary = "links of any rates: a slow one carries as much less",
    .rounds = "(k+1)(h-1)",
    .sent = "1+(n-2)f",
    .check = check,
    .prepare = prepare,
    .release = release,
    .adds_nothing = strag_uplinks_equal,
    .takes_long = strag_uplinks_many,
    .choices = choices,
    .claim = claim,
    .sent_max = sent_max,
    .build = build,
    .bounds = bounds,
    .same_rounds = same_rounds,
    .unit = unit,
};
