/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ranks for which plans without them are kept. Making a plan takes as long as many short
 * messages. So if more ranks come last in turn than can be kept, at most one is replaced in
 * STRAG_KEPT calls, and in other calls a rank without a plan is waited for. All ranks do the same.
 */
#ifndef STRAG_KEPT_H
#define STRAG_KEPT_H

#include <stdbool.h>
#include <stdint.h>

enum { STRAG_KEPT = 16 };

struct strag_kept {
    int32_t rank[STRAG_KEPT];            /* -1 if the place is free */
    uint64_t used[STRAG_KEPT], replaced; /* the calls in which that happened last */
};

/** All places are free. */
void strag_kept_init(struct strag_kept *kept);

/**
 * Find or make the place of a rank that need not be waited for.
 *
 * @param call      its number, from 1 on; never less than before
 * @param[out] made  the place is new: plans that are there are another rank's
 * @return from 0 to STRAG_KEPT - 1; -1 if the rank has no place, and must be waited for
 */
int strag_kept_find(struct strag_kept *kept, int rank, uint64_t call, bool *made);

#endif
