/* SPDX-License-Identifier: BSD-3-Clause */
/* What the algorithms share that wait for a late rank. */
#ifndef STRAG_LATE_H
#define STRAG_LATE_H

#include "algorithm.h"

/** The rank that is waited for: the latest, of equally late ones the lowest. @return -1: none is
 * named. One that is late by 0 seconds is. */
static inline int strag_latest(const struct strag_problem *problem)
{
    const struct strag_state *state = problem->state;
    const struct strag_late *latest = NULL;
    for (int i = 0; state && i < state->nlate; i++) {
        const struct strag_late *late = &state->late[i];
        if (!latest || late->delay > latest->delay ||
            (late->delay == latest->delay && late->rank < latest->rank))
            latest = late;
    }
    return latest ? latest->rank : -1;
}

/** Refuse where nobody is named. */
static inline int strag_check_late(const struct strag_problem *problem, const char *algorithm,
                                   struct strag_error *err)
{
    if (strag_latest(problem) >= 0)
        return STRAG_OK;
    return strag_fail(err, STRAG_ERR_UNSUPPORTED,
                      "%s is for a rank that arrives late, and none is named", algorithm);
}

#endif
