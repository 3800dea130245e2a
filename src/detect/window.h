/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A window: a few consecutive calls that every rank times. The ranks' samples are merged up a tree,
 * so that rank 0 gets a fixed number of bytes in log2(n) messages, for any number n of ranks:
 *
 *     call 1 .. w     every rank puts its own time into the call's sample
 *     call w          samples begin to move: a rank merges its children's into its own, and sends
 *                     them on
 *     call w + 1      not sampled; samples arrive meanwhile
 *     its end         rank 0 judges, and says to all which calls the next window has
 *
 * In a window of an experiment (learn/experiment.h) only calls of one size and operation count, and
 * some of them run a rival of the table's choice.
 *
 * No rank leaves an allreduce before the last one has arrived. So the rank that arrived last has
 * the shortest time, with any plan, and its delay is the second shortest time less its own:
 *
 *     rank 0    |----------------------------|       28
 *     rank 1       |-------------------------|       25
 *     rank 2                |----------------|       16    late by 9
 *     rank 3     |---------------------------|       27
 */
#ifndef STRAG_WINDOW_H
#define STRAG_WINDOW_H

#include "machine/state.h"
#include "plan/algorithm.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Calls of a window, at most. */
enum { STRAG_WINDOW_CALLS = 8 };

/* ---- What ranks have measured ---- */

/* A rank's time, seconds. */
struct strag_time {
    int32_t rank;  /* -1 in an unused entry */
    float seconds; /* INFINITY in an unused entry; below 0 if the rank has not measured it */
};

/* Entries for the last ranks, which can be stragglers together, and for the one before them. */
enum { STRAG_SHORTEST = STRAG_STRAGGLERS_MAX + 1 };

/* One call, as some ranks have timed it. Plain data. Times ascend, and ranks break ties. */
struct strag_call_sample {
    struct strag_time stay[STRAG_SHORTEST]; /* from a rank's arrival to its return */
    struct strag_time wait[STRAG_SHORTEST]; /* from its arrival until all had arrived */
    float longest, sum;                     /* of all stays, seconds */
};

/** A call that no rank has timed. */
struct strag_call_sample strag_call_sample_none(void);

/** Add a rank's times. @param wait  seconds; below 0 if not measured */
void strag_call_sample_add(struct strag_call_sample *sample, int rank, double stay, double wait);

/** Add other ranks' times of the same call. The order of merges only affects how `sum` is
 * rounded. */
void strag_call_sample_merge(struct strag_call_sample *sample,
                             const struct strag_call_sample *other);

/** The times that show who arrived last: waits if all ranks measured them, else stays.
 * @return [STRAG_SHORTEST] */
const struct strag_time *strag_call_sample_order(const struct strag_call_sample *sample);

/**
 * How long a call of all n ranks took, from the last arrival on: the longest stay less the delay.
 * Since a rank that came long before the others stayed long, at most twice the mean stay counts.
 *
 * @return seconds
 */
double strag_call_sample_seconds(const struct strag_call_sample *sample, int n);

/* ---- Which calls ---- */

/* A window, as rank 0 orders it and all ranks follow. Plain data, except for the pointer. */
struct strag_window_order {
    int32_t pause;       /* calls before it */
    int32_t calls;       /* 1 to STRAG_WINDOW_CALLS */
    uint64_t bytes;      /* in an experiment, of each of its calls; 0 if all calls count */
    int32_t operation;   /* ... and what they reduce with */
    uint32_t rival_runs; /* bit c: call c of the window runs the rival */
    const struct strag_algorithm *rival; /* NULL for the previous component */
    int32_t blocks;                      /* of the rival */
};

/* What a rank does after a call; the same on all ranks. */
enum strag_window_step {
    STRAG_WINDOW_NOTHING,
    STRAG_WINDOW_SEND,   /* the samples are complete: begin to merge them */
    STRAG_WINDOW_DECIDE, /* rank 0 judges; strag_window_start follows */
};

/* Where a rank is in a window. Between two calls all ranks are at the same point. */
struct strag_window {
    struct strag_window_order order;
    int passed; /* calls of the pause; of an experiment, also calls that do not count */
    int filled; /* calls that were sampled */
    bool full;  /* complete, and not yet judged */
    struct strag_call_sample sample[STRAG_WINDOW_CALLS];
};

/** Start a window, to which the next call may belong. */
void strag_window_start(struct strag_window *window, const struct strag_window_order *order);

/** Is the next call, of this size and operation, sampled? */
bool strag_window_has(const struct strag_window *window, size_t bytes, int operation);

/** Does the next call, of this size and operation, run the rival? */
bool strag_window_runs_rival(const struct strag_window *window, size_t bytes, int operation);

/** A call has ended. @param rank  of this process
 * @param sampled  what strag_window_has returned before the call
 * @param stay, wait  this rank's seconds in a sampled call; wait is below 0 if not measured */
enum strag_window_step strag_window_end(struct strag_window *window, int rank, bool sampled,
                                        double stay, double wait);

#endif
