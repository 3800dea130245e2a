/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * StragglAR: one rank, the straggler, arrives late, and the others have summed up by then. Even n
 * only.
 *
 * The other ranks are nodes 0 to n - 2, in order; the straggler is node n - 1. While they wait, the
 * nodes reduce-scatter n - 1 chunks: chunk v ends on node v. After the arrival, in round r < n - 1,
 * node r and the straggler give each other their chunk r, which is then finished. All other nodes
 * form pairs, and each node gives its partner one finished chunk that the partner lacks.
 *
 * If n is a power of two, from round q = log2 n on every node has exactly one chunk that some other
 * node lacks (an `active` chunk): half of the nodes have the oldest, chunk r - q, a quarter the
 * next one, and so on; one has chunk r - 1. Each node of the first half is paired with one of the
 * others: then the oldest chunk reaches all, and each other one doubles its nodes. Node r must be
 * in the first half when its turn with the straggler comes, so the nodes whose turn is next take
 * over the oldest chunks, in this order. The first q rounds set this up. From round n - 1 on the
 * straggler is a node like the others. n = 8, with rank 7 late:
 *
 *     round   pair a:b, the chunks that a and b give
 *       0     0:7 0,0
 *       1     1:7 1,1   0:3 0,-
 *       2     2:7 2,2   0:5 0,-   1:4 1,-   3:6 0,-
 *       3     3:7 3,3   0:2 0,2   1:5 1,0   4:6 1,0
 *       4     4:7 4,4   0:5 2,1   1:3 1,3   2:6 2,1
 *       5     5:7 5,5   0:3 2,3   1:6 3,2   2:4 2,4
 *       6     6:7 6,6   0:2 3,4   1:4 3,4   3:5 3,5
 *       7     0:3 4,5   1:5 4,5   2:6 4,6   4:7 -,6
 *       8     0:7 -,6   1:2 5,6   3:4 5,6   5:6 5,6
 *
 * There are n - 2 + log2 n rounds of one chunk. For other even n, pairs are found round by round:
 * the pairs that let the most chunks move (a maximum-weight matching: weight 2 if both nodes have a
 * chunk for the other, 1 if one has), and of these the ones that bring chunks to nodes with few
 * active ones, the rarest chunks first. This takes n - 2 + ceil(log2 n) rounds or one more for all
 * n up to 64, and a few more for some n up to 256.
 *
 * (A. Devraj et al., "Accelerating AllReduce with a persistent straggler", sections 3 and C.)
 */
#include "algorithms/stragglar_match.h"
#include "algorithms/straggler.h"

#include <stdlib.h>
#include <string.h>

enum {
    POWER_MAX = 1024,                 /* the schedule takes n^2 time and memory */
    MATCHED_MAX = STRAG_MATCHING_MAX, /* n^4 time at worst: seconds */
    COMPARED_MAX = 64,                /* up to here matching takes 50 ms at most */
    ACTIVE_MAX = 64,                  /* chunks that are examined in one round of the matching */
    NONE = -1,
};

/* What a node does in a round. */
struct meeting {
    int16_t partner; /* NONE if it has none */
    int16_t chunk;   /* that it gives its partner; NONE if it only takes */
};

struct schedule {
    int n, q, straggler;
    int rounds, room;          /* of rounds after the arrival: used, and room for: n - 2 + 2q */
    int sends;                 /* the most chunks that a node gives away */
    struct meeting meetings[]; /* [round][node] */
};

static struct meeting meeting_at(const struct schedule *schedule, int round, int node)
{
    return schedule->meetings[(size_t)round * (size_t)schedule->n + (size_t)node];
}

static void meet(struct schedule *schedule, int round, int a, int chunk_a, int b, int chunk_b)
{
    struct meeting *meetings = &schedule->meetings[(size_t)round * (size_t)schedule->n];
    meetings[a] = (struct meeting){(int16_t)b, (int16_t)chunk_a};
    meetings[b] = (struct meeting){(int16_t)a, (int16_t)chunk_b};
}

/* Is a node neither of the two that finish a chunk in this round? */
static bool is_free(const struct schedule *schedule, int round, int node)
{
    return round >= schedule->n - 1 || (node != round && node != schedule->n - 1);
}

