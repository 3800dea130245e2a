/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Allreduce: what runs a vector, and running it. The way of one vector:
 *
 *     coll_strag_allreduce     vectors that are known to be too short go to the previous component
 *     run_watched              setup at the first call that needs it (setup.c); the table's choice;
 *                              notes of calls that are watched for stragglers (watch.c)
 *     run_agreed               who is there, where another rank may be late in each call
 *     run_choice               the previous component, or copies where a device's memory needs them
 *     run                      plan and engine (plans.c), transports and reducer, until it is done
 *
 * All ranks choose alike, since they choose by what MPI requires to be the same on all of them:
 * operator, count, type, the parameters, and what rank 0 decided. What can go wrong on one rank
 * alone (memory) is an error, never a silent change of algorithm.
 */
#include "allreduce.h"

#include "communicator.h"
#include "device.h"
#include "log.h"
#include "setup.h"
#include "setup_decide.h"
#include "shared_memory.h"

#include <limits.h>

/* Segments of temporary space. Through memory more would only take room in the cache; over a
 * network messages from several ranks come at the same time. */
static const int slots[STRAG_LANES] = {[COLL_STRAG_MEMORY] = 2, [COLL_STRAG_NETWORK] = 8};

/* One call. */
struct call {
    struct coll_strag_module *module;
    ompi_communicator_t *comm;
    const void *input;
    void *output;
    size_t count;
    size_t size; /* bytes of data in one element */
    ompi_datatype_t *dtype;
    ompi_op_t *op;
    const struct coll_strag_buffer_locations *locations; /* NULL: all is in host memory */
    struct coll_strag_choice choice;
    bool tried;                        /* a trial made the choice */
    bool from_table;                   /* the model did */
    struct coll_strag_without without; /* the rank that is not waited for */
};

/* ---- Running it ---- */

/* Elements in a segment: from the data's size, which is the same on all ranks. */
static size_t segment_elements(size_t segment, const struct call *call)
{
    size_t elements = segment / call->size;
    if (elements > INT_MAX)
        elements = INT_MAX;
    return elements ? elements : 1;
}

/* How messages are cut, and what they go over: the same on all ranks. @param shared  NULL: the
 * network's transport carries those within the host, too */
static void set_lanes(const struct call *call, struct strag_transport *shared,
                      struct strag_call *engine_call)
{
    const struct coll_strag_module *module = call->module;
    for (int l = 0; l < STRAG_LANES; l++) {
        size_t segment = module->segments[l];
        if (shared && l == COLL_STRAG_MEMORY && segment > strag_shm_longest(module->shm))
            segment = strag_shm_longest(module->shm);
        engine_call->lanes[l] = (struct strag_lane){
            .segment = segment_elements(segment, call),
            .slots = slots[l],
            .in_step = l == COLL_STRAG_NETWORK,
        };
    }
    engine_call->lane_of = module->lane_of;
    engine_call->lanes[COLL_STRAG_MEMORY].transport = shared;
    engine_call->transport =
        shared && strag_shm_is_alone(module->shm) ? shared : &module->transport->super;
}

/* Elements of space behind a segment into which its last ones reach. */
static size_t gap(const struct coll_strag_reducer *reducer)
{
    ptrdiff_t beyond = reducer->true_extent - reducer->extent;
    return beyond > 0 ? (size_t)((beyond + reducer->extent - 1) / reducer->extent) : 0;
}

static int mpi_error(int status, const struct coll_strag_module *module)
{
    switch (status) {
    case STRAG_OK:
        return OMPI_SUCCESS;
    case STRAG_ERR_MEMORY:
        return OMPI_ERR_OUT_OF_RESOURCE;
    case STRAG_ERR_MISMATCH: /* the ranks called it with different counts */
        return MPI_ERR_TRUNCATE;
    case STRAG_ERR_TRANSPORT:
        return module->transport->mpi_error != MPI_SUCCESS ? module->transport->mpi_error
                                                           : MPI_ERR_OTHER;
    default:
        return OMPI_ERROR;
    }
}

static struct coll_strag_plans *plans_of(const struct call *call)
{
    return call->without.rank >= 0 ? call->without.plans : &call->module->plans;
}

/* @param root  the rank that works for all, in plans that have one */
static int make_engine(const struct call *call, int root, struct strag_engine **engine)
{
    struct coll_strag_module *module = call->module;
    const struct coll_strag_choice *choice = &call->choice;
    struct coll_strag_plans *plans = plans_of(call);
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
    if (!module->decision.reproducible &&
        !coll_strag_plans_planned(plans, choice->algorithm, choice->blocks, root))
        status = coll_strag_heritage_topology(module->heritage, &problem.topology, &unpacked);
    if (status == STRAG_OK)
        status = coll_strag_plans_make(plans, choice->algorithm, &problem,
                                       ompi_comm_rank(call->comm), engine, &err);
    strag_topology_free(unpacked);
    if (status != STRAG_OK)
        coll_strag_log(call->comm, "%s", err.text);
    return status;
}

