/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Is the machine made of equal parts? Then an exchange of ranks takes every link to another one.
 */
#include "model/symmetry.h"

#include "algorithms/uplinks.h"

#include <stdlib.h>

/* Those of a grid's network. */
static bool are_links_equal(const struct strag_links *links)
{
    double first = strag_link_bandwidth(links, links->in_tree);
    for (int l = links->in_tree; links->nslowed && l < links->nlinks; l++) {
        if (strag_link_bandwidth(links, l) != first)
            return false;
    }
    return true;
}

/* A whole torus with a rank on every host, all links equally fast. */
static bool is_torus(const struct strag_links *links)
{
    const struct strag_topology *topology = links->topology;
    const struct strag_box *box = topology->box;
    if (topology->network != STRAG_NETWORK_TORUS || topology->ranks_per_host != 1 || !box ||
        box->cells != strag_grid_positions(&topology->grid))
        return false;
    for (int d = 0; d < topology->grid.dims; d++) {
        if (!topology->grid.wrap[d])
            return false;
    }
    return are_links_equal(links);
}

/* Do nodes at the same depth have as many children, and links of the same rate? They are side by
 * side. Ranks are in the order of the tree. */
static bool is_tree_of_equals(const struct strag_links *links)
{
    const struct strag_topology *topology = links->topology;
    if (topology->network != STRAG_NETWORK_TREE)
        return false;
    for (int r = 0; r < topology->n; r++) {
        if (topology->leaf_rank[r] != r)
            return false;
    }
    for (int first = 0, end = 1; first < end;) {
        const struct strag_node *one = &topology->nodes[first];
        for (int i = first; i < end; i++) {
            const struct strag_node *node = &topology->nodes[i];
            if (node->children != one->children || node->level != one->level ||
                strag_link_bandwidth(links, 2 * i) != strag_link_bandwidth(links, 2 * first))
                return false;
        }
        int next = end;
        end += one->children * (end - first);
        first = next;
    }
    return true;
}

/* @return false: it is none of these */
static bool find_machine(const struct strag_links *links, enum strag_machine *machine)
{
    const struct strag_topology *topology = links->topology;
    int leaf = topology->leaf_node[0], host = topology->host_node[0];
    bool torus = is_torus(links);
    bool flat = topology->nodes[leaf].parent == host && topology->nodes[host].parent == 0;
    *machine = torus ? STRAG_MACHINE_TORUS : flat ? STRAG_MACHINE_SWITCH : STRAG_MACHINE_TREE;
    return torus || is_tree_of_equals(links);
}

/* @return are two of them equivalent? */
static bool find_ranks(const struct strag_instance *instance, enum strag_machine machine,
                       int32_t *rank)
{
    bool found = false;
    for (int r = 0; r < instance->problem.n; r++) {
        rank[r] = instance->algorithm->like(&instance->problem, machine, r);
        found = found || rank[r] != r;
    }
    return found;
}

/* A node goes where its first rank goes. `link` first has nodes, one for every other link. */
static void find_tree_links(const struct strag_topology *topology, const int32_t *rank,
                            int32_t *link)
{
    for (int i = topology->nnodes - 1; i >= 0; i--) {
        const struct strag_node *node = &topology->nodes[i];
        int to = node->children ? topology->nodes[link[2 * node->first_child] / 2].parent
                                : topology->leaf_node[rank[node->rank]];
        link[2 * i] = 2 * to;
        link[2 * i + 1] = 2 * to + 1;
    }
}

static void find_torus_links(const struct strag_links *links, const int32_t *rank, int32_t *link)
{
    const struct strag_topology *topology = links->topology;
    int first = 2 * topology->nnodes, count = links->per_position;
    for (int r = 0; r < topology->n; r++) {
        int at = topology->nodes[topology->host_node[r]].position;
        int to = topology->nodes[topology->host_node[rank[r]]].position;
        for (int i = 0; i < count; i++)
            link[first + at * count + i] = first + to * count + i;
    }
}

