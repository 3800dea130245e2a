/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For which ranks plans without them are kept. Making a plan takes as long as many short messages,
 * so that if more ranks come last in turn than are kept, one is replaced in every STRAG_KEPT-th
 * call at most: in the others a rank without a plan is waited for. All ranks count in the same way.
 */
#ifndef STRAG_KEPT_H
#define STRAG_KEPT_H

#include <stdbool.h>
#include <stdint.h>

enum { STRAG_KEPT = 16 };

struct strag_kept {
    int32_t rank[STRAG_KEPT];            /* -1: nobody */
    uint64_t used[STRAG_KEPT], replaced; /* calls */
};

/** Nobody is kept. */
void strag_kept_init(struct strag_kept *kept);

/**
 * The place of a rank that need not be waited for.
 *
 * @param call      its number, from 1 on; never less than before
 * @param[out] made  the place is new: what is there is another rank's
 * @return from 0 to STRAG_KEPT - 1; -1: it has none, and is to be waited for
 */
int strag_kept_find(struct strag_kept *kept, int rank, uint64_t call, bool *made);

#endif
