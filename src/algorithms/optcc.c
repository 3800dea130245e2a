/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * OptCC: one host's link (or a few) is slow, and the others hardly notice.
 *
 * The fast hosts, h of them, form a ring; a slow one stands beside it. The vector is cut into k
 * segments, a segment into sections, and each section goes through four stages:
 *
 *     1  around the ring, where every fast host adds its contribution     h - 1 hops
 *     2  up to the slow host                                              one message
 *     3  down from the slow host                                          one message
 *     4  around the ring once more, given to every fast host              h - 1 hops
 *
 * in one of two orders: 1 2 3 4, where the slow host finishes the sum (patterns A and C), or 3 1 4
 * 2, where its contribution goes in first and the sum comes back last (B and D). Segments take the
 * patterns in turn.
 *
 * No link ever carries two flows that compete. In every window the slow host stands in one edge of
 * the ring, in the next window in the next edge: the edge's first host sends to it, the edge's
 * second host receives from it, and the edge itself is free. All other edges carry a section in
 * stage 1 and one in stage 4. Sections move on by one edge per window as well: each keeps its
 * distance to the slow host, its track. h = 4 fast hosts 0 to 3, slow host s, window by window,
 * "01" is a hop of the ring:
 *
 *     window           0            1            2            3
 *     slow host        0 -> s -> 1  1 -> s -> 2  2 -> s -> 3  3 -> s -> 0
 *     track 1          12           23           30           01
 *     track 2          23           30           01           12
 *     track 3          30           01           12           23
 *
 * A body is h - 1 windows: in it the sections of a segment go around once, and the slow host meets
 * their h - 1 owners. Stages of the segments, body by body (optcc_lanes.c has the windows):
 *
 *     body       0    1    2    3    4    5
 *     stage 1    A    B    C    D                 k = 4 segments
 *     stage 2         A    B    C    D
 *     stage 3         B    A    D    C
 *     stage 4              B    A    D    C
 *
 * A window takes the time of two sections over a fast link, or of one over the slow link. With l >=
 * 2, as here, the first body and the last take that of one section over a fast link, and the whole
 * l k + 2 vectors over a fast link, by k. With l < 2 that is not worth while, and all segments are
 * of pattern B, with stages 3 and 1 in one body, 4 and 2 in the next. Then the slow host has time
 * left in every window: chunks fill it, which all fast hosts send to it directly, one per window,
 * and get back in the next h windows. A chunk has (2-l)/l of a section, so that every link is busy
 * in every window, and the whole takes 2(n-1) l / ((n-2) l + 2) * (k+l-1)/k: theorem 6's bound for
 * large k.
 *
 * Several slow hosts stand in different edges; the slowest finishes A and C, the others add their
 * contributions before the ring ends, and get the sum while it goes around.  With several ranks per
 * host the hosts do this, once for each local rank and its part of the vector: the part of a
 * segment is collected from the siblings in the body before, and given to them in the body after
 * (siblings.h). Three fast hosts or fewer leave no time for A either.
 * Without a slow host there are no windows to fill, and it is the ring. It takes more fast hosts
 * than slow ones: the least slow are taken for fast until there are.
 *
 * (P. Chen et al., "Don't let a few network failures slow the entire allreduce", section 4 and
 * appendices C to E. The paper's bodies have a window more; ours are as long as a trip around the
 * ring, so that no section ever waits.)
 */
#include "algorithms/optcc.h"
#include "algorithms/siblings.h"

#include <limits.h>
#include <stdlib.h>

/* By default; and how many are compared, if they make no more windows than that. */
enum { SEGMENTS_MIN = 4, SEGMENTS = 16, SEGMENTS_MAX = 256, WINDOWS = 4096 };

/* ---- Preparing ---- */

/* Where everything is with k segments. @return blocks in all, which may be too many */
static int64_t lay_out(struct optcc *optcc, int64_t segments)
{
    int64_t windows = (segments + (optcc->mixed ? 2 : 1)) * optcc->body;
    int64_t chunks = optcc->chunk > 0 && windows > optcc->fast ? windows / optcc->fast - 1 : 0;
    int64_t sections = segments * optcc->sections;
    optcc->segments = (int)segments;
    optcc->chunks = (int)chunks;
    optcc->total = (sections * optcc->section + chunks * optcc->chunk) * optcc->ranks_per_host;
    return (sections + chunks) * optcc->ranks_per_host;
}

