/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The straggler pipeline: an allreduce around one straggler, for any n and any number of blocks.
 *
 * While they wait, the other n - 1 ranks sum up all blocks among themselves. Once the straggler has
 * arrived, it takes one such sum per round, adds its own block, and sends the finished block on in
 * the next round, as the root of a broadcast in which every rank passes on one block per round.
 *
 * Count nodes from the straggler: it is node 0, rank r is node r - straggler (modulo n). With q =
 * ceil(log2 n), s[q] = n and s[k] = ceil(s[k+1] / 2), a broadcast from node 0 takes turns: in a
 * round of turn k every node v may send to node v + s[k]. A table R with a row for each node and q
 * columns tells which block it sends:
 *
 *     in turn k node v receives block R[v][k] from node v - s[k]; q rounds later R[v][k] + q
 *
 * (nothing while this number is negative, and the last block if it is above that one). So m blocks
 * reach all nodes in m - 1 + q rounds, the least possible. Only node 0 never receives in the
 * broadcast. In turn k node -s[k] would send to it: that port is free for handing it the sums.
 *
 *     before      The same broadcast backwards in time, and mirrored (node v plays node -v): a tree
 *                 for each block, along which it is summed up; if it would go to node 0, it
 *                 stays with node -s[k]. Of m + 1 blocks, since the last one of a broadcast has no
 *                 tree of its own. At most m + q - 1 rounds.
 *     round t     after the arrival: block t goes from node -s[k] to node 0; block t - 1 and older
 *                 ones are broadcast. m + q rounds.
 *
 * n = 5, straggler 0, m = 3, q = 3, s = 1 2 3 (5); 4>2 1: rank 4 sends rank 2 block 1.
 *
 *     round   0     1     2     3   | 4     5     6     7     8     9
 *           3>1 2 1>3 2 1>2 2 1>4 0 |                                     sum up
 *           4>2 1 2>4 0 2>3 1       |
 *                 4>1 2 3>4 0       |
 *                                   |4>0 0 3>0 1 2>0 2                   hand over
 *                                   |      0>2 0 0>3 1 0>1 2 0>2 2 0>3 2 broadcast
 *                                   |                  2>3 0 2>4 0 1>4 2
 *                                   |                  3>4 1 4>1 1 3>1 0
 *                                   |                              4>2 1
 *
 * Each rank sends to one rank and receives from one in every round, blocks of 1/m. From the arrival
 * on, a vector that takes beta on a link takes (m + q)(alpha + beta/m): with many blocks, little
 * more than the vector in and out of the straggler, which is the least possible. The best m, sqrt(q
 * beta / alpha), depends on the vector's size; the model chooses among q 2^i. If the straggler is
 * early, its first blocks do not wait for the others' last ones.
 *
 * (The table R: J. L. Traeff, "(Poly)logarithmic time construction of
 * round-optimal n-block broadcast schedules".)
 */
#include "algorithms/straggler.h"

#include <limits.h>
#include <stdlib.h>

enum {
    CHOICES = 12,             /* block counts compared: q, 2q, ..., 2048q */
    PREFERRED = 16,           /* blocks per turn by default */
    BLOCKS_MAX = INT_MAX / 4, /* rounds are counted in an int */
};

struct schedule {
    int n, q, straggler;
    int m;
    int s[STRAG_SKIPS_MAX];
    int before;
    int8_t *table; /* R[k * n + v] */
};

/* ---- The broadcast ---- */

/* Node v - distance, for 0 <= distance <= n. */
static int down(const struct schedule *schedule, int v, int distance)
{
    return v >= distance ? v - distance : v + (schedule->n - distance);
}

static int up(const struct schedule *schedule, int v, int distance)
{
    return down(schedule, v, schedule->n - distance);
}

/* A round of a broadcast: its turn, and what to add to the table's blocks. */
struct turn {
    int k, offset;
    int last; /* block */
};

/* Round i of the broadcast of `blocks` blocks; the last round's turn is always q - 1. */
static struct turn turn_of(const struct schedule *schedule, int blocks, int i)
{
    int q = schedule->q, skipped = (q - (blocks - 1) % q) % q;
    return (struct turn){(i + skipped) % q, (i + skipped) / q * q - skipped, blocks - 1};
}

/* The block that node v receives, or a negative number if it receives none. */
static int received(const struct schedule *schedule, struct turn turn, int v)
{
    int block = schedule->table[(size_t)turn.k * (size_t)schedule->n + (size_t)v] + turn.offset;
    return block < turn.last ? block : turn.last;
}

/* ---- The table R ----
 *
 * Node v has a base block: the k of the last s[k] in its sum v = s[k1] + s[k2] + ..., k1 > k2 > ...
 * (largest first); node 0 has q. In turn k node v receives the largest base block of the nodes v -
 * s[k+1] + 1 .. v - s[k] that it did not have yet (or the one of node v - s[k+1]). Base block q
 * stands for a new block from node 0, the node's own base block; others are of the q rounds
 * before. */

/* The base blocks of the nodes v - length + 1 .. v, a bit for each, for lengths 1, 2, 4, ... */
struct windows {
    int length;
    uint32_t *mask, *twice; /* [node]; `twice` is for the next length */
};

static void find_bases(const struct schedule *schedule, uint32_t *mask)
{
    mask[0] = UINT32_C(1) << schedule->q;
    for (int k = 0; k < schedule->q; k++) {
        mask[schedule->s[k]] = UINT32_C(1) << k;
        for (int v = schedule->s[k] + 1; v < schedule->s[k + 1]; v++)
            mask[v] = mask[v - schedule->s[k]];
    }
}

static void widen(const struct schedule *schedule, struct windows *windows)
{
    const int n = schedule->n, length = windows->length;
    uint32_t *mask = windows->mask, *twice = windows->twice;
    for (int v = 0; v < length; v++)
        twice[v] = mask[v] | mask[v + n - length];
    for (int v = length; v < n; v++)
        twice[v] = mask[v] | mask[v - length];
    windows->mask = twice;
    windows->twice = mask;
    windows->length *= 2;
}

static int highest(uint32_t mask)
{
    return 31 ^ __builtin_clz(mask);
}

/* Fill a part of a column, within which no distance back passes node 0. This takes most of a plan's
 * time. @param had  the base blocks that each node had in earlier turns */
static void fill_nodes(const struct schedule *schedule, int k, int first, int end,
                       const uint32_t *base, const struct windows *windows, uint32_t *had)
{
    const int n = schedule->n, q = schedule->q, near = schedule->s[k], far = schedule->s[k + 1];
    const int inner = far - windows->length;
    const uint32_t *mask = windows->mask, *at_near = mask + down(schedule, first, near),
                   *at_inner = mask + down(schedule, first, inner),
                   *at_far = base + down(schedule, first, far);
    int8_t *column = schedule->table + (size_t)k * (size_t)n;
    for (int v = first; v < end; v++) {
        uint32_t wanted = (*at_near++ | *at_inner++) & ~had[v], other = *at_far++;
        int block = highest(wanted ? wanted : other);
        had[v] |= UINT32_C(1) << block;
        column[v] = (int8_t)(block == q ? highest(base[v]) : block - q);
    }
}

/* Fill one column of the table. Its parts begin where a distance leads back to node 0. */
static void fill_turn(struct schedule *schedule, int k, const uint32_t *base,
                      const struct windows *windows, uint32_t *had)
{
    const int far = schedule->s[k + 1];
    const int parts[] = {0, schedule->s[k], far - windows->length, far, schedule->n};
    for (int p = 0; p < 4; p++)
        fill_nodes(schedule, k, parts[p], parts[p + 1], base, windows, had);
}

static int fill_table(struct schedule *schedule)
{
    size_t n = (size_t)schedule->n;
    uint32_t *space = malloc(4 * n * sizeof *space);
    schedule->table = malloc(n * (size_t)schedule->q);
    if (space && schedule->table) {
        uint32_t *base = space, *had = space + n;
        struct windows windows = {1, space + 2 * n, space + 3 * n};
        find_bases(schedule, base);
        for (size_t v = 0; v < n; v++)
            windows.mask[v] = had[v] = base[v];
        for (int k = 0; k < schedule->q; k++) {
            while (2 * windows.length <= schedule->s[k + 1] - schedule->s[k])
                widen(schedule, &windows);
            fill_turn(schedule, k, base, &windows, had);
        }
    }
    bool good = space && schedule->table;
    free(space);
    return good ? STRAG_OK : STRAG_ERR_MEMORY;
}

/* ---- What it takes ---- */

/* Does anybody send in this round of the backward broadcast of m + 1 blocks? */
static bool is_used(const struct schedule *schedule, int i)
{
    struct turn turn = turn_of(schedule, schedule->m + 1, i);
    for (int v = 1; v < schedule->n; v++) {
        int block = received(schedule, turn, v);
        if (block >= 0 && block < schedule->m && v != schedule->s[turn.k])
            return true;
    }
    return false;
}

/* How many rounds there are before the arrival. The last ones of the backward broadcast, in which
 * its first blocks would go to node 0, are left out. */
static int count_before(const struct schedule *schedule)
{
    int i = 0;
    while (i < schedule->m + schedule->q && !is_used(schedule, i))
        i++;
    return schedule->m + schedule->q - i;
}

/* The other nodes hand on each block once before the arrival, or to the straggler. In turn k node v
 * receives none while its block number is negative, which is above -2q. */
static double sent_max(const struct strag_problem *problem)
{
    const struct schedule *schedule = problem->prepared;
    int n = schedule->n, q = schedule->q, skipped = (q - (schedule->m - 1) % q) % q, most = 0;
    int cycles = (schedule->m - 1 + q + skipped) / q;
    int32_t *sends = malloc((size_t)n * sizeof *sends);
    if (!sends)
        return -1;
    for (int v = 0; v < n; v++)
        sends[v] = v ? schedule->m : 0;
    for (int k = 0; k < q; k++) {
        const int8_t *column = schedule->table + (size_t)k * (size_t)n;
        for (int to = 1; to < n; to++) {
            int missing = skipped - column[to];
            int empty = missing > q ? 2 : missing > 0 || k < skipped;
            sends[down(schedule, to, schedule->s[k])] += cycles - empty;
        }
    }
    for (int v = 0; v < n; v++)
        most = sends[v] > most ? sends[v] : most;
    free(sends);
    return (double)most / schedule->m;
}

/* ---- The algorithm ---- */

static int check(const struct strag_problem *problem, struct strag_error *err)
{
    if (problem->blocks > BLOCKS_MAX)
        return strag_fail(err, STRAG_ERR_UNSUPPORTED,
                          "straggler-pipeline cuts into 1 to %d blocks, not %d", BLOCKS_MAX,
                          problem->blocks);
    return STRAG_OK;
}

static int choices(const struct strag_problem *problem, int *blocks)
{
    for (int i = 0; i < CHOICES; i++)
        blocks[i] = strag_log2_ceil(problem->n) << i;
    return CHOICES;
}

static void release(void *prepared)
{
    struct schedule *schedule = prepared;
    free(schedule->table);
    free(schedule);
}

static int prepare(const struct strag_problem *problem, void **prepared, struct strag_error *err)
{
    struct schedule *schedule = calloc(1, sizeof *schedule);
    int status = schedule ? STRAG_OK : STRAG_ERR_MEMORY;
    if (status == STRAG_OK) {
        schedule->n = problem->n;
        schedule->q = strag_skips(problem->n, schedule->s);
        schedule->straggler = strag_awaited_straggler(problem);
        schedule->m = problem->blocks ? problem->blocks : PREFERRED * schedule->q;
        status = fill_table(schedule);
    }
    if (status != STRAG_OK) {
        if (schedule)
            release(schedule);
        return strag_fail(err, status, "out of memory for the schedule of %d ranks", problem->n);
    }
    schedule->before = count_before(schedule);
    *prepared = schedule;
    return STRAG_OK;
}

static void claim(const struct strag_problem *problem, struct strag_claim *claim)
{
    const struct schedule *schedule = problem->prepared;
    *claim = (struct strag_claim){
        .rounds = schedule->before + schedule->m + schedule->q,
        .blocks = schedule->m,
        .ports = 1,
        .waits = true,
        .straggler = schedule->straggler,
        .before = schedule->before,
    };
}

/* A rank and its node. */
struct place {
    const struct schedule *schedule;
    int v;
    struct strag_builder *builder;
};

static int rank_of(const struct schedule *schedule, int v)
{
    return up(schedule, v, schedule->straggler);
}

/* The vector's block that block b of the backward broadcast stands for. Backwards, the high blocks
 * are summed up first. Every q-th one ends on the same node, and the first of these is the first to
 * go on. */
static int summed(const struct schedule *schedule, int b)
{
    int first = b % schedule->q;
    int last = first + (schedule->m - 1 - first) / schedule->q * schedule->q;
    return first + last - b;
}

static void build_before(const struct place *place, int round)
{
    const struct schedule *schedule = place->schedule;
    struct turn turn = turn_of(schedule, schedule->m + 1, schedule->m + schedule->q - 1 - round);
    int s = schedule->s[turn.k], mirrored = down(schedule, schedule->n, place->v);
    int above = up(schedule, place->v, s), below = down(schedule, place->v, s);
    int block = received(schedule, turn, mirrored);
    if (above && block >= 0 && block < schedule->m)
        strag_send(place->builder, round, rank_of(schedule, above), summed(schedule, block), 1);
    block = received(schedule, turn, up(schedule, mirrored, s));
    if (below && block >= 0 && block < schedule->m)
        strag_recv_reduce(place->builder, round, rank_of(schedule, below), summed(schedule, block),
                          1);
}

/* Append round t after the arrival, in which block t is handed over. */
static void build_hand_over(const struct place *place, int round, int t)
{
    const struct schedule *schedule = place->schedule;
    int q = schedule->q;
    /* The turn of the broadcast's round t - 1, which for t = 0 is the one before its first. */
    int k = (turn_of(schedule, schedule->m, t).k + q - 1) % q;
    int giver = down(schedule, schedule->n, schedule->s[k]);
    strag_stage(place->builder, "hand over");
    if (place->v == giver)
        strag_send(place->builder, round, schedule->straggler, t, 1);
    if (place->v == 0)
        strag_recv_reduce(place->builder, round, rank_of(schedule, giver), t, 1);
}

static void build_broadcast(const struct place *place, int round, int i)
{
    const struct schedule *schedule = place->schedule;
    struct turn turn = turn_of(schedule, schedule->m, i);
    int s = schedule->s[turn.k];
    int above = up(schedule, place->v, s), below = down(schedule, place->v, s);
    int sent = received(schedule, turn, above), came = received(schedule, turn, place->v);
    strag_stage(place->builder, "broadcast");
    if (above && sent >= 0)
        strag_send(place->builder, round, rank_of(schedule, above), sent, 1);
    if (place->v && came >= 0)
        strag_recv(place->builder, round, rank_of(schedule, below), came, 1);
}

static void build(const struct strag_problem *problem, int rank, struct strag_builder *builder)
{
    const struct schedule *schedule = problem->prepared;
    const struct place place = {schedule, down(schedule, rank, schedule->straggler), builder};
    struct strag_rounds wanted = strag_rounds_wanted(builder);
    int rounds = schedule->before + schedule->m + schedule->q;
    int end = wanted.end < rounds ? wanted.end : rounds;
    strag_stage(builder, "sum up");
    for (int round = wanted.first; round < end; round++) {
        int t = round - schedule->before;
        if (t < 0) {
            if (place.v)
                build_before(&place, round);
            continue;
        }
        if (t < schedule->m)
            build_hand_over(&place, round, t);
        if (t > 0)
            build_broadcast(&place, round, t - 1);
    }
}

/* How many rounds, from this one on, have all their messages. */
static int full_rounds(const struct schedule *schedule, int round)
{
    int q = schedule->q, m = schedule->m, t = round - schedule->before;
    /* From the third cycle of turns on, no block number is negative. */
    if (t >= 0) {
        int skipped = (q - (m - 1) % q) % q;
        return t - 1 + skipped >= 2 * q ? m - t : 0;
    }
    struct turn turn = turn_of(schedule, m + 1, m + q - 1 - round);
    int at = m + q - 1 - round + (q - m % q) % q;
    return turn.offset + q - 1 < m ? at + 1 - 2 * q : 0;
}

static int same_rounds(const struct strag_problem *problem, int round, int *period)
{
    const struct schedule *schedule = problem->prepared;
    int cycles = full_rounds(schedule, round) / schedule->q;
    if (cycles <= 1)
        return 1;
    *period = schedule->q;
    return cycles;
}

/* The blocks of a cycle of turns. */
static int unit(const struct strag_problem *problem)
{
    const struct schedule *schedule = problem->prepared;
    return schedule->q;
}

const struct strag_algorithm strag_straggler_pipeline = {
    .name = "straggler-pipeline",
    .summary = "a straggler: the others go ahead, then one block per round; any n",
    .rounds = "m + ceil(log2 n)",
    .sent = "about 2",
    .needs_straggler = true,
    .any_straggler = true,
    .check = check,
    .prepare = prepare,
    .release = release,
    .choices = choices,
    .claim = claim,
    .sent_max = sent_max,
    .build = build,
    .same_rounds = same_rounds,
    .unit = unit,
};
