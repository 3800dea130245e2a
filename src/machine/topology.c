/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes a topology: checks the nodes, leaves out those that distinguish no ranks, sorts them, and
 * locates every rank.
 */
#include "machine/topology.h"

#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NONE = -1 };

const char *strag_level_name(enum strag_level level)
{
    static const char *const names[] = {"rank", "cache",  "NUMA domain", "package",
                                        "host", "switch", "network"};
    return level <= STRAG_LEVEL_NETWORK ? names[level] : "?";
}

/* ---- Checking nodes ---- */

static int check_node(const struct strag_grid *grid, const struct strag_node *nodes, int i,
                      struct strag_error *err)
{
    const struct strag_node *node = &nodes[i];
    if (node->parent < 0 || node->parent >= i)
        return strag_fail(err, STRAG_ERR_ARGUMENT, "node %d: its parent %d is not one before it", i,
                          node->parent);
    enum strag_level above = nodes[node->parent].level;
    bool switches = above == STRAG_LEVEL_SWITCH && node->level == STRAG_LEVEL_SWITCH;
    if (node->level >= above && !switches)
        return strag_fail(err, STRAG_ERR_ARGUMENT, "node %d: a %s below a %s", i,
                          strag_level_name(node->level), strag_level_name(above));
    if (node->level < STRAG_LEVEL_HOST && above > STRAG_LEVEL_HOST)
        return strag_fail(err, STRAG_ERR_ARGUMENT, "node %d: a %s that is in no host", i,
                          strag_level_name(node->level));
    if (grid && node->level == STRAG_LEVEL_SWITCH)
        return strag_fail(err, STRAG_ERR_ARGUMENT, "node %d: a switch in a %s", i,
                          strag_network_name(grid->network));
    if (grid && node->level == STRAG_LEVEL_HOST &&
        (node->position < 0 || node->position >= strag_grid_positions(grid)))
        return strag_fail(err, STRAG_ERR_ARGUMENT,
                          "node %d: a host at position %d; the grid has 0 to %d", i, node->position,
                          strag_grid_positions(grid) - 1);
    return STRAG_OK;
}

/* Check that every rank has one leaf. */
static int check_ranks(const struct strag_node *nodes, int nnodes, int n, bool *seen,
                       struct strag_error *err)
{
    int leaves = 0;
    for (int i = 0; i < nnodes; i++) {
        if (nodes[i].level != STRAG_LEVEL_RANK)
            continue;
        if (nodes[i].rank < 0 || nodes[i].rank >= n || seen[nodes[i].rank])
            return strag_fail(err, STRAG_ERR_ARGUMENT,
                              "node %d: rank %d, which exists twice or is not below %d", i,
                              nodes[i].rank, n);
        seen[nodes[i].rank] = true;
        leaves++;
    }
    if (leaves != n)
        return strag_fail(err, STRAG_ERR_ARGUMENT, "%d of %d ranks have no place", n - leaves, n);
    return STRAG_OK;
}

/* Check that no two hosts are at one position, by sorting: there are fewer hosts than positions. */
static int check_positions(const struct strag_node *nodes, int nnodes, int *scratch,
                           struct strag_error *err)
{
    int hosts = 0;
    for (int i = 0; i < nnodes; i++) {
        if (nodes[i].level == STRAG_LEVEL_HOST)
            scratch[hosts++] = nodes[i].position;
    }
    qsort(scratch, (size_t)hosts, sizeof *scratch, strag_compare_int);
    for (int h = 1; h < hosts; h++) {
        if (scratch[h] == scratch[h - 1])
            return strag_fail(err, STRAG_ERR_ARGUMENT, "two hosts are at position %d", scratch[h]);
    }
    return STRAG_OK;
}

