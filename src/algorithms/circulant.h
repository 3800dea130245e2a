/* SPDX-License-Identifier: BSD-3-Clause */
/* Reduce-scatter and allgather along the circulant graph (circulant.c), among all ranks or all but
 * one. */
#ifndef STRAG_CIRCULANT_H
#define STRAG_CIRCULANT_H

#include "algorithms/skips.h"
#include "plan/algorithm.h"

/* The ranks that take part, which are nodes 0 to count - 1 in ascending order. The vector has
 * `count` blocks (or one), and block v is node v's own. */
struct strag_members {
    int count;   /* at least 1 */
    int without; /* the rank that takes no part, or count if all do */
};

static inline int strag_member_rank(struct strag_members members, int node)
{
    return node < members.without ? node : node + 1;
}

static inline int strag_member_node(struct strag_members members, int rank)
{
    return rank < members.without ? rank : rank - 1;
}

/** Append a node's reduce-scatter, which leaves the members' sum in the node's own block.
 * @return the round behind the last one: ceil(log2 count) */
int strag_circulant_reduce_scatter(struct strag_builder *builder, struct strag_members members,
                                   int node);

/** Append a node's part of the allgather of all nodes' own blocks.
 * @param round  the first one
 * @return the round behind the last one */
int strag_circulant_allgather(struct strag_builder *builder, struct strag_members members, int node,
                              int round);

#endif
