/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From a topology to a tree without nodes of one child: chains are walked down to the first node
 * that has more, or to the leaf.
 */
#include "algorithms/tree.h"

#include <stdlib.h>

enum { NONE = -1 };

/* What a tree is made from. */
struct source {
    const struct strag_problem *problem;
    const struct strag_topology *topology;
    struct strag_topology *own; /* made for a problem without one, else NULL */
    bool no_memory;             /* for the links' rates */
};

double strag_slowness(const struct strag_problem *problem, const struct strag_topology *topology,
                      int host)
{
    const struct strag_state *state = problem->state;
    double factor = 1;
    for (int i = 0; state && i < state->nslow; i++) {
        const struct strag_slow *slow = &state->slow[i];
        if (slow->factor > factor &&
            (topology ? topology->host_node[slow->rank] : slow->rank) == host)
            factor = slow->factor;
    }
    return factor;
}

/* Make room for a number, 0, for each node. It is made when needed, as most trees need none, and
 * looking beforehand would read the whole topology twice. @return false when out of memory, which
 * is recorded */
static bool make_rates(const struct strag_tree *tree, struct source *source, double **rates)
{
    if (!*rates)
        *rates = calloc(2 * (size_t)tree->n, sizeof **rates);
    source->no_memory = source->no_memory || !*rates;
    return *rates != NULL;
}

/* Record the configured rate of a link, and by how much its host is slow. */
static void note_link(struct strag_tree *tree, struct source *source, int number, int node)
{
    const struct strag_node *here = &source->topology->nodes[node];
    const struct strag_state *state = source->problem->state;
    if (here->parent >= 0 && here->uplink > 0 && make_rates(tree, source, &tree->uplink) &&
        (tree->uplink[number] == 0 || here->uplink < tree->uplink[number]))
        tree->uplink[number] = here->uplink;
    if (state && state->nslow && here->level == STRAG_LEVEL_HOST &&
        make_rates(tree, source, &tree->slowed))
        tree->slowed[number] = strag_slowness(source->problem, source->topology, node);
}

/* Append a node of the topology, or the first one below it that does not have a single child. */
static void add_node(struct strag_tree *tree, struct source *source, int node, int parent)
{
    const struct strag_node *here = &source->topology->nodes[node];
    const int number = tree->nnodes++;
    for (; here->children == 1; here = &source->topology->nodes[node]) {
        note_link(tree, source, number, node);
        node = here->first_child;
    }
    note_link(tree, source, number, node);
    tree->nodes[number] = (struct strag_tree_node){
        .parent = parent,
        .children = here->children,
        .first_leaf = here->first_leaf,
        .leaves = here->leaves,
        .level = parent == NONE ? 0 : tree->nodes[parent].level + 1, /* the depth, for now */
        .node = node,
        .network = here->level > STRAG_LEVEL_HOST,
    };
}

/* Append node after node: the children of each go to the end of the list. */
static void add_nodes(struct strag_tree *tree, struct source *source)
{
    add_node(tree, source, 0, NONE);
    for (int i = 0; i < tree->nnodes; i++) {
        struct strag_tree_node *node = &tree->nodes[i];
        int first = source->topology->nodes[node->node].first_child;
        node->first_child = tree->nnodes;
        for (int c = 0; c < node->children; c++)
            add_node(tree, source, first + c, i);
        if (node->children && node->level + 1 > tree->levels)
            tree->levels = node->level + 1;
    }
}

