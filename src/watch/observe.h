/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finding the straggler from the durations of all ranks' calls, without a synchronized clock.
 *
 * No rank leaves an allreduce before the last one has arrived, and all leave at about the same
 * time. So the rank that arrived last has the shortest duration, with any plan, and its delay is
 * the second-shortest duration less its own:
 *
 *     rank 0    |----------------------------|       duration 28
 *     rank 1       |-------------------------|       25
 *     rank 2                |----------------|       16    late by 9
 *     rank 3     |---------------------------|       27
 *
 * (With two equally late ranks the delay is 0: no plan can go ahead without both.) Every rank notes
 * its calls. At the end of a window of calls the notes are sent; a few calls later, when they have
 * arrived, the verdict is computed:
 *
 *     a rank that was last in most calls of the last two windows, by a good part of the call's
 *     time, becomes the straggler;
 *     it remains so until it is last in fewer than half as many.
 *
 * With some plans ranks that arrive together leave at different times: where three ranks fold one
 * into another, that one gets its result a message later. So durations only raise a suspicion. The
 * verdict then asks for a closer look: ranks also measure in each call how long they wait until all
 * have arrived, with a small barrier beside the call. Only these waits, which depend on nothing but
 * arrivals, make a rank the straggler. A suspicion that the closer look refutes is remembered.
 *
 * No MPI and no clock: the caller measures, sends, and acts.
 */
#ifndef STRAG_OBSERVE_H
#define STRAG_OBSERVE_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STRAG_WINDOW_MAX 4096

/* A rank's note of a call, sent as it is between processes of the same program. */
struct strag_note {
    float seconds; /* from the rank's arrival to its end */
    float wait;    /* from its arrival until all had arrived; below 0: not measured */
};

/* What to do after a call; the same on all ranks. */
enum strag_observe_step {
    STRAG_OBSERVE_NOTHING,
    STRAG_OBSERVE_SEND,   /* start to send strag_observer_notes to the deciding rank */
    STRAG_OBSERVE_DECIDE, /* wait for the notes of all, and call strag_observer_decide */
};

struct strag_verdict {
    int rank;     /* the straggler; -1: none */
    double delay; /* seconds, the median of the calls in which it was last */
    bool changed; /* since the verdict before: another rank, or a delay that differs by a half */
    bool look;    /* closely: measure waits from the next call on */
};

/* A call, from all ranks' notes. */
struct strag_last {
    int32_t rank;  /* that was last; -1: none by enough */
    float delay;   /* seconds */
    float seconds; /* the shortest duration, from the last arrival on; 0: unknown */
    bool close;    /* from waits, not from durations */
};

struct strag_observer;

/**
 * @param n       ranks whose notes are evaluated, at least 2; 0: none are, this observer only notes
 * @param window  calls at most, and until strag_observer_set_window; 2 to STRAG_WINDOW_MAX
 * @param room    bytes behind the notes that are the caller's, to send something else with them
 * @param[out] observer  the caller's to free with strag_observer_free; untouched on failure
 * @return STRAG_OK, STRAG_ERR_ARGUMENT or STRAG_ERR_MEMORY
 */
int strag_observer_create(int n, int window, size_t room, struct strag_observer **observer,
                          struct strag_error *err);

/** NULL is allowed. */
void strag_observer_free(struct strag_observer *observer);

/** A window is evaluated so many calls after its end, before the first call. Where this is not said
 * it is an eighth of the window, so that notes can arrive meanwhile. @param calls  at least 1 */
void strag_observer_set_lag(struct strag_observer *observer, int calls);

/** The calls of the window that is being filled do not count: it begins with the next one. */
void strag_observer_restart(struct strag_observer *observer);

/** Note one of this rank's calls. */
enum strag_observe_step strag_observer_add(struct strag_observer *observer, struct strag_note note);

/** The window that is being filled ends after so many calls, and so do the next ones; not before
 * the next call, nor before the one with which the last window is evaluated. The same on all ranks,
 * between the same calls. @param calls  more than strag_observer_create was told: as many */
void strag_observer_set_window(struct strag_observer *observer, int calls);

/** This rank's notes of the window that is full, and the caller's room behind them: as they are
 * from STRAG_OBSERVE_SEND until the call after STRAG_OBSERVE_DECIDE is noted.
 * @param[out] bytes  of the notes; the same on all ranks */
struct strag_note *strag_observer_notes(const struct strag_observer *observer, size_t *bytes);

/** Evaluate the notes of all ranks, for which the observer was made: on one rank, or on all with
 * the same verdict.
 * @param stride  from one rank's notes to the next one's, in bytes */
struct strag_verdict strag_observer_decide(struct strag_observer *observer, const void *notes,
                                           size_t stride);

/** A call of the window that was evaluated last. @param call  from 0 on */
struct strag_last strag_observer_call(const struct strag_observer *observer, int call);

/**
 * How long a call took from the last arrival to the last end: the longest duration, less what one
 * rank was later than all others. Ranks that come together may end at different times: of 6 ranks
 * that run swing-latency 4 need two latencies, and 2 need three; the next call, after a barrier, or
 * after a computation that waits for neighbours, is begun when all have ended. Durations of more
 * than twice the median do not count: these ranks came long before the others. Nor do, of 16 ranks
 * and more, the longest sixteenth: in many ranks some always wait for a processor.
 *
 * Of calls that are too short to look for stragglers in them ranks send their durations with a
 * minus. These are messages' latencies in a row: a rank that is late finds the others' messages
 * there, and ends early by as much; so do roots of trees that are not late. Nothing is subtracted
 * there, as calls would seem shorter than any can be. Some have nobody late, and those count.
 *
 * @param notes, stride  as above, of `n` ranks
 * @param scratch        [rank]
 * @param[out] delay     by which one rank was later than all others, seconds
 * @param[out] brief     the call is too short: the delay is in what is returned
 */
double strag_observer_seconds(const void *notes, size_t stride, int n, int call, double *scratch,
                              double *delay, bool *brief);

/** Add the modelled seconds by which a call is shorter (or longer: below 0) due to the verdict. */
void strag_observer_saved(struct strag_observer *observer, double seconds);

enum { STRAG_OFTEN = 4 };

/* For the user: the rank that slows the job down, and who else does. */
struct strag_observed {
    uint64_t calls;              /* looked at closely */
    int rank;                    /* that was last most often; -1: none */
    double share;                /* of the calls, in which it was last */
    double median, percentile95; /* of its delay in its last calls of these, seconds */
    int switches;                /* how often the verdict named another rank, or none */
    double saved;                /* seconds, as modelled */

    struct { /* the ranks that were last most often, in what share of the calls; 0: no more */
        int rank;
        double share;
    } often[STRAG_OFTEN];
    double any_median, any_percentile95; /* of all ranks' delays in the last calls, and ... */
    double any_quarter, any_three_quarters, any_longest; /* ... a quarter is below, three are */
    double
        waited;   /* seconds in all calls from the last but one arrival to the last one, measured */
    double spent; /* ... and from there to the end of these calls */
};

struct strag_observed strag_observer_report(const struct strag_observer *observer);

#endif
