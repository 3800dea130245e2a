/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the forms of Swing are put together from. The two halves of the bandwidth form are
 * collectives of their own.
 */
#ifndef STRAG_SWING_H
#define STRAG_SWING_H

#include "algorithms/swing_walk.h"

/**
 * Append a reduce-scatter over the steps that divide the blocks. If all do, the rank then has the
 * result of its own blocks, walk->first and walk->count of each part; what the others contain is of
 * no use.
 *
 * @param walks  the rank's, one per part
 * @param round  the first round
 * @return the round behind the last one
 */
int strag_swing_reduce_scatter(const struct strag_swing *swing,
                               const struct strag_swing_walk *walks, int round,
                               struct strag_builder *builder);

/** Append the swaps: over the other steps, the last one first, all ranks of a list combine their
 * own blocks, which are the same. As above. */
int strag_swing_swap(const struct strag_swing *swing, const struct strag_swing_walk *walks,
                     int round, struct strag_builder *builder);

/** Append the allgather of what strag_swing_reduce_scatter left. As above. */
int strag_swing_allgather(const struct strag_swing *swing, const struct strag_swing_walk *walks,
                          int round, struct strag_builder *builder);

/** The strag_swing of an algorithm's `prepare`; free releases it. @param scatter  as
 * strag_swing_lay_out has it */
int strag_swing_prepare(const struct strag_problem *problem, int scatter, void **prepared,
                        struct strag_error *err);

/** The claim of an allreduce by the three in turn. */
void strag_swing_claim(const struct strag_problem *problem, struct strag_claim *claim);

/** Which ranks are alike in it. */
int strag_swing_like(const struct strag_problem *problem, enum strag_machine machine, int rank);

/** That allreduce. */
void strag_swing_build(const struct strag_problem *problem, int rank,
                       struct strag_builder *builder);

#endif
