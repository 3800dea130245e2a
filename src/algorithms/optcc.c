/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * OptCC: if one host's link (or a few) is slow, the other hosts are hardly slowed down.
 *
 * The fast hosts, h of them, form a ring; a slow one stands next to it. The vector is cut into k
 * segments, a segment into sections, and each section goes through four stages:
 *
 *     1  around the ring, on which every fast host adds its contribution     h - 1 hops
 *     2  up to the slow host                                              one message
 *     3  down from the slow host                                          one message
 *     4  around the ring once more, given to every fast host              h - 1 hops
 *
 * in one of two orders: 1 2 3 4, in which the slow host finishes the sum (patterns A and C), or 3 1
 * 4 2, in which its contribution goes in first and the sum comes back last (B and D). Segments take
 * the patterns in turn.
 *
 * No link ever carries two flows that compete. In every window the slow host stands in one edge of
 * the ring, in the next window in the next edge: the edge's first host sends to it, the edge's
 * second host receives from it, and the edge itself is free. All other edges carry a section in
 * stage 1 and one in stage 4. Sections move on by one edge per window as well, so that each keeps
 * its distance to the slow host: its track. h = 4 fast hosts 0 to 3, slow host s, window by window,
 * "01" is a hop of the ring:
 *
 *     window           0            1            2            3
 *     slow host        0 -> s -> 1  1 -> s -> 2  2 -> s -> 3  3 -> s -> 0
 *     track 1          12           23           30           01
 *     track 2          23           30           01           12
 *     track 3          30           01           12           23
 *
 * A body is h - 1 windows, in which the sections of a segment go around once, and the slow host
 * meets their h - 1 owners. Stages of the segments, body by body:
 *
 *     body       0    1    2    3    4    5
 *     stage 1    A    B    C    D                 k = 4 segments
 *     stage 2         A    B    C    D
 *     stage 3         B    A    D    C
 *     stage 4              B    A    D    C
 *
 * A window takes the time of two sections over a fast link, or of one over the slow link, which is
 * l times slower. With l >= 2, as here, windows of the first and the last body take the time of one
 * section over a fast link, and the whole takes the time of (l k + 2) / k vectors. With l < 2 this
 * is not worthwhile: all segments are of pattern B, with stages 3 and 1 in one body, 4 and 2 in the
 * next. Then the slow host has time left in every window, which chunks fill. All fast hosts send
 * them to it directly, one per window, and get them back in the next h windows. A chunk has (2-l)/l
 * of a section, so that every link is busy in every window, and the whole takes 2(n-1) l / ((n-2) l
 * + 2) * (k+l-1)/k: theorem 6's bound for large k.
 *
 * Several slow hosts stand in different edges. The slowest finishes A and C; the others add their
 * contributions before the ring ends, and get the sum while it goes around. With several ranks per
 * host, the hosts do this once for each local rank and its part of the vector: the part of a
 * segment is collected from the siblings in the body before, and given to them in the body after
 * (siblings.h). Three fast hosts or fewer leave no time for A either. Without a slow host there are
 * no windows to fill, and it is the ring. There must be more fast hosts than slow ones; if there
 * are not, the least slow ones count as fast.
 *
 * In numbers: windows count from 0, which is the first one of segment 0's stage 1. Section d of
 * segment m (d is its track) crosses the ring's edges d - m, d - m + 1, ... in the body m: edge e
 * leads from fast host e to e + 1, and e - window = d (mod fast) throughout. It ends at its owner,
 * d - m - 1. The slow host on track c stands in edge c + window, so it meets the owner as receiver
 * in window y - 2 of a body, and as sender in window y, with y = d - c (mod fast), 1 <= y <= fast -
 * 1: one section per window in both directions.
 *
 *     stage             patterns B, D (m odd)     A, C (m even)
 *     1 ring, add       body m                    body m
 *     2 to slow host    body m+1, window y        body m+1, window y
 *     3 from slow host  body m,   window y-2      body m+2, window y-2, to host d - m - 3
 *     4 ring, give      body m+1                  body m+3, from host d - m - 3
 *
 * Even bodies give odd segments and odd bodies even ones, so that no lane is used twice. With
 * several slow hosts, the first one (the slowest) alone finishes sums of A and C; the others add
 * to the owner before the ring ends (body m, window y-2), and get the sum while it goes around
 * (body m+3, window y).
 *
 * (P. Chen et al., "Don't let a few network failures slow the entire allreduce", section 4 and
 * appendices C to E. The paper's bodies have a window more; ours are as long as a trip around the
 * ring, so that no section ever waits.)
 *
 * This is one long file: plans, claims and identical rounds all follow from where a section is in a
 * window, so both halves of a cut would need the table above.
 */
