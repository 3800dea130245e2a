/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Allreduce: choose an algorithm, or hand the call to the component that was there before.
 *
 * All ranks must choose alike, so the choice depends only on what MPI requires to be the same on
 * all of them: operator, count, type, the parameters, and what rank 0 decided. What can go wrong on
 * one rank alone (memory) is an error, never a silent change of algorithm.
 */
#include "coll_strag_device.h"
#include "coll_strag_watch.h"

#include "algorithms/table.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum {
    DEPTH = 2,         /* messages in flight for one operation: one travels, one is combined */
    TURNS_MOST = 4096, /* bytes; of longer vectors a root had better have its own in the cache */
};

/* Segments of temporary space. Through memory more would only take room in the cache; over a
 * network messages from several ranks come at the same time. */
static const int slots[STRAG_LANES] = {[COLL_STRAG_MEMORY] = 2, [COLL_STRAG_NETWORK] = 8};

/* One call. */
struct call {
    const void *input;
    void *output;
    size_t count;
    size_t size; /* bytes of data in one element */
    ompi_datatype_t *dtype;
    ompi_op_t *op;
    const struct coll_strag_met *met; /* NULL: all is in host memory */
};

/* ---- The choice ---- */

/* Is that as all ranks know it before the exchange? Where a layout or rules are given, short calls
 * may be ours. */
static bool is_short(const mca_coll_strag_module_t *module, size_t bytes)
{
    return !module->located && module->pinned == COLL_STRAG_AUTO &&
           !mca_coll_strag_component.described && bytes < module->locate_from &&
           module->count.delegated < module->patience;
}

/* @param[out] choice  an index in strag_algorithms, or an enum coll_strag_reason
 * @param[out] blocks  with an algorithm: as in struct coll_strag_table
 * @return OMPI_SUCCESS, or what kept the ranks from agreeing */
static int choose(mca_coll_strag_module_t *module, ompi_communicator_t *comm, size_t bytes,
                  ompi_datatype_t *dtype, ompi_op_t *op, int *choice, int *blocks)
{
    ptrdiff_t lb, extent;
    *blocks = 0;
    int code = OMPI_SUCCESS;
    ompi_datatype_get_extent(dtype, &lb, &extent);
    if (is_short(module, bytes)) {
        *choice = COLL_STRAG_TOO_SHORT;
    } else if (bytes == 0) {
        *choice = COLL_STRAG_NO_BYTES;
    } else if (!ompi_op_is_commute(op)) {
        *choice = COLL_STRAG_NOT_COMMUTATIVE;
    } else if (extent <= 0) {
        *choice = COLL_STRAG_EXTENT;
    } else if (module->locating) {
        *choice = COLL_STRAG_BUSY;
    } else {
        code = module->located ? module->locate_error : coll_strag_locate(module, comm);
        if (code == OMPI_SUCCESS)
            *choice = module->pinned == COLL_STRAG_UNPLANNED
                          ? COLL_STRAG_UNPLANNED
                          : coll_strag_table_find(&module->table, bytes, blocks);
    }
    return code;
}

/* ---- Running it ---- */

static int make_planned(const mca_coll_strag_module_t *module, ompi_communicator_t *comm,
                        struct coll_strag_planned *planned, struct strag_error *err)
{
    const struct strag_state state = strag_state_of(&module->state);
    const struct strag_problem problem = {
        .n = ompi_comm_size(comm),
        .blocks = planned->blocks,
        .root = planned->root,
        .ports = module->ports,
        .topology = coll_strag_planning_topology(module),
        .state = &state,
    };
    int status = strag_plan_create(strag_algorithms[planned->choice], &problem,
                                   ompi_comm_rank(comm), &planned->plan, err);
    if (status == STRAG_OK)
        status = strag_engine_create(planned->plan, DEPTH, &planned->engine, err);
    if (status != STRAG_OK)
        strag_plan_free(planned->plan);
    return status;
}

/* Find the root of this call, and let ranks wait as it is best for that. The bits do not depend on
 * the root. */