/* As many segments as are wanted, or the first number that gives as many blocks. */
static int64_t find_segments(const struct strag_problem *problem, struct optcc *optcc)
{
    int64_t step = optcc->slow ? 4 : 1;
    if (problem->blocks == 0 && optcc->slow == 0)
        return 1;
    if (problem->blocks == 0) {
        int64_t usual = SEGMENTS;
        while (usual > SEGMENTS_MIN && usual * optcc->body > WINDOWS)
            usual /= 2;
        return usual;
    }
    int64_t low = 1, high = problem->blocks / step + 1;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (lay_out(optcc, middle * step) < problem->blocks)
            low = middle + 1;
        else
            high = middle;
    }
    return low * step;
}

/* The numbers that follow from how many links are slow, and how slow the slowest is. Of many the
 * least slow count as fast, so that there is a track for a section at least. */
static void set_hosts(struct optcc *optcc, const struct strag_uplinks_count *count)
{
    int hosts = count->fast + count->slow, most = (hosts - 1) / 2;
    optcc->slow = count->slow < most ? count->slow : most;
    optcc->fast = hosts - optcc->slow;
    optcc->ranks_per_host = count->ranks_per_host;
    optcc->body = optcc->fast - 1;
    optcc->sections = optcc->fast - optcc->slow;
    optcc->mixed = optcc->slow > 0 && optcc->fast > 3 && 2 * count->slowest <= STRAG_UPLINK_FULL;
    optcc->section = STRAG_UPLINK_FULL;
    int64_t bubble = 2 * (int64_t)count->slowest - STRAG_UPLINK_FULL;
    optcc->chunk = optcc->slow == 1 && bubble > 0 ? bubble : 0;
}

static int find_times(const struct strag_problem *problem, struct optcc *optcc,
                      struct strag_error *err)
{
    bool local = optcc->ranks_per_host > 1;
    int64_t segments = find_segments(problem, optcc);
    if (lay_out(optcc, segments) > INT32_MAX - 1 ||
        (segments + 5) * (int64_t)optcc->fast > INT32_MAX - 1)
        return strag_fail(err, STRAG_ERR_UNSUPPORTED,
                          "optcc cuts the vector into %d blocks at most, too few for %d ranks",
                          INT32_MAX - 1, problem->n);
    optcc->lead = local ? optcc->fast : optcc->slow > (optcc->mixed ? 1 : 0);
    optcc->rounds = optcc->lead + optcc_windows(optcc);
    if (local)
        optcc->rounds = optcc->lead + (optcc->segments + (optcc->mixed ? 3 : 2)) * optcc->body + 1;
    return STRAG_OK;
}

/* Slow hosts stand on tracks that are equally far from each other. */
static int find_tracks(struct optcc *optcc, struct strag_error *err)
{
    size_t fast = (size_t)optcc->fast, slow = (size_t)optcc->slow;
    optcc->section_of = malloc(fast * sizeof *optcc->section_of);
    optcc->slow_on = malloc(fast * sizeof *optcc->slow_on);
    optcc->track_of = malloc((slow + 1) * sizeof *optcc->track_of);
    if (!optcc->section_of || !optcc->slow_on || !optcc->track_of)
        return strag_fail(err, STRAG_ERR_MEMORY, "out of memory for %d tracks", optcc->fast);
    for (int track = 0; track < optcc->fast; track++)
        optcc->slow_on[track] = -1;
    for (int s = 0; s < optcc->slow; s++) {
        optcc->track_of[s] = (int32_t)((int64_t)s * optcc->fast / optcc->slow);
        optcc->slow_on[optcc->track_of[s]] = s;
    }
    for (int track = 0, sections = 0; track < optcc->fast; track++)
        optcc->section_of[track] = optcc->slow_on[track] < 0 ? sections++ : -1;
    return STRAG_OK;
}

static int check(const struct strag_problem *problem, struct strag_error *err)
{
    struct strag_uplinks_count count;
    int status = strag_uplinks_count(problem, &count, err);
    if (status != STRAG_OK || problem->n == 1)
        return status;
    if (count.fast + count.slow < 2)
        return strag_fail(err, STRAG_ERR_UNSUPPORTED, "optcc needs two hosts at least, not 1");
    return STRAG_OK;
}

