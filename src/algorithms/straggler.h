/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the algorithms in which the other ranks go ahead of a straggler. */
#ifndef STRAG_STRAGGLER_H
#define STRAG_STRAGGLER_H

#include "algorithms/circulant.h"

/** The rank that is waited for: the one with the longest delay, or the lowest of several. A delay
 * of 0 seconds counts. @return -1 if no straggler is named */
int strag_awaited_straggler(const struct strag_problem *problem);

/** Refuse problem->blocks unless it is a multiple of `multiple`, and `most` at most. */
int strag_straggler_check_blocks(const struct strag_problem *problem, int multiple, int most,
                                 struct strag_error *err);

/** All ranks but the straggler. */
static inline struct strag_members strag_others(int n, int straggler)
{
    return (struct strag_members){.count = n - 1, .without = straggler};
}

#endif