/* Turn depths into levels, and fill in the tables of the levels. */
static int number_levels(struct strag_tree *tree)
{
    size_t n = (size_t)tree->n;
    tree->ancestor = malloc((size_t)tree->levels * n * sizeof *tree->ancestor);
    tree->degree = calloc((size_t)tree->levels, sizeof *tree->degree);
    if (!tree->ancestor || !tree->degree)
        return STRAG_ERR_MEMORY;
    for (size_t i = 0; i < (size_t)tree->levels * n; i++)
        tree->ancestor[i] = NONE;
    for (int i = 0; i < tree->nnodes; i++) {
        struct strag_tree_node *node = &tree->nodes[i];
        node->level = tree->levels - 1 - node->level;
        if (node->children == 0)
            tree->leaf_at[node->first_leaf] = i;
        else if (node->children > tree->degree[node->level])
            tree->degree[node->level] = node->children;
        for (int l = 0; node->children && l < node->leaves; l++)
            tree->ancestor[(size_t)node->level * n + (size_t)(node->first_leaf + l)] = i;
    }
    return STRAG_OK;
}

static int fill(struct strag_tree *tree, struct source *source)
{
    size_t n = (size_t)source->problem->n;
    tree->n = source->problem->n;
    /* With two children or more each, inner nodes are fewer than leaves. */
    tree->nodes = malloc(2 * n * sizeof *tree->nodes);
    tree->rank_at = malloc(n * sizeof *tree->rank_at);
    tree->position_of = malloc(n * sizeof *tree->position_of);
    tree->leaf_at = malloc(n * sizeof *tree->leaf_at);
    if (!tree->nodes || !tree->rank_at || !tree->position_of || !tree->leaf_at)
        return STRAG_ERR_MEMORY;
    for (int i = 0; i < tree->n; i++) {
        int rank = source->topology->leaf_rank[i];
        tree->rank_at[i] = rank;
        tree->position_of[rank] = i;
    }
    add_nodes(tree, source);
    for (int i = 0; source->own && i < tree->nnodes; i++)
        tree->nodes[i].node = NONE;
    return source->no_memory ? STRAG_ERR_MEMORY : number_levels(tree);
}

int strag_tree_check(const struct strag_problem *problem, struct strag_error *err)
{
    const struct strag_topology *topology = problem->topology;
    if (topology && topology->network != STRAG_NETWORK_TREE)
        return strag_fail(err, STRAG_ERR_UNSUPPORTED, "%s needs a tree, not a %s",
                          problem->algorithm->name, strag_network_name(topology->network));
    return STRAG_OK;
}

bool strag_tree_is_flat(const struct strag_problem *problem)
{
    const struct strag_topology *topology = problem->topology;
    for (int i = 0; topology && i < topology->nnodes; i++) {
        if (topology->nodes[i].level == STRAG_LEVEL_SWITCH)
            return false;
    }
    return !topology || topology->ranks_per_host == 1;
}

int strag_tree_create(const struct strag_problem *problem, struct strag_tree **tree,
                      struct strag_error *err)
{
    struct source source = {.problem = problem, .topology = problem->topology};
    int status = STRAG_OK;
    if (!problem->topology) {
        status = strag_topology_flat(problem->n, 1, &source.own, err);
        if (status != STRAG_OK)
            return status;
        source.topology = source.own;
    }
    struct strag_tree *made = calloc(1, sizeof *made);
    if (!made || fill(made, &source) != STRAG_OK)
        status =
            strag_fail(err, STRAG_ERR_MEMORY, "out of memory for the tree of %d ranks", problem->n);
    strag_topology_free(source.own);
    if (status == STRAG_OK)
        *tree = made;
    else
        strag_tree_free(made);
    return status;
}

void strag_tree_free(struct strag_tree *tree)
{
    if (!tree)
        return;
    free(tree->nodes);
    free(tree->rank_at);
    free(tree->position_of);
    free(tree->leaf_at);
    free(tree->degree);
    free(tree->ancestor);
    free(tree->uplink);
    free(tree->slowed);
    free(tree);
}

bool strag_tree_symmetric(const struct strag_tree *tree)
{
    for (int i = 0; i < tree->nnodes; i++) {
        const struct strag_tree_node *node = &tree->nodes[i];
        int degree = node->level >= 0 ? tree->degree[node->level] : 0;
        if (node->children != degree)
            return false;
    }
    return true;
}
