/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * FlexReduce: what each child of a node gets of the vector, and in which units. For flex_plan.c.
 */
#ifndef STRAG_FLEX_SHARES_H
#define STRAG_FLEX_SHARES_H

#include "algorithms/tree.h"

/* The hosts of a network, as if all were equal. */
struct strag_flex_hosts {
    int count;
    double rate; /* bytes per second of a host's link; 0: nothing is said of them */
};

struct strag_flex_hosts strag_flex_hosts(const struct strag_tree *tree);

/**
 * What the children of a node get of the vector: as equal shares as no uplink takes longer with
 * than need be. With q children whose rates are w_i that is T = max(2(q-1) / sum(w), 1 / min(w)),
 * or somewhat longer if hosts below a child that gets much would else take longer still; child i
 * may get up to (T w_i - 1) / (q - 2). If all are equal or q is 2, so are the shares.
 *
 * @param hosts   of strag_flex_hosts; NULL: shares are equal, whatever the rates
 * @param whole   the sum of all
 * @param[out] shares  one per child
 */
void strag_flex_shares(const struct strag_tree *tree, int node,
                       const struct strag_flex_hosts *hosts, int64_t whole, int64_t *shares);

/** Do all nodes have equal shares for their children, also by the uplinks' rates? */
bool strag_flex_is_equal(const struct strag_tree *tree);

/** What the vector is counted in: the lowest common denominator of all portions if there is one of
 * up to 2^52, else, or if shares follow rates that differ, lcm(1 .. 40). */
int64_t strag_flex_whole(const struct strag_tree *tree, bool rates);

#endif
