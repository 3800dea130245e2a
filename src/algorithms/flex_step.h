/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * FlexReduce: the messages of a level, for algorithms that run its plan (flex_plan.h) in rounds.
 */
#ifndef STRAG_FLEX_STEP_H
#define STRAG_FLEX_STEP_H

#include "algorithms/flex_plan.h"

/* A rank's part of one step of a level, for one segment. */
struct strag_flex_step {
    const struct strag_flex *flex;
    struct strag_builder *builder;
    int level;
    bool gather;
    int round, shift; /* shift: blocks in front of the segment */
    int position;
};

/**
 * Append a step: as a holder the rank deals with owners `distance` children further on, as an owner
 * with holders as far back. Values that are handed over go first, and come back last.
 *
 * @param distance  at least 1; from the level's degree on, there are no messages
 */
void strag_flex_step_build(const struct strag_flex_step *step, int distance);

/** Refuse a problem with too many messages, of all ranks together, with this number of segments.
 * @return STRAG_OK or STRAG_ERR_UNSUPPORTED */
int strag_flex_check_messages(const struct strag_problem *problem, int segments,
                              struct strag_error *err);

/** Can all messages of a segment be examined quickly, even if they are in few rounds? */
bool strag_flex_has_few_messages(const struct strag_problem *problem);

/** The most that a rank sends on all levels, in vectors. */
double strag_flex_sent_max(const struct strag_flex *flex);

#endif