static int choose_root(const mca_coll_strag_module_t *module, const struct call *call, int choice,
                       int blocks)
{
    bool may_turn = module->shm && blocks == 1 && strag_algorithms[choice]->rooted &&
                    call->count * call->size <= TURNS_MOST;
    return may_turn && coll_strag_shm_take_turns(module->shm) ? coll_strag_shm_root(module->shm)
                                                              : 0;
}

/* The engine of an algorithm with so many blocks, made at the first use on this communicator. */
static int get_engine(mca_coll_strag_module_t *module, ompi_communicator_t *comm, int choice,
                      int blocks, int root, struct strag_engine **engine)
{
    struct strag_error err;
    struct coll_strag_planned *planned = module->planned;
    while (planned &&
           (planned->choice != choice || planned->blocks != blocks || planned->root != root))
        planned = planned->next;
    if (!planned) {
        planned = calloc(1, sizeof *planned);
        if (!planned)
            return STRAG_ERR_MEMORY;
        planned->choice = choice;
        planned->blocks = blocks;
        planned->root = root;
        int status = make_planned(module, comm, planned, &err);
        if (status != STRAG_OK) {
            coll_strag_tell("coll:strag: %s: %s", comm->c_name, err.text);
            free(planned);
            return status;
        }
        planned->next = module->planned;
        module->planned = planned;
    }
    *engine = planned->engine;
    return STRAG_OK;
}

static void free_planned(struct coll_strag_planned *planned)
{
    strag_engine_free(planned->engine);
    strag_plan_free(planned->plan);
    free(planned);
}

void coll_strag_planned_free(mca_coll_strag_module_t *module)
{
    while (module->planned) {
        struct coll_strag_planned *planned = module->planned;
        module->planned = planned->next;
        free_planned(planned);
    }
}

void coll_strag_planned_forget(mca_coll_strag_module_t *module)
{
    struct coll_strag_planned **link = &module->planned;
    while (*link) {
        struct coll_strag_planned *planned = *link;
        if (!strag_algorithms[planned->choice]->needs_straggler) {
            link = &planned->next;
            continue;
        }
        *link = planned->next;
        free_planned(planned);
    }
}

/* Elements in a segment: from the data's size, which is the same on all ranks. */
static size_t segment_elements(size_t segment, const struct call *call)
{
    size_t elements = segment / call->size;
    if (elements > INT_MAX)
        elements = INT_MAX;
    return elements ? elements : 1;
}

/* How messages are cut, and what they go over: the same on all ranks. */
static void set_lanes(const mca_coll_strag_module_t *module, const struct call *call,
                      struct strag_transport *shared, struct strag_call *engine_call)
{
    for (int l = 0; l < STRAG_LANES; l++) {
        size_t segment = module->segments[l];
        if (shared && l == COLL_STRAG_MEMORY && segment > coll_strag_shm_longest(module->shm))
            segment = coll_strag_shm_longest(module->shm);
        engine_call->lanes[l] = (struct strag_lane){
            .segment = segment_elements(segment, call),
            .slots = slots[l],
        };
    }
    engine_call->lane_of = module->lane_of;
    engine_call->lanes[COLL_STRAG_MEMORY].transport = shared;
    if (shared && coll_strag_shm_is_alone(module->shm))
        engine_call->transport = shared;
}

/* Elements of space behind a segment into which its last ones reach. */
static size_t gap(const struct coll_strag_reducer *reducer)
{
    ptrdiff_t beyond = reducer->true_extent - reducer->extent;
    return beyond > 0 ? (size_t)((beyond + reducer->extent - 1) / reducer->extent) : 0;
}

static int mpi_error(int status, const mca_coll_strag_module_t *module)
{
    switch (status) {
    case STRAG_OK:
        return OMPI_SUCCESS;
    case STRAG_ERR_MEMORY:
        return OMPI_ERR_OUT_OF_RESOURCE;
    case STRAG_ERR_TRANSPORT:
        if (module->shm && coll_strag_shm_error(module->shm) != MPI_SUCCESS)
            return coll_strag_shm_error(module->shm);
        return module->transport->mpi_error != MPI_SUCCESS ? module->transport->mpi_error
                                                           : OMPI_ERROR;
    default:
        return OMPI_ERROR;
    }
}