/* ---- n is a power of two ---- */

/* One of the first q rounds: each node with a chunk gives it to a node that has none. Node r - 1's
 * goes to the node that will be the first to need it, the others' to nodes with a late turn. */
static void spread(struct schedule *schedule, int round, int *active, int *unused)
{
    int n = schedule->n;
    int had[POWER_MAX];
    memcpy(had, active, (size_t)n * sizeof *active);
    for (int node = 0; node < n; node++) {
        if (had[node] == NONE || node == round)
            continue;
        int to = node == round - 1 ? node + schedule->q : (*unused)++;
        meet(schedule, round, node, had[node], to, NONE);
        active[to] = had[node];
    }
}

/* The nodes with the oldest chunk: those whose turn is next come first. @return how many */
static int list_oldest(const struct schedule *schedule, int round, const int *active, int *nodes)
{
    int count = 0, oldest = round - schedule->q;
    for (int i = 1; i <= schedule->n; i++) {
        int node = (round + i) % schedule->n;
        if (active[node] == oldest && is_free(schedule, round, node))
            nodes[count++] = node;
    }
    return count;
}

/* The other nodes, the oldest chunk first. */
static void list_others(const struct schedule *schedule, int round, const int *active, int *nodes)
{
    int count = 0;
    for (int chunk = round - schedule->q + 1; chunk < round; chunk++) {
        for (int node = 0; node < schedule->n; node++) {
            if (active[node] == chunk && is_free(schedule, round, node))
                nodes[count++] = node;
        }
    }
}

static void pair_off(struct schedule *schedule, int round, int *active)
{
    int oldest[POWER_MAX], others[POWER_MAX];
    int pairs = list_oldest(schedule, round, active, oldest);
    list_others(schedule, round, active, others);
    for (int i = 0; i < pairs; i++) {
        int chunk = active[others[i]];
        bool gives = others[i] != schedule->n - 1; /* the straggler has all chunks: it only gives */
        meet(schedule, round, oldest[i], gives ? active[oldest[i]] : NONE, others[i], chunk);
        active[oldest[i]] = chunk;
    }
}

static void make_power(struct schedule *schedule)
{
    int n = schedule->n, q = schedule->q, unused = 2 * q - 1;
    int active[POWER_MAX];
    for (int node = 0; node < n; node++)
        active[node] = NONE;
    schedule->rounds = n - 2 + q;
    for (int round = 0; round < schedule->rounds; round++) {
        if (round < q)
            spread(schedule, round, active, &unused);
        else
            pair_off(schedule, round, active);
        if (round < n - 1) {
            meet(schedule, round, round, round, n - 1, round);
            active[round] = round;
        }
        if (round == n - 2)
            active[n - 1] = n - 2; /* from here on the straggler gives the last chunk */
    }
}

/* ---- n is even ---- */

/* A search: which nodes have which finished chunks. */
struct search {
    struct schedule *schedule;
    bool has[MATCHED_MAX][MATCHED_MAX]; /* [chunk][node] */
    int holders[MATCHED_MAX];           /* [chunk]: how many nodes have it; at n it is not active */

    int nactive;
    int active[ACTIVE_MAX];     /* chunks, the rarest first */
    uint64_t mask[MATCHED_MAX]; /* [node]: which active chunks it has */
    int nodes[MATCHED_MAX];     /* the free nodes of the current round */
    int32_t weight[MATCHED_MAX * MATCHED_MAX], partner[MATCHED_MAX];
    struct strag_matching *matching;
};

/* The rarest chunk that a may give b. @return an index in `active`, or NONE */
static int gift(const struct search *search, int a, int b)
{
    uint64_t gifts = search->mask[a] & ~search->mask[b];
    return gifts ? __builtin_ctzll(gifts) : NONE;
}

/* The weight of a giving b a chunk: a large one, plus a little if b has few active chunks, plus
 * even less if few nodes have the chunk. */