#include "algorithms/siblings.h"

#include <limits.h>
#include <stdlib.h>

enum { SEGMENTS_MIN = 4, MANY_RANKS = 256 };

struct optcc {
    struct strag_uplinks uplinks;
    int ranks_per_host;
    int fast, slow;  /* hosts: of the ring, and next to it */
    int segments;    /* k */
    int body;        /* windows in which a section goes around the ring: fast - 1 */
    int sections;    /* of a segment: tracks that no slow host is on */
    bool mixed;      /* patterns A, B, C, D; else only B and D, which are the same */
    int chunks;      /* that fill the slow host's bubbles */
    int lead;        /* rounds before window 0 */
    int rounds;      /* of the whole collective */
    int64_t section; /* sizes, in units of which the vector has `total` */
    int64_t chunk;
    int64_t total;
    int32_t *section_of; /* [track]: number of its section in every segment, or -1 */
    int32_t *slow_on;    /* [track]: number of the slow host on it, or -1 */
    int32_t *track_of;   /* [slow host] */
};

/* A section in a stage. */
struct move {
    int segment; /* -1 if there is none */
    int section;
    bool adds; /* the receiver reduces it */
};

/* What siblings exchange in a window. */
struct local {
    int segment; /* -1 if there is none */
    int step;    /* of `body` steps */
    int chunk;   /* -1 if there is none */
};

/* x modulo fast, never negative. */
static int track_at(const struct optcc *optcc, int x)
{
    int rest = x % optcc->fast;
    return rest < 0 ? rest + optcc->fast : rest;
}

/* ---- Lanes: which section is where in which window ---- */

static const struct move nothing = {.segment = -1};

/* The body of a window, rounded down also for negative windows. */
static int body_of(const struct optcc *optcc, int window)
{
    return window >= 0 ? window / optcc->body : -((-window - 1) / optcc->body) - 1;
}

static bool exists(const struct optcc *optcc, int segment)
{
    return segment >= 0 && segment < optcc->segments;
}

static bool is_finished_by_slow(const struct optcc *optcc, int slow, int segment)
{
    return optcc->mixed && slow == 0 && segment % 2 == 0;
}

/* The segment whose sums go around the ring in a body. */
static int given_in(const struct optcc *optcc, int body)
{
    return body - (optcc->mixed && body % 2 != 0 ? 3 : 1);
}

static struct move section_move(const struct optcc *optcc, int segment, int track, bool adds)
{
    int section = optcc->section_of[track];
    if (!exists(optcc, segment) || section < 0)
        return nothing;
    return (struct move){.segment = segment, .section = section, .adds = adds};
}

/* Stage 1: what the fast host at `place` sends to the next one in a window. */
static struct move ring_add(const struct optcc *optcc, int place, int window)
{
    return section_move(optcc, body_of(optcc, window), track_at(optcc, place - window), true);
}

/* Stage 4, likewise. */
static struct move ring_give(const struct optcc *optcc, int place, int window)
{
    return section_move(optcc, given_in(optcc, body_of(optcc, window)),
                        track_at(optcc, place - window), false);
}

/* Stage 2: what a slow host receives. */
static struct move upload(const struct optcc *optcc, int slow, int window)
{
    int body = body_of(optcc, window - 1);
    int segment = slow == 0 ? body - 1 : given_in(optcc, body);
    int track = track_at(optcc, optcc->track_of[slow] + window - body * optcc->body);
    return section_move(optcc, segment, track, is_finished_by_slow(optcc, slow, segment));
}

/* Stage 3: what a slow host sends. */
static struct move download(const struct optcc *optcc, int slow, int window)
{
    int body = body_of(optcc, window + 1);
    bool finished = is_finished_by_slow(optcc, slow, body);
    int track = track_at(optcc, optcc->track_of[slow] + window + 2 - body * optcc->body);
    return section_move(optcc, finished ? body - 2 : body, track, !finished);
}

