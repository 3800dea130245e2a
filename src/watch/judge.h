/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From all ranks' notes to another table of algorithms: one that does not wait for the straggler,
 * or one for links that have become slow.
 *
 *     a window's notes ──► observer: a straggler?     ──► the straggler's table, if it helps
 *                     ├──► slowdown: a slow link?     ──► a probe ──► another table
 *                     └──► learner: another machine than the model's?  ──► another table, trials
 *
 * The model's speeds are estimates, with a learner good ones. As the ratio of the delay to the call
 * matters, a delay is scaled: divided by the ratio of the calls' measured time to the modelled one,
 * both without the straggler.
 *
 * A learner's first windows are short: they double, from STRAG_FIRST_WINDOW calls to the full
 * length, and end with a trial's last call.
 *
 * Where another rank is late in each call, the judge decides upon the policy of that (dynamic.h).
 *
 * Making tables may take 1 % of the time: after a long one the next has to wait.
 *
 * No clock and no messages: one rank judges for all.
 */
#ifndef STRAG_JUDGE_H
#define STRAG_JUDGE_H

#include "model/select.h"
#include "watch/dynamic.h"
#include "watch/learn.h"
#include "watch/slowdown.h"
#include "watch/summary.h"

/* With a learner. */
enum { STRAG_FIRST_WINDOW = 2 };

/* Algorithms by size, and the selection they are from (may be NULL), which the structure owns. */
struct strag_judge_table {
    struct strag_table table;
    struct strag_selection *selection;
};

struct strag_judge_options {
    int n;            /* ranks */
    int window;       /* calls, at most */
    bool same_window; /* all have as many */
    bool stragglers;  /* make tables for them */
    enum strag_dynamic_use dynamic;
    size_t dynamic_from; /* bytes: shorter vectors always wait for all */
    /* The candidates that go ahead without a straggler, whichever (the state names one), priced
     * with the model as in `make`.
     * @param[out] price  modelled seconds that finding out who comes last costs in a call
     * @return seconds that it took; *made NULL: there are none */
    double (*make_any)(void *context, const struct strag_state_record *state,
                       const struct strag_sourced_model *model, struct strag_selection **made,
                       double *price);
    struct strag_observer *observer;
    struct strag_slowdown *slowdown; /* NULL: links are not watched */

    struct strag_learner *learner; /* NULL: nothing is learnt */

    /* Make the table for a state. @param model  NULL: that of the table before
     * @return seconds that it took */
    double (*make)(void *context, const struct strag_state_record *state,
                   const struct strag_sourced_model *model, struct strag_judge_table *made);
    void *context;
};

/* A call that has ended. */
struct strag_watched_call {
    size_t bytes;
    const struct strag_algorithm *algorithm; /* NULL: the previous component */
    int blocks;
    bool tried;                   /* a trial said so */
    enum strag_dynamic_turn turn; /* in the dynamic regime: */
    int without;                  /* the rank that was not waited for; -1: all were */
};

enum strag_change {
    STRAG_CHANGE_NOTHING,
    STRAG_CHANGE_TABLE,     /* all plans are as good as before */
    STRAG_CHANGE_STRAGGLER, /* new state and table: plans for a straggler are invalid */
    STRAG_CHANGE_LINKS,     /* all plans are invalid */
};

struct strag_judgement {
    enum strag_change change;
    bool look;                        /* measure waits from now on */
    int probe;                        /* probe all hosts, in this many rounds; 0: do not */
    size_t probe_bytes;               /* of each message of it */
    int window;                       /* calls of this window, and of the next ones; 0: as it is */
    bool begun[STRAG_TRIALS_AT_ONCE]; /* which of the trials are new: they begin with the next call
                                       */
};

struct strag_judge;

/**
 * @param options  copied; what it points to outlives the judge
 * @param ranks    one per rank; copied
 * @param state    in force from the first call on
 * @param usual    without a straggler; on success the judge owns its selection
 * @param now      seconds of a monotonic clock
 * @return NULL: out of memory
 */
struct strag_judge *strag_judge_create(const struct strag_judge_options *options,
                                       const struct strag_rank_location *ranks,
                                       const struct strag_state_record *state,
                                       const struct strag_judge_table *usual, double now);

/** NULL is allowed. */
void strag_judge_free(struct strag_judge *judge);

/** A call of this rank has ended, after so many seconds. */
void strag_judge_add(struct strag_judge *judge, const struct strag_watched_call *call,
                     double seconds);

/** The calls of the window that is being filled do not count: it begins with the next one. */
void strag_judge_restart(struct strag_judge *judge);

/** So many calls of this rank have ended, which belong to no window. @param seconds  in all of them
 */
void strag_judge_skip(struct strag_judge *judge, uint64_t calls, double seconds);

/** A window's notes are being sent; later calls belong to the next window. */
void strag_judge_begin_window(struct strag_judge *judge);

/** All ranks' notes of the window have arrived. @param stride  from one rank's notes to the next
 * one's, in bytes; with a slowdown a uint32_t ends each rank's: the rate by its meter, as in a
 * struct strag_link_sample */
struct strag_judgement strag_judge_window(struct strag_judge *judge, const void *notes,
                                          size_t stride, double now);

/** The hosts were probed. @param sample, seconds  as in strag_slowdown_probed */
enum strag_change strag_judge_probed(struct strag_judge *judge,
                                     const struct strag_link_sample *sample, double seconds);

/** In force from the next call on; valid until the next judgement. */
const struct strag_state_record *strag_judge_state(const struct strag_judge *judge);
const struct strag_judge_table *strag_judge_current(const struct strag_judge *judge);

/** [STRAG_TRIALS_AT_ONCE] What calls of some sizes run beside the table, until it has run. */
const struct strag_trial *strag_judge_trials(const struct strag_judge *judge);

/** Of whoever comes last; from the next call on. */
const struct strag_dynamic_policy *strag_judge_policy(const struct strag_judge *judge);

/** Sorts delays: some 100 us. */
const struct strag_watch_summary *strag_judge_summary(struct strag_judge *judge);

/** What was learnt of the machine. @return NULL: nothing is learnt */
const struct strag_sourced_model *strag_judge_model(const struct strag_judge *judge);

/** What the last window or probe changed, for the log; "": nothing. */
const char *strag_judge_log(const struct strag_judge *judge);

/** [rank] */
const struct strag_rank_location *strag_judge_ranks(const struct strag_judge *judge);

#endif
