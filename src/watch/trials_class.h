/* SPDX-License-Identifier: BSD-3-Clause */
/* What trials (trials.h) know of one class of sizes: the forms that run there, algorithms with a
 * count of blocks, and what their calls took. For trials_*.c alone. */
#ifndef STRAG_TRIALS_CLASS_H
#define STRAG_TRIALS_CLASS_H

#include "watch/trials.h"

enum {
    STRAG_TRIAL_SAMPLES = 8,                  /* calls that are kept of each form */
    STRAG_TRIAL_FORMS = STRAG_TRIAL_RUNS + 2, /* of a class: some may follow in second heats */
};

enum strag_trial_phase { STRAG_TRIAL_NEW, STRAG_TRIAL_HEATS, STRAG_TRIAL_FINAL, STRAG_TRIAL_OVER };

struct strag_trial_form {
    struct strag_trial_run what;
    double modelled, hoped; /* seconds: what it takes, and if all latencies overlap that may */
    int count;              /* calls so far */
    float seconds[STRAG_TRIAL_SAMPLES];
};

struct strag_trial_class {
    enum strag_trial_phase phase;
    double size;   /* of its trials; 0: no calls so far */
    int elsewhere; /* calls in a row of other sizes */
    int calls;
    double seconds, first; /* of all calls; of the first one */
    bool again;            /* there were second heats */
    double thought;        /* calls that its trial is thought to lose */
    double lost;           /* ... and really has lost, before the final */
    int forms, wanted;     /* ... and calls that the trial at hand still has to come */
    int winner;            /* once it is over */
    struct strag_trial_form form[STRAG_TRIAL_FORMS];
};

struct strag_trials {
    size_t least; /* bytes: shorter vectors are left alone */
    struct strag_trial_class classes[STRAG_SIZE_CLASSES];
};

/** @return its index; -1: it is not there */
int strag_trial_find_form(const struct strag_trial_class *class,
                          const struct strag_algorithm *algorithm, int blocks);

/** @return seconds; INFINITY: it never ran */
double strag_trial_shortest(const struct strag_trial_form *form);

/** @param[out] scatter  of the calls around it: their median distance, seconds
 * @return the median, seconds; INFINITY: it never ran */
double strag_trial_median(const struct strag_trial_form *form, double *scatter);

/** Of all forms, the shortest call. */
double strag_trial_best(const struct strag_trial_class *class);

/** Do its calls take so long that a trial is felt? */
bool strag_trial_is_very_long(const struct strag_trial_class *class);

/** How many calls of a form a heat takes. */
int strag_trial_heat_calls(const struct strag_trial_class *class);

/** Calls that a trial may lose which begins now. */
double strag_trial_may_lose(const struct strag_trial_class *class);

/** The most that may ever be granted in the first calls: what would lose more is not tried at all.
 */
double strag_trial_most_granted(const struct strag_trial_class *class);

/** Who runs in the first heats, by what is expected of them. The table's choice, which the first
 * offer is, is the first form.
 * @param losers  calls of the final in which another one runs than the winner */
void strag_trial_choose(struct strag_trials *trials, int size_class,
                        const struct strag_offer *offers, int count, int losers);

/** What the model has learnt from the heats may speak for others. @return whether there are any */
bool strag_trial_add_promising(struct strag_trial_class *class, const struct strag_offer *offers,
                               int count);

#endif