/* The chunk that a slow host receives in a window, and sends in the next `fast` ones, or -1. */
static int chunk_at(const struct optcc *optcc, int window)
{
    if (window < 0 || window / optcc->fast >= optcc->chunks)
        return -1;
    return window / optcc->fast;
}

/* A segment is collected in the body before its first use, which is in window -1 of its own body; a
 * chunk is collected in one window. */
static struct local collected(const struct optcc *optcc, int window)
{
    int body = body_of(optcc, window + 1);
    return (struct local){
        .segment = exists(optcc, body + 1) ? body + 1 : -1,
        .step = window + 1 - body * optcc->body,
        .chunk = window % optcc->fast == 0 ? chunk_at(optcc, window + optcc->fast) : -1,
    };
}

/* A segment is distributed once all hosts have its sums, of which the slow ones are last. */
static struct local distributed(const struct optcc *optcc, int window)
{
    int body = body_of(optcc, window - 1), segment = given_in(optcc, body - 1);
    return (struct local){
        .segment = exists(optcc, segment) ? segment : -1,
        .step = window - 1 - body * optcc->body,
        .chunk = window % optcc->fast == 0 ? chunk_at(optcc, window - 2 * optcc->fast) : -1,
    };
}

/* The last upload may be in window fast - 1 of the last body, which is the window behind it. */
static int windows_of(const struct optcc *optcc)
{
    int windows = (optcc->segments + (optcc->mixed ? 2 : 1)) * optcc->body;
    for (int s = 0; s < optcc->slow; s++) {
        if (upload(optcc, s, windows).segment >= 0)
            return windows + 1;
    }
    return windows;
}

/* Windows in [first, end) in which the fast host at `place` sends to the slow one. */
static int meetings(const struct optcc *optcc, int place, int slow, int first, int end)
{
    int next = first + track_at(optcc, place - optcc->track_of[slow] - first);
    return next < end ? (end - 1 - next) / optcc->fast + 1 : 0;
}

static int sections_sent(const struct optcc *optcc, int place)
{
    int windows = windows_of(optcc), span = optcc->segments * optcc->body;
    int give = (optcc->mixed ? 2 : 1) * optcc->body, sent = 2 * span;
    for (int s = 0; s < optcc->slow; s++) {
        sent -= meetings(optcc, place, s, 0, span) + meetings(optcc, place, s, give, give + span);
        int window = track_at(optcc, place - optcc->track_of[s]);
        for (; window < windows; window += optcc->fast)
            sent += upload(optcc, s, window).segment >= 0;
    }
    return sent;
}

static double sent_max(const struct strag_problem *problem)
{
    const struct optcc *optcc = problem->prepared;
    double g = optcc->ranks_per_host, most = 0;
    for (int place = 0; place < optcc->fast; place++) {
        double sent = (double)sections_sent(optcc, place) * (double)optcc->section +
                      (double)optcc->chunks * (double)optcc->chunk;
        most = sent > most ? sent : most;
    }
    double slow = optcc->slow ? (double)optcc->segments * optcc->sections * (double)optcc->section +
                                    (double)optcc->chunks * optcc->fast * (double)optcc->chunk
                              : 0;
    most = slow > most ? slow : most;
    return most / (double)optcc->total + 2 * (g - 1) / g;
}

/* ---- Preparing ---- */

/* Set all amounts for a number of segments. @return the vector's blocks, which may be too many */
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