static int check_nodes(const struct strag_grid *grid, const struct strag_node *nodes, int nnodes,
                       int n, struct strag_error *err)
{
    if (n < 1 || nnodes < 1 || nodes[0].parent != NONE || nodes[0].level != STRAG_LEVEL_NETWORK)
        return strag_fail(err, STRAG_ERR_ARGUMENT,
                          "a topology needs a rank, and a network as its first node");
    int status = grid ? strag_grid_check(grid, err) : STRAG_OK;
    for (int i = 0; status == STRAG_OK && i < nnodes; i++) {
        const double uplink = nodes[i].uplink;
        if (!(uplink >= 0) || isinf(uplink))
            return strag_fail(err, STRAG_ERR_ARGUMENT, "node %d: an uplink of %g bytes per second",
                              i, uplink);
        status = i > 0 ? check_node(grid, nodes, i, err) : STRAG_OK;
    }
    if (status != STRAG_OK)
        return status;
    if (n > nnodes)
        return strag_fail(err, STRAG_ERR_ARGUMENT, "%d ranks in %d nodes", n, nnodes);
    bool *seen = calloc((size_t)n, sizeof *seen);
    int *scratch = calloc((size_t)nnodes, sizeof *scratch);
    if (!seen || !scratch)
        status = strag_fail(err, STRAG_ERR_MEMORY, "out of memory for the nodes of %d ranks", n);
    else
        status = check_ranks(nodes, nnodes, n, seen, err);
    if (status == STRAG_OK && grid)
        status = check_positions(nodes, nnodes, scratch, err);
    free(seen);
    free(scratch);
    return status;
}

/* ---- Leaving nodes out ---- */

struct draft {
    int32_t parent;   /* NONE for the root */
    int32_t children; /* the number that stay */
    int32_t child;    /* the first child */
    int32_t sibling;  /* the next child of the same parent */
    int32_t number;   /* in the topology */
    double uplink;
    bool stays;
};

/* May a node be left out if it has one child, or is an only child? */
static bool is_dispensable(const struct strag_node *node)
{
    return node->level == STRAG_LEVEL_SWITCH ||
           (node->level > STRAG_LEVEL_RANK && node->level < STRAG_LEVEL_HOST);
}

/* May a node be replaced by its only child, which then gets the lower of the two bandwidths? If the
 * child's bandwidth is not given, the model sets it later, so the lower one is unknown. But the
 * bandwidth that the model gives a switch never limits. */
static bool can_merge(const struct draft *draft, const struct draft *child, enum strag_level level)
{
    return draft->uplink == 0 || child->uplink > 0 || level == STRAG_LEVEL_SWITCH;
}

static double lower(double above, double below)
{
    return above > 0 && (below == 0 || above < below) ? above : below;
}

/* From the leaves up: drop nodes without ranks, and replace nodes with one child by the child. */
static void drop_from_below(const struct strag_node *nodes, int nnodes, struct draft *drafts)
{
    for (int i = nnodes - 1; i >= 0; i--) {
        struct draft *draft = &drafts[i];
        draft->stays = nodes[i].level == STRAG_LEVEL_RANK || draft->children > 0;
        if (draft->children == 1 && is_dispensable(&nodes[i]) &&
            can_merge(draft, &drafts[draft->child], nodes[draft->child].level)) {
            struct draft *child = &drafts[draft->child];
            child->parent = draft->parent;
            child->uplink = lower(draft->uplink, child->uplink);
            child->sibling = drafts[draft->parent].child;
            drafts[draft->parent].child = draft->child;
            drafts[draft->parent].children++;
            draft->stays = false;
        } else if (draft->stays && i > 0) {
            draft->sibling = drafts[draft->parent].child;
            drafts[draft->parent].child = i;
            drafts[draft->parent].children++;
        }
    }
}

/* From the root down: an only child of a host or of the network has no traffic on its uplink, so
 * its children replace it. These children are not joined pair by pair. */
