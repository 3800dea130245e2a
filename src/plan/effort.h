/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The steps and the memory that a proof may take. Effort is counted and not timed, so that a busy
 * machine gives the same verdict as an idle one.
 */
#ifndef STRAG_EFFORT_H
#define STRAG_EFFORT_H

#include <stdbool.h>
#include <stdint.h>

struct strag_effort {
    int64_t steps; /* about 10 ns each, on one core of a Xeon of 2023 */
    int64_t bytes; /* of memory */
};

/** More than any proof takes. */
static const struct strag_effort strag_effort_any = {INT64_MAX, INT64_MAX};

static inline bool strag_effort_is_left(const struct strag_effort *left)
{
    return left->steps >= 0 && left->bytes >= 0;
}

/** Take some of the effort that is left. @return false if it was not enough */
static inline bool strag_effort_take(struct strag_effort *left, int64_t steps, int64_t bytes)
{
    left->steps -= steps;
    left->bytes -= bytes;
    return strag_effort_is_left(left);
}

#endif
