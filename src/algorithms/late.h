/* SPDX-License-Identifier: BSD-3-Clause */
/* What the algorithms share that wait for a late rank, while the others go ahead. */
#ifndef STRAG_LATE_H
#define STRAG_LATE_H

#include "plan/algorithm.h"

/** The rank that is waited for: the latest, of equally late ones the lowest. One that is late by 0
 * seconds is late. @return -1: none is named */
int strag_awaited_straggler(const struct strag_problem *problem);

/*
 * The other n - 1 ranks, in order, are nodes 0 to n - 2. Of as many blocks (or of one, where there
 * is one other rank), they can sum up block v on node v, and send all of them to all, along the
 * circulant graph (circulant.c).
 */

static inline int strag_other_rank(int node, int straggler)
{
    return node < straggler ? node : node + 1;
}

static inline int strag_other_node(int rank, int straggler)
{
    return rank < straggler ? rank : rank - 1;
}

/** How many rounds each of the two takes, of n ranks, the late one included. */
int strag_others_rounds(int n);

/** Append what a node does in these rounds. @param round  of the first one */
void strag_others_reduce_scatter(struct strag_builder *builder, int n, int straggler, int node,
                                 int round);
void strag_others_allgather(struct strag_builder *builder, int n, int straggler, int node,
                            int round);

#endif
