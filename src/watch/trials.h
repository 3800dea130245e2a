/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which algorithm is the fastest in truth, where the model thinks that several nearly are.
 *
 * Sizes are put into classes, an octave each (2^k is in the middle of class k). Of each class:
 *
 *     1. Some calls have run with what the table says, at about the same size.
 *     2. Heats: what is modelled to take at most a fifth longer, if all latencies overlap that can,
 *        runs in one or two calls, one after the other, at most STRAG_TRIAL_RUNS - 1 algorithms;
 *        of those that the model cannot tell apart two. What would run without us is always one,
 *        where calls are short. If the model, which has learnt from them, then promises more of
 *        others, once these, too.
 *     3. The final: those within a tenth of the fastest, and as much more as calls scatter, three
 *        at most, run three times more, the fastest so far last; the table's choice does not, where
 *        calls are short and it has run as often. Of each the median counts. The table's choice
 *        loses only to what is faster by 2 %.
 *
 * The winner runs from then on, and there is no second trial: so noise can make a choice wrong, by
 * less than calls scatter, but never change it again and again. Only if links change all begins
 * anew.
 *
 * What a trial may lose is bounded before, by the model (nothing is thought to lose less than a
 * tenth): in a class's first 30 calls 10 calls' time, of calls of a tenth of a second or more one
 * plus a tenth of the calls so far, 4 in all; later 2 % of the class's time so far. Algorithms that
 * would lose more are not tried. Very long calls come in portions of two algorithms, and when these
 * have really lost what was granted the others do not run.
 *
 * One rank decides; all run the calls of a struct strag_trial, which each counts itself.
 */
#ifndef STRAG_TRIALS_H
#define STRAG_TRIALS_H

#include "model/select.h"
#include "watch/trial.h"

enum { STRAG_SIZE_CLASSES = 48 };

/* What could run at a size, and its modelled seconds. */
struct strag_offer {
    const struct strag_algorithm *algorithm;
    int blocks;
    double seconds;
    double spare; /* of these: what is only thought to be so: strag_profile.posting */
};

struct strag_trials;

/** @param least  bytes: shorter vectors run what the table says; SIZE_MAX: all do
 * @return NULL: out of memory */
struct strag_trials *strag_trials_create(size_t least);

/** NULL is allowed. */
void strag_trials_free(struct strag_trials *trials);

/** Nothing that was measured holds any more. */
void strag_trials_forget(struct strag_trials *trials);

/** The class of a size. */
int strag_size_class(size_t bytes);

/** A call has taken so many seconds from the last rank's arrival on.
 * @param tried  it ran what a trial said */
void strag_trials_note(struct strag_trials *trials, size_t bytes,
                       const struct strag_trial_run *what, bool tried, double seconds);

/**
 * After a window's calls were noted: what is to be tried at a class's size, if anything.
 *
 * @param bytes   of a call in that class; the trial is of the size that most calls of the class had
 * @param offers  what could run there; the table's choice is the first one
 * @param[out] trial  the calls that are wanted
 * @return whether there are any; false also where a trial is not over yet
 */
bool strag_trials_next(struct strag_trials *trials, size_t bytes, const struct strag_offer *offers,
                       int count, struct strag_trial *trial);

/** Is there nothing more to be tried at sizes of this class? */
bool strag_trials_is_over(const struct strag_trials *trials, size_t bytes);

/** The classes of sizes, bit by bit, in which there is nothing more to be tried. */
uint64_t strag_trials_settled(const struct strag_trials *trials);

/** How many calls of a trial at a size of this class are still to come. */
int strag_trials_left(const struct strag_trials *trials, size_t bytes);

/** The size of a class that trials are made at. @return 0: it had no calls */
size_t strag_trials_size(const struct strag_trials *trials, int size_class);

/** Put the winners into a table, each at the sizes of its class. */
void strag_trials_apply(const struct strag_trials *trials, struct strag_table *table);

/* What trials have found, a class each; plain data, but for the pointers. */
struct strag_trials_outcome {
    struct strag_trial_run winner[STRAG_SIZE_CLASSES];
    double size[STRAG_SIZE_CLASSES]; /* bytes, at which that was tried; 0: nothing was found */
};

/** All that was found so far by trying several. @return whether it is anything */
bool strag_trials_find_outcome(const struct strag_trials *trials,
                               struct strag_trials_outcome *outcome);

/** Add what is newer. */
void strag_trials_merge(struct strag_trials_outcome *outcome,
                        const struct strag_trials_outcome *newer);

/** Take over what others have found on an equal machine: there are no more trials of these sizes.
 */
void strag_trials_adopt(struct strag_trials *trials, const struct strag_trials_outcome *outcome);

/** What was measured in the class of a size, for the log: "ring 1.2 ms, swing (8 blocks) 1.3 ms:
 * ring runs". @return text; "": no trial is over */
const char *strag_trials_text(const struct strag_trials *trials, size_t bytes, char *text,
                              size_t size);

#endif
