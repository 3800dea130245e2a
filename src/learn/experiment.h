/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures whether another algorithm is faster than the one that the model chose. One rival at a
 * time runs in place of the table's choice, in calls of one size and operation:
 *
 *     window     1       2           3           ..     U: the table's choice, C: the rival,
 *     calls      C U C   UCCU CUUC   CUUC CUUC          the order of each four, and of the first
 *                                                       window's last two, by chance
 *
 * A rival's first call makes its plan and its connections, and is not compared; it counts as a
 * loss. The other two of the first window only end a hopeless experiment: the rival takes 1.5 times
 * as long or longer. Then, after 4 fours or more, the mean of log(C C / U U) of each four calls
 * decides:
 *
 *     faster    by 3 % and 4 standard errors: the rival runs from then on, in its class of sizes
 *               (an octave; 2^k is in the middle of class k)
 *     not       ahead by a standard error, or after 16 fours, or if the table's choice has
 *               changed: nothing changes
 *
 * If no time is left (budget.h), or if links or arrivals are in doubt, the experiment waits. If
 * there are 64 other calls and too few such ones, or links change, it begins again later.
 *
 * A drift, or a change of load in mid-run, cancels in each four. With the random order, alternating
 * calls of two kinds do not look like a difference. It takes 4 standard errors because the mean of
 * few fours is tested more than once. (test_experiment.c simulates thousands of jobs.)
 *
 * In each class at most three rivals are tried: first the previous component, since nobody knows
 * what it really runs, then the next best of the other algorithms by the model. No rival is
 * modelled to take more than a fifth longer.
 *
 * One rank decides, without a clock and messages.
 */
#ifndef STRAG_EXPERIMENT_H
#define STRAG_EXPERIMENT_H

#include "detect/window.h"
#include "model/select.h"

enum { STRAG_SIZE_CLASSES = 48, STRAG_RIVALS = 3 };

/* An algorithm (NULL for the previous component) and its number of blocks. */
struct strag_variant {
    const struct strag_algorithm *algorithm;
    int32_t blocks;
};

/* What was tried and found; other communicators on the same hosts use it, too. Plain data but for
 * pointers. */
struct strag_findings {
    struct strag_finding {         /* of a class of sizes */
        bool found;                /* a rival was faster, ... */
        struct strag_variant runs; /* ... the last that was */
        int32_t tried;
        struct strag_variant rival[STRAG_RIVALS]; /* [tried] */
    } of[STRAG_SIZE_CLASSES];
};

struct strag_experiments;

/** @param least  bytes; shorter vectors run the table's choice
 * @param seed   of the random orders
 * @return NULL if out of memory */
struct strag_experiments *strag_experiments_create(size_t least, uint64_t seed);

/** NULL is allowed. */
void strag_experiments_free(struct strag_experiments *experiments);

/* The candidates, the calls to try them in, and the time that may be lost. */
struct strag_experiment_inputs {
    const struct strag_selection *selection; /* candidates and their modelled times */
    const struct strag_table *table;         /* with the findings so far */
    size_t bytes;                            /* a size that many calls have, ... */
    int operation;                           /* ... and their operation */
    double call;                             /* seconds that one of these calls takes */
    double left; /* seconds that may still be lost; 0: no rival may run now */
};

/**
 * After a window: begin an experiment, or go on with it.
 *
 * @param[out] order  the next window, with no pause @return false if nothing is to be tried
 */
bool strag_experiments_next(struct strag_experiments *experiments,
                            const struct strag_experiment_inputs *inputs,
                            struct strag_window_order *order);

/* A call of such a window. It may have run another algorithm than ordered: a user's operator that
 * does not commute counts as the same operation as the user's other ones. */
struct strag_experiment_call {
    struct strag_variant ran;
    double seconds;
};

/** The window's calls have ended. @param calls  [count], its first ones; with fewer than four (at
 * first three) the experiment ends, since such calls do not come for now; its rival may be tried
 * again
 * @return seconds that were lost in these calls, at least 0 */
double strag_experiments_add(struct strag_experiments *experiments,
                             const struct strag_experiment_call *calls, int count);

/** End the running experiment, since links have changed; its rival may be tried again. */
void strag_experiments_stop(struct strag_experiments *experiments);

/** Forget all findings, since other hosts are slow now. */
void strag_experiments_forget(struct strag_experiments *experiments);

/** Put the faster rivals into a table, each at the sizes of its class. */
void strag_experiments_apply(const struct strag_experiments *experiments,
                             struct strag_table *table);

/** @return all findings, to which those of other communicators may be added */
struct strag_findings *strag_experiments_findings(struct strag_experiments *experiments);

/** Take over the classes in which `newer` has tried more. */
void strag_findings_merge(struct strag_findings *findings, const struct strag_findings *newer);

/** The last window's result, for the log: "experiment with 65536 bytes: swing takes 0.81 of the
 * time of ring: swing runs"; "" if there is none. */
const char *strag_experiments_log(const struct strag_experiments *experiments);

#endif
