/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What watching a communicator may cost: judging while the other ranks wait, tables, probes, and
 * what calls lost that ran a slower rival. All of it is measured, and together it may take
 * STRAG_WATCH_SHARE of the time in calls, and STRAG_FIRST_GRANT calls' time at first. No rule has a
 * budget of its own.
 *
 * A window that costs more than its share is paid for by a longer pause before the next one, so
 * that the share holds whatever a window costs (doc/results/watch.md has what judging takes).
 */
#ifndef STRAG_BUDGET_H
#define STRAG_BUDGET_H

#include <stdbool.h>

/* All in seconds, as rank 0 measures them. All 0 at first. */
struct strag_budget {
    bool unlimited; /* the user has set the length of windows: all of them are judged */
    double call;    /* a call in the mean of the last window */
    double calls;   /* in calls so far */
    double spent;   /* on watching so far; calls' losses in experiments are added by the judge */
    double window;  /* on the last window */
};

/** Another call.
 * @param seconds  that it took; below 0: not measured, so it counts as those of the last window */
void strag_budget_add_call(struct strag_budget *budget, double seconds);

/** Judging a window, and what followed from it, such as a probe, took this long. */
void strag_budget_add_window(struct strag_budget *budget, double seconds);

/** @return seconds that may be spent; below 0: a pause is due; INFINITY: unlimited */
double strag_budget_left(const struct strag_budget *budget);

/** Calls before the next window.
 * @param soon  something is new, or in doubt: no longer than what was spent too much wants it */
int strag_budget_pause(const struct strag_budget *budget, bool soon);

#endif
