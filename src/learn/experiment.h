/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Is another algorithm faster in truth than the one that the model chose? One rival at a time runs
 * in the place of the table's choice, in calls of one size and operation:
 *
 *     window     1      2           3           ..     U: the table's choice, C: the rival,
 *     calls      U C    UCCU CUUC   CUUC CUUC          the order of each four by chance
 *
 * The first two calls only end what is hopeless: a rival that takes 1.6 times as long. Then the
 * mean of log(C C / U U) of each four calls decides:
 *
 *     faster    by 3 % and 4 standard errors, of 6 fours at least: the rival runs from then on, in
 *               its class of sizes (an octave; 2^k is in the middle of class k)
 *     slower    by 3 % and 2 standard errors, of 2 fours at least: nothing changes
 *     neither   after 16 fours, or as soon as no time is left for it (judge.h): nothing changes
 *
 * A drift, and a change of load in mid-run, cancel in each four; the order by chance keeps calls of
 * two kinds in turn from being taken for a difference. 4 standard errors: the mean of few fours is
 * tested more than once. (test_experiment.c simulates thousands of jobs.)
 *
 * Of each class three rivals are tried at most: the previous component, as nobody knows what it
 * really runs, then what the model thinks the next best of other algorithms. No rival is modelled
 * to take more than a fifth longer.
 *
 * One rank decides. No clock and no messages.
 */
#ifndef STRAG_EXPERIMENT_H
#define STRAG_EXPERIMENT_H

#include "detect/window.h"
#include "model/select.h"

enum { STRAG_SIZE_CLASSES = 48, STRAG_RIVALS = 3 };

/* An algorithm and its count of blocks. NULL: the previous component. */
struct strag_variant {
    const struct strag_algorithm *algorithm;
    int32_t blocks;
};

/* What was tried and found; for other communicators on the same hosts, too. Plain data, but for the
 * pointers. */
struct strag_findings {
    struct strag_finding {         /* of a class of sizes */
        bool found;                /* a rival was faster: */
        struct strag_variant runs; /* ... the last that was */
        int32_t tried;
        struct strag_variant rival[STRAG_RIVALS]; /* [tried] */
    } of[STRAG_SIZE_CLASSES];
};

struct strag_experiments;

/** @param least  bytes: shorter vectors run what the table says
 * @param seed   of the orders that are drawn by chance
 * @return NULL: out of memory */
struct strag_experiments *strag_experiments_create(size_t least, uint64_t seed);

/** NULL is allowed. */
void strag_experiments_free(struct strag_experiments *experiments);

/* What could be tried, and what it may take. */
struct strag_experiment_inputs {
    const struct strag_selection *selection; /* candidates and their modelled times */
    const struct strag_table *table;         /* with what was found so far */
    size_t bytes;                            /* of a size that comes often, */
    int operation;                           /* ... and what it reduces with */
    double call;                             /* seconds that a call of this size takes */
    double left;                             /* seconds that may still be lost */
};

/**
 * After a window: begin an experiment, or go on with it.
 *
 * @param[out] order  the next window, with no pause @return false: nothing is to be tried
 */
bool strag_experiments_next(struct strag_experiments *experiments,
                            const struct strag_experiment_inputs *inputs,
                            struct strag_window_order *order);

/* A call of such a window. It may not have run what was ordered: with an operator that does not
 * commute, which counts as the same operation as others of the user's. */
struct strag_experiment_call {
    struct strag_variant ran;
    double seconds;
};

/** They have ended. @param calls  [count], its first ones; with fewer than four (at first two)
 * nothing more is tried against this one: such calls hardly come any more
 * @return seconds that were lost in them, at least 0 */
double strag_experiments_add(struct strag_experiments *experiments,
                             const struct strag_experiment_call *calls, int count);

/** Links or stragglers have changed: what runs now shows nothing. What was found stays. */
void strag_experiments_stop(struct strag_experiments *experiments);

/** Put what was found into a table, each at the sizes of its class. */
void strag_experiments_apply(const struct strag_experiments *experiments,
                             struct strag_table *table);

/** @return all that is known, to which what others have found may be added */
struct strag_findings *strag_experiments_findings(struct strag_experiments *experiments);

/** Add what is newer: the classes in which more was tried. */
void strag_findings_merge(struct strag_findings *findings, const struct strag_findings *newer);

/** What the last window has shown, for the log: "65536 bytes: swing takes 0.81 of ring: swing
 * runs"; "": nothing. */
const char *strag_experiments_log(const struct strag_experiments *experiments);

#endif
