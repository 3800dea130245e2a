/* SPDX-License-Identifier: BSD-3-Clause */
/* The two halves of Swing: a reduce-scatter and an allgather, each a collective of its own. */
#ifndef STRAG_SWING_H
#define STRAG_SWING_H

#include "algorithms/swing_walk.h"

/**
 * Append the steps that divide the blocks: a reduce-scatter, or the allgather of what it left.
 *
 * If all steps divide, the rank has after the reduce-scatter the result of its own blocks,
 * walk->first and walk->count of each part; what the others contain is of no use.
 *
 * @param walks   the rank's, one per part
 * @param reduce  the reduce-scatter
 * @param round   the first round
 * @return the round behind the last one
 */
int strag_swing_half(const struct strag_swing *swing, const struct strag_swing_walk *walks,
                     bool reduce, int round, struct strag_builder *builder);

#endif