static void release(void *prepared)
{
    struct optcc *optcc = prepared;
    strag_uplinks_close(&optcc->uplinks);
    free(optcc->section_of);
    free(optcc->slow_on);
    free(optcc->track_of);
    free(optcc);
}

static int prepare(const struct strag_problem *problem, void **prepared, struct strag_error *err)
{
    struct optcc *optcc = calloc(1, sizeof *optcc);
    struct strag_uplinks_count count;
    if (!optcc)
        return strag_fail(err, STRAG_ERR_MEMORY, "out of memory for %d ranks", problem->n);
    int status = strag_uplinks_count(problem, &count, err);
    if (status == STRAG_OK) {
        set_hosts(optcc, &count);
        status = strag_uplinks_open(problem, optcc->fast, &optcc->uplinks, err);
    }
    if (status == STRAG_OK) {
        optcc->equal_ring =
            optcc->uplinks.rate[0] == STRAG_UPLINK_FULL && count.slow == optcc->slow;
        status = find_tracks(optcc, err);
    }
    if (status == STRAG_OK)
        status = find_times(problem, optcc, err);
    if (status == STRAG_OK)
        *prepared = optcc;
    else
        release(optcc);
    return status;
}

static int64_t blocks_of(void *of, int segments)
{
    return lay_out(of, segments);
}

/* With more segments less is lost at both ends, but more windows wait for their latency. */
static int choices(const struct strag_problem *problem, int *blocks)
{
    struct strag_uplinks_count hosts;
    struct optcc optcc = {.slow = 0};
    if (strag_uplinks_count(problem, &hosts, NULL) == STRAG_OK)
        set_hosts(&optcc, &hosts);
    const struct strag_uplinks_segments segments = {SEGMENTS_MIN, SEGMENTS_MAX, optcc.body,
                                                    WINDOWS};
    return strag_uplinks_choices(&segments, optcc.slow, blocks_of, &optcc, blocks);
}

/* ---- Claims ---- */

static void claim(const struct strag_problem *problem, struct strag_claim *claim)
{
    const struct optcc *optcc = problem->prepared;
    int g = optcc->ranks_per_host;
    *claim = (struct strag_claim){
        .rounds = optcc->rounds,
        .blocks = (optcc->segments * optcc->sections + optcc->chunks) * g,
        .sent_max = optcc_sent_max(optcc),
        .one_ported = g == 1,
    };
}

/* Segment by segment, in it part by part; behind them the chunks, likewise. */
static void bounds(const struct strag_problem *problem, struct strag_bounds *bounds)
{
    const struct optcc *optcc = problem->prepared;
    int sections = optcc->segments * optcc->sections * optcc->ranks_per_host;
    for (int b = 0; b <= bounds->blocks; b++)
        bounds->numerator[b] = b <= sections
                                   ? b * optcc->section
                                   : sections * optcc->section + (b - sections) * optcc->chunk;
    bounds->denominator = optcc->total;
}

/* ---- Plans ---- */

/* One rank, in one round. */
struct turn {
    const struct optcc *optcc;
    struct strag_builder *builder;
    int rank, place, index;
    int round, window;
};

static int section_block(const struct turn *turn, int segment, int part, int section)
{
    const struct optcc *optcc = turn->optcc;
    return (segment * optcc->ranks_per_host + part) * optcc->sections + section;
}

static int chunk_block(const struct turn *turn, int chunk, int part)
{
    return section_block(turn, turn->optcc->segments, 0, 0) + chunk * turn->optcc->ranks_per_host +
           part;
}

static void send_move(const struct turn *turn, int place, const char *stage, struct optcc_move move)
{
    if (move.segment < 0)
        return;
    strag_stage(turn->builder, stage);
    strag_send(turn->builder, turn->round,
               strag_uplinks_rank(&turn->optcc->uplinks, place, turn->index),
               section_block(turn, move.segment, turn->index, move.section), 1);
}

static void receive_move(const struct turn *turn, int place, const char *stage,
                         struct optcc_move move)
{
    if (move.segment < 0)
        return;
    int peer = strag_uplinks_rank(&turn->optcc->uplinks, place, turn->index);
    int block = section_block(turn, move.segment, turn->index, move.section);
    strag_stage(turn->builder, stage);
    if (move.adds)
        strag_recv_reduce(turn->builder, turn->round, peer, block, 1);
    else
        strag_recv(turn->builder, turn->round, peer, block, 1);
}

