/* SPDX-License-Identifier: BSD-3-Clause */
#include "watch/trial.h"

int strag_trial_calls(const struct strag_trial *trial)
{
    int calls = 0;
    for (int r = 0; r < trial->runs; r++)
        calls += trial->run[r].calls;
    return calls;
}

const struct strag_trial_run *strag_trial_find(const struct strag_trial *trial, int call)
{
    int run = 0;
    while (run < trial->runs && call >= trial->run[run].calls)
        call -= trial->run[run++].calls;
    return run < trial->runs ? &trial->run[run] : NULL;
}

void strag_trial_begin(struct strag_trials_running *running, int place,
                       const struct strag_trial *trial)
{
    running->trial[place] = *trial;
    running->calls[place] = 0;
}

static bool covers(const struct strag_trial *trial, size_t bytes)
{
    return trial->runs > 0 && trial->from <= bytes && bytes < trial->to;
}

bool strag_trial_has(const struct strag_trials_running *running, size_t bytes)
{
    bool has = false;
    for (int t = 0; t < STRAG_TRIALS_AT_ONCE; t++)
        has = has || covers(&running->trial[t], bytes);
    return has;
}

const struct strag_trial_run *strag_trial_next(struct strag_trials_running *running, size_t bytes)
{
    for (int t = 0; t < STRAG_TRIALS_AT_ONCE; t++) {
        struct strag_trial *trial = &running->trial[t];
        if (!covers(trial, bytes))
            continue;
        const struct strag_trial_run *run = strag_trial_find(trial, running->calls[t]++);
        if (run)
            return run;
        trial->runs = 0;
    }
    return NULL;
}
