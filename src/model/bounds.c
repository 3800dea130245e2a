/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The closed forms, and the rates that they need.
 */
#include "model/bounds.h"

#include "model/network.h"

#include <math.h>
#include <stdlib.h>

double strag_bound_one_flow(int hosts, double factor)
{
    return fmax(2 * factor * (hosts - 1) / (factor * (hosts - 2) + 2), factor);
}

/* Find the bytes per second that leave each host for the network. @return [node], of which only
 * those of hosts count; NULL if out of memory */
static double *find_rates(const struct strag_links *links)
{
    const struct strag_topology *topology = links->topology;
    const bool tree = topology->network == STRAG_NETWORK_TREE;
    const size_t positions = tree ? 0 : (size_t)strag_grid_positions(&topology->grid);
    double *rates = calloc((size_t)topology->nnodes + positions, sizeof *rates);
    double *leaving = rates ? rates + topology->nnodes : NULL; /* [position] */
    for (int link = links->in_tree; rates && link < links->nlinks; link++) {
        const struct strag_link_ends ends = strag_link_ends(links, link);
        if (ends.from >= 0)
            leaving[ends.from] += strag_link_bandwidth(links, link);
    }
    for (int i = 0; rates && i < topology->nnodes; i++) {
        rates[i] = links->bandwidth[2 * i];
        if (!tree && topology->nodes[i].level == STRAG_LEVEL_HOST)
            rates[i] = fmin(rates[i], leaving[topology->nodes[i].position]);
    }
    return rates;
}

/* Sums over the hosts' rates. */
struct sums {
    int hosts, slow;       /* slow: how many are slower than the fastest, beyond rounding */
    double fastest, total; /* bytes per second */
    double slowest;
};

static struct sums sum_up(const struct strag_topology *topology, const double *rates)
{
    struct sums sums = {.slowest = INFINITY};
    for (int i = 0; i < topology->nnodes; i++) {
        if (topology->nodes[i].level != STRAG_LEVEL_HOST)
            continue;
        sums.hosts++;
        sums.total += rates[i];
        sums.fastest = fmax(sums.fastest, rates[i]);
        sums.slowest = fmin(sums.slowest, rates[i]);
    }
    for (int i = 0; i < topology->nnodes; i++)
        sums.slow +=
            topology->nodes[i].level == STRAG_LEVEL_HOST && rates[i] < sums.fastest * (1 - 1e-9);
    return sums;
}

/* Every result needs the straggler's vector. So the uplink of each host, and of each switch that
 * does not have all ranks below it, carries as much as a vector. */
static double find_narrowest(const struct strag_topology *topology, const double *rates)
{
    double narrowest = INFINITY;
    for (int i = 1; i < topology->nnodes; i++) {
        const struct strag_node *node = &topology->nodes[i];
        if (node->level >= STRAG_LEVEL_HOST && node->leaves < topology->n)
            narrowest = fmin(narrowest, rates[i]);
    }
    return narrowest;
}

static void find_bound(const struct strag_topology *topology, const struct strag_state *state,
                       const double *rates, struct strag_lower_bound *bound)
{
    struct sums sums = sum_up(topology, rates);
    if (sums.hosts < 2)
        return;
    bound->shared = fmax(2.0 * (sums.hosts - 1) / sums.total, 1 / sums.slowest);
    bound->one_flow = bound->shared;
    if (sums.slow == 1 && topology->network == STRAG_NETWORK_TREE)
        bound->one_flow =
            strag_bound_one_flow(sums.hosts, sums.fastest / sums.slowest) / sums.fastest;
    bound->delay = strag_state_delay(state);
    if (state && state->nstragglers)
        bound->late = 1 / find_narrowest(topology, rates);
}

int strag_lower_bound(const struct strag_problem *problem, const struct strag_model *model,
                      struct strag_lower_bound *bound, struct strag_error *err)
{
    struct strag_links *links;
    *bound = (struct strag_lower_bound){.latency = model->alpha + model->link_latency};
    int status = strag_links_of(problem, model, &links, err);
    if (status != STRAG_OK)
        return status;
    double *rates = find_rates(links);
    if (rates)
        find_bound(links->topology, problem->state, rates, bound);
    else
        status = strag_fail(err, STRAG_ERR_MEMORY, "out of memory for the rates of %d ranks",
                            problem->n);
    free(rates);
    strag_links_free(links);
    return status;
}

double strag_lower_bound_seconds(const struct strag_lower_bound *bound, double bytes, double *delay)
{
    const double all = bound->shared * bytes;
    const double last = bound->late > 0 ? bound->delay + bound->late * bytes : 0;
    if (delay)
        *delay = last > all ? bound->delay : 0;
    return bound->shared > 0 ? bound->latency + fmax(all, last) : 0;
}