static const char *const ring_adds = "ring: add", *const ring_gives = "ring: give";
static const char *const goes_up = "to the slow host", *const comes_down = "from the slow host";
static const char *const fills = "bubbles";

static void fast_sends(const struct turn *turn)
{
    const struct optcc *optcc = turn->optcc;
    int slow = optcc->slow_on[optcc_track(optcc, turn->place - turn->window)];
    if (slow < 0) {
        int next = (turn->place + 1) % optcc->fast;
        send_move(turn, next, ring_adds, optcc_ring_add(optcc, turn->place, turn->window));
        send_move(turn, next, ring_gives, optcc_ring_give(optcc, turn->place, turn->window));
        return;
    }
    int chunk = optcc_chunk(optcc, turn->window);
    send_move(turn, optcc->fast + slow, goes_up, optcc_upload(optcc, slow, turn->window));
    if (chunk >= 0) {
        strag_stage(turn->builder, fills);
        strag_send(turn->builder, turn->round,
                   strag_uplinks_rank(&optcc->uplinks, optcc->fast + slow, turn->index),
                   chunk_block(turn, chunk, turn->index), 1);
    }
}

static void fast_receives(const struct turn *turn)
{
    const struct optcc *optcc = turn->optcc;
    int previous = optcc_track(optcc, turn->place - 1);
    int slow = optcc->slow_on[optcc_track(optcc, previous - turn->window)];
    if (slow < 0) {
        receive_move(turn, previous, ring_adds, optcc_ring_add(optcc, previous, turn->window));
        receive_move(turn, previous, ring_gives, optcc_ring_give(optcc, previous, turn->window));
        return;
    }
    int chunk = optcc_chunk(optcc, turn->window - optcc->fast);
    receive_move(turn, optcc->fast + slow, comes_down, optcc_download(optcc, slow, turn->window));
    if (chunk >= 0) {
        strag_stage(turn->builder, fills);
        strag_recv(turn->builder, turn->round,
                   strag_uplinks_rank(&optcc->uplinks, optcc->fast + slow, turn->index),
                   chunk_block(turn, chunk, turn->index), 1);
    }
}

static void slow_turn(const struct turn *turn)
{
    const struct optcc *optcc = turn->optcc;
    const struct strag_uplinks *uplinks = &optcc->uplinks;
    int slow = turn->place - optcc->fast;
    int before = optcc_track(optcc, optcc->track_of[slow] + turn->window);
    int behind = (before + 1) % optcc->fast;
    int up = optcc_chunk(optcc, turn->window);
    int down = optcc_chunk(optcc, turn->window - optcc->fast);
    send_move(turn, behind, comes_down, optcc_download(optcc, slow, turn->window));
    if (down >= 0) {
        strag_stage(turn->builder, fills);
        strag_send(turn->builder, turn->round, strag_uplinks_rank(uplinks, behind, turn->index),
                   chunk_block(turn, down, turn->index), 1);
    }
    receive_move(turn, before, goes_up, optcc_upload(optcc, slow, turn->window));
    if (up >= 0) {
        strag_stage(turn->builder, fills);
        strag_recv_reduce(turn->builder, turn->round,
                          strag_uplinks_rank(uplinks, before, turn->index),
                          chunk_block(turn, up, turn->index), 1);
    }
}

/* The sections of a segment that siblings exchange in this window, of all parts. */
static struct strag_strided local_sections(const struct turn *turn, struct optcc_local local)
{
    const struct optcc *optcc = turn->optcc;
    int64_t sections = optcc->sections;
    int begin = (int)(local.step * sections / optcc->body);
    int end = (int)((local.step + 1) * sections / optcc->body);
    return (struct strag_strided){
        .first = section_block(turn, local.segment, 0, begin),
        .count = end - begin,
        .part = optcc->sections,
    };
}

static struct strag_strided local_chunk(const struct turn *turn, struct optcc_local local)
{
    return (struct strag_strided){chunk_block(turn, local.chunk, 0), 1, 1};
}

