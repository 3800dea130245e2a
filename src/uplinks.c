/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * First every rank's link as bytes per second, relative to anything; then hosts in order.
 */
#include "uplinks.h"

#include <math.h>
#include <stdlib.h>

static const double nearly = 0.98; /* of the fastest: as good as it */

/* A host while they are put in order. */
struct link {
    int32_t first; /* its ranks are leaves [first, first + ranks_per_host) of the tree */
    int32_t rate;
};

static int check_state(const struct strag_problem *problem, struct strag_error *err)
{
    const struct strag_state *state = problem->state;
    for (int i = 0; state && i < state->nslow; i++) {
        if (state->slow[i].rank < 0 || state->slow[i].rank >= problem->n)
            return strag_fail(err, STRAG_ERR_ARGUMENT, "slow rank %d; with %d ranks it is 0 to %d",
                              state->slow[i].rank, problem->n, problem->n - 1);
        if (!(state->slow[i].factor >= 1) || isinf(state->slow[i].factor))
            return strag_fail(err, STRAG_ERR_ARGUMENT,
                              "rank %d is slower by a factor of %g; at least 1 is needed",
                              state->slow[i].rank, state->slow[i].factor);
    }
    return STRAG_OK;
}

static int host_of(const struct strag_problem *problem, int rank)
{
    return problem->topology ? problem->topology->host_node[rank] : rank;
}

/* What the topology says of a rank's host, or 0. On a grid a host's links are all alike. */
static double said(const struct strag_problem *problem, int rank)
{
    const struct strag_topology *topology = problem->topology;
    return topology && topology->network == STRAG_NETWORK_TREE
               ? topology->nodes[topology->host_node[rank]].uplink
               : 0;
}

static double slowness(const struct strag_problem *problem, int rank)
{
    const struct strag_state *state = problem->state;
    double factor = 1;
    for (int i = 0; state && i < state->nslow; i++) {
        if (host_of(problem, state->slow[i].rank) == host_of(problem, rank))
            factor = fmax(factor, state->slow[i].factor);
    }
    return factor;
}

/* Links as the leaves of the tree have them. @return the fastest, in bytes per second or as 1 */
static double find_links(const struct strag_problem *problem, const struct strag_uplinks *uplinks,
                         double *speed)
{
    const struct strag_topology *topology = problem->topology;
    bool shared = topology && topology->ranks_per_host == 0;
    double unsaid = 0, fastest = 0;
    for (int r = 0; r < problem->n; r++)
        unsaid = fmax(unsaid, said(problem, r));
    for (int i = 0; i < uplinks->hosts; i++) {
        int rank = topology ? topology->leaf_rank[i * uplinks->ranks_per_host] : i;
        double full = said(problem, rank);
        full = full > 0 ? full : unsaid > 0 ? unsaid : 1;
        speed[i] = full / slowness(problem, rank);
        if (shared)
            speed[i] /= topology->nodes[topology->host_node[rank]].leaves;
        fastest = fmax(fastest, speed[i]);
    }
    return fastest;
}

/* Slow ones behind fast ones, the slowest first; of equals in the order of the tree. */
static int by_rate(const void *a, const void *b)
{
    const struct link *x = a, *y = b;
    bool x_fast = x->rate == STRAG_UPLINK_FULL, y_fast = y->rate == STRAG_UPLINK_FULL;
    if (x_fast != y_fast)
        return x_fast ? -1 : 1;
    if (x->rate != y->rate)
        return x->rate < y->rate ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first);
}

static void put_in_order(const struct strag_problem *problem, struct strag_uplinks *uplinks,
                         struct link *links)
{
    const struct strag_topology *topology = problem->topology;
    int g = uplinks->ranks_per_host;
    qsort(links, (size_t)uplinks->hosts, sizeof *links, by_rate);
    for (int place = 0; place < uplinks->hosts; place++) {
        uplinks->rate[place] = links[place].rate;
        uplinks->fast += links[place].rate == STRAG_UPLINK_FULL;
        for (int i = 0; i < g; i++) {
            int leaf = links[place].first + i;
            int rank = topology ? topology->leaf_rank[leaf] : leaf;
            uplinks->rank_at[place * g + i] = rank;
            uplinks->place[rank] = place;
            uplinks->index[rank] = i;
        }
    }
    uplinks->slow = uplinks->hosts - uplinks->fast;
}

static bool allocate(struct strag_uplinks *uplinks, int n)
{
    uplinks->rate = calloc((size_t)uplinks->hosts, sizeof *uplinks->rate);
    uplinks->rank_at = calloc((size_t)n, sizeof *uplinks->rank_at);
    uplinks->place = calloc((size_t)n, sizeof *uplinks->place);
    uplinks->index = calloc((size_t)n, sizeof *uplinks->index);
    return uplinks->rate && uplinks->rank_at && uplinks->place && uplinks->index;
}

int strag_uplinks_open(const struct strag_problem *problem, struct strag_uplinks *uplinks,
                       struct strag_error *err)
{
    const struct strag_topology *topology = problem->topology;
    *uplinks = (struct strag_uplinks){0};
    int status = check_state(problem, err);
    if (status != STRAG_OK)
        return status;
    uplinks->ranks_per_host =
        topology && topology->ranks_per_host > 0 ? topology->ranks_per_host : 1;
    uplinks->hosts = problem->n / uplinks->ranks_per_host;
    double *speed = malloc((size_t)uplinks->hosts * sizeof *speed);
    struct link *links = malloc((size_t)uplinks->hosts * sizeof *links);
    if (!speed || !links || !allocate(uplinks, problem->n)) {
        strag_uplinks_close(uplinks);
        status = strag_fail(err, STRAG_ERR_MEMORY, "out of memory for the uplinks of %d ranks",
                            problem->n);
    } else {
        double fastest = find_links(problem, uplinks, speed);
        for (int i = 0; i < uplinks->hosts; i++) {
            double rate = speed[i] / fastest;
            links[i].first = i * uplinks->ranks_per_host;
            links[i].rate = rate >= nearly
                                ? STRAG_UPLINK_FULL
                                : (int32_t)fmax(1, floor(rate * STRAG_UPLINK_FULL + 0.5));
        }
        put_in_order(problem, uplinks, links);
    }
    free(speed);
    free(links);
    return status;
}

void strag_uplinks_close(struct strag_uplinks *uplinks)
{
    free(uplinks->rate);
    free(uplinks->rank_at);
    free(uplinks->place);
    free(uplinks->index);
    *uplinks = (struct strag_uplinks){0};
}

int64_t strag_uplinks_total(const struct strag_uplinks *uplinks)
{
    int64_t total = 0;
    for (int place = 0; place < uplinks->hosts; place++)
        total += uplinks->rate[place];
    return total;
}
