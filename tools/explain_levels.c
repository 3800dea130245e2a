/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The effect of a job's hosts on a tree: the vectors that each algorithm sends between the groups
 * of every level. Between G groups no allreduce sends fewer than 2 (G - 1): for every element, all
 * groups but one send a contribution, and all but one receive the result.
 */
#include "explanation.h"

#include "model/loads.h"

#include <stdlib.h>

/* The most messages of a plan that are examined. */
#define MESSAGES_MAX (1 << 24)

/* Is a node a group of its own at this level? The root's children are at level 0; a host without
 * switches there is a group at all levels. */
static bool is_group(const struct levels *levels, int node, int level)
{
    const bool host = levels->topology->nodes[node].level == STRAG_LEVEL_HOST;
    return levels->depth[node] == level + 1 || (host && levels->depth[node] <= level);
}

int explain_open_levels(const struct machine *machine, struct levels *levels,
                        struct strag_error *err)
{
    const struct strag_topology *topology = machine->topology;
    *levels = (struct levels){.topology = topology};
    if (!machine->arguments->value[OPTION_HOSTS] || topology->network != STRAG_NETWORK_TREE)
        return STRAG_OK;
    int status = strag_links_create(topology, &machine->sourced.model, NULL, &levels->links, err);
    if (status != STRAG_OK)
        return status;
    levels->load = calloc((size_t)levels->links->nlinks, sizeof *levels->load);
    levels->depth = calloc((size_t)topology->nnodes, sizeof *levels->depth);
    if (!levels->load || !levels->depth)
        return strag_fail(err, STRAG_ERR_MEMORY, "out of memory for %d nodes", topology->nnodes);
    for (int i = 1; i < topology->nnodes; i++) {
        if (topology->nodes[i].level < STRAG_LEVEL_HOST)
            continue; /* its depth stays 0 */
        levels->depth[i] = levels->depth[topology->nodes[i].parent] + 1;
        if (levels->depth[i] > levels->count && levels->count < LEVELS_MAX)
            levels->count++;
    }
    for (int level = 0; level < levels->count; level++) {
        for (int i = 1; i < topology->nnodes; i++)
            levels->groups[level] += is_group(levels, i, level);
    }
    if (levels->groups[0] < 2) /* there is a single host */
        levels->count = 0;
    return STRAG_OK;
}

void explain_close_levels(struct levels *levels)
{
    strag_links_free(levels->links);
    free(levels->load);
    free(levels->depth);
}

bool explain_sent(const struct explanation *explanation, const struct estimate *estimate,
                  double sent[LEVELS_MAX])
{
    struct strag_error err;
    const struct levels *levels = &explanation->levels;
    struct strag_problem problem = explanation->machine->problem;
    problem.blocks = estimate->candidate->blocks;
    if (levels->count == 0 || (int64_t)estimate->rounds * problem.n > MESSAGES_MAX ||
        strag_link_loads(estimate->candidate->algorithm, &problem, levels->links, levels->load,
                         &err) != STRAG_OK)
        return false;
    for (int level = 0; level < levels->count; level++) {
        sent[level] = 0;
        for (int i = 1; i < levels->topology->nnodes; i++)
            sent[level] += is_group(levels, i, level) ? levels->load[2 * i] : 0; /* its uplink */
    }
    return true;
}
