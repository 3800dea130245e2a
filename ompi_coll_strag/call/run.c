/* SPDX-License-Identifier: BSD-3-Clause */
#include "run.h"

#include "collect/record.h"
#include "compat/failures.h"
#include "user/log.h"
#include "wire/transport_shm.h"

#include <limits.h>

/* Segments of temporary space. In shared memory more would only occupy the cache; over a network
 * messages from several ranks arrive at the same time. */
static const int slots[STRAG_LANES] = {[COLL_STRAG_MEMORY] = 2, [COLL_STRAG_NETWORK] = 8};

/* ---- Beginning ---- */

/* Elements in a segment, from the size of their data, which is the same on all ranks. */
static size_t segment_elements(size_t segment, const struct coll_strag_call *call)
{
    size_t elements = segment / call->size;
    if (elements > INT_MAX)
        elements = INT_MAX;
    return elements ? elements : 1;
}

/* Set how messages are cut, and which transports carry them: the same on all ranks.
 * @param shared  NULL if the network's transport carries messages within the host, too */
static void set_lanes(const struct coll_strag_call *call, const struct coll_strag_channel *channel,
                      struct strag_transport *shared, struct strag_call *engine_call)
{
    const struct coll_strag_module *module = call->module;
    for (int l = 0; l < STRAG_LANES; l++) {
        size_t segment = module->segments[l];
        if (shared && l == COLL_STRAG_MEMORY && segment > strag_shm_longest(channel->shm))
            segment = strag_shm_longest(channel->shm);
        engine_call->lanes[l] = (struct strag_lane){
            .segment = segment_elements(segment, call),
            .slots = slots[l],
            .in_step = l == COLL_STRAG_NETWORK,
        };
    }
    engine_call->lane_of = module->lane_of;
    engine_call->lanes[COLL_STRAG_MEMORY].transport = shared;
    engine_call->transport =
        shared && strag_shm_is_alone(channel->shm) ? shared : &channel->transport->super;
}

/* The space behind a segment, in elements, into which the data of its last elements reaches. */
static size_t gap(const struct coll_strag_reducer *reducer)
{
    ptrdiff_t beyond = reducer->true_extent - reducer->extent;
    return beyond > 0 ? (size_t)((beyond + reducer->extent - 1) / reducer->extent) : 0;
}

static int make_engine(const struct coll_strag_call *call, struct coll_strag_plans *plans, int root,
                       struct strag_engine **engine)
{
    struct coll_strag_module *module = call->module;
    const struct coll_strag_choice *choice = &call->choice;
    const struct strag_straggler last = {call->without.rank, 0};
    struct strag_state state = strag_state_of(&module->decision.state);
    struct strag_error err = {"out of memory for the topology"};
    struct strag_topology *unpacked = NULL;
    int status = STRAG_OK;
    if (last.rank >= 0) {
        state.nstragglers = 1;
        state.straggler = &last;
    }
    struct strag_problem problem = {
        .n = ompi_comm_size(call->comm),
        .blocks = choice->blocks,
        .root = root,
        .ports = module->decision.ports,
        .state = &state,
    };
    if (module->decision.reproducible != STRAG_REPRODUCIBLE_RANKS &&
        !coll_strag_plans_planned(plans, choice->algorithm, choice->blocks, root))
        status =
            coll_strag_shared_setup_topology(module->shared_setup, &problem.topology, &unpacked);
    if (status == STRAG_OK)
        status = coll_strag_plans_make(plans, choice->algorithm, &problem,
                                       ompi_comm_rank(call->comm), engine, &err);
    strag_topology_free(unpacked);
    if (status != STRAG_OK)
        coll_strag_log(call->comm, "%s", err.text);
    return status;
}

int coll_strag_find_engine(const struct coll_strag_call *call, struct coll_strag_plans *plans,
                           int root, struct strag_engine **engine)
{
    *engine = coll_strag_plans_find(plans, call->choice.algorithm, call->choice.blocks, root);
    return *engine ? STRAG_OK : make_engine(call, plans, root, engine);
}

/* Let the engine's call run on copies in host memory. */
static int make_copies(struct coll_strag_run *run, const struct coll_strag_call *call,
                       struct strag_call *engine_call)
{
    struct coll_strag_copies *copies = &run->copies;
    const void *sbuf = call->input == call->output ? MPI_IN_PLACE : call->input;
    run->copied = coll_strag_copies_make(copies, call->locations, sbuf, call->output, call->count,
                                         call->dtype) == OMPI_SUCCESS;
    engine_call->output = copies->rbuf;
    engine_call->input = MPI_IN_PLACE == copies->sbuf ? copies->rbuf : copies->sbuf;
    return run->copied ? STRAG_OK : STRAG_ERR_MEMORY;
}

