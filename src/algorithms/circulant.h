/* SPDX-License-Identifier: BSD-3-Clause */
/* Reduce-scatter and allgather along the circulant graph (circulant.c), among all ranks or all but
 * one. */
#ifndef STRAG_CIRCULANT_H
#define STRAG_CIRCULANT_H

#include "algorithms/skips.h"
#include "plan/algorithm.h"

/* Those who take part. In the order of their ranks they are nodes 0 to count - 1; the vector has as
 * many blocks (or one), and node v's own is block v. */
struct strag_members {
    int count;   /* at least 1 */
    int without; /* the rank that is none of them; count: there is no such rank */
};

static inline int strag_member_rank(struct strag_members members, int node)
{
    return node < members.without ? node : node + 1;
}

static inline int strag_member_node(struct strag_members members, int rank)
{
    return rank < members.without ? rank : rank - 1;
}

/** Append what a node does in the reduce-scatter, after which its own block is the members' sum.
 * @return the round behind the last one: ceil(log2 count) */
int strag_circulant_reduce_scatter(struct strag_builder *builder, struct strag_members members,
                                   int node);

/** Append what it does in the allgather of all nodes' own blocks.
 * @param round  the first one
 * @return the round behind the last one */
int strag_circulant_allgather(struct strag_builder *builder, struct strag_members members, int node,
                              int round);

#endif
