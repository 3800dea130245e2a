/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * FlexReduce: the messages of a level, for those that run its plan (flex_plan.h) in rounds.
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
    int round, shift; /* blocks in front of the segment */
    int position;
};

/**
 * The step of a distance in children: as a holder the rank deals with owners this many children on,
 * as an owner with holders this many back. What is handed over goes first, and back last.
 *
 * @param distance  from 1 on; with those of the level's degree and more there is nothing to do
 */
void strag_flex_step_build(const struct strag_flex_step *step, int distance);

/** Does the problem's algorithm not send too many messages in this number of segments, all ranks
 * together? @return STRAG_OK or STRAG_ERR_UNSUPPORTED */
int strag_flex_check_messages(const struct strag_problem *problem, int segments,
                              struct strag_error *err);

/** Are all messages of a segment examined in no time, also if they are in few rounds? */
bool strag_flex_has_few_messages(const struct strag_problem *problem);

/** The most that a rank sends on all levels, in vectors. */
double strag_flex_sent_max(const struct strag_flex *flex);

#endif