static int drive(struct strag_engine *engine, const struct strag_call *call)
{
    int status = strag_engine_start(engine, call);
    if (status != STRAG_OK)
        return status;
    do {
        status = strag_engine_progress(engine);
    } while (status == STRAG_PENDING);
    return status;
}

static int run(mca_coll_strag_module_t *module, ompi_communicator_t *comm, const struct call *call,
               int choice, int blocks)
{
    struct coll_strag_reducer reducer;
    struct strag_staging *staging = NULL;
    struct strag_engine *engine;
    struct strag_transport *shared = NULL;
    int status = coll_strag_reducer_init(&reducer, call->op, call->dtype);
    coll_strag_transport_begin(module->transport, call->dtype, call->size, COLL_STRAG_HOST);
    if (module->shm)
        shared = coll_strag_shm_begin(module->shm, call->dtype, &reducer, call->size);
    reducer.in_place = NULL != shared && NULL != shared->recv_in_place;
    if (status == STRAG_OK)
        status = get_engine(module, comm, choice, blocks, choose_root(module, call, choice, blocks),
                            &engine);
    if (status != STRAG_OK)
        return mpi_error(status, module);
    struct strag_call engine_call = {
        .input = call->input,
        .output = call->output,
        .count = call->count,
        .extent = reducer.extent,
        .gap = gap(&reducer),
        .transport = &module->transport->super,
        .reducer = &reducer.super,
    };
    set_lanes(module, call, shared, &engine_call);
    if (call->met)
        status = coll_strag_device_begin(module, call->met, &reducer, call->size, &engine_call,
                                         &staging);
    if (status == STRAG_OK)
        status = drive(engine, &engine_call);
    strag_staging_free(staging);
    return mpi_error(status, module);
}

/* Hand it on. */
static int delegate(const struct call *call, const void *sbuf, ompi_communicator_t *comm,
                    mca_coll_strag_module_t *module)
{
    struct coll_strag_copies copies;
    module->count.delegated++;
    if (!call->met)
        return module->previous_allreduce(sbuf, call->output, (coll_strag_count_t)call->count,
                                          call->dtype, call->op, comm,
                                          module->previous_allreduce_module);
    int code =
        coll_strag_copies_make(&copies, call->met, sbuf, call->output, call->count, call->dtype);
    if (code != OMPI_SUCCESS)
        return code;
    code =
        module->previous_allreduce(copies.sbuf, copies.rbuf, (coll_strag_count_t)call->count,
                                   call->dtype, call->op, comm, module->previous_allreduce_module);
    return coll_strag_copies_end(&copies, call->met, code);
}

/* Elements reach into each other: the engine runs on copies. */
static int run_on_copies(mca_coll_strag_module_t *module, ompi_communicator_t *comm,
                         const struct call *call, int choice, int blocks)
{
    struct coll_strag_copies copies;
    bool in_place = call->input == call->output;
    int code = coll_strag_copies_make(&copies, call->met, in_place ? MPI_IN_PLACE : call->input,
                                      call->output, call->count, call->dtype);
    if (code != OMPI_SUCCESS)
        return code;
    struct call host = *call;
    host.met = NULL;
    host.output = copies.rbuf;
    host.input = in_place ? copies.rbuf : copies.sbuf;
    code = run(module, comm, &host, choice, blocks);
    return coll_strag_copies_end(&copies, call->met, code);
}

/* As it was chosen. */
static int run_choice(mca_coll_strag_module_t *module, ompi_communicator_t *comm,
                      const struct call *call, const void *sbuf, int choice, int blocks)
{
    if (choice >= COLL_STRAG_ALGORITHMS_MAX)
        return delegate(call, sbuf, comm, module);
    module->count.calls++;
    if (module->shm)
        coll_strag_shm_next_call(module->shm);
    int code = call->met && !coll_strag_device_suits(call->dtype)
                   ? run_on_copies(module, comm, call, choice, blocks)
                   : run(module, comm, call, choice, blocks);
    if (code != OMPI_SUCCESS && module->shm)
        coll_strag_shm_give_up(module->shm);
    return code;
}

