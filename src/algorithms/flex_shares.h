/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * FlexReduce: the shares of a node's children in the vector, and their unit. For flex_plan.c.
 */
#ifndef STRAG_FLEX_SHARES_H
#define STRAG_FLEX_SHARES_H

#include "algorithms/tree.h"

/* The hosts of a network, as if all were equal. */
struct strag_flex_hosts {
    int count;
    double rate; /* bytes per second of a host's link, or 0 if none is configured */
};

struct strag_flex_hosts strag_flex_hosts(const struct strag_tree *tree);

/**
 * The shares of a node's children in the vector: as equal as they can be while no uplink takes
 * longer than necessary. With q children of rates w_i this is T = max(2(q-1) / sum(w), 1 / min(w)),
 * or somewhat longer if hosts below a child with a large share would otherwise take longer still.
 * Child i may get up to (T w_i - 1) / (q - 2). If all rates are equal or q is 2, shares are equal.
 *
 * @param hosts   from strag_flex_hosts; NULL for equal shares, whatever the rates
 * @param whole   the sum of all shares
 * @param[out] shares  one per child
 */
void strag_flex_shares(const struct strag_tree *tree, int node,
                       const struct strag_flex_hosts *hosts, int64_t whole, int64_t *shares);

/** Do all nodes have equal shares for their children, also by the uplinks' rates? */
bool strag_flex_is_equal(const struct strag_tree *tree);

/** The vector's length in units of shares: the lowest common denominator of all portions if that is
 * up to 2^52; else, or if shares follow rates that differ, lcm(1 .. 40). */
int64_t strag_flex_whole(const struct strag_tree *tree, bool rates);

#endif
