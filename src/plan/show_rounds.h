/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which rounds a picture shows. A few: all of them. Of more, if many are identical (the same ranks
 * send as many blocks to the same ranks), the first two and the last of each row of like ones;
 * ring's 126 rounds with 64 ranks so are
 *
 *     0 1 .. 62 63 64 .. 125      0 to 62 are identical (reduce), and 63 to 125 (copy)
 *
 * And if these are still too many, the first and the last.
 */
#ifndef STRAG_SHOW_ROUNDS_H
#define STRAG_SHOW_ROUNDS_H

#include "plan/plan.h"

/* A column of the picture: a round, or the place of some that are left out. */
struct strag_column {
    int round;    /* the first one */
    int left_out; /* how many are; 0: this round is shown */
    bool same;    /* those left out are like the one before */
};

/**
 * @param plans         of one collective, at least one; rounds are compared as far as these know
 * them
 * @param[out] columns  in the order of rounds; the caller's to free; NULL: out of memory
 * @return how many; 0 where there are no rounds, or no memory
 */
int strag_show_rounds(struct strag_plan *const *plans, int count, struct strag_column **columns);

#endif
