/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the stragglers from windows of calls (window.h), without a synchronized clock:
 *
 *     the ranks that were last in all calls that were examined, and in three of four further ones,
 *     by a good part of the call's time, become the stragglers: one rank, or up to three together;
 *     they remain so until they are last in less than half of the latest 16.
 *
 * How many calls it takes depends on the number of ranks: if all n ranks are equally likely to be
 * last, one of them is last in k of k calls by chance in one job of n^(k-1). So six calls are
 * enough from 6 ranks on, and 3 ranks need nine.
 *
 * With some plans ranks that arrive together leave at different times: if three ranks fold one of
 * them into another, the folded rank gets its result a message later. So durations only raise a
 * suspicion. The verdict then asks for a closer look: in each sampled call ranks also measure, with
 * a small barrier next to the call, how long they wait until all have arrived. Only these waits,
 * which depend on nothing but arrivals, make a rank a straggler. A suspicion that the closer look
 * refutes is remembered.
 *
 * The observer has no clock and no messages, and needs as much memory for 10,000 ranks as for 8.
 */
#ifndef STRAG_OBSERVE_H
#define STRAG_OBSERVE_H

#include "detect/window.h"

/* With 6 ranks or more, a rank that is late in each call is a straggler after this many calls at
 * the earliest: a window of two, one of five, and one call after each. */
enum { STRAG_CALLS_TO_NAME = 9 };

/** The same for n ranks: fewer are more often the last ones by chance. */
int strag_calls_to_name(int n);

/* Ranks that are late together, the last to arrive first. Plain data. */
struct strag_late {
    int32_t count;                                     /* 0 if no rank is late */
    struct strag_straggler rank[STRAG_STRAGGLERS_MAX]; /* delays: median time behind all others */
};

struct strag_verdict {
    struct strag_late late;
    int look; /* calls to examine closely next, by measuring waits; 0 if none */
};

/* A call, as found from all ranks' times. */
struct strag_last {
    struct strag_time order[STRAG_SHORTEST]; /* the last rank, the one before it, ..: how long
                                                before the last one each arrived */
    float seconds; /* the shortest duration, from the last arrival on; 0 if unknown */
    bool close;    /* found from waits, not from durations */
};

struct strag_observer;

/** @param n  ranks @return NULL if out of memory */
struct strag_observer *strag_observer_create(int n);

/** NULL is allowed. */
void strag_observer_free(struct strag_observer *observer);

/** Evaluate a window. @param calls  [count] of all ranks, count at most STRAG_WINDOW_CALLS */
struct strag_verdict strag_observer_decide(struct strag_observer *observer,
                                           const struct strag_call_sample *calls, int count);

/** A call of the window that was evaluated last. @param call  its index in that window */
const struct strag_last *strag_observer_call(const struct strag_observer *observer, int call);

/** For how long the others waited for exactly these ranks, from the last other arrival on. @return
 * seconds; 0 if the last ranks are others, or not late enough */
double strag_last_delay(const struct strag_last *call, const struct strag_late *late);

/** Are the ranks the same, whatever their delays? */
bool strag_late_is_same(const struct strag_late *a, const struct strag_late *b);

#endif
