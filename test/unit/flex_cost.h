/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the paper says of FlexReduce: the time it takes (equation 6), and how many calls of reduce a
 * leaf has (equation 12). For equal shares. (Lee et al., "FlexReduce".)
 */
#ifndef STRAG_FLEX_COST_H
#define STRAG_FLEX_COST_H

#include "algorithms/flex_plan.h"

/**
 * Equation 6: seconds for an allreduce.
 *
 *     2 sum over levels l of max over nodes x of levels k <= l of
 *         T_r(s / (product of the degrees of x and of its ancestors below level l), d, w_x),
 *     T_r(s, d, w) = (d - 1) (alpha + s / (d w)), d being the degree of x's ancestor of level l
 *
 * @param bytes      s
 * @param alpha      seconds for a message
 * @param bandwidth  w: for every inner node of the tree, bytes per second of a link to a child
 */
double strag_flex_seconds(const struct strag_tree *tree, double bytes, double alpha,
                          const double *bandwidth);

/** The calls of reduce of which a position is the owner, at a level. */
int strag_flex_calls(const struct strag_flex *flex, int level, int position);

/**
 * Equation 12: at most how many these can be, whatever the ranges' places.
 *
 *     1 + sum over the children of the node of ceil(portion / least portion below the child),
 *
 * the first portion being the position's after the level, the others before it. For a position
 * with several ranges the sum over these.
 */
int64_t strag_flex_call_bound(const struct strag_flex *flex, int level, int position);

#endif
