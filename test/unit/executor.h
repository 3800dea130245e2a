/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An executor that shares nothing with verify and engine: it carries plans out operation by
 * operation, in random order, as plan.h says, and looks at what every rank ends with. It trusts no
 * field of the plans.
 */
#ifndef STRAG_TEST_EXECUTOR_H
#define STRAG_TEST_EXECUTOR_H

#include "plan/plan.h"
#include "support.h"

enum { EXECUTOR_RANKS_MAX = 64 };

enum outcome {
    OUTCOME_SUM,       /* all ranks have every contribution once, in the same order */
    OUTCOME_WRONG,     /* some value is wrong, or differs between ranks */
    OUTCOME_HANG,      /* nothing can go on */
    OUTCOME_MALFORMED, /* a field is outside what plan.h allows, or two sides do not fit */
};

/* How unkind the executor is. */
enum schedule {
    EAGER, /* sends may complete by themselves; whatever the waits allow may be in flight */
    STRICT /* sends wait for the receive; round after round; one recv_reduce at a time */
};

/** Carry the plans out once. @param in_place  input and output are the same buffer */
enum outcome execute(struct strag_plan *const *plans, int n, enum schedule schedule, bool in_place,
                     struct rng *rng);

/** Carry the plans out often, in all ways. @return the first outcome that is not OUTCOME_SUM */
enum outcome execute_often(struct strag_plan *const *plans, int n, int times, struct rng *rng);

#endif