static int run_engine(struct strag_engine *engine, const struct strag_call *call)
{
    int status = strag_engine_start(engine, call);
    if (status != STRAG_OK)
        return status;
    do {
        status = strag_engine_progress(engine);
    } while (status == STRAG_PENDING);
    return status;
}

static int run(const struct call *call)
{
    struct coll_strag_module *module = call->module;
    struct coll_strag_reducer reducer;
    struct strag_staging *staging = NULL;
    struct strag_engine *engine;
    struct strag_transport *shared = NULL;
    int root = 0;
    int status = coll_strag_reducer_init(&reducer, call->op, call->dtype);
    coll_strag_transport_begin(module->transport, call->dtype, call->size, false);
    if (module->shm)
        shared = coll_strag_shared_memory_begin(module->shm, &reducer, call->size);
    reducer.in_place = NULL != shared && NULL != shared->recv_in_place;
    if (shared && call->choice.blocks == 1 && call->choice.algorithm->rooted)
        root = strag_shm_choose_root(module->shm, call->count * call->size);
    engine =
        coll_strag_plans_find(plans_of(call), call->choice.algorithm, call->choice.blocks, root);
    if (status == STRAG_OK && !engine)
        status = make_engine(call, root, &engine);
    if (status != STRAG_OK)
        return mpi_error(status, module);
    struct strag_call engine_call = {
        .input = call->input,
        .output = call->output,
        .count = call->count,
        .extent = reducer.extent,
        .gap = gap(&reducer),
        .reducer = &reducer.super,
    };
    set_lanes(call, shared, &engine_call);
    if (call->locations)
        status = coll_strag_device_begin(module->transport, call->locations, &reducer, call->size,
                                         &engine_call, &staging);
    if (status == STRAG_OK)
        status = run_engine(engine, &engine_call);
    strag_staging_free(staging);
    return mpi_error(status, module);
}

/* ---- By the component underneath, or on copies ---- */

static int call_previous(const struct call *call, const void *sbuf, void *rbuf)
{
    const struct coll_strag_previous *previous = &call->module->previous;
    return previous->allreduce(sbuf, rbuf, (coll_strag_count_t)call->count, call->dtype, call->op,
                               call->comm, previous->allreduce_module);
}

/* What is on a device is copied to the host, for components that do not know of devices, and for
 * elements that reach into each other. @param ours  run the choice; else the previous component */
static int run_on_copies(const struct call *call, bool ours)
{
    struct coll_strag_copies copies;
    const bool in_place = call->input == call->output;
    int code =
        coll_strag_copies_make(&copies, call->locations, in_place ? MPI_IN_PLACE : call->input,
                               call->output, call->count, call->dtype);
    if (code != OMPI_SUCCESS)
        return code;
    struct call host = *call;
    host.locations = NULL;
    host.output = copies.rbuf;
    host.input = in_place ? copies.rbuf : copies.sbuf;
    code = ours ? run(&host) : call_previous(call, copies.sbuf, copies.rbuf);
    return coll_strag_copies_end(&copies, call->locations, code);
}

static int delegate(const struct call *call)
{
    const void *sbuf = call->input == call->output ? MPI_IN_PLACE : call->input;
    call->module->count.delegated++;
    return call->locations ? run_on_copies(call, false) : call_previous(call, sbuf, call->output);
}

/* As it was chosen. */
static int run_choice(const struct call *call)
{
    struct coll_strag_module *module = call->module;
    if (!call->choice.algorithm)
        return delegate(call);
    module->count.calls++;
    if (module->shm)
        strag_shm_next_call(module->shm);
    bool copies = call->locations && !coll_strag_device_suits(call->dtype);
    int code = copies ? run_on_copies(call, true) : run(call);
    if (module->shm)
        strag_shm_end(module->shm);
    if (code != OMPI_SUCCESS && module->shm)
        strag_shm_abandon(module->shm);
    return code;
}

/* ---- The choice ---- */

/* What the table says, after setup. @return OMPI_SUCCESS, or what kept the ranks from agreeing */
static int look_up(struct call *call)
{
    struct coll_strag_module *module = call->module;
    const int code =
        coll_strag_is_set_up(module) ? module->setup_error : coll_strag_setup(module, call->comm);
    if (code != OMPI_SUCCESS)
        return code;
    const struct strag_entry *entry =
        strag_table_entry(&module->decision.table, call->count * call->size);
    const size_t bytes = call->count * call->size;
    /* where ranks that log nothing would not look it up, none is tried */
    const struct strag_trial_run *trial =
        module->decision.learning && !coll_strag_delegates_early(module, bytes)
            ? coll_strag_watch_trial(module->watch, bytes)
            : NULL;
    /* a rule of the user's goes before all */
    call->from_table = module->decision.line == 0 && NULL == trial;
    call->choice = (struct coll_strag_choice){entry->algorithm, entry->blocks,
                                              (enum coll_strag_reason)module->decision.reason};
    call->tried = NULL != trial;
    if (trial) {
        call->choice.algorithm = trial->algorithm;
        call->choice.blocks = trial->blocks;
    }
    return code;
}

