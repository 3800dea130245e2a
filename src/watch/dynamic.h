/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whoever comes last: where another rank is late in each call, none is the straggler, and yet the
 * others could go ahead. In the dynamic regime the ranks find out in the call itself who is missing
 * (run/arrivals.h), and how long they wait for the last one is this file's policy.
 *
 * With patience w, a last rank that is `gap` behind the others costs, by the model,
 *
 *     gap + together            gap <= w: all begin together
 *     w + ahead(gap - w)        gap > w: the others begin after w, the last one comes gap - w later
 *
 * At the break-even delay D both plans take as long: ahead(D) = D + together; for an allreduce that
 * bandwidth limits that is 2/n of what the vector takes on a link. Who waits for no longer than D
 * loses no more than D against all alternatives, whatever the gaps are (the argument of ski
 * rental). Within 0 .. D the policy takes the patience that would have cost least in the last
 * calls.
 *
 * The regime is entered where that gains, in calls that were looked at closely, several times what
 * finding out costs and twice its own standard error, and left where it does not gain that cost any
 * more. (Without the error 4 ranks that are all late by exponential times, where going ahead loses
 * in the long run, see below, would enter it in three jobs of four, by chance.) Whether it really
 * saves time is measured: every TURN calls one waits for all, until the difference is known to a
 * tenth (or enough calls were spent on that). If there is none, the regime is left for long.
 *
 * Where several ranks are late, all but the last one are waited for. No plan goes ahead without
 * two; one that did, and still ended a vector's time on a link after the last arrival, would be
 * worth, from the first arrival on in times of the vector on a link (drawn 8000 times; pipelines
 * take 4 % more than on paper):
 *
 *                                            all are      without    without    without
 *     8 ranks                                waited for   the last   two        three
 *     two are late, by 0.25 to 2             3.19         2.98       2.58       2.59
 *     three are                              3.34         3.24       2.90       2.74
 *     all are, exponentially, mean 0.5       3.11         3.00       2.82       2.74
 *     the same with 4 ranks                  2.54         2.58       2.51       2.42
 *
 * No clock and no messages: one rank decides for all.
 */
#ifndef STRAG_DYNAMIC_H
#define STRAG_DYNAMIC_H

#include "model/select.h"

#include <stdbool.h>
#include <stdint.h>

/* May the regime be entered? */
enum strag_dynamic_use {
    STRAG_DYNAMIC_NEVER,
    STRAG_DYNAMIC_AUTO,
    STRAG_DYNAMIC_ALWAYS, /* it is in force from the first call on */
};

/* What all ranks follow; plain data, but for the table's pointers. */
struct strag_dynamic_policy {
    int32_t on;
    int32_t coordinator, deputy, witness;
    int32_t measure;          /* one in STRAG_DYNAMIC_TURN calls waits for all */
    uint64_t from;            /* bytes: shorter vectors wait for all */
    double patience;          /* seconds, ... */
    double patience_per_byte; /* ... and more for a longer vector */
    struct strag_table
        table; /* what runs without the last rank; no algorithm: all are waited for */
};

enum { STRAG_DYNAMIC_TURN = 16 };

/* How a call was begun. */
enum strag_dynamic_turn {
    STRAG_DYNAMIC_OUTSIDE, /* not in the dynamic regime */
    STRAG_DYNAMIC_OPEN,    /* it could go ahead without the last rank */
    STRAG_DYNAMIC_WAITS,   /* it was to wait for all, for the sake of the measurement */
};

/* A call of the window. */
struct strag_dynamic_call {
    size_t bytes;
    int last;       /* rank; -1: none by enough */
    double gap;     /* seconds from the last but one arrival to the last */
    double seconds; /* from the last arrival on, measured; 0: unknown */
    bool close;     /* looked at closely */
    enum strag_dynamic_turn turn;
    bool went_ahead;                   /* without the last rank */
    double together;                   /* modelled seconds of waiting for all */
    const struct strag_profile *ahead; /* of the plan without the last; NULL: none */
};

/* For the report. */
struct strag_dynamic_summary {
    uint64_t calls, ahead;  /* in the regime; that went ahead without the last rank */
    double saved, modelled; /* seconds: as measured, for calls from when it was known; before */
    double saves, error;    /* of a call's time from the last arrival on: 0.2 +- 0.02; error 0:
                               not measured */
};

struct strag_dynamic;

/** @param n  ranks @return NULL: out of memory */
struct strag_dynamic *strag_dynamic_create(int n, enum strag_dynamic_use use);

/** NULL is allowed. */
void strag_dynamic_free(struct strag_dynamic *dynamic);

/**
 * The policy before anything was watched: ranks 0, 1 and 2 decide, patience is the model's
 * break-even.
 *
 * @param selection  as below
 * @param bytes      of a long vector, with which the others are in proportion
 * @param together   modelled seconds of waiting for all with it
 * @param from       bytes: shorter vectors wait for all, always
 */
void strag_dynamic_begin(struct strag_dynamic *dynamic, const struct strag_selection *selection,
                         size_t bytes, double together, size_t from);

/** The table without the last rank was made, or is not of any use any more: NULL.
 * @param selection  of a problem with a straggler; it outlives its use here */
void strag_dynamic_table(struct strag_dynamic *dynamic, const struct strag_selection *selection);

/** Is it worth making that table, or looking closely? From durations alone. */
bool strag_dynamic_suspects(const struct strag_dynamic *dynamic,
                            const struct strag_dynamic_call *calls, int count);

/** The estimate of what runs without the last rank. @return NULL: nothing */
const struct strag_profile *strag_dynamic_ahead(const struct strag_dynamic *dynamic, size_t bytes);

/**
 * Evaluate a window.
 *
 * @param scale  measured seconds for a modelled one
 * @param price  seconds that finding out costs in a call
 * @return whether to look closely from now on
 */
bool strag_dynamic_window(struct strag_dynamic *dynamic, const struct strag_dynamic_call *calls,
                          int count, double scale, double price);

/** Another regime is in force: this one is left. */
void strag_dynamic_leave(struct strag_dynamic *dynamic);

/** In force from the next call on. */
const struct strag_dynamic_policy *strag_dynamic_policy(const struct strag_dynamic *dynamic);

struct strag_dynamic_summary strag_dynamic_report(const struct strag_dynamic *dynamic);

/** How a call of so many bytes is begun. @param number  of the calls that a policy was on for */
enum strag_dynamic_turn strag_dynamic_turn_of(const struct strag_dynamic_policy *policy,
                                              size_t bytes, uint64_t number);

#endif
