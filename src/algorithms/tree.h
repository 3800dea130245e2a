/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tree of a problem as hierarchical algorithms see it: every inner node belongs to a level and
 * has two children or more, since a node with one child tells no ranks apart.
 *
 *     level 1              A            depth 0
 *                        /   \
 *     level 0           B     C         depth 1
 *                      / \   /|\
 *     positions       0   1 2 3 4
 *
 * Levels count from the bottom: a node's children are inner nodes of the level below, or leaves,
 * and the root is alone on the highest level. A leaf high up in the tree is below no node of the
 * lower levels. Leaves are numbered by position, from left to right; algorithms plan in positions
 * and turn them into ranks last, so that the mapping of ranks to hosts does not matter.
 */
#ifndef STRAG_TREE_H
#define STRAG_TREE_H

#include "plan/algorithm.h"

struct strag_tree_node {
    int32_t parent;      /* -1 for the root */
    int32_t first_child; /* children are [first_child, first_child + children) */
    int32_t children;    /* 0 for a leaf, else at least 2 */
    int32_t first_leaf;  /* positions below are [first_leaf, first_leaf + leaves) */
    int32_t leaves;
    int32_t level; /* of an inner node */
    int32_t node;  /* of the topology, or -1 if the problem has none */
    bool network;  /* an inner node outside of hosts: its children are hosts or switches */
};

struct strag_tree {
    int n;
    int levels;      /* at least 1 */
    int32_t *degree; /* [level]: the largest degree of its nodes */
    int nnodes;
    struct strag_tree_node *nodes; /* nodes[0] is the root; a parent before its children */
    int32_t *rank_at;              /* [position] */
    int32_t *position_of;          /* [rank] */
    int32_t *leaf_at;              /* [position]: the leaf's node */
    int32_t *ancestor;             /* [level * n + position]: see strag_tree_ancestor */
    double *uplink, *slowed;       /* [node]: see below; NULL if 0, or 1, everywhere */
};

/** The node of a level that a position is below, or -1 if there is none. */
static inline int strag_tree_ancestor(const struct strag_tree *tree, int level, int position)
{
    return tree->ancestor[(size_t)level * (size_t)tree->n + (size_t)position];
}

/** The lowest rate, in bytes per second, from a node up to its parent; 0 if not configured. */
static inline double strag_tree_uplink(const struct strag_tree *tree, int node)
{
    return tree->uplink ? tree->uplink[node] : 0;
}

/** The factor, at least 1, by which the host at the lower end of a node's uplink is slow. */
static inline double strag_tree_slowed(const struct strag_tree *tree, int node)
{
    return tree->slowed && tree->slowed[node] > 0 ? tree->slowed[node] : 1;
}

/** Are there only hosts of one rank each, without switches? Then algorithms for trees are no better
 * than their simpler counterparts. */
bool strag_tree_is_flat(const struct strag_problem *problem);

/** By how much a host's link is slower than its rate: 1, or the largest of its ranks' factors.
 * @param host  its node in the topology, or its rank if `topology` is NULL */
double strag_slowness(const struct strag_problem *problem, const struct strag_topology *topology,
                      int host);

/** The check of algorithms that need a tree: the network must be one, or not be given. */
int strag_tree_check(const struct strag_problem *problem, struct strag_error *err);

/** Is the tree flat, and the network no grid? Then algorithms for grids have one dimension only. */
static inline bool strag_tree_is_one_switch(const struct strag_problem *problem)
{
    const struct strag_topology *topology = problem->topology;
    return (!topology || topology->network == STRAG_NETWORK_TREE) && strag_tree_is_flat(problem);
}

/**
 * The tree of a problem of at least two ranks.
 *
 * @param[out] tree  the caller's to free with strag_tree_free; untouched on failure
 * @return STRAG_OK or STRAG_ERR_MEMORY
 */
int strag_tree_create(const struct strag_problem *problem, struct strag_tree **tree,
                      struct strag_error *err);

/** NULL is allowed. */
void strag_tree_free(struct strag_tree *tree);

/** Have all nodes of a level the same degree, for every level, and all leaves the same depth? */
bool strag_tree_symmetric(const struct strag_tree *tree);

#endif
