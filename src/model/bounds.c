/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The closed forms, and the rates that they need.
 */
#include "model/bounds.h"

#include "model/network.h"

#include <math.h>

double strag_bound_one_flow(int hosts, double factor)
{
    return fmax(2 * factor * (hosts - 1) / (factor * (hosts - 2) + 2), factor);
}

/* What the hosts' uplinks are like. */
struct sums {
    int hosts, slow;       /* slow: slower than the fastest by more than rounding */
    double fastest, total; /* bytes per second */
    double slowest;
};

static struct sums sum_up(const struct strag_links *links)
{
    const struct strag_topology *topology = links->topology;
    struct sums sums = {.slowest = INFINITY};
    for (int i = 0; i < topology->nnodes; i++) {
        if (topology->nodes[i].level != STRAG_LEVEL_HOST)
            continue;
        sums.hosts++;
        sums.total += links->bandwidth[2 * i];
        sums.fastest = fmax(sums.fastest, links->bandwidth[2 * i]);
        sums.slowest = fmin(sums.slowest, links->bandwidth[2 * i]);
    }
    for (int i = 0; i < topology->nnodes; i++)
        sums.slow += topology->nodes[i].level == STRAG_LEVEL_HOST &&
                     links->bandwidth[2 * i] < sums.fastest * (1 - 1e-9);
    return sums;
}

static void find_bound(const struct strag_links *links, struct strag_lower_bound *bound)
{
    struct sums sums = sum_up(links);
    if (sums.hosts < 2)
        return;
    bound->shared = fmax(2.0 * (sums.hosts - 1) / sums.total, 1 / sums.slowest);
    bound->one_flow = bound->shared;
    if (sums.slow == 1)
        bound->one_flow =
            strag_bound_one_flow(sums.hosts, sums.fastest / sums.slowest) / sums.fastest;
}

int strag_lower_bound(const struct strag_problem *problem, const struct strag_model *model,
                      struct strag_lower_bound *bound, struct strag_error *err)
{
    struct strag_links *links;
    *bound = (struct strag_lower_bound){0};
    if (problem->topology && problem->topology->network != STRAG_NETWORK_TREE)
        return STRAG_OK;
    int status = strag_links_of(problem, model, &links, err);
    if (status != STRAG_OK)
        return status;
    find_bound(links, bound);
    strag_links_free(links);
    return STRAG_OK;
}
