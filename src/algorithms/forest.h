/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Trees that reach all ranks, grown around one rank, the centre: a straggler (straggler_trees.c) or
 * the slowest host's (torus_trees.c). Their shape stands in straggler_trees.c.
 */
#ifndef STRAG_FOREST_H
#define STRAG_FOREST_H

#include "algorithms/torus.h"

enum { STRAG_FOREST_BLOCKS_MAX = INT32_MAX / 8 };

/* A rank in a tree. */
struct strag_branch {
    int32_t parent, child, sibling; /* ranks: parent, first child, and next child of the parent; or
                                       -1 */
    int32_t depth;                  /* 0 for the root */
    int32_t early;                  /* the depth without the centre; 1 for the centre's child */
};

/* The hosts of a problem, and what all counts of segments share. */
struct strag_forest {
    int n, trees, centre;
    int before, depth; /* the deepest tree's depth, without and with the centre */
    int hosts;
    int32_t *first;   /* [host]: its first rank in rank_at; [hosts]: n */
    int32_t *rank_at; /* host after host; in each the rank that the trees reach is first, and late
                         ones are last */
    int32_t *order;   /* [place]: hosts as a chain, the centre's first */
    double *delay;    /* [rank]: -1 if it is in time, INFINITY for the centre */
    int32_t root[2 * STRAG_DIMS_MAX]; /* [tree] */
    struct strag_branch *branch;      /* [tree * n + rank] */
};

/** How many trees there are: two for each dimension of a grid, or one. */
int strag_forest_trees(const struct strag_problem *problem);

/** Refuse more ports than a grid has, and numbers of blocks that the trees cannot share evenly. */
int strag_forest_check(const struct strag_problem *problem, struct strag_error *err);

/** Grow the trees around a rank.
 * @param[out] forest  the caller's to clear, also on failure @return false when out of memory */
bool strag_forest_grow(const struct strag_problem *problem, int centre,
                       struct strag_forest *forest);

void strag_forest_clear(struct strag_forest *forest);

/** What a `choices` function returns: as many segments as the trees are deep, twice that, .. */
int strag_forest_choices(const struct strag_forest *forest, int *blocks);

/** Segments of each tree: what the problem says, or as many as the trees are deep. */
static inline int strag_forest_segments(const struct strag_forest *forest,
                                        const struct strag_problem *problem)
{
    return problem->blocks ? problem->blocks / forest->trees : forest->depth;
}

/** A tree's ranks. */
static inline const struct strag_branch *strag_forest_tree(const struct strag_forest *forest,
                                                           int tree)
{
    return forest->branch + (size_t)tree * (size_t)forest->n;
}

#endif
