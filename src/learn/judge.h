/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decides what runs next, from a window of calls that all ranks have timed:
 *
 *     samples ──► observer: a straggler?     ──► the straggler's table, if it helps
 *            ├──► dynamic: another one in each call?  ──► the last one is found in the call
 *            ├──► slowdown: a slow link?     ──► a probe ──► another table
 *            ├──► fit: another machine than the model's?  ──► another table
 *            └──► experiments: another algorithm than the model's choice?
 *
 * The model's speeds are estimates, and good ones after a fit. What matters is the ratio of the
 * delay to the call. So a delay is divided by the ratio of the calls' measured time to the modelled
 * one, both without the straggler.
 *
 * The budget (budget.h) limits the cost of all this.
 *
 * One rank judges for all, without a clock and messages.
 */
#ifndef STRAG_JUDGE_H
#define STRAG_JUDGE_H

#include "detect/dynamic.h"
#include "detect/slowdown.h"
#include "learn/budget.h"
#include "learn/experiment.h"
#include "learn/fit.h"
#include "learn/summary.h"
#include "model/select.h"

/* The calls of the first window; the next windows double them. */
enum { STRAG_FIRST_WINDOW = 2 };

/* Algorithms by size, and the selection they are from (may be NULL), which the structure owns. */
struct strag_judge_table {
    struct strag_table table;
    struct strag_selection *selection;
};

struct strag_judge_options {
    int n;            /* ranks */
    int calls;        /* of a window, at most STRAG_WINDOW_CALLS */
    bool same_window; /* all windows have as many calls, and follow each other at once */
    bool stragglers;  /* make tables for stragglers */
    enum strag_dynamic_use dynamic;
    size_t dynamic_from; /* bytes; shorter vectors always wait for all */
    /* Make the candidates that go ahead without any one rank. The state names one as the straggler;
     * the model is as in `make`.
     * @param[out] price  modelled seconds that a call pays for finding out who is last
     * @param[out] made   NULL if there are none */
    void (*make_any)(void *context, const struct strag_state_record *state,
                     const struct strag_sourced_model *model, struct strag_selection **made,
                     double *price);
    struct strag_slowdown *slowdown;       /* NULL if links are not watched */
    struct strag_fit *fit;                 /* NULL if the model stays as it is */
    struct strag_experiments *experiments; /* NULL if the model's choice stays */

    /* Make the table for a state. @param model  NULL for the model of the table before */
    void (*make)(void *context, const struct strag_state_record *state,
                 const struct strag_sourced_model *model, struct strag_judge_table *made);

    const char *(*host)(void *context, int rank); /* the name of the rank's host */
    void *context;
};

/* A call that has ended. */
struct strag_watched_call {
    size_t bytes;
    int operation;                           /* the same on all ranks */
    const struct strag_algorithm *algorithm; /* NULL for the previous component */
    int blocks;
    enum strag_dynamic_turn turn; /* in the dynamic mode, with `without` */
    int without;                  /* the rank that was not waited for, or -1 */
    bool ahead;                   /* set by the judge: not all ranks were waited for */
};

enum strag_change {
    STRAG_CHANGE_NOTHING,
    STRAG_CHANGE_TABLE,     /* all plans are as good as before */
    STRAG_CHANGE_STRAGGLER, /* new state and table: plans for stragglers are invalid */
    STRAG_CHANGE_LINKS,     /* all plans are invalid */
};

struct strag_judgement {
    enum strag_change change;
    int look;           /* calls of the next window in which to measure waits, or 0 */
    bool found;         /* an experiment has ended */
    int probe;          /* rounds of the probe of all hosts to make now; 0 for none */
    size_t probe_bytes; /* of each of its messages */
    struct strag_window_order next;
};

struct strag_judge;

/**
 * @param options  copied; what it points to must outlive the judge
 * @param state    in force from the first call on
 * @param usual    without a straggler; on success the judge owns its selection
 * @return NULL if out of memory
 */
struct strag_judge *strag_judge_create(const struct strag_judge_options *options,
                                       const struct strag_state_record *state,
                                       const struct strag_judge_table *usual);

/** The first window; the same on all ranks. @param calls, same_window  as in the options */
struct strag_window_order strag_judge_first(int calls, bool same_window);

/** NULL is allowed. */
void strag_judge_free(struct strag_judge *judge);

/** Add a call that all ranks watch.
 * @param seconds  that this rank was in it; below 0 if the call does not belong to the window */
void strag_judge_add(struct strag_judge *judge, const struct strag_watched_call *call,
                     double seconds);

/**
 * Judge a window.
 *
 * @param calls  [count], merged from all ranks: the calls that strag_judge_add was given
 * @param links  the merged meters; NULL if links are not watched
 */
struct strag_judgement strag_judge_window(struct strag_judge *judge,
                                          const struct strag_call_sample *calls, int count,
                                          const struct strag_link_sample *links);

/** Charge the seconds of judging, of sending the result, and of what followed, such as a probe. */
void strag_judge_spent(struct strag_judge *judge, double seconds);

/** The hosts were probed. @param links  all hosts' speeds @param seconds  that it took */
enum strag_change strag_judge_probed(struct strag_judge *judge,
                                     const struct strag_link_sample *links, double seconds);

/** The state from the next call on; valid until the next judgement. */
const struct strag_state_record *strag_judge_state(const struct strag_judge *judge);
const struct strag_judge_table *strag_judge_current(const struct strag_judge *judge);

/** What to do about the last rank from the next call on. */
const struct strag_dynamic_policy *strag_judge_policy(const struct strag_judge *judge);

const struct strag_watch_summary *strag_judge_summary(const struct strag_judge *judge);

/** The fitted model. @return NULL if none is fitted */
const struct strag_sourced_model *strag_judge_model(const struct strag_judge *judge);

/** What the last window or probe changed, for the log; "" if nothing. */
const char *strag_judge_log(const struct strag_judge *judge);

#endif
