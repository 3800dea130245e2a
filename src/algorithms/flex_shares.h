/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * FlexReduce: what each child of a node gets of the vector, and in which units. For flex_plan.c.
 */
#ifndef STRAG_FLEX_SHARES_H
#define STRAG_FLEX_SHARES_H

#include "algorithms/tree.h"

/**
 * What the children of a node get of the vector.
 *
 * @param rates   by the uplinks' rates: with q children whose rates are w_i and
 *                T = max(2(q-1) / sum(w), 1 / min(w)) child i gets (T w_i - 1) / (q - 2), scaled so
 *                that the sum is 1; where all are alike or q is 2, as without
 * @param whole   the sum of all
 * @param[out] shares  one per child
 */
void strag_flex_shares(const struct strag_tree *tree, int node, bool rates, int64_t whole,
                       int64_t *shares);

/** Do all nodes have equal shares for their children, also by the uplinks' rates? */
bool strag_flex_alike(const struct strag_tree *tree);

/** What the vector is counted in: the lowest common denominator of all portions if there is one of
 * up to 2^52, else, or where shares follow rates that differ, lcm(1 .. 40). */
int64_t strag_flex_whole(const struct strag_tree *tree, bool rates);

#endif