static void drop_from_above(const struct strag_node *nodes, int nnodes, struct draft *drafts)
{
    for (int i = 1; i < nnodes; i++) {
        struct draft *draft = &drafts[i];
        if (!draft->stays || !is_dispensable(&nodes[i]) || drafts[draft->parent].children != 1 ||
            nodes[draft->parent].level < STRAG_LEVEL_HOST ||
            nodes[draft->parent].level == STRAG_LEVEL_SWITCH)
            continue;
        struct draft *parent = &drafts[draft->parent];
        draft->stays = false;
        parent->uplink = draft->parent == 0 ? 0 : parent->uplink;
        parent->child = draft->child;
        parent->children = draft->children;
        for (int c = draft->child; c != NONE; c = drafts[c].sibling)
            drafts[c].parent = draft->parent;
    }
}

/* ---- Order ---- */

static int copy_node(struct strag_node *to, const struct strag_node *from,
                     const struct draft *draft, const struct draft *drafts, bool grid)
{
    *to = (struct strag_node){
        .level = from->level,
        .parent = draft->parent == NONE ? NONE : drafts[draft->parent].number,
        .children = draft->children,
        .rank = from->level == STRAG_LEVEL_RANK ? from->rank : NONE,
        .position = grid && from->level == STRAG_LEVEL_HOST ? from->position : NONE,
        .uplink = draft->uplink,
    };
    if (from->name && from->level >= STRAG_LEVEL_HOST) {
        to->name = strag_text_copy(from->name, strlen(from->name));
        if (!to->name)
            return STRAG_ERR_MEMORY;
    }
    return STRAG_OK;
}

/* Copy level by level: a node's children get their numbers when it is copied. `order` lists the
 * given nodes by their new numbers. */
static int copy_nodes(struct strag_topology *topology, const struct strag_node *nodes,
                      struct draft *drafts, int32_t *order)
{
    int numbered = 1;
    order[0] = 0;
    for (int i = 0; i < numbered; i++) {
        struct draft *draft = &drafts[order[i]];
        draft->number = i;
        if (copy_node(&topology->nodes[i], &nodes[order[i]], draft, drafts,
                      topology->network != STRAG_NETWORK_TREE) != STRAG_OK)
            return STRAG_ERR_MEMORY;
        topology->nnodes = i + 1;
        topology->nodes[i].first_child = numbered;
        for (int c = draft->child; c != NONE; c = drafts[c].sibling)
            order[numbered++] = c;
    }
    return STRAG_OK;
}

static int arrange(struct strag_topology *topology, const struct strag_node *nodes, int nnodes)
{
    struct draft *drafts = malloc((size_t)nnodes * sizeof *drafts);
    int32_t *order = malloc((size_t)nnodes * sizeof *order);
    topology->nodes = calloc((size_t)nnodes, sizeof *topology->nodes);
    int status = drafts && order && topology->nodes ? STRAG_OK : STRAG_ERR_MEMORY;
    for (int i = 0; status == STRAG_OK && i < nnodes; i++)
        drafts[i] = (struct draft){nodes[i].parent, 0, NONE, NONE, NONE, nodes[i].uplink, false};
    if (status == STRAG_OK) {
        drop_from_below(nodes, nnodes, drafts);
        drop_from_above(nodes, nnodes, drafts);
        status = copy_nodes(topology, nodes, drafts, order);
    }
    free(drafts);
    free(order);
    return status;
}

/* ---- Ranks ---- */

/* Every node's ranks are consecutive: count them from the leaves up, number them from the root
 * down.
 */
static void number_leaves(struct strag_topology *topology)
{
    struct strag_node *nodes = topology->nodes;
    for (int i = topology->nnodes - 1; i >= 0; i--) {
        if (nodes[i].rank != NONE)
            nodes[i].leaves = 1;
        if (i > 0)
            nodes[nodes[i].parent].leaves += nodes[i].leaves;
    }
    for (int i = 0; i < topology->nnodes; i++) {
        int next = nodes[i].first_leaf;
        for (int c = 0; c < nodes[i].children; c++) {
            struct strag_node *child = &nodes[nodes[i].first_child + c];
            child->first_leaf = next;
            next += child->leaves;
        }
        if (nodes[i].rank != NONE) {
            topology->leaf_rank[nodes[i].first_leaf] = nodes[i].rank;
            topology->leaf_node[nodes[i].rank] = i;
        }
    }
}

