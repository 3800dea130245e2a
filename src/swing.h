/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The two halves of Swing's bandwidth form, which are collectives of their own.
 */
#ifndef STRAG_SWING_H
#define STRAG_SWING_H

#include "swing_walk.h"

/**
 * Append a reduce-scatter: afterwards the rank has the result of its own blocks, walk->first and
 * walk->count of each part; what the others contain is of no use.
 *
 * @param swing    laid out with scatter_all, or not: then only the ranks of a host take part
 * @param walks    the rank's, one per part
 * @param round    the first round
 * @return the round behind the last one
 */
int strag_swing_reduce_scatter(const struct strag_swing *swing,
                               const struct strag_swing_walk *walks, int round,
                               struct strag_builder *builder);

/** Append the allgather of what strag_swing_reduce_scatter left. As above. */
int strag_swing_allgather(const struct strag_swing *swing, const struct strag_swing_walk *walks,
                          int round, struct strag_builder *builder);

#endif
