/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The speed of a link is computed whenever it is needed, so that counting takes no memory.
 */
#include "algorithms/uplinks.h"

#include "algorithms/tree.h"

#include <math.h>
#include <stdlib.h>

/* The default SEGMENTS make at most ROUNDS. At most SEGMENTS_MAX are compared, which make at most
 * ROUNDS_MAX (64 segments of 256 hosts). */
enum { SEGMENTS = 16, ROUNDS = 1 << 12, SEGMENTS_MAX = 256, ROUNDS_MAX = 1 << 14 };

/* The most pairs of a slow host and another one that are priced quickly. */
static const int64_t meetings_most = 1 << 16;

static const double nearly = 0.98; /* of the fastest rate: it counts as fast */

/* A host, for sorting. */
struct link {
    int32_t first; /* its ranks are leaves [first, first + ranks_per_host) of the tree */
    int32_t rate;
};

static int host_of(const struct strag_problem *problem, int rank)
{
    return problem->topology ? problem->topology->host_node[rank] : rank;
}

/* The configured rate of the link of a rank's host, or of a switch that has this host alone, or 0
 * if there is none. On a grid a host's links are all equal. */
static double said(const struct strag_problem *problem, int rank)
{
    const struct strag_topology *topology = problem->topology;
    double least = 0;
    if (!topology || topology->network != STRAG_NETWORK_TREE)
        return 0;
    const struct strag_node *host = &topology->nodes[topology->host_node[rank]];
    for (const struct strag_node *node = host; node->parent >= 0 && node->leaves == host->leaves;
         node = &topology->nodes[node->parent]) {
        if (node->uplink > 0 && (least == 0 || node->uplink < least))
            least = node->uplink;
    }
    return least;
}

bool strag_uplinks_equal(const struct strag_problem *problem)
{
    const struct strag_state *state = problem->state;
    const struct strag_topology *topology = problem->topology;
    if ((state && state->nslow) || (topology && topology->ranks_per_host != 1))
        return false;
    for (int r = 1; r < problem->n; r++) {
        if (said(problem, r) != said(problem, 0))
            return false;
    }
    return true;
}

/* What the rates of all hosts' links are relative to. */
struct scale {
    int hosts, ranks_per_host;
    double unsaid;  /* the speed of a link without a configured rate */
    double fastest; /* bytes per second, or 1 if none is configured */
};

/* The speed of the link of the host that has leaf `i * ranks_per_host` of the tree. */
static double speed(const struct strag_problem *problem, const struct scale *scale, int i)
{
    const struct strag_topology *topology = problem->topology;
    int rank = topology ? topology->leaf_rank[i * scale->ranks_per_host] : i;
    double full = said(problem, rank),
           factor = strag_slowness(problem, topology, host_of(problem, rank));
    full = full > 0 ? full : scale->unsaid;
    if (topology && topology->ranks_per_host == 0)
        factor *= topology->nodes[topology->host_node[rank]].leaves;
    return full / factor;
}

static struct scale find_scale(const struct strag_problem *problem)
{
    const struct strag_topology *topology = problem->topology;
    struct scale scale = {
        .ranks_per_host = topology && topology->ranks_per_host > 0 ? topology->ranks_per_host : 1,
    };
    scale.hosts = problem->n / scale.ranks_per_host;
    for (int r = 0; r < problem->n; r++)
        scale.unsaid = fmax(scale.unsaid, said(problem, r));
    scale.unsaid = scale.unsaid > 0 ? scale.unsaid : 1;
    for (int i = 0; i < scale.hosts; i++)
        scale.fastest = fmax(scale.fastest, speed(problem, &scale, i));
    return scale;
}

static int32_t rate(const struct strag_problem *problem, const struct scale *scale, int i)
{
    double part = speed(problem, scale, i) / scale->fastest;
    if (part >= nearly)
        return STRAG_UPLINK_FULL;
    return (int32_t)fmax(1, floor(part * STRAG_UPLINK_FULL + 0.5));
}

struct strag_uplinks_count strag_uplinks_count(const struct strag_problem *problem)
{
    const struct scale scale = find_scale(problem);
    struct strag_uplinks_count count = {.ranks_per_host = scale.ranks_per_host,
                                        .slowest = STRAG_UPLINK_FULL};
    for (int i = 0; i < scale.hosts; i++) {
        int32_t one = rate(problem, &scale, i);
        count.total += one;
        count.fast += one == STRAG_UPLINK_FULL;
        count.slow += one < STRAG_UPLINK_FULL;
        if (one < count.slowest) {
            count.slowest = one;
            count.slowest_ones = 0;
        }
        count.slowest_ones += one < STRAG_UPLINK_FULL && one == count.slowest;
    }
    return count;
}

