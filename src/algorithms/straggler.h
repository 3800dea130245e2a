/* SPDX-License-Identifier: BSD-3-Clause */
/* What the algorithms share that wait for a straggler, while the others go ahead. */
#ifndef STRAG_STRAGGLER_H
#define STRAG_STRAGGLER_H

#include "algorithms/circulant.h"

/** The rank that is waited for: the one with the longest delay, of equal ones the lowest. A delay
 * of 0 seconds counts. @return -1: none is named */
int strag_awaited_straggler(const struct strag_problem *problem);

/** The check of those that cut the vector into a multiple of some blocks, and into `most` at most.
 */
int strag_straggler_check_blocks(const struct strag_problem *problem, int multiple, int most,
                                 struct strag_error *err);

/** All ranks but the straggler. */
static inline struct strag_members strag_others(int n, int straggler)
{
    return (struct strag_members){.count = n - 1, .without = straggler};
}

#endif