/* @return as look_up */
static int choose(struct call *call)
{
    const struct coll_strag_module *module = call->module;
    const size_t bytes = call->count * call->size;
    ptrdiff_t lb, extent;
    ompi_datatype_get_extent(call->dtype, &lb, &extent);
    if (module->setup == COLL_STRAG_SETUP_NOT_YET && coll_strag_delegates_early(module, bytes))
        call->choice.reason =
            module->decision.pinned == COLL_STRAG_PREVIOUS ? COLL_STRAG_OFF : COLL_STRAG_TOO_SHORT;
    else if (bytes == 0)
        call->choice.reason = COLL_STRAG_NO_BYTES;
    else if (!ompi_op_is_commute(call->op))
        call->choice.reason = COLL_STRAG_NOT_COMMUTATIVE;
    else if (extent <= 0)
        call->choice.reason = COLL_STRAG_EXTENT;
    else
        return look_up(call);
    return OMPI_SUCCESS;
}

/* Where another rank may be late in each call: without the one that is, or as it was chosen. */
static int run_agreed(struct call *call)
{
    const size_t bytes = call->count * call->size;
    struct coll_strag_watch *watch = call->from_table ? call->module->watch : NULL;
    if (call->module->decision.dynamic == STRAG_DYNAMIC_NEVER)
        return run_choice(call);
    int code = coll_strag_watch_agree(watch, bytes, &call->without);
    if (call->without.rank >= 0) {
        call->choice.algorithm = call->without.algorithm;
        call->choice.blocks = call->without.blocks;
    }
    if (code == OMPI_SUCCESS)
        code = run_choice(call);
    return coll_strag_watch_agreed(watch, &call->without, code);
}

static int run_watched(struct call *call)
{
    struct coll_strag_module *module = call->module;
    const size_t bytes = call->count * call->size;
    enum strag_change change;
    int code = choose(call);
    if (code != OMPI_SUCCESS)
        return code;
    if (coll_strag_logging)
        coll_strag_explain_choice(call->comm, &module->explained, &module->decision,
                                  module->watch ? coll_strag_watch_selection(module->watch)
                                                : module->selection,
                                  bytes, &call->choice);
    if (module->watch_in)
        code = coll_strag_setup_watch(module, call->comm, bytes);
    if (code != OMPI_SUCCESS)
        return code;
    if (!coll_strag_watches(module->watch, bytes))
        return run_agreed(call);
    code = coll_strag_watch_begin(module->watch, bytes);
    if (code == OMPI_SUCCESS)
        code = run_agreed(call);
    const struct strag_watched_call over = {
        bytes,       call->choice.algorithm, call->choice.blocks,
        call->tried, call->without.turn,     call->without.rank};
    code = coll_strag_watch_end(module->watch, &over, code, &change);
    coll_strag_apply_change(module, change);
    return code;
}

/* Kept out of the entry point, so that this one is short. @param locations  NULL: host memory */
static __attribute__((noinline)) int start_call(const void *sbuf, void *rbuf,
                                                coll_strag_count_t count, ompi_datatype_t *dtype,
                                                ompi_op_t *op, ompi_communicator_t *comm,
                                                struct coll_strag_module *module,
                                                const struct coll_strag_buffer_locations *locations)
{
    struct call call = {
        .module = module,
        .comm = comm,
        .input = MPI_IN_PLACE == sbuf ? rbuf : sbuf,
        .output = rbuf,
        .count = (size_t)count,
        .dtype = dtype,
        .op = op,
        .locations = locations,
        .without.rank = -1,
    };
    ompi_datatype_type_size(dtype, &call.size);
    if (coll_strag_delegates_early(module, call.count * call.size) && !coll_strag_logging)
        return delegate(&call);
    return run_watched(&call);
}

/* A short call takes less than 200 ns where two ranks share memory. What is going to be delegated
 * anyhow is delegated here, before anything else: it costs 2 or 3 ns. */
int coll_strag_allreduce(const void *sbuf, void *rbuf, coll_strag_count_t count,
                         ompi_datatype_t *dtype, ompi_op_t *op, ompi_communicator_t *comm,
                         mca_coll_base_module_t *base)
{
    struct coll_strag_module *module = (struct coll_strag_module *)base;
    struct coll_strag_buffer_locations locations;
    size_t size;
    if (__builtin_expect(coll_strag_settings.devices, 0) &&
        coll_strag_device_find(sbuf, rbuf, &locations))
        return start_call(sbuf, rbuf, count, dtype, op, comm, module, &locations);
    ompi_datatype_type_size(dtype, &size);
    if (coll_strag_delegates_early(module, (size_t)count * size) && !coll_strag_logging) {
        module->count.delegated++;
        return module->previous.allreduce(sbuf, rbuf, count, dtype, op, comm,
                                          module->previous.allreduce_module);
    }
    return start_call(sbuf, rbuf, count, dtype, op, comm, module, NULL);
}