/* The default number of segments, or the first one that gives as many blocks as configured. */
static int64_t find_segments(const struct strag_problem *problem, struct optcc *optcc)
{
    int64_t step = optcc->slow ? 4 : 1;
    if (problem->blocks == 0 && optcc->slow == 0)
        return 1;
    if (problem->blocks == 0)
        return strag_uplinks_segments(SEGMENTS_MIN, optcc->body);
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

/* Set the numbers that follow from how many links are slow, and how slow the slowest is. If too
 * many are, the least slow count as fast, so that at least one track is left for a section. */
static void set_hosts(struct optcc *optcc, const struct strag_problem *problem)
{
    const struct strag_uplinks_count count = strag_uplinks_count(problem);
    int hosts = count.fast + count.slow, most = (hosts - 1) / 2;
    optcc->slow = count.slow < most ? count.slow : most;
    optcc->fast = hosts - optcc->slow;
    optcc->ranks_per_host = count.ranks_per_host;
    optcc->body = optcc->fast - 1;
    optcc->sections = optcc->fast - optcc->slow;
    optcc->mixed = optcc->slow > 0 && optcc->fast > 3 && 2 * count.slowest <= STRAG_UPLINK_FULL;
    optcc->section = STRAG_UPLINK_FULL;
    int64_t bubble = 2 * (int64_t)count.slowest - STRAG_UPLINK_FULL;
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
    optcc->rounds = optcc->lead + windows_of(optcc);
    if (local)
        optcc->rounds = optcc->lead + (optcc->segments + (optcc->mixed ? 3 : 2)) * optcc->body + 1;
    return STRAG_OK;
}

/* Slow hosts stand on tracks that are equally far from each other. */
static int find_tracks(struct optcc *optcc, struct strag_error *err)
{
    size_t fast = (size_t)optcc->fast, slow = (size_t)optcc->slow;
    optcc->section_of = malloc((2 * fast + slow) * sizeof *optcc->section_of);
    if (!optcc->section_of)
        return strag_fail(err, STRAG_ERR_MEMORY, "out of memory for %d tracks", optcc->fast);
    optcc->slow_on = optcc->section_of + fast;
    optcc->track_of = optcc->slow_on + fast;
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

static void release(void *prepared)
{
    struct optcc *optcc = prepared;
    strag_uplinks_close(&optcc->uplinks);
    free(optcc->section_of);
    free(optcc);
}

static int prepare(const struct strag_problem *problem, void **prepared, struct strag_error *err)
{
    struct optcc *optcc = calloc(1, sizeof *optcc);
    if (!optcc)
        return strag_fail(err, STRAG_ERR_MEMORY, "out of memory for %d ranks", problem->n);
    set_hosts(optcc, problem);
    int status = strag_uplinks_open(problem, optcc->fast, &optcc->uplinks, err);
    if (status == STRAG_OK)
        status = find_tracks(optcc, err);
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

/* With more segments, less is lost at both ends, but more windows wait for their latency. */
static int choices(const struct strag_problem *problem, int *blocks)
{
    struct optcc optcc = {.slow = 0};
    set_hosts(&optcc, problem);
    return strag_uplinks_choices(optcc.slow, SEGMENTS_MIN, optcc.body, blocks_of, &optcc, blocks);
}

/* ---- Claims ---- */

static void claim(const struct strag_problem *problem, struct strag_claim *claim)
{
    const struct optcc *optcc = problem->prepared;
    int g = optcc->ranks_per_host;
    *claim = (struct strag_claim){
        .rounds = optcc->rounds,
        .blocks = (optcc->segments * optcc->sections + optcc->chunks) * g,
        .ports = g == 1,
    };
}

/* Blocks are in order of segments, then of parts; behind them are the chunks, likewise. */
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

/* Append a message of one block, to or from the rank of the same number on the host at a place. */
static void message(const struct turn *turn, enum strag_kind kind, int place, const char *stage,
                    int block)
{
    strag_stage(turn->builder, stage);
    strag_cyclic(turn->builder, kind, turn->round,
                 strag_uplinks_rank(&turn->optcc->uplinks, place, turn->index), block, 1);
}

static void send_move(const struct turn *turn, int place, const char *stage, struct move move)
{
    if (move.segment >= 0)
        message(turn, STRAG_SEND, place, stage,
                section_block(turn, move.segment, turn->index, move.section));
}

static void receive_move(const struct turn *turn, int place, const char *stage, struct move move)
{
    if (move.segment >= 0)
        message(turn, move.adds ? STRAG_RECV_REDUCE : STRAG_RECV, place, stage,
                section_block(turn, move.segment, turn->index, move.section));
}

/* Append the message of a window's chunk, if there is one. */
static void fill(const struct turn *turn, enum strag_kind kind, int place, int window)
{
    int chunk = chunk_at(turn->optcc, window);
    if (chunk >= 0)
        message(turn, kind, place, "bubbles", chunk_block(turn, chunk, turn->index));
}

static const char *const ring_adds = "ring: add", *const ring_gives = "ring: give";
static const char *const goes_up = "to the slow host", *const comes_down = "from the slow host";

static void fast_sends(const struct turn *turn)
{
    const struct optcc *optcc = turn->optcc;
    int window = turn->window, next = (turn->place + 1) % optcc->fast;
    int slow = optcc->slow_on[track_at(optcc, turn->place - window)];
    if (slow < 0) {
        send_move(turn, next, ring_adds, ring_add(optcc, turn->place, window));
        send_move(turn, next, ring_gives, ring_give(optcc, turn->place, window));
    } else {
        send_move(turn, optcc->fast + slow, goes_up, upload(optcc, slow, window));
        fill(turn, STRAG_SEND, optcc->fast + slow, window);
    }
}

static void fast_receives(const struct turn *turn)
{
    const struct optcc *optcc = turn->optcc;
    int window = turn->window, previous = track_at(optcc, turn->place - 1);
    int slow = optcc->slow_on[track_at(optcc, previous - window)];
    if (slow < 0) {
        receive_move(turn, previous, ring_adds, ring_add(optcc, previous, window));
        receive_move(turn, previous, ring_gives, ring_give(optcc, previous, window));
    } else {
        receive_move(turn, optcc->fast + slow, comes_down, download(optcc, slow, window));
        fill(turn, STRAG_RECV, optcc->fast + slow, window - optcc->fast);
    }
}

static void slow_turn(const struct turn *turn)
{
    const struct optcc *optcc = turn->optcc;
    int window = turn->window, slow = turn->place - optcc->fast;
    int before = track_at(optcc, optcc->track_of[slow] + window);
    int behind = (before + 1) % optcc->fast;
    send_move(turn, behind, comes_down, download(optcc, slow, window));
    fill(turn, STRAG_SEND, behind, window - optcc->fast);
    receive_move(turn, before, goes_up, upload(optcc, slow, window));
    fill(turn, STRAG_RECV_REDUCE, before, window);
}

/* The sections of a segment that siblings exchange in this window, of all parts. */
static struct strag_strided local_sections(const struct turn *turn, struct local local)
{
    return strag_siblings_share(section_block(turn, local.segment, 0, 0), turn->optcc->sections,
                                local.step, turn->optcc->body);
}

static void meet_siblings(const struct turn *turn, struct local local, bool collect)
{
    const struct strag_uplinks *uplinks = &turn->optcc->uplinks;
    if (local.segment >= 0)
        strag_siblings_exchange(uplinks, turn->rank, turn->round, local_sections(turn, local),
                                collect, turn->builder);
    if (local.chunk >= 0)
        strag_siblings_exchange(uplinks, turn->rank, turn->round,
                                (struct strag_strided){chunk_block(turn, local.chunk, 0), 1, 1},
                                collect, turn->builder);
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
        if (optcc->ranks_per_host > 1) {
            meet_siblings(&turn, collected(optcc, turn.window), true);
            meet_siblings(&turn, distributed(optcc, turn.window), false);
        }
    }
}

/* In a ring alone, only the blocks change from round to round. A slow host moves along the ring,
 * and reduces what it receives in every other segment only. */
static int same_rounds(const struct strag_problem *problem, int round, int *period)
{
    (void)period;
    const struct optcc *optcc = problem->prepared;
    if (optcc->slow == 0 && optcc->ranks_per_host == 1) {
        int end = optcc->segments * optcc->body;
        end = round < optcc->body ? optcc->body : round < end ? end : optcc->rounds;
        return end - round;
    }
    return 1;
}

/* Without a slow host it does what weighted does, in a few more rounds: it is no faster, and not
 * worth pricing with many ranks. */
static bool takes_long(const struct strag_problem *problem)
{
    return strag_uplinks_many(problem) ||
           (problem->n > MANY_RANKS && strag_uplinks_count(problem).slow == 0);
}

const struct strag_algorithm strag_optcc = {
    .name = "optcc",
    .summary = "few slow links: they carry what only they can, next to a ring of the others",
    .rounds = "(k+2)(n-2)",
    .sent = "1 to 2",
    .check = strag_uplinks_check,
    .prepare = prepare,
    .release = release,
    .adds_nothing = strag_uplinks_equal,
    .takes_long = takes_long,
    .choices = choices,
    .claim = claim,
    .sent_max = sent_max,
    .build = build,
    .bounds = bounds,
    .same_rounds = same_rounds,
};
