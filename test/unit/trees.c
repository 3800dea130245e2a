/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shapes are found size by size: the children of a shape are a list of smaller ones, each at most
 * as far back in the list of all as the one before it.
 */
#include "trees.h"

static void add_shape(struct trees *trees, const struct tree_shape *shape)
{
    if ((trees->count & (trees->count - 1)) == 0) { /* full at every power of two */
        size_t room = trees->count ? 2 * (size_t)trees->count : 1;
        trees->list = realloc(trees->list, room * sizeof *trees->list);
        assert_non_null(trees->list);
    }
    trees->list[trees->count++] = *shape;
}

/* Complete a shape that still lacks this many leaves. */
static void add_children(struct trees *trees, struct tree_shape *shape, int left, int largest)
{
    if (left == 0) {
        if (shape->children > 1)
            add_shape(trees, shape);
        return;
    }
    for (int c = largest; c >= 0; c--) {
        int leaves = trees->list[c].leaves;
        if (leaves > left)
            continue;
        shape->child[shape->children++] = c;
        add_children(trees, shape, left - leaves, c);
        shape->children--;
    }
}

struct trees trees_create(int leaves)
{
    struct trees trees = {0};
    const struct tree_shape leaf = {.leaves = 1};
    assert_in_range(leaves, 1, TREES_LEAVES_MAX);
    add_shape(&trees, &leaf);
    trees.first[2] = 1;
    for (int l = 2; l <= leaves; l++) {
        struct tree_shape shape = {.leaves = l};
        add_children(&trees, &shape, l, trees.count - 1);
        trees.first[l + 1] = trees.count;
    }
    return trees;
}

void trees_free(struct trees *trees)
{
    free(trees->list);
}

/* A leaf, where it may be. */
static void add_leaf(struct machine_nodes *nodes, int parent, int rank)
{
    if (nodes->list[parent].level > STRAG_LEVEL_HOST)
        parent = machine_node(nodes, parent, STRAG_LEVEL_HOST);
    machine_rank(nodes, parent, rank);
}

/* @return the ranks that are left */
static const int *add_subtree(const struct trees *trees, struct machine_nodes *nodes, int parent,
                              int shape, bool hosts, const int *ranks)
{
    const struct tree_shape *here = &trees->list[shape];
    bool leaves = here->children > 0 && here->child[0] == 0;
    if (here->children == 0) {
        add_leaf(nodes, parent, *ranks);
        return ranks + 1;
    }
    int node = machine_node(nodes, parent, hosts && leaves ? STRAG_LEVEL_HOST : STRAG_LEVEL_SWITCH);
    for (int c = 0; c < here->children; c++)
        ranks = add_subtree(trees, nodes, node, here->child[c], hosts, ranks);
    return ranks;
}

struct strag_topology *trees_build(const struct trees *trees, int shape, bool hosts,
                                   const int *ranks)
{
    struct machine_nodes nodes = machine_nodes_create();
    add_subtree(trees, &nodes, 0, shape, hosts, ranks);
    return machine_finish(&nodes, NULL);
}

/* @return the ranks that are left */
static const int *add_random(struct rng *rng, struct machine_nodes *nodes, int parent, int leaves,
                             int depth, const int *ranks)
{
    if (depth == 0 || leaves == 1) {
        for (int l = 0; l < leaves; l++)
            add_leaf(nodes, parent, ranks[l]);
        return ranks + leaves;
    }
    bool host = depth == 1 && rng_one_in(rng, 2);
    int node = machine_node(nodes, parent, host ? STRAG_LEVEL_HOST : STRAG_LEVEL_SWITCH);
    int children = 1 + (int)rng_below(rng, leaves < 6 ? (unsigned)leaves : 6);
    if (host || rng_one_in(rng, 8))
        children = leaves;
    for (; children > 0; children--) {
        int most = leaves - children + 1;
        int part = children == 1 ? leaves : 1 + (int)rng_below(rng, (unsigned)most);
        leaves -= part;
        ranks = add_random(rng, nodes, node, part, depth - 1, ranks);
    }
    return ranks;
}

struct strag_topology *trees_random(struct rng *rng, int n, int depth, const int *ranks)
{
    struct machine_nodes nodes = machine_nodes_create();
    add_random(rng, &nodes, 0, n, depth, ranks);
    return machine_finish(&nodes, NULL);
}

int *trees_ranks(struct rng *rng, int n)
{
    int *ranks = malloc((size_t)n * sizeof *ranks);
    assert_non_null(ranks);
    for (int i = 0; i < n; i++) {
        int other = rng ? (int)rng_below(rng, (unsigned)i + 1) : i;
        ranks[i] = ranks[other];
        ranks[other] = i;
    }
    return ranks;
}
