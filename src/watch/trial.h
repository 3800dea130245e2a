/* SPDX-License-Identifier: BSD-3-Clause */
/* A trial as all ranks run it: which calls of some sizes run what, each counted by every rank. */
#ifndef STRAG_TRIAL_H
#define STRAG_TRIAL_H

#include "algorithms/table.h"

#include <stdbool.h>
#include <stdint.h>

/* Runs of a trial, and trials at the same time, of different sizes. */
enum { STRAG_TRIAL_RUNS = 8, STRAG_TRIALS_AT_ONCE = 2 };

/* An algorithm, and as many consecutive calls. NULL: the previous component. */
struct strag_trial_run {
    const struct strag_algorithm *algorithm;
    int32_t blocks, calls;
};

/* What the next calls of some sizes run; plain data, but for the pointers. */
struct strag_trial {
    uint64_t from, to; /* bytes: from <= size < to */
    int32_t runs;      /* 0: none */
    struct strag_trial_run run[STRAG_TRIAL_RUNS];
};

/** All of its calls. */
int strag_trial_calls(const struct strag_trial *trial);

/** What a call runs. @param call  from 0 on @return NULL: the trial is over */
const struct strag_trial_run *strag_trial_find(const struct strag_trial *trial, int call);

/* Those under way on a rank. All 0: none is. */
struct strag_trials_running {
    struct strag_trial trial[STRAG_TRIALS_AT_ONCE];
    int calls[STRAG_TRIALS_AT_ONCE]; /* of each so far */
};

/** One begins, in the place of another. @param place  below STRAG_TRIALS_AT_ONCE */
void strag_trial_begin(struct strag_trials_running *running, int place,
                       const struct strag_trial *trial);

/** Does one have calls of so many bytes? */
bool strag_trial_has(const struct strag_trials_running *running, size_t bytes);

/** A call of so many bytes. @return what it runs; NULL: what the table says */
const struct strag_trial_run *strag_trial_next(struct strag_trials_running *running, size_t bytes);

#endif