static void count(const int32_t *stands, int length, int32_t *counts)
{
    for (int i = 0; i < length; i++)
        counts[stands[i]]++;
}

static bool allocate(struct strag_symmetry *symmetry, size_t n, size_t nlinks)
{
    symmetry->rank = malloc(n * sizeof *symmetry->rank);
    symmetry->link = malloc(nlinks * sizeof *symmetry->link);
    symmetry->ranks = calloc(n, sizeof *symmetry->ranks);
    symmetry->links = calloc(nlinks, sizeof *symmetry->links);
    return symmetry->rank && symmetry->link && symmetry->ranks && symmetry->links;
}

int strag_symmetry_open(const struct strag_instance *instance, const struct strag_links *links,
                        struct strag_symmetry *symmetry, struct strag_error *err)
{
    enum strag_machine machine;
    int n = instance->problem.n;
    *symmetry = (struct strag_symmetry){NULL};
    if (n < 2 || !instance->algorithm->like || !find_machine(links, &machine))
        return STRAG_OK;
    if (!allocate(symmetry, (size_t)n, (size_t)links->nlinks)) {
        strag_symmetry_close(symmetry);
        return strag_fail(err, STRAG_ERR_MEMORY, "out of memory for the links of %d ranks", n);
    }
    if (!find_ranks(instance, machine, symmetry->rank)) {
        strag_symmetry_close(symmetry);
        return STRAG_OK;
    }
    find_tree_links(links->topology, symmetry->rank, symmetry->link);
    if (machine == STRAG_MACHINE_TORUS)
        find_torus_links(links, symmetry->rank, symmetry->link);
    count(symmetry->rank, n, symmetry->ranks);
    count(symmetry->link, links->nlinks, symmetry->links);
    return STRAG_OK;
}

void strag_symmetry_close(struct strag_symmetry *symmetry)
{
    free(symmetry->rank);
    free(symmetry->link);
    free(symmetry->ranks);
    free(symmetry->links);
    *symmetry = (struct strag_symmetry){NULL};
}

/* ---- Rounds of the same kind ---- */

/* Is every rank right below a host, and every host right below the root, all with as many ranks
 * that are equally fast? Hosts' links may differ. */
static bool are_hosts_equal(const struct strag_links *links)
{
    const struct strag_topology *topology = links->topology;
    int first = topology->leaf_node[0];
    if (topology->network != STRAG_NETWORK_TREE || topology->ranks_per_host == 0)
        return false;
    for (int r = 0; r < topology->n; r++) {
        int leaf = topology->leaf_node[r], host = topology->host_node[r];
        if (topology->nodes[leaf].parent != host || topology->nodes[host].parent != 0 ||
            strag_link_bandwidth(links, 2 * leaf) != strag_link_bandwidth(links, 2 * first))
            return false;
    }
    return true;
}

int strag_symmetry_kinds(const struct strag_instance *instance, const struct strag_links *links,
                         double *bandwidth, struct strag_error *err)
{
    const struct strag_problem *problem = &instance->problem;
    const struct strag_topology *topology = links->topology;
    struct strag_uplinks_count count;
    struct strag_uplinks uplinks;
    *bandwidth = 0;
    if (problem->n < 2 || !instance->algorithm->kind || strag_state_delay(problem->state) > 0 ||
        !are_hosts_equal(links))
        return STRAG_OK;
    int status = strag_uplinks_count(problem, &count, err);
    if (status == STRAG_OK)
        status = strag_uplinks_open(problem, count.fast, &uplinks, err);
    if (status != STRAG_OK)
        return status;
    for (int place = 0; place < count.fast; place++) {
        int host = topology->host_node[strag_uplinks_rank(&uplinks, place, 0)];
        if (place == 0)
            *bandwidth = strag_link_bandwidth(links, 2 * host);
        else if (strag_link_bandwidth(links, 2 * host) != *bandwidth)
            *bandwidth = 0;
        if (*bandwidth == 0)
            break;
    }
    strag_uplinks_close(&uplinks);
    return STRAG_OK;
}