static int32_t worth(const struct search *search, int a, int b)
{
    enum { MOVE = 1 << 22, FEW = 256 };
    int g = gift(search, a, b);
    if (g == NONE)
        return 0;
    int few = ACTIVE_MAX - __builtin_popcountll(search->mask[b]);
    return MOVE + FEW * few + search->schedule->n - search->holders[search->active[g]];
}

static void list_active(struct search *search)
{
    int n = search->schedule->n;
    search->nactive = 0;
    for (int holders = 1; holders < n; holders++) {
        for (int chunk = 0; chunk < n - 1 && search->nactive < ACTIVE_MAX; chunk++) {
            if (search->holders[chunk] == holders)
                search->active[search->nactive++] = chunk;
        }
    }
    for (int node = 0; node < n; node++) {
        search->mask[node] = 0;
        for (int i = 0; i < search->nactive; i++) {
            if (search->has[search->active[i]][node])
                search->mask[node] |= UINT64_C(1) << i;
        }
    }
}

static void give(struct search *search, int chunk, int node)
{
    search->has[chunk][node] = true;
    search->holders[chunk]++;
}

static void match_nodes(struct search *search, int round)
{
    int n = search->schedule->n, count = 0;
    for (int node = 0; node < n; node++) {
        if (is_free(search->schedule, round, node))
            search->nodes[count++] = node;
    }
    for (int i = 0; i < count; i++) {
        for (int j = 0; j < count; j++)
            search->weight[i * count + j] = worth(search, search->nodes[i], search->nodes[j]) +
                                            worth(search, search->nodes[j], search->nodes[i]);
    }
    strag_matching_solve(search->matching, count, search->weight, search->partner);
    for (int i = 0; i < count; i++) {
        int other = search->partner[i];
        if (other < i)
            continue; /* it has no partner, or the pair was met already */
        int a = search->nodes[i], b = search->nodes[other];
        int of_a = gift(search, a, b), of_b = gift(search, b, a);
        meet(search->schedule, round, a, of_a == NONE ? NONE : search->active[of_a], b,
             of_b == NONE ? NONE : search->active[of_b]);
    }
    for (int i = 0; i < count; i++) {
        struct meeting meeting = meeting_at(search->schedule, round, search->nodes[i]);
        if (meeting.partner != NONE && meeting.chunk != NONE)
            give(search, meeting.chunk, meeting.partner);
    }
}

/* @return false if no active chunks are left */
static bool make_round(struct search *search, int round)
{
    int n = search->schedule->n;
    list_active(search);
    if (search->nactive == 0 && round >= n - 1)
        return false;
    match_nodes(search, round);
    if (round < n - 1) {
        meet(search->schedule, round, round, round, n - 1, round);
        give(search, round, round);
        give(search, round, n - 1);
    }
    return true;
}

static int make_even(struct schedule *schedule)
{
    struct search *search = calloc(1, sizeof *search);
    struct strag_matching *matching = strag_matching_create();
    bool room = search && matching;
    if (room) {
        search->schedule = schedule;
        search->matching = matching;
        while (schedule->rounds < schedule->room && make_round(search, schedule->rounds))
            schedule->rounds++;
    }
    free(search);
    free(matching);
    return room ? STRAG_OK : STRAG_ERR_MEMORY;
}

/* ---- The algorithm ---- */

static bool is_power(int n)
{
    return (n & (n - 1)) == 0;
}

static int check(const struct strag_problem *problem, struct strag_error *err)
{
    int n = problem->n;
    if (n > 1 && n % 2)
        return strag_fail(err, STRAG_ERR_UNSUPPORTED,
                          "stragglar pairs the ranks, so it needs an even number of them, not %d; "
                          "straggler-pipeline takes any",
                          n);
    if (n > POWER_MAX || (n > MATCHED_MAX && !is_power(n)))
        return strag_fail(err, STRAG_ERR_UNSUPPORTED,
                          "stragglar looks for pairs of up to %d ranks, or of a power of two up to "
                          "%d, not of %d; straggler-pipeline takes any",
                          MATCHED_MAX, POWER_MAX, n);
    return STRAG_OK;
}

/* Finding pairs takes long, and straggler-pipeline is hardly ever slower. */
static bool on_request(const struct strag_problem *problem)
{
    return problem->n > COMPARED_MAX && !is_power(problem->n);
}

