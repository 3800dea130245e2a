/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a rank did, and when: its last calls and their operations, in a ring of a fixed size. The
 * traces of all ranks are written as Chrome trace JSON, which Perfetto shows.
 */
#ifndef STRAG_TRACE_H
#define STRAG_TRACE_H

#include "plan/plan.h"

#include <stdio.h>

/* In addition to enum strag_kind: a whole call. */
enum { STRAG_TRACE_CALL = 255 };

struct strag_trace_event {
    double begin, end; /* seconds; of a receive: from posting it until the message had come and was
                          reduced */
    uint64_t bytes;    /* of the message, or of a call's vector */
    uint32_t call;     /* the same number on all ranks */
    int32_t peer, round;
    uint8_t kind;      /* enum strag_kind, or STRAG_TRACE_CALL */
    uint8_t outcome;   /* of a call: what ran it, an index of strag_trace_job's outcomes */
    uint8_t unused[2]; /* 0 */
};

struct strag_trace {
    struct strag_trace_event *events; /* [room]: event e is at index e % room */
    size_t room;
    uint64_t written;
    double (*now)(void);
    uint32_t call; /* in progress */
    size_t size;   /* bytes of an element in the call in progress */
    double *began; /* [ops]: when operations of the call in progress began */
    int ops;
};

/** How many events each of `n` ranks keeps: 64 to 16,384, so that those of all ranks take 40 MiB,
 * or 2.5 KiB for each rank if that is more. */
size_t strag_trace_room(int n);

/** @param now  seconds on a clock that never goes back @return NULL when out of memory */
struct strag_trace *strag_trace_create(size_t room, double (*now)(void));

/** NULL is allowed. */
void strag_trace_free(struct strag_trace *trace);

/** A plan is run. @param ops  its operations @return false when out of memory: it is not traced */
bool strag_trace_plan(struct strag_trace *trace, int ops);

/** An operation begins. @param index  of the operation in the plan */
static inline void strag_trace_began(struct strag_trace *trace, int index)
{
    trace->began[index] = trace->now();
}

/** An operation has ended. @param elements  in its message */
void strag_trace_ended(struct strag_trace *trace, const struct strag_op *op, int index,
                       size_t elements);

/** A whole call has ended. */
void strag_trace_call(struct strag_trace *trace, double begin, double end, uint64_t bytes,
                      int outcome);

/** Copy the events in the ring, the oldest first. @param[out] to  [room] @return how many */
size_t strag_trace_read(const struct strag_trace *trace, struct strag_trace_event *to);

/* ---- All ranks ---- */

/* A rank's trace, with its times on the clock that all ranks share. */
struct strag_trace_rank {
    const char *host; /* "" if not known */
    struct strag_trace_event *events;
    size_t count;
};

struct strag_trace_job {
    const char *name;               /* the communicator's */
    struct strag_trace_rank *ranks; /* [n] */
    int n;
    const char *const *outcomes; /* texts for what ran a call, by strag_trace_event's outcome */
};

/** Sort each rank's events by their beginnings, as strag_trace_json needs them. */
void strag_trace_sort(const struct strag_trace_job *job);

/**
 * Write Chrome trace JSON: a process for each rank. Its thread 0 has calls, 1 to 99 sends and 100
 * to 199 receives, as many as were in flight at the same time. Times count from the earliest event.
 */
void strag_trace_json(const struct strag_trace_job *job, FILE *out);

#endif
