/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a job's calls teach of its machine: the model's numbers (calibrate.h), and where the model
 * thinks that several algorithms are nearly the best, which of them is (trials.h).
 *
 * Where messages do not need one another (strag_claim.chain), it depends on what the latency is
 * whether it counts once or for each of them: that of a long line counts once, the work of a slow
 * processor each time. Both are tried; what explains the calls better holds.
 *
 * Calls of the same plan and size are of a kind, of which the median counts. While links are what
 * they were, all that was measured is kept: the latest STRAG_FIT_CALLS_MAX kinds.
 *
 * For judge.c. No clock and no messages.
 */
#ifndef STRAG_LEARN_H
#define STRAG_LEARN_H

#include "machine/state.h"
#include "watch/calibrate.h"
#include "watch/trials.h"

/* What ran, and how long. */
struct strag_learned_call {
    size_t bytes;
    struct strag_trial_run what; /* NULL: the previous component; `calls` does not count */
    bool tried;                  /* a trial said so */
    double seconds;              /* from the last rank's arrival on */
    double delay;                /* by which that rank was later than any other, seconds */
    bool late;                   /* much of `seconds` is that: it says nothing of the machine */
};

struct strag_learner;

/**
 * @param problem  of which blocks and state do not count; what it points to outlives the learner
 * @param model    before any call
 * @param least    bytes: no trials with shorter vectors; SIZE_MAX: none at all
 * @return NULL: out of memory
 */
struct strag_learner *strag_learner_create(const struct strag_problem *problem,
                                           const struct strag_sourced_model *model, size_t least);

/** NULL is allowed. */
void strag_learner_free(struct strag_learner *learner);

/** A call of the last window. */
void strag_learner_note(struct strag_learner *learner, const struct strag_learned_call *call);

/** Links have changed: what calls took is forgotten, and numbers are in doubt. */
void strag_learner_forget(struct strag_learner *learner);

/**
 * Fit the numbers, if some calls take other times than modelled.
 *
 * @param state      with which the calls ran
 * @param selection  with the times that were expected; NULL: unknown
 * @return whether a number has changed by more than 5 %: another table is wanted
 */
bool strag_learner_fit(struct strag_learner *learner, const struct strag_state_record *state,
                       const struct strag_selection *selection);

/** The model now, with the error of its last fit. */
const struct strag_sourced_model *strag_learner_model(const struct strag_learner *learner);

/** How far each of its numbers may be wrong: as in strag_calibrate. */
const double *strag_learner_doubt(const struct strag_learner *learner);

/**
 * Begin trials of the sizes that the last window had, and go on with those whose calls have come.
 *
 * @param state      of which the selection is
 * @param selection  of the learner's model; candidates that are worth a trial are added. NULL: none
 * @param trials  [STRAG_TRIALS_AT_ONCE]: replaced where they are over. Those who run them begin to
 *                count a new one's calls at 0
 * @param[out] begun  [STRAG_TRIALS_AT_ONCE]: which are new
 */
void strag_learner_try(struct strag_learner *learner, const struct strag_state_record *state,
                       struct strag_selection *selection, const struct strag_table *table,
                       struct strag_trial *trials, bool *begun);

/** Calls until all trials are over if sizes come as in the last window; 0: none is under way. */
int strag_learner_calls_left(const struct strag_learner *learner);

/** The classes of sizes whose trials are over, as in strag_trials_settled: calls of these are of
 * use to the model alone. */
uint64_t strag_learner_settled(const struct strag_learner *learner);

/** Put what trials found into a table. */
void strag_learner_apply(const struct strag_learner *learner, struct strag_table *table);

/** Has a trial ended in this window? */
bool strag_learner_found(const struct strag_learner *learner);

/** What trials have found, for others on an equal machine. @return whether it is anything */
bool strag_learner_outcome(const struct strag_learner *learner,
                           struct strag_trials_outcome *outcome);

/** Begin with what others have found. */
void strag_learner_adopt(struct strag_learner *learner, const struct strag_trials_outcome *outcome);

/** What was found out in this window, for the log; "": nothing. */
const char *strag_learner_log(const struct strag_learner *learner);

#endif
