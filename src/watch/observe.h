/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who is late? Found from how long each rank's calls take, without a synchronised clock.
 *
 * In one allreduce nobody ends before the last rank has arrived, and all end at about the same
 * time. So the rank that arrived last has the shortest duration, whatever plan runs, and it was
 * late by the second-shortest duration less its own:
 *
 *     rank 0    |----------------------------|       duration 28
 *     rank 1       |-------------------------|       25
 *     rank 2                |----------------|       16    late by 9
 *     rank 3     |---------------------------|       27
 *
 * (If two ranks are equally late it is late by nothing: no plan can go ahead without both.) Every
 * rank notes its calls. After a window of so many calls the notes are sent; a few calls later, when
 * they have long arrived, they are decided on:
 *
 *     a rank that was last in most calls of the last two windows, by a good part of the call's
 *     time, is late;
 *     one that was late remains so until it is last in fewer than half as many.
 *
 * With some plans ranks end at different times even though all came at the same one: where three
 * ranks fold one of them into another, that one gets its result a whole message later. So durations
 * raise a suspicion, and no more. Where there is one, the verdict asks for a closer look: from then
 * on ranks also note how long they were in each call until all were known to be there, which a
 * small barrier beside the call tells them. That differs by when they arrived and nothing else, and
 * only that can name a rank. A suspicion that a closer look did not confirm is remembered.
 *
 * No MPI in here, and no clock: the caller measures, sends, and acts.
 */
#ifndef STRAG_OBSERVE_H
#define STRAG_OBSERVE_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STRAG_WINDOW_MAX 4096

/* What a rank notes of a call. Notes travel as they are between processes of the same program; what
 * else is to be known of a call is a further member. */
struct strag_note {
    float seconds; /* from the rank's arrival to its end */
    float wait;    /* from its arrival until all had arrived; below 0: not measured */
};

/* What is to be done after a call; the same on all ranks. */
enum strag_observe_step {
    STRAG_OBSERVE_NOTHING,
    STRAG_OBSERVE_SEND,   /* start to send strag_observer_notes to who decides */
    STRAG_OBSERVE_DECIDE, /* wait for the notes of all, and call strag_observer_decide */
};

struct strag_verdict {
    int rank;     /* who is late; -1: nobody */
    double delay; /* seconds, in the median of the calls in which it was last */
    bool changed; /* since the verdict before: another rank, or a delay that differs by a half */
    bool look;    /* closely: waits are to be noted from the next call on */
};

/* A call, as all ranks' notes tell it. */
struct strag_last {
    int32_t rank;  /* who was last; -1: nobody by enough */
    float delay;   /* seconds that it was late by */
    float seconds; /* the shortest duration, what the call took when all were there; 0: unknown */
    bool close;    /* by waits, not by durations */
};

struct strag_observer;

/**
 * @param n       ranks, at least 2
 * @param window  calls, 2 to STRAG_WINDOW_MAX
 * @param[out] observer  the caller's to free with strag_observer_free; untouched on failure
 * @return STRAG_OK, STRAG_ERR_ARGUMENT or STRAG_ERR_MEMORY
 */
int strag_observer_create(int n, int window, struct strag_observer **observer,
                          struct strag_error *err);

/** NULL is allowed. */
void strag_observer_free(struct strag_observer *observer);

/** Note one of this rank's calls. @return what is to be done */
enum strag_observe_step strag_observer_add(struct strag_observer *observer, struct strag_note note);

/** This rank's notes of the last full window; they stay as they are until the next one is full.
 * @param[out] bytes  how many, the same on all ranks */
const struct strag_note *strag_observer_notes(const struct strag_observer *observer, size_t *bytes);

/** Take over the notes of all ranks. From the same notes comes the same verdict everywhere; it may
 * also be one rank that decides, and tells the others.
 * @param stride  from one rank's notes to the next one's, in bytes
 * @return who is late */
struct strag_verdict strag_observer_decide(struct strag_observer *observer, const void *notes,
                                           size_t stride);

/** A call of the window that was taken over last. @param call  0 to window - 1 */
struct strag_last strag_observer_call(const struct strag_observer *observer, int call);

/** A call is modelled to take so many seconds less than it would without the verdict; or more. */
void strag_observer_saved(struct strag_observer *observer, double seconds);

/* For the user: which rank slows the job down. */
struct strag_observed {
    uint64_t calls;              /* that were looked at closely */
    int rank;                    /* who was last most often; -1: nobody ever was */
    double share;                /* of the calls, in which it was last */
    double median, percentile95; /* seconds that it was late by, in its last calls of these */
    int switches;                /* how often the verdict named another rank, or nobody */
    double saved;                /* seconds, as modelled */
};

struct strag_observed strag_observer_report(const struct strag_observer *observer);

#endif
