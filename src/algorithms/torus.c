/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared by algorithms for tori: hosts in dimensions, ranks on hosts, the dimensions in turn.
 */
#include "algorithms/torus.h"

#include <limits.h>

static void add_dimension(struct strag_torus *torus, int size, bool wrap)
{
    if (size > 1) {
        torus->size[torus->dims] = size;
        torus->stride[torus->dims] = torus->hosts;
        torus->wrap[torus->dims++] = wrap;
    }
    torus->hosts *= size;
}

struct strag_torus strag_torus_of(const struct strag_problem *problem)
{
    const struct strag_topology *topology = problem->topology;
    const struct strag_box *box = topology ? topology->box : NULL;
    struct strag_torus torus = {
        .hosts = 1, .local = 1, .parts = 1, .grid = box != NULL, .topology = topology};
    if (topology && topology->ranks_per_host > 0)
        torus.local = topology->ranks_per_host;
    for (int d = 0; box && d < box->dims; d++)
        add_dimension(&torus, box->size[d], box->wrap[d]);
    if (!box)
        add_dimension(&torus, problem->n / torus.local, true);
    if (problem->ports == 0 && torus.grid && torus.dims > 0)
        torus.parts = 2 * torus.dims;
    if (problem->ports > 0 && problem->ports <= 2 * torus.dims)
        torus.parts = problem->ports;
    return torus;
}

struct strag_torus strag_torus_of_ranks(const struct strag_problem *problem)
{
    struct strag_torus torus = strag_torus_of(problem);
    if (torus.grid)
        return torus;
    struct strag_torus line = {.hosts = 1, .local = 1, .parts = 1, .topology = problem->topology};
    add_dimension(&line, problem->n, true);
    if (problem->ports > 1 && line.dims > 0)
        line.parts = 2;
    return line;
}

void strag_torus_set_ports(const struct strag_problem *problem, int blocks,
                           struct strag_torus *torus)
{
    const int parts = problem->blocks / blocks;
    if (torus->grid && problem->ports == 0 && problem->blocks % blocks == 0 &&
        (parts == 1 || parts == torus->dims))
        torus->parts = parts;
}

int strag_torus_choices(const struct strag_problem *problem, const struct strag_torus *torus,
                        int blocks, int *choices)
{
    int count = 0;
    choices[count++] = 0;
    if (torus->grid && problem->ports == 0 && torus->dims > 0)
        choices[count++] = blocks;
    if (count == 2 && torus->dims > 1)
        choices[count++] = torus->dims * blocks;
    return count;
}

/* Check the number of ports, and that all blocks can be counted. */
static int check_parts(const struct strag_problem *problem, const struct strag_torus *torus,
                       int blocks, struct strag_error *err)
{
    if (problem->ports > 1 && problem->ports > 2 * torus->dims)
        return strag_fail(err, STRAG_ERR_UNSUPPORTED,
                          "%s drives up to 2 ports for each dimension with more than one host, "
                          "here %d; not %d",
                          problem->algorithm->name, 2 * torus->dims, problem->ports);
    if (blocks > INT_MAX / 2 / torus->parts)
        return strag_fail(err, STRAG_ERR_UNSUPPORTED,
                          "%s cuts the vector into %d blocks at most, too few for %d ranks",
                          problem->algorithm->name, INT_MAX / 2, problem->n);
    return STRAG_OK;
}

int strag_torus_check(const struct strag_problem *problem, int blocks, struct strag_error *err)
{
    struct strag_torus torus = strag_torus_of(problem);
    return check_parts(problem, &torus, blocks, err);
}

int strag_torus_check_hosts(const struct strag_problem *problem, struct strag_error *err)
{
    const struct strag_topology *topology = problem->topology;
    if (topology && topology->network != STRAG_NETWORK_TREE && !topology->box)
        return strag_fail(err, STRAG_ERR_UNSUPPORTED, "%s needs hosts that fill a box of the %s",
                          problem->algorithm->name, strag_network_name(topology->network));
    if (topology && topology->box && topology->ranks_per_host > 1)
        return strag_fail(err, STRAG_ERR_UNSUPPORTED, "%s needs one rank per host, not %d",
                          problem->algorithm->name, topology->ranks_per_host);
    return STRAG_OK;
}

int strag_torus_check_ranks(const struct strag_problem *problem, int blocks,
                            struct strag_error *err)
{
    struct strag_torus torus = strag_torus_of_ranks(problem);
    int status = strag_torus_check_hosts(problem, err);
    return status == STRAG_OK ? check_parts(problem, &torus, blocks, err) : status;
}

int strag_torus_cell(const struct strag_torus *torus, int rank, int *local)
{
    const struct strag_topology *topology = torus->topology;
    const struct strag_box *box = topology ? topology->box : NULL;
    *local = 0;
    if (!topology)
        return rank;
    if (!box) {
        int leaf = topology->nodes[topology->leaf_node[rank]].first_leaf;
        *local = leaf % torus->local;
        return leaf / torus->local;
    }
    int cell = box->cell_of[rank];
    while (box->rank_at[cell * torus->local + *local] != rank)
        (*local)++;
    return cell;
}

int strag_torus_rank(const struct strag_torus *torus, int cell, int local)
{
    const struct strag_topology *topology = torus->topology;
    if (!topology)
        return cell;
    const int32_t *ranks = topology->box ? topology->box->rank_at : topology->leaf_rank;
    return ranks[cell * torus->local + local];
}

int strag_torus_steps(const struct strag_torus *torus, int start,
                      struct strag_torus_step steps[STRAG_TORUS_STEPS_MAX])
{
    int count = 0;
    for (int level = 0, before = -1; before < count; level++) {
        before = count;
        for (int i = 0; i < torus->dims; i++) {
            int d = (start + i) % torus->dims;
            if (level < strag_log2_ceil(torus->size[d]))
                steps[count++] = (struct strag_torus_step){.dim = d, .level = level};
        }
    }
    return count;
}
