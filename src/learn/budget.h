/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What watching a communicator may cost: judging while the other ranks wait, tables, probes, and
 * the loss in calls that ran a slower rival. All of these are measured. Together they may take
 * STRAG_WATCH_SHARE of the time in calls, and the time of STRAG_FIRST_GRANT calls in advance. No
 * rule has a budget of its own.
 *
 * After a window that costs more than its share the pause is longer, so the share holds for any
 * cost of a window (doc/results/watch.md has the time that judging takes).
 */
#ifndef STRAG_BUDGET_H
#define STRAG_BUDGET_H

#include <stdbool.h>

/* Seconds, as rank 0 measures them; 0 at first. */
struct strag_budget {
    bool unlimited; /* the user has set the length of windows, so all are judged */
    double call;    /* the mean call of the last window */
    double calls;   /* in all calls so far */
    double spent;   /* on watching so far; the judge adds the losses in experiments */
    double window;  /* on the last window */
};

/** Add a call.
 * @param seconds  that it took; below 0 if not measured: then the last window's mean counts */
void strag_budget_add_call(struct strag_budget *budget, double seconds);

/** Add the seconds of judging a window and of what followed from it, such as a probe. */
void strag_budget_add_window(struct strag_budget *budget, double seconds);

/** @return seconds that may be spent; below 0 if a pause is due, INFINITY if unlimited */
double strag_budget_left(const struct strag_budget *budget);

/** Calls before the next window.
 * @param soon  something is new or in doubt: pause only for what was overspent */
int strag_budget_pause(const struct strag_budget *budget, bool soon);

#endif