static void meet_siblings(const struct turn *turn)
{
    const struct optcc *optcc = turn->optcc;
    const struct strag_uplinks *uplinks = &optcc->uplinks;
    struct optcc_local local = optcc_collect(optcc, turn->window);
    if (local.segment >= 0)
        strag_siblings_collect(uplinks, turn->rank, turn->round, local_sections(turn, local),
                               turn->builder);
    if (local.chunk >= 0)
        strag_siblings_collect(uplinks, turn->rank, turn->round, local_chunk(turn, local),
                               turn->builder);
    local = optcc_distribute(optcc, turn->window);
    if (local.segment >= 0)
        strag_siblings_distribute(uplinks, turn->rank, turn->round, local_sections(turn, local),
                                  turn->builder);
    if (local.chunk >= 0)
        strag_siblings_distribute(uplinks, turn->rank, turn->round, local_chunk(turn, local),
                                  turn->builder);
}

static void build(const struct strag_problem *problem, int rank, struct strag_builder *builder)
{
    const struct optcc *optcc = problem->prepared;
    struct strag_rounds wanted = strag_rounds_wanted(builder);
    struct turn turn = {
        .optcc = optcc,
        .builder = builder,
        .rank = rank,
        .place = optcc->uplinks.place[rank],
        .index = optcc->uplinks.index[rank],
    };
    for (turn.round = wanted.first; turn.round < wanted.end; turn.round++) {
        turn.window = turn.round - optcc->lead;
        if (turn.place < optcc->fast) {
            fast_sends(&turn);
            fast_receives(&turn);
        } else {
            slow_turn(&turn);
        }
        if (optcc->ranks_per_host > 1)
            meet_siblings(&turn);
    }
}

/* Around a ring nothing but the blocks changes. Beside it a slow host moves, and it combines what
 * it receives in every other segment. */
static int alike(const struct strag_problem *problem, int round)
{
    const struct optcc *optcc = problem->prepared;
    if (optcc->slow == 0 && optcc->ranks_per_host == 1) {
        int end = optcc->segments * optcc->body;
        end = round < optcc->body ? optcc->body : round < end ? end : optcc->rounds;
        return end - round;
    }
    return 1;
}

/* Of what siblings exchange: how many sections, and is there a chunk? */
static int add_local(const struct optcc *optcc, struct optcc_local local, int64_t *kind)
{
    const struct turn turn = {.optcc = optcc};
    kind[0] = local.segment >= 0 ? local_sections(&turn, local).count : 0;
    kind[1] = local.chunk >= 0;
    return 2;
}

/* With every window all goes on by one place of the ring: what counts is which lanes are used. */
static int find_kind(const struct strag_problem *problem, int round, int64_t *kind)
{
    const struct optcc *optcc = problem->prepared;
    int window = round - optcc->lead, count = 0;
    if (optcc->slow > (STRAG_KIND_MAX - 8) / 2 || !optcc->equal_ring)
        return 0;
    int track = 0; /* of a section */
    while (optcc->section_of[track] < 0)
        track++;
    kind[count++] = optcc_ring_add(optcc, track + window, window).segment >= 0;
    kind[count++] = optcc_ring_give(optcc, track + window, window).segment >= 0;
    kind[count++] = optcc->slow == 1 && optcc_chunk(optcc, window) >= 0;
    kind[count++] = optcc->slow == 1 && optcc_chunk(optcc, window - optcc->fast) >= 0;
    for (int s = 0; s < optcc->slow; s++) {
        struct optcc_move up = optcc_upload(optcc, s, window);
        struct optcc_move down = optcc_download(optcc, s, window);
        kind[count++] = up.segment < 0 ? 0 : 1 + up.adds;
        kind[count++] = down.segment < 0 ? 0 : 1 + down.adds;
    }
    count += add_local(optcc, optcc_collect(optcc, window), kind + count);
    return count + add_local(optcc, optcc_distribute(optcc, window), kind + count);
}

/* Where nobody is slow hosts move on around the ring, and ranks within their host. */
static int like(const struct strag_problem *problem, enum strag_machine machine, int rank)
{
    const struct optcc *optcc = problem->prepared;
    return machine == STRAG_MACHINE_SWITCH && optcc->slow == 0 ? 0 : rank;
}

const struct strag_algorithm strag_optcc = {
    .name = "optcc",
    .summary = "few slow links: they carry what only they can, beside a ring of the others",
    .rounds = "(k+2)(n-2)",
    .sent = "1 to 2",
    .check = check,
    .prepare = prepare,
    .release = release,
    .adds_nothing = strag_uplinks_alike,
    .choices = choices,
    .claim = claim,
    .build = build,
    .bounds = bounds,
    .alike = alike,
    .kind = find_kind,
    .like = like,
};
