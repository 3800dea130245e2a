/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How a call runs, once its choice is made:
 *
 *     coll_strag_run_begin       plan and engine, transports, reducer, copies
 *     coll_strag_run_progress    repeated for as long as it returns STRAG_PENDING
 *     coll_strag_run_end         frees what the call used, and returns its error code
 */
#ifndef COLL_STRAG_RUN_H
#define COLL_STRAG_RUN_H

#include "call.h"

/* What carries the calls of a communicator, or of a persistent request: one at a time. */
struct coll_strag_channel {
    struct strag_shm *shm; /* NULL if messages within a host go over `transport`, too */
    struct coll_strag_transport *transport;
    struct coll_strag_plans *plans;
    struct coll_strag_stuck *stuck;
};

/* A running call. */
struct coll_strag_run {
    const struct coll_strag_channel *channel;
    bool polls;  /* opal_progress runs it, so it must not wait */
    bool copied; /* it runs on copies of a device's buffers */
    struct strag_engine *engine;
    struct coll_strag_reducer reducer;
    struct strag_device_reducer device; /* used if the call runs in a device's memory */
    struct coll_strag_copies copies;
};

/**
 * Begin a nonblocking call for which a choice has been made; opal_progress will call
 * coll_strag_run_progress, which then never waits. All ranks must begin the calls of a channel in
 * the same order, each after the one before it has ended.
 *
 * @param channel  must outlive the call, as must what `call` points to
 * @return STRAG_PENDING; or STRAG_OK or an error if it has ended: call coll_strag_run_end then
 */
int coll_strag_run_begin(struct coll_strag_run *run, const struct coll_strag_call *call,
                         const struct coll_strag_channel *channel);

/** Do what can be done now. @return as coll_strag_run_begin */
static inline int coll_strag_run_progress(struct coll_strag_run *run)
{
    return strag_engine_progress(run->engine);
}

/** Finish a call that has ended. @param status  what the two functions above returned
 * @return OMPI_SUCCESS, or an MPI error */
int coll_strag_run_end(struct coll_strag_run *run, const struct coll_strag_call *call, int status);

/** Begin, progress and finish a blocking call. @return as coll_strag_run_end */
int coll_strag_run_to_end(const struct coll_strag_call *call,
                          const struct coll_strag_channel *channel);

/** Find the engine that the call's choice needs, or make it.
 * @return STRAG_OK, or an error, which is logged */
int coll_strag_find_engine(const struct coll_strag_call *call, struct coll_strag_plans *plans,
                           int root, struct strag_engine **engine);

/** Trace a nonblocking call that has ended. @param start  seconds: when it began to run */
void coll_strag_call_traced(const struct coll_strag_call *call, double start);

/** Let the previous component run a blocking call, on copies of buffers in a device's memory. */
int coll_strag_call_previous(const struct coll_strag_call *call);

#endif
