/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One allreduce that strag runs, from its arguments to its result. Blocking calls (blocking.c),
 * nonblocking ones (nonblocking.c) and persistent ones (persistent.c) all go through it:
 *
 *     coll_strag_run_begin       plan and engine, transports, reducer, copies
 *     coll_strag_run_progress    repeated for as long as it returns STRAG_PENDING
 *     coll_strag_run_end         frees what the call used, and returns its error code
 */
#ifndef COLL_STRAG_CALL_H
#define COLL_STRAG_CALL_H

#include "choice/explain.h"
#include "shared/module.h"
#include "wire/device_buffer.h"

enum coll_strag_kind { COLL_STRAG_BLOCKING, COLL_STRAG_NONBLOCKING, COLL_STRAG_PERSISTENT };

/* One call: its arguments, and what was chosen to run it. */
struct coll_strag_call {
    enum coll_strag_kind kind;
    struct coll_strag_module *module;
    ompi_communicator_t *comm;
    const void *input; /* equal to output if the call is in place */
    void *output;
    size_t count;
    size_t size; /* bytes of data in one element */
    ompi_datatype_t *dtype;
    ompi_op_t *op;
    const struct coll_strag_buffer_locations *locations; /* NULL if all are in host memory */
    struct coll_strag_choice choice;
    bool from_table;                   /* not by a rule, a user plan or an experiment */
    struct coll_strag_without without; /* which rank is not waited for */
    uint64_t number;                   /* among the communicator's calls, or a request's starts */
    uint32_t recorded;                 /* its number in the ledger, if there is one */
};

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
    bool polls;
    bool copied; /* it runs on copies of a device's buffers */
    struct strag_engine *engine;
    struct coll_strag_reducer reducer;
    struct strag_device_reducer device; /* used if the call runs in a device's memory */
    struct coll_strag_copies copies;
};

/** Fill in a call from MPI's arguments. Members are assigned one by one, since the compiler would
 * set the whole structure with an instruction that takes 10 ns.
 *
 * @param sbuf       may be MPI_IN_PLACE
 * @param locations  filled in if a buffer is on a device; must outlive the call */
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

/** Retain a request's communicator, operator and type; the next function releases them. */
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
 * Begin a call for which a choice has been made. All ranks must begin the calls of a channel in the
 * same order, each after the one before it has ended.
 *
 * @param channel  must outlive the call, as must what `call` points to
 * @param polls    opal_progress will call coll_strag_run_progress, which then never waits
 * @return STRAG_PENDING; or STRAG_OK or an error if it has ended: call coll_strag_run_end then
 */
int coll_strag_run_begin(struct coll_strag_run *run, const struct coll_strag_call *call,
                         const struct coll_strag_channel *channel, bool polls);

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

/** Must setup, or a nonblocking call, end before a blocking call or MPI_Allreduce_init goes on? */
static inline bool coll_strag_is_after_others(const struct coll_strag_module *module)
{
    return !coll_strag_queue_is_empty(&module->queue) ||
           __atomic_load_n(&module->setup, __ATOMIC_RELAXED) == COLL_STRAG_SETUP_RUNNING;
}

/** Wait until all nonblocking calls have ended, and setup, if one of them has begun it. */
void coll_strag_wait_for_earlier(struct coll_strag_module *module, ompi_communicator_t *comm);

/**
 * Choose what runs a call: sets `choice` and `from_table`, and logs the choice. It is the same on
 * all ranks if they ask in program order. If the communicator has not been set up and the call
 * needs it, a blocking or persistent call sets it up at once; a nonblocking one begins setup and
 * does not wait. @return OMPI_SUCCESS, or the error that keeps this rank from knowing the choice
 */
int coll_strag_choose(struct coll_strag_call *call);

/** Strag cannot run a call for which it was chosen. Record that the previous component does. */
void coll_strag_leave_to_previous(struct coll_strag_call *call, enum coll_strag_reason reason);

#endif