/* Run a call with a buffer in a device's memory: there if possible, else on copies. */
static __attribute__((noinline)) int use_device(struct coll_strag_run *run,
                                                const struct coll_strag_call *call, bool shared,
                                                struct strag_call *engine_call)
{
    struct coll_strag_transport *transport = run->channel->transport;
    return coll_strag_device_runs(transport, shared, call->locations, &run->reducer,
                                  call->count * call->size, &run->device)
               ? coll_strag_device_begin(transport, call->locations, &run->device, engine_call)
               : make_copies(run, call, engine_call);
}

/* The communicator has failed: strag runs none of its calls any more, this one included. */
static __attribute__((noinline)) int refuse(const struct coll_strag_call *call,
                                            struct coll_strag_transport *transport)
{
    return coll_strag_transport_failed(transport, coll_strag_failed(&call->module->failure));
}

/* Prepare transports, reducer and engine. @param[out] shared  NULL if no memory is shared */
static inline int prepare(struct coll_strag_run *run, const struct coll_strag_call *call,
                          struct strag_transport **shared)
{
    const struct coll_strag_channel *channel = run->channel;
    struct coll_strag_reducer *reducer = &run->reducer;
    int root = 0;
    int status = coll_strag_reducer_init(reducer, call->op, call->dtype);
    coll_strag_transport_begin(channel->transport, call->number,
                               coll_strag_stuck_shape(channel->stuck), call->dtype, call->size,
                               run->polls);
    *shared = NULL;
    if (channel->shm) {
        strag_shm_next_call(channel->shm, call->number, run->polls);
        *shared = coll_strag_shared_memory_begin(channel->shm, reducer, call->size);
    }
    if (__builtin_expect(coll_strag_failed(&call->module->failure) != OMPI_SUCCESS, 0))
        return refuse(call, channel->transport);
    reducer->in_place = NULL != *shared && NULL != (*shared)->recv_in_place;
    if (*shared && call->choice.blocks == 1 && call->choice.algorithm->rooted)
        root = strag_shm_choose_root(channel->shm, call->count * call->size);
    if (status == STRAG_OK && run->polls) { /* made when the call was begun, if memory allowed */
        run->engine = coll_strag_plans_find(channel->plans, call->choice.algorithm,
                                            call->choice.blocks, root);
        return run->engine ? STRAG_OK : STRAG_ERR_MEMORY;
    }
    return status == STRAG_OK ? coll_strag_find_engine(call, channel->plans, root, &run->engine)
                              : status;
}

/* The trace that records a call's operations. Persistent calls are not recorded, since several may
 * be pending at the same time. @return NULL if the call is not recorded */
static inline struct strag_trace *find_trace(const struct coll_strag_call *call)
{
    const struct coll_strag_ledger *ledger = call->module->ledger;
    if (__builtin_expect(!ledger, 1) || !ledger->trace || call->kind == COLL_STRAG_PERSISTENT)
        return NULL;
    ledger->trace->call = call->recorded;
    ledger->trace->size = call->size;
    return ledger->trace;
}

static inline __attribute__((always_inline)) int begin(struct coll_strag_run *run,
                                                       const struct coll_strag_call *call,
                                                       const struct coll_strag_channel *channel,
                                                       bool polls)
{
    struct coll_strag_reducer *reducer = &run->reducer;
    struct strag_transport *shared;
    run->channel = channel;
    run->polls = polls;
    run->copied = false;
    int status = prepare(run, call, &shared);
    if (status != STRAG_OK)
        return status;
    struct strag_call engine_call; /* one assignment after another, as in coll_strag_call_fill */
    engine_call.input = call->input;
    engine_call.output = call->output;
    engine_call.count = call->count;
    engine_call.extent = reducer->extent;
    engine_call.gap = gap(reducer);
    engine_call.reducer = &reducer->super;
    engine_call.trace = find_trace(call);
    set_lanes(call, channel, shared, &engine_call);
    if (call->locations)
        status = use_device(run, call, NULL != shared, &engine_call);
    if (status == STRAG_OK)
        status = strag_engine_start(run->engine, &engine_call);
    return status == STRAG_OK ? STRAG_PENDING : status;
}

int coll_strag_run_begin(struct coll_strag_run *run, const struct coll_strag_call *call,
                         const struct coll_strag_channel *channel)
{
    return begin(run, call, channel, true);
}

/* ---- Ending ---- */

/* @param known  the communicator's error, if another rank has ended its calls; else OMPI_SUCCESS
 */
static int mpi_error(int status, const struct coll_strag_transport *transport, int known)
{
    switch (status) {
    case STRAG_ERR_MEMORY:
        return OMPI_ERR_OUT_OF_RESOURCE;
    case STRAG_ERR_MISMATCH: /* or the ranks called it with different counts */
        return known != OMPI_SUCCESS ? known : MPI_ERR_TRUNCATE;
    case STRAG_ERR_TRANSPORT:
        return transport->mpi_error != MPI_SUCCESS ? transport->mpi_error : MPI_ERR_OTHER;
    default:
        return OMPI_ERROR;
    }
}

