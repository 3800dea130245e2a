/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One allreduce that strag runs, from its arguments to its result. Blocking calls (blocking.c),
 * nonblocking ones (nonblocking.c) and persistent ones (persistent.c) all go through it:
 *
 *     coll_strag_run_begin       plan and engine, transports, reducer, copies
 *     coll_strag_run_progress    until it is not STRAG_PENDING any more
 *     coll_strag_run_end         what the call used is free; its code
 */
#ifndef COLL_STRAG_CALL_H
#define COLL_STRAG_CALL_H

#include "choice/explain.h"
#include "shared/module.h"
#include "wire/device_buffer.h"

enum coll_strag_kind { COLL_STRAG_BLOCKING, COLL_STRAG_NONBLOCKING, COLL_STRAG_PERSISTENT };

/* What was asked for, and what runs. */
struct coll_strag_call {
    enum coll_strag_kind kind;
    struct coll_strag_module *module;
    ompi_communicator_t *comm;
    const void *input; /* the same as output: in place */
    void *output;
    size_t count;
    size_t size; /* bytes of data in one element */
    ompi_datatype_t *dtype;
    ompi_op_t *op;
    const struct coll_strag_buffer_locations *locations; /* NULL: all is in host memory */
    struct coll_strag_choice choice;
    bool from_table;                   /* the model did */
    struct coll_strag_without without; /* the rank that is not waited for */
    uint64_t number;                   /* of the communicator's calls, or of a request's starts */
    uint32_t recorded;                 /* its number in the ledger, if there is one */
};

/* What carries one call at a time: the communicator's own, or a persistent request's. */
struct coll_strag_channel {
    struct strag_shm *shm; /* NULL: messages within a host go over `transport`, too */
    struct coll_strag_transport *transport;
    struct coll_strag_plans *plans;
    struct coll_strag_stuck *stuck;
};

/* A call that runs. */
struct coll_strag_run {
    const struct coll_strag_channel *channel;
    bool polls;
    bool copied; /* it runs on copies of a device's buffers */
    struct strag_engine *engine;
    struct coll_strag_reducer reducer;
    struct strag_device_reducer device; /* if it runs in a device's memory */
    struct coll_strag_copies copies;
};

/** What the user asked for. One assignment after another: the compiler would set a whole structure
 * by an instruction that takes 10 ns.
 *
 * @param sbuf       may be MPI_IN_PLACE
 * @param locations  room for where buffers are that may be on a device; must outlive the call */
static inline void coll_strag_call_fill(struct coll_strag_call *call, enum coll_strag_kind kind,
                                        const void *sbuf, void *rbuf, size_t count,
                                        ompi_datatype_t *dtype, ompi_op_t *op,
                                        ompi_communicator_t *comm, struct coll_strag_module *module,
                                        struct coll_strag_buffer_locations *locations)
{
    call->kind = kind;
    call->module = module;
    call->comm = comm;
    call->input = MPI_IN_PLACE == sbuf ? rbuf : sbuf;
    call->output = rbuf;
    call->count = count;
    call->dtype = dtype;
    call->op = op;
    call->locations = __builtin_expect(coll_strag_settings.devices, 0) &&
                              coll_strag_device_find(sbuf, rbuf, dtype, locations)
                          ? locations
                          : NULL;
    call->choice.algorithm = NULL;
    call->choice.blocks = 0;
    call->from_table = false;
    call->without.turn = STRAG_DYNAMIC_OUTSIDE;
    call->without.rank = -1;
    ompi_datatype_type_size(dtype, &call->size);
}

/** Keep communicator, operator and type for a persistent request, and let them go. */
static inline void coll_strag_call_retain(const struct coll_strag_call *call)
{
    OBJ_RETAIN(call->comm);
    if (!ompi_datatype_is_predefined(call->dtype))
        OBJ_RETAIN(call->dtype);
    if (!ompi_op_is_intrinsic(call->op))
        OBJ_RETAIN(call->op);
}

static inline void coll_strag_call_release(const struct coll_strag_call *call)
{
    ompi_communicator_t *comm = call->comm;
    ompi_datatype_t *dtype = call->dtype;
    ompi_op_t *op = call->op;
    if (!ompi_datatype_is_predefined(dtype))
        OBJ_RELEASE(dtype);
    if (!ompi_op_is_intrinsic(op))
        OBJ_RELEASE(op);
    OBJ_RELEASE(comm);
}

/**
 * Begin a call that has a choice. All ranks must begin the calls of a channel in the same order,
 * each when the one before it has ended.
 *
 * @param channel  must outlive the call, as must what `call` points to
 * @param polls    progress is called from opal_progress: it looks, and never waits
 * @return STRAG_PENDING; or STRAG_OK or an error, and it has ended: coll_strag_run_end must follow
 */
int coll_strag_run_begin(struct coll_strag_run *run, const struct coll_strag_call *call,
                         const struct coll_strag_channel *channel, bool polls);

/** Do what can be done now. @return as coll_strag_run_begin */
static inline int coll_strag_run_progress(struct coll_strag_run *run)
{
    return strag_engine_progress(run->engine);
}

/** It has ended. @param status  as the two above returned it @return OMPI_SUCCESS, or an MPI error
 */
int coll_strag_run_end(struct coll_strag_run *run, const struct coll_strag_call *call, int status);

/** All of it, for a blocking call. @return as coll_strag_run_end */
int coll_strag_run_to_end(const struct coll_strag_call *call,
                          const struct coll_strag_channel *channel);

/** Make the engine that a call of this choice needs, unless it is there.
 * @return STRAG_OK, or why it cannot be made; that is logged */
int coll_strag_find_engine(const struct coll_strag_call *call, struct coll_strag_plans *plans,
                           int root, struct strag_engine **engine);

/** A nonblocking call that is recorded has ended. @param start  seconds: when it began to run */
void coll_strag_call_traced(const struct coll_strag_call *call, double start);

/** Let the previous component run it, blocking, on copies of what is in a device's memory. */
int coll_strag_call_previous(const struct coll_strag_call *call);

/** Must setup, or a nonblocking call, end before a blocking call or MPI_Allreduce_init goes on? */
static inline bool coll_strag_is_after_others(const struct coll_strag_module *module)
{
    return !coll_strag_queue_is_empty(&module->queue) ||
           __atomic_load_n(&module->setup, __ATOMIC_RELAXED) == COLL_STRAG_SETUP_RUNNING;
}

/** Wait for what nonblocking calls have begun: setup, and the calls themselves. */
void coll_strag_wait_for_earlier(struct coll_strag_module *module, ompi_communicator_t *comm);

/**
 * What runs a call: sets its choice and where that is from, and logs it. The same on all ranks, if
 * they ask in program order. If the communicator has not been set up, the call does that if it
 * needs to, a blocking or persistent one at once. A nonblocking one begins it, and does not wait.
 *
 * @return OMPI_SUCCESS, or why this rank cannot know
 */
int coll_strag_choose(struct coll_strag_call *call);

/** strag was to run it, but cannot: the previous component does. The same on all ranks. */
void coll_strag_leave_to_previous(struct coll_strag_call *call, enum coll_strag_reason reason);

#endif
