/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finding the straggler from windows of calls (window.h), without a synchronized clock:
 *
 *     a rank that was last in all of 8 calls, and in three of four of the next 24, by a good part
 *     of the call's time, becomes the straggler;
 *     it remains so until it is last in fewer than a quarter of the latest 16.
 *
 * With some plans ranks that arrive together leave at different times: if three ranks fold one
 * into another, that one gets its result a message later. So durations only raise a suspicion. The
 * verdict then asks for a closer look: ranks also measure in each sampled call how long they wait
 * until all have arrived, with a small barrier next to the call. Only these waits, which depend on
 * nothing but arrivals, make a rank the straggler. A suspicion that the closer look refutes is
 * remembered.
 *
 * (With two equally late ranks the delay is 0: no plan can go ahead without both.)
 *
 * No clock and no messages, and as much memory for 10,000 ranks as for 8.
 */
#ifndef STRAG_OBSERVE_H
#define STRAG_OBSERVE_H

#include "detect/window.h"

/* Calls after which a rank that is late in each of them is a straggler at the earliest: a first
 * window of two, one of eight, and one after each. */
enum { STRAG_CALLS_TO_NAME = 12 };

struct strag_verdict {
    int rank;     /* the straggler; -1: none */
    double delay; /* seconds, the median of the calls in which it was last */
    bool changed; /* since the verdict before: another rank, or a delay that differs by a half */
    bool look;    /* closely: measure waits from the next call on */
};

/* A call, from all ranks' times. */
struct strag_last {
    int32_t rank;  /* that was last; -1: none by enough */
    float delay;   /* seconds */
    float seconds; /* the shortest duration, from the last arrival on; 0: unknown */
    bool close;    /* from waits, not from durations */
};

struct strag_observer;

/** @return NULL: out of memory */
struct strag_observer *strag_observer_create(void);

/** NULL is allowed. */
void strag_observer_free(struct strag_observer *observer);

/** Evaluate a window. @param calls  [count] of all ranks, count at most STRAG_WINDOW_CALLS */
struct strag_verdict strag_observer_decide(struct strag_observer *observer,
                                           const struct strag_call_sample *calls, int count);

/** A call of the window that was evaluated last. @param call  from 0 on */
struct strag_last strag_observer_call(const struct strag_observer *observer, int call);

/** Add the modelled seconds by which a call is shorter (or longer: below 0) due to the verdict. */
void strag_observer_saved(struct strag_observer *observer, double seconds);

/* For the user: the rank that slows the job down. */
struct strag_observed {
    uint64_t calls; /* sampled closely */
    int rank;       /* that was last most often; -1: none */
    double share;   /* of the calls, in which it was last */
    double median;  /* of its delay in its last calls of these, seconds */
    int switches;   /* how often the verdict named another rank, or none */
    double saved;   /* seconds, as modelled */
    double waited;  /* seconds in all calls from the last but one arrival to the last one */
};

/** Sorts some hundred delays. */
struct strag_observed strag_observer_report(const struct strag_observer *observer);

#endif