static int most_sent(const struct schedule *schedule)
{
    int most = 0;
    for (int node = 0; node < schedule->n; node++) {
        /* Before the arrival each other node sends all chunks but its own. */
        int sends = node < schedule->n - 1 ? schedule->n - 2 : 0;
        for (int round = 0; round < schedule->rounds; round++)
            sends += meeting_at(schedule, round, node).chunk != NONE;
        most = sends > most ? sends : most;
    }
    return most;
}

static int prepare(const struct strag_problem *problem, void **prepared, struct strag_error *err)
{
    int n = problem->n, q = strag_log2_ceil(n), room = n - 2 + 2 * q, status = STRAG_OK;
    size_t meetings = (size_t)room * (size_t)n;
    struct schedule *schedule = malloc(sizeof *schedule + meetings * sizeof *schedule->meetings);
    if (schedule) {
        *schedule = (struct schedule){
            .n = n, .q = q, .room = room, .straggler = strag_awaited_straggler(problem)};
        for (size_t i = 0; i < meetings; i++)
            schedule->meetings[i] = (struct meeting){NONE, NONE};
        if (is_power(n))
            make_power(schedule);
        else
            status = make_even(schedule);
    }
    if (!schedule || status != STRAG_OK) {
        free(schedule);
        return strag_fail(err, STRAG_ERR_MEMORY, "out of memory for the schedule of %d ranks", n);
    }
    schedule->sends = most_sent(schedule);
    *prepared = schedule;
    return STRAG_OK;
}

static void claim(const struct strag_problem *problem, struct strag_claim *claim)
{
    const struct schedule *schedule = problem->prepared;
    int n = problem->n, before = strag_log2_ceil(n - 1);
    *claim = (struct strag_claim){
        .rounds = before + schedule->rounds,
        .blocks = n - 1,
        .sent_max = (double)schedule->sends / (n - 1),
        .ports = 1,
        .waits = true,
        .straggler = schedule->straggler,
        .before = before,
    };
}

/* Append a node's meeting in a round of the plan. @param at  the round after the arrival */
static void build_meeting(const struct schedule *schedule, int node, int round, int at,
                          struct strag_builder *builder)
{
    int last = schedule->n - 1;
    struct meeting mine = meeting_at(schedule, at, node);
    if (mine.partner == NONE)
        return;
    int its = meeting_at(schedule, at, mine.partner).chunk;
    struct strag_members others = strag_others(schedule->n, schedule->straggler);
    int peer = mine.partner == last ? schedule->straggler : strag_member_rank(others, mine.partner);
    bool first = at < last && (node == last || mine.partner == last);
    strag_stage(builder, first ? "with the late rank" : "among the others");
    if (mine.chunk != NONE)
        strag_send(builder, round, peer, mine.chunk, 1);
    if (first)
        strag_exchange_reduce(builder, round, peer, its, 1);
    else if (its != NONE)
        strag_recv(builder, round, peer, its, 1);
}

static void build(const struct strag_problem *problem, int rank, struct strag_builder *builder)
{
    const struct schedule *schedule = problem->prepared;
    int n = schedule->n, before = strag_log2_ceil(n - 1);
    struct strag_members others = strag_others(n, schedule->straggler);
    int node = rank == schedule->straggler ? n - 1 : strag_member_node(others, rank);
    struct strag_rounds wanted = strag_rounds_wanted(builder);
    if (rank != schedule->straggler)
        strag_circulant_reduce_scatter(builder, others, node);
    int first = wanted.first > before ? wanted.first : before;
    for (int round = first; round < before + schedule->rounds && round < wanted.end; round++)
        build_meeting(schedule, node, round, round - before, builder);
}

const struct strag_algorithm strag_stragglar = {
    .name = "stragglar",
    .summary = "a straggler: the others go ahead, then all go in pairs; even n",
    .rounds = "n - 2 + ceil(log2 n) [+ 1]",
    .sent = "about 2",
    .needs_straggler = true,
    .check = check,
    .on_request = on_request,
    .prepare = prepare,
    .release = free,
    .claim = claim,
    .build = build,
};
