/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Trees for tests: all that there are with few leaves, and random ones. Nodes whose children are
 * all leaves are hosts or switches; other inner nodes are switches; a leaf below a switch is a host
 * of one rank.
 */
#ifndef STRAG_TEST_TREES_H
#define STRAG_TEST_TREES_H

#include "machines.h"
#include "support.h"

enum { TREES_LEAVES_MAX = 12 };

/* A tree without its ranks: its children are other shapes, the larger ones first. Shape 0 is a
 * leaf. */
struct tree_shape {
    int leaves, children;
    int child[TREES_LEAVES_MAX];
};

/* All shapes of up to this many leaves, every inner node having two children or more, that differ
 * not in the order of children only. */
struct trees {
    int count;
    struct tree_shape *list;         /* by leaves */
    int first[TREES_LEAVES_MAX + 2]; /* the shapes of l leaves are [first[l], first[l + 1]) */
};

/** @param leaves  up to TREES_LEAVES_MAX */
struct trees trees_create(int leaves);
void trees_free(struct trees *trees);

/**
 * A shape as a topology.
 *
 * @param hosts  nodes with leaves only are hosts, else switches
 * @param ranks  which ranks the leaves have, from left to right
 */
struct strag_topology *trees_build(const struct trees *trees, int shape, bool hosts,
                                   const int *ranks);

/** A random topology: n ranks, inner nodes up to `depth` deep, now and then one with one child. */
struct strag_topology *trees_random(struct rng *rng, int n, int depth, const int *ranks);

/** The numbers 0 .. n-1, in random order if rng is not NULL. The caller frees them. */
int *trees_ranks(struct rng *rng, int n);

#endif
