/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finding the stragglers from windows of calls (window.h), without a synchronized clock:
 *
 *     the ranks that were last in all calls that were examined, and in three of four further ones,
 *     by a good part of the call's time, become the stragglers: one rank, or up to three together;
 *     they remain so until they are last in less than half of the latest 16.
 *
 * How many calls that takes depends on the number of ranks: if each of n is as likely to be last,
 * one is last in k of k calls by chance in one job of n^(k-1). So six calls will do from 6 ranks
 * on, where 3 ranks need nine.
 *
 * With some plans ranks that arrive together leave at different times: if three ranks fold one
 * into another, that one gets its result a message later. So durations only raise a suspicion. The
 * verdict then asks for a closer look: ranks also measure in each sampled call how long they wait
 * until all have arrived, with a small barrier next to the call. Only these waits, which depend on
 * nothing but arrivals, make a rank a straggler. A suspicion that the closer look refutes is
 * remembered.
 *
 * No clock and no messages, and as much memory for 10,000 ranks as for 8.
 */
#ifndef STRAG_OBSERVE_H
#define STRAG_OBSERVE_H

#include "detect/window.h"

/* Calls after which a rank that is late in each of them is a straggler at the earliest, from 6
 * ranks on: a window of two, one of five, and one after each. */
enum { STRAG_CALLS_TO_NAME = 9 };

/* Ranks that are late together, the last to arrive first. Plain data. */
struct strag_late {
    int32_t count;                                     /* 0: none is */
    struct strag_straggler rank[STRAG_STRAGGLERS_MAX]; /* delays: medians, behind all others */
};

struct strag_verdict {
    struct strag_late late;
    int look; /* calls to examine closely next: measure waits in them; 0: none */
};

/* A call, from all ranks' times. */
struct strag_last {
    struct strag_time order[STRAG_SHORTEST]; /* the last rank, the one before it, ..: how long
                                                before the last one each arrived */
    float seconds; /* the shortest duration, from the last arrival on; 0: unknown */
    bool close;    /* from waits, not from durations */
};

struct strag_observer;

/** @param n  ranks @return NULL: out of memory */
struct strag_observer *strag_observer_create(int n);

/** NULL is allowed. */
void strag_observer_free(struct strag_observer *observer);

/** Evaluate a window. @param calls  [count] of all ranks, count at most STRAG_WINDOW_CALLS */
struct strag_verdict strag_observer_decide(struct strag_observer *observer,
                                           const struct strag_call_sample *calls, int count);

/** A call of the window that was evaluated last. @param call  from 0 on */
const struct strag_last *strag_observer_call(const struct strag_observer *observer, int call);

/** For how long the others waited for just these ranks, from the last other arrival on.
 * @return seconds; 0: other ranks were the last, or by too little */
double strag_last_delay(const struct strag_last *call, const struct strag_late *late);

/** Are these the same ranks, whatever their delays? */
bool strag_late_is_same(const struct strag_late *a, const struct strag_late *b);

#endif