int strag_uplinks_check(const struct strag_problem *problem, struct strag_error *err)
{
    const struct strag_uplinks_count count = strag_uplinks_count(problem);
    if (problem->n > 1 && count.fast + count.slow < 2)
        return strag_fail(err, STRAG_ERR_UNSUPPORTED, "%s needs two hosts at least, not 1",
                          problem->algorithm->name);
    return STRAG_OK;
}

bool strag_uplinks_many(const struct strag_problem *problem)
{
    const struct strag_uplinks_count count = strag_uplinks_count(problem);
    return (int64_t)count.slow * (count.fast + count.slow) > meetings_most;
}

static int by_tree(const void *a, const void *b)
{
    const struct link *x = a, *y = b;
    return (x->first > y->first) - (x->first < y->first);
}

/* The slowest first; equal ones in the order of the tree. */
static int by_rate(const void *a, const void *b)
{
    const struct link *x = a, *y = b;
    return x->rate != y->rate ? (x->rate < y->rate ? -1 : 1) : by_tree(a, b);
}

static void put_in_order(const struct strag_problem *problem, int ring,
                         struct strag_uplinks *uplinks, struct link *links)
{
    const struct strag_topology *topology = problem->topology;
    int g = uplinks->ranks_per_host, slow = uplinks->hosts - ring;
    qsort(links, (size_t)uplinks->hosts, sizeof *links, by_rate);
    qsort(links + slow, (size_t)ring, sizeof *links, by_tree);
    for (int place = 0; place < uplinks->hosts; place++) {
        const struct link *link = &links[place < ring ? slow + place : place - ring];
        uplinks->rate[place] = link->rate;
        for (int i = 0; i < g; i++) {
            int leaf = link->first + i;
            int rank = topology ? topology->leaf_rank[leaf] : leaf;
            uplinks->rank_at[place * g + i] = rank;
            uplinks->place[rank] = place;
            uplinks->index[rank] = i;
        }
    }
}

int strag_uplinks_open(const struct strag_problem *problem, int ring, struct strag_uplinks *uplinks,
                       struct strag_error *err)
{
    *uplinks = (struct strag_uplinks){0};
    struct scale scale = find_scale(problem);
    uplinks->ranks_per_host = scale.ranks_per_host;
    uplinks->hosts = scale.hosts;
    size_t n = (size_t)problem->n;
    struct link *links = malloc((size_t)uplinks->hosts * sizeof *links);
    uplinks->rate = malloc(4 * n * sizeof *uplinks->rate);
    if (!links || !uplinks->rate) {
        free(links);
        strag_uplinks_close(uplinks);
        return strag_fail(err, STRAG_ERR_MEMORY, "out of memory for the uplinks of %d ranks",
                          problem->n);
    }
    uplinks->rank_at = uplinks->rate + n;
    uplinks->place = uplinks->rate + 2 * n;
    uplinks->index = uplinks->rate + 3 * n;
    for (int i = 0; i < uplinks->hosts; i++)
        links[i] = (struct link){i * uplinks->ranks_per_host, rate(problem, &scale, i)};
    put_in_order(problem, ring, uplinks, links);
    free(links);
    return STRAG_OK;
}

int strag_uplinks_segments(int least, int body)
{
    int64_t segments = SEGMENTS;
    while (segments > least && segments * body > ROUNDS)
        segments /= 2;
    return (int)segments;
}

int strag_uplinks_choices(int slow, int least, int body,
                          int64_t (*blocks_of)(void *of, int segments), void *of, int *blocks)
{
    int count = 0;
    for (int k = least; slow > 0 && k <= SEGMENTS_MAX; k *= 2) {
        int64_t needed = blocks_of(of, k);
        if (count == 0 || ((int64_t)k * body <= ROUNDS_MAX && needed < INT32_MAX))
            blocks[count++] = (int)needed;
    }
    if (count == 0)
        blocks[count++] = 0;
    return count;
}

void strag_uplinks_close(struct strag_uplinks *uplinks)
{
    free(uplinks->rate);
    *uplinks = (struct strag_uplinks){0};
}