static void note_hosts(struct strag_topology *topology)
{
    for (int i = 0; i < topology->nnodes; i++) {
        const struct strag_node *node = &topology->nodes[i];
        if (node->level != STRAG_LEVEL_HOST)
            continue;
        for (int l = 0; l < node->leaves; l++)
            topology->host_node[topology->leaf_rank[node->first_leaf + l]] = i;
        if (topology->hosts == 0)
            topology->ranks_per_host = node->leaves;
        else if (topology->ranks_per_host != node->leaves)
            topology->ranks_per_host = 0;
        topology->hosts++;
    }
}

static int note_ranks(struct strag_topology *topology)
{
    size_t n = (size_t)topology->n;
    topology->leaf_rank = calloc(n, sizeof *topology->leaf_rank);
    topology->leaf_node = calloc(n, sizeof *topology->leaf_node);
    topology->host_node = calloc(n, sizeof *topology->host_node);
    if (!topology->leaf_rank || !topology->leaf_node || !topology->host_node)
        return STRAG_ERR_MEMORY;
    number_leaves(topology);
    note_hosts(topology);
    return topology->network == STRAG_NETWORK_TREE ? STRAG_OK : strag_topology_find_box(topology);
}

int strag_topology_create(const struct strag_grid *grid, const struct strag_node *nodes, int nnodes,
                          int n, struct strag_topology **topology, struct strag_error *err)
{
    int status = check_nodes(grid, nodes, nnodes, n, err);
    if (status != STRAG_OK)
        return status;
    struct strag_topology *made = calloc(1, sizeof *made);
    if (!made)
        return strag_fail(err, STRAG_ERR_MEMORY, "out of memory for the topology of %d ranks", n);
    made->n = n;
    if (grid) {
        made->network = grid->network;
        made->grid = *grid;
    }
    status = arrange(made, nodes, nnodes);
    if (status == STRAG_OK)
        status = note_ranks(made);
    if (status != STRAG_OK) {
        strag_topology_free(made);
        return strag_fail(err, status, "out of memory for the topology of %d ranks", n);
    }
    *topology = made;
    return STRAG_OK;
}

void strag_topology_free(struct strag_topology *topology)
{
    if (!topology)
        return;
    for (int i = 0; i < topology->nnodes; i++)
        free(topology->nodes[i].name);
    free(topology->nodes);
    free(topology->leaf_rank);
    free(topology->leaf_node);
    free(topology->host_node);
    if (topology->box) {
        free(topology->box->rank_at);
        free(topology->box->cell_of);
        free(topology->box);
    }
    free(topology);
}

int strag_topology_flat(int n, int ranks_per_host, struct strag_topology **topology,
                        struct strag_error *err)
{
    if (n < 1 || ranks_per_host < 1)
        return strag_fail(err, STRAG_ERR_ARGUMENT, "%d ranks, %d per host; both must be at least 1",
                          n, ranks_per_host);
    int hosts = n / ranks_per_host + (n % ranks_per_host != 0);
    size_t nnodes = 1 + (size_t)hosts + (size_t)n;
    struct strag_node *nodes = calloc(nnodes, sizeof *nodes);
    if (!nodes || nnodes > INT32_MAX) {
        free(nodes);
        return strag_fail(err, STRAG_ERR_MEMORY, "out of memory for the topology of %d ranks", n);
    }
    nodes[0] = (struct strag_node){.level = STRAG_LEVEL_NETWORK, .parent = NONE};
    for (int h = 0; h < hosts; h++)
        nodes[1 + h] = (struct strag_node){.level = STRAG_LEVEL_HOST, .parent = 0};
    for (int r = 0; r < n; r++)
        nodes[1 + hosts + r] = (struct strag_node){
            .level = STRAG_LEVEL_RANK, .parent = 1 + r / ranks_per_host, .rank = r};
    int status = strag_topology_create(NULL, nodes, (int)nnodes, n, topology, err);
    free(nodes);
    return status;
}
