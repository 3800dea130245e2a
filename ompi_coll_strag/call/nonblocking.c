/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Iallreduce. What runs a call is chosen when the call is begun: in program order, hence the
 * same on all ranks, as for a blocking call. A call that strag runs then goes into the
 * communicator's queue (mpi/queue.h). Any other is handed to the previous component's
 * MPI_Iallreduce at once, since that, too, relies on the order in which its calls are begun.
 *
 * A nonblocking call must not wait for other ranks. So the first one that needs setup only begins
 * it, and it goes on in Open MPI's progress. The previous component runs the calls until all ranks
 * are done with setup and know at which call strag begins (struct coll_strag_nonblocking).
 *
 * These calls are not watched, and no experiments are made with them. A program may leave them
 * pending for as long as it likes, so their times show nothing about the network or stragglers.
 * What the watch finds out in blocking calls applies to them, too.
 */
#include "entries.h"

#include "choose.h"
#include "collect/record.h"
#include "on_copies.h"
#include "request.h"
#include "user/log.h"

/*
 * When a communicator is made from this one, Open MPI agrees on its number by nonblocking
 * allreduces of one integer, MPI_MAX or MPI_MIN. MPI_Comm_idup begins them in its progress, which
 * may be before one of the program's own calls on one rank and after it on another. So all calls
 * that may be of this kind go to the previous component, and none of the counts that must be the
 * same on all ranks includes them.
 */
static bool is_for_new_communicator(size_t bytes, const ompi_op_t *op)
{
    return bytes == sizeof(int) && (op == &ompi_mpi_op_max.op || op == &ompi_mpi_op_min.op);
}

static int request_free(ompi_request_t **request)
{
    if (!REQUEST_COMPLETE(*request)) /* MPI does not allow it */
        return MPI_ERR_REQUEST;
    coll_strag_request_return((struct coll_strag_request *)*request);
    *request = MPI_REQUEST_NULL;
    return OMPI_SUCCESS;
}

/* There is no memory for a request. If no call is pending and this one would go through shared
 * memory alone, only this one fails; else the communicator does. */
static int give_up(const struct coll_strag_call *call)
{
    struct coll_strag_module *module = call->module;
    if (coll_strag_is_in_memory(module, call->size) && coll_strag_queue_is_empty(&module->queue)) {
        strag_shm_next_call(module->shm, call->number, true);
        strag_shm_abandon(module->shm);
    } else {
        coll_strag_fail(module, OMPI_ERR_OUT_OF_RESOURCE, false);
    }
    return OMPI_ERR_OUT_OF_RESOURCE;
}

/* Begin a call that strag runs. */
static int begin(const struct coll_strag_call *call, ompi_request_t **request)
{
    struct coll_strag_module *module = call->module;
    struct coll_strag_request *begun = coll_strag_request_take(call, &module->queue);
    if (NULL == begun)
        return give_up(call);
    struct strag_engine *engine;
    begun->super.super.req_free = request_free;
    begun->channel =
        (struct coll_strag_channel){module->shm, module->transport, &module->plans, &module->stuck};
    /* Engines are made here, not in progress. Without memory the job will find none, and fail. */
    (void)coll_strag_find_engine(call, &module->plans, 0, &engine);
    coll_strag_count(STRAG_COUNT_CALLS);
    coll_strag_count(STRAG_COUNT_NONBLOCKING);
    *request = &begun->super.super;
    coll_strag_request_start(begun);
    return OMPI_SUCCESS;
}

/* Begin a call that strag runs, or delegate it. */
static int choose_and_begin(const void *sbuf, void *rbuf, coll_strag_count_t count,
                            ompi_datatype_t *dtype, ompi_op_t *op, ompi_communicator_t *comm,
                            ompi_request_t **request, struct coll_strag_module *module)
{
    const struct coll_strag_previous *previous = &module->previous;
    struct coll_strag_buffer_locations locations;
    struct coll_strag_call call;
    coll_strag_call_fill(&call, COLL_STRAG_NONBLOCKING, sbuf, rbuf, (size_t)count, dtype, op, comm,
                         module, &locations);
    if (!is_for_new_communicator(call.count * call.size, op)) {
        call.number = coll_strag_stuck_count(&module->stuck);
        const int code = coll_strag_choose(&call);
        if (code != OMPI_SUCCESS)
            return code;
        if (call.choice.algorithm)
            return begin(&call, request);
        coll_strag_count_delegated(module);
    }
    if (call.locations)
        return coll_strag_on_copies(&call, NULL, request);
    return previous->iallreduce(sbuf, rbuf, count, dtype, op, comm, request,
                                previous->iallreduce_module);
}

int coll_strag_iallreduce(const void *sbuf, void *rbuf, coll_strag_count_t count,
                          ompi_datatype_t *dtype, ompi_op_t *op, ompi_communicator_t *comm,
                          ompi_request_t **request, mca_coll_base_module_t *base)
{
    struct coll_strag_module *module = (struct coll_strag_module *)base;
    const struct coll_strag_previous *previous = &module->previous;
    struct coll_strag_ledger *ledger = module->ledger;
    size_t size;
    ompi_datatype_type_size(dtype, &size);
    const bool recorded = ledger && !is_for_new_communicator((size_t)count * size, op);
    if (recorded)
        (void)coll_strag_ledger_enter(ledger);
    const int code = ledger && ledger->declined
                         ? previous->iallreduce(sbuf, rbuf, count, dtype, op, comm, request,
                                                previous->iallreduce_module)
                         : choose_and_begin(sbuf, rbuf, count, dtype, op, comm, request, module);
    if (recorded)
        coll_strag_ledger_note(ledger, STRAG_LEDGER_NONBLOCKING, ledger->outcome,
                               (size_t)count * size, NULL);
    return code;
}