/* Rank 0 has changed state and table. */
static void follow(mca_coll_strag_module_t *module, enum strag_change change)
{
    module->selection = coll_strag_watch_selection(module->watch);
    module->too_short = coll_strag_too_short(module);
    if (change == STRAG_CHANGE_LINKS)
        coll_strag_planned_free(module);
    else
        coll_strag_planned_forget(module);
    memset(module->told, 0, sizeof module->told);
}

static int run_watched(mca_coll_strag_module_t *module, ompi_communicator_t *comm,
                       const struct call *call, const void *sbuf, int choice, int blocks)
{
    const struct strag_watched_call watched = {
        .bytes = call->count * call->size,
        .algorithm = choice < COLL_STRAG_ALGORITHMS_MAX ? strag_algorithms[choice] : NULL,
        .blocks = blocks,
    };
    enum strag_change change;
    int code = coll_strag_watch_begin(module->watch);
    if (code == OMPI_SUCCESS)
        code = run_choice(module, comm, call, sbuf, choice, blocks);
    code = coll_strag_watch_end(module->watch, &watched, code, &change);
    if (change != STRAG_CHANGE_NOTHING)
        follow(module, change);
    return code;
}

/* Kept out of the entry point, so that this one is short. @param met  NULL: host memory */
static __attribute__((noinline)) int
choose_and_run(const void *sbuf, void *rbuf, coll_strag_count_t count, ompi_datatype_t *dtype,
               ompi_op_t *op, ompi_communicator_t *comm, mca_coll_strag_module_t *module,
               const struct coll_strag_met *met)
{
    struct call call = {
        .input = MPI_IN_PLACE == sbuf ? rbuf : sbuf,
        .output = rbuf,
        .count = (size_t)count,
        .dtype = dtype,
        .op = op,
        .met = met,
    };
    ompi_datatype_type_size(dtype, &call.size);
    size_t bytes = call.count * call.size;
    if (bytes < module->too_short && module->count.delegated < module->patience)
        return delegate(&call, sbuf, comm, module);
    int choice, blocks, code = choose(module, comm, bytes, dtype, op, &choice, &blocks);
    if (code != OMPI_SUCCESS)
        return code;
    if (mca_coll_strag_component.telling)
        coll_strag_tell_choice(module, comm, bytes, choice, blocks);
    return coll_strag_watches(module->watch, bytes)
               ? run_watched(module, comm, &call, sbuf, choice, blocks)
               : run_choice(module, comm, &call, sbuf, choice, blocks);
}

/* A short call takes less than 200 ns where two ranks share memory. What `auto` is going to hand on
 * anyhow is handed on here, before anything else: it costs 2 or 3 ns. */
int mca_coll_strag_allreduce(const void *sbuf, void *rbuf, coll_strag_count_t count,
                             ompi_datatype_t *dtype, ompi_op_t *op, ompi_communicator_t *comm,
                             mca_coll_base_module_t *base)
{
    mca_coll_strag_module_t *module = (mca_coll_strag_module_t *)base;
    struct coll_strag_met met;
    size_t size;
    if (__builtin_expect(mca_coll_strag_component.devices, 0) &&
        coll_strag_device_met(sbuf, rbuf, &met))
        return choose_and_run(sbuf, rbuf, count, dtype, op, comm, module, &met);
    ompi_datatype_type_size(dtype, &size);
    if ((size_t)count * size < module->too_short && module->count.delegated < module->patience) {
        module->count.delegated++;
        return module->previous_allreduce(sbuf, rbuf, count, dtype, op, comm,
                                          module->previous_allreduce_module);
    }
    return choose_and_run(sbuf, rbuf, count, dtype, op, comm, module, NULL);
}