/* How the watch treats a call of `bytes` bytes, or will treat it once there is a watch. */
static int counts_as(const struct coll_strag_call *call, size_t bytes)
{
    const struct coll_strag_module *module = call->module;
    enum { NOTHING, WATCHED, SAMPLED };
    if (!(module->watch || module->watch_in) || bytes < module->decision.watch_from ||
        coll_strag_given_find(module->given, bytes))
        return NOTHING;
    return module->watch && coll_strag_watch_samples(module->watch, bytes, call->op) ? SAMPLED
                                                                                     : WATCHED;
}

/* What the other ranks of the host have said, in shared memory, of a call that has failed here. A
 * rank that enters the call later finds out then; what a rank that has since entered many others
 * said of this one is lost. */
struct found {
    bool undecided;   /* a rank has left it: that rank, or another, does not know what strag runs */
    bool out_of_step; /* a rank's watch treats it differently, and would wait for its samples */
};

static struct found look_around(const struct coll_strag_call *call, const struct strag_shm *shm)
{
    struct found found = {false, false};
    const int own = counts_as(call, call->count * call->size);
    const bool watched = call->module->watch || call->module->watch_in;
    for (int rank = 0; shm && rank < ompi_comm_size(call->comm); rank++) {
        const int index = strag_shm_index(shm, rank);
        struct strag_shm_entered other;
        if (index < 0 || strag_shm_entered(shm, index, call->number, &other) < call->number)
            continue;
        if (other.number && !other.bytes && !other.what)
            found.undecided = true;
        else if (other.number ? counts_as(call, other.bytes) != own : watched)
            found.out_of_step = call->kind == COLL_STRAG_BLOCKING;
    }
    return found;
}

/* Let the other ranks know that the call has failed. */
static __attribute__((noinline)) void fail(const struct coll_strag_run *run,
                                           const struct coll_strag_call *call, int code)
{
    struct coll_strag_module *module = call->module;
    struct strag_shm *shm = run->channel->shm;
    const bool failed = coll_strag_failed(&module->failure) != OMPI_SUCCESS;
    const struct found found = look_around(call, shm);
    if (shm && (found.undecided || coll_strag_undecided(&module->failure) != OMPI_SUCCESS))
        strag_shm_enter_call(shm, call->number, 0, 0);
    if (shm)
        strag_shm_abandon(shm);
    if (code == MPI_ERR_TRUNCATE && !failed)
        coll_strag_stuck_tell_why(run->channel->stuck);
    if (failed || found.undecided || found.out_of_step ||
        !coll_strag_is_in_memory(module, call->size))
        coll_strag_fail(module, code, found.undecided);
}

static inline __attribute__((always_inline)) int end(struct coll_strag_run *run,
                                                     const struct coll_strag_call *call, int status)
{
    struct strag_shm *shm = run->channel->shm;
    const int failure = status == STRAG_OK ? OMPI_SUCCESS : coll_strag_failure(call->comm);
    int code = failure;
    if (failure == OMPI_SUCCESS && status != STRAG_OK)
        code =
            mpi_error(status, run->channel->transport, coll_strag_failed(&call->module->failure));
    if (run->copied)
        code = coll_strag_copies_end(&run->copies, call->locations, code);
    if (shm)
        strag_shm_end(shm);
    if (__builtin_expect(code != OMPI_SUCCESS, 0) &&
        failure == OMPI_SUCCESS) /* Open MPI tells all ranks of its own failures */
        fail(run, call, code);
    return code;
}

int coll_strag_run_end(struct coll_strag_run *run, const struct coll_strag_call *call, int status)
{
    return end(run, call, status);
}

void coll_strag_call_traced(const struct coll_strag_call *call, double start)
{
    struct strag_trace *trace = find_trace(call);
    if (trace)
        strag_trace_call(trace, start, coll_strag_seconds(), call->count * call->size,
                         coll_strag_outcome(&call->choice));
}

int coll_strag_run_to_end(const struct coll_strag_call *call,
                          const struct coll_strag_channel *channel)
{
    struct coll_strag_run run;
    int status = begin(&run, call, channel, false);
    while (status == STRAG_PENDING)
        status = coll_strag_run_progress(&run);
    return end(&run, call, status);
}

/* ---- By the previous component ---- */

static int call_previous(const struct coll_strag_call *call, const void *sbuf, void *rbuf)
{
    const struct coll_strag_previous *previous = &call->module->previous;
    return previous->allreduce(sbuf, rbuf, (coll_strag_count_t)call->count, call->dtype, call->op,
                               call->comm, previous->allreduce_module);
}

int coll_strag_call_previous(const struct coll_strag_call *call)
{
    const void *sbuf = call->input == call->output ? MPI_IN_PLACE : call->input;
    struct coll_strag_copies copies;
    if (!call->locations)
        return call_previous(call, sbuf, call->output);
    int code = coll_strag_copies_make(&copies, call->locations, sbuf, call->output, call->count,
                                      call->dtype);
    if (code != OMPI_SUCCESS)
        return code;
    code = call_previous(call, copies.sbuf, copies.rbuf);
    return coll_strag_copies_end(&copies, call->locations, code);
}
