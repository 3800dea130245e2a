/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From everybody's notes to another table: for a straggler that need not be waited for, and for
 * links that have become slow.
 *
 *     a window's notes ──► observer: who is late?         ──► the straggler's table, if it helps
 *                     └──► slowdown: whose link is slow? ──► a probe ──► another table
 *
 * The model knows this machine's speed only as well as the user has told it. What counts is how
 * long the delay is beside the call, so it is brought to the model's scale: a delay is divided by
 * the ratio of the calls' measured time to their modelled one, both without the straggler.
 *
 * Making a table may take 1 % of the time: what took long is not done again soon.
 *
 * It has no clock and sends nothing: one rank judges, and tells the others.
 */
#ifndef STRAG_JUDGE_H
#define STRAG_JUDGE_H

#include "model/select.h"
#include "watch/slowdown.h"
#include "watch/summary.h"

/* What runs for which size; the selection behind it, which may be NULL, is whoever has this. */
struct strag_judge_table {
    struct strag_table table;
    struct strag_selection *selection;
};

struct strag_judge_options {
    int n;           /* ranks */
    int window;      /* calls */
    bool stragglers; /* there may be a table for one */
    struct strag_observer *observer;
    struct strag_slowdown *slowdown; /* NULL: links are not watched */

    /* Make the table for a state. @return seconds that it took */
    double (*make)(void *context, const struct strag_state_record *state,
                   struct strag_judge_table *made);
    void *context;
};

/* A call that is over. */
struct strag_watched_call {
    size_t bytes;
    const struct strag_algorithm *algorithm; /* NULL: the previous component */
    int blocks;
};

enum strag_change {
    STRAG_CHANGE_NOTHING,
    STRAG_CHANGE_STRAGGLER, /* another state and table: plans for a straggler are of no use */
    STRAG_CHANGE_LINKS,     /* and no plan is of any use */
};

/* What follows from a window. */
struct strag_judgement {
    enum strag_change change;
    bool look;          /* waits are to be noted */
    bool probe;         /* all hosts are to be probed, ... */
    size_t probe_bytes; /* ... with messages of so many bytes */
};

struct strag_judge;

/**
 * @param options  copied; what it points to outlives the judge
 * @param ranks    one per rank; copied
 * @param state    in force from the first call on
 * @param usual    with nobody late; its selection is the judge's, unless this fails
 * @param now      seconds, of a clock that only goes forward
 * @return NULL: out of memory
 */
struct strag_judge *strag_judge_create(const struct strag_judge_options *options,
                                       const struct strag_rank_location *ranks,
                                       const struct strag_state_record *state,
                                       const struct strag_judge_table *usual, double now);

/** NULL is allowed. */
void strag_judge_free(struct strag_judge *judge);

/** A call of this rank is over, after so many seconds. */
void strag_judge_add(struct strag_judge *judge, const struct strag_watched_call *call,
                     double seconds);

/** A window's notes are being sent; calls from now on belong to the next one. */
void strag_judge_turn(struct strag_judge *judge);

/** All of its notes are there. @param stride  from one rank's notes to the next one's, in bytes;
 * where links are watched a struct strag_meter_note ends each rank's */
struct strag_judgement strag_judge_window(struct strag_judge *judge, const void *notes,
                                          size_t stride, double now);

/** The hosts were probed. @param rates, seconds  as in strag_slowdown_probed */
enum strag_change strag_judge_probed(struct strag_judge *judge, const float *rates, double seconds);

/** What is in force from the next call on; valid until the next judgement. */
const struct strag_state_record *strag_judge_state(const struct strag_judge *judge);
const struct strag_judge_table *strag_judge_current(const struct strag_judge *judge);

const struct strag_watch_summary *strag_judge_summary(const struct strag_judge *judge);

/** What the last window or probe changed, for a log: "rank 3 is late by 2 ms: it is waited for";
 * "": nothing. */
const char *strag_judge_log(const struct strag_judge *judge);

/** [rank] */
const struct strag_rank_location *strag_judge_ranks(const struct strag_judge *judge);

#endif
