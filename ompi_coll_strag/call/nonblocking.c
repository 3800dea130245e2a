/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Iallreduce. What runs a call is chosen when it is begun, in program order and so the same on
 * all ranks, as for a blocking call; what strag runs then goes into the communicator's queue
 * (mpi/queue.h). All else goes to the previous component's MPI_Iallreduce in the call itself, since
 * that, too, relies on the order in which its calls are begun.
 *
 * The call must not wait for other ranks. So the first one that needs it begins to set the
 * communicator up, which goes on in Open MPI's progress; meanwhile the previous component runs the
 * calls, and some more, until all ranks are done with it and know at which call to begin
 * (struct coll_strag_nonblocking).
 *
 * Calls are not watched, and no experiments are made with them: a program may leave them alone for
 * as long as it likes, and what they take says nothing of the network or of stragglers. What the
 * watch finds out in blocking calls holds for them, too.
 */
#include "entries.h"

#include "collect/record.h"
#include "on_copies.h"
#include "request.h"
#include "user/log.h"

/*
 * When a communicator is made from this one, Open MPI's ranks agree on its number by nonblocking
 * allreduces of one integer, MPI_MAX or MPI_MIN. MPI_Comm_idup does so in its progress, hence not
 * in the order in which the program makes its own calls, on one rank before one of these and on
 * another rank behind it. So all calls that may be of this kind go to the previous component, and
 * nothing that ranks must agree on counts them.
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

/* There is no memory for a request. If no other call is before it, it is given up in its place. */
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

/* As it was chosen. */
static int begin(const struct coll_strag_call *call, ompi_request_t **request)
{
    struct coll_strag_module *module = call->module;
    struct coll_strag_request *begun = coll_strag_request_take(call, &module->queue, false);
    if (NULL == begun)
        return give_up(call);
    struct strag_engine *engine;
    begun->super.super.req_free = request_free;
    begun->channel =
        (struct coll_strag_channel){module->shm, module->transport, &module->plans, &module->stuck};
    /* Here, not in progress. If there is no memory for it the job will see. */
    (void)coll_strag_find_engine(call, &module->plans, 0, &engine);
    coll_strag_count(STRAG_COUNT_CALLS);
    coll_strag_count(STRAG_COUNT_NONBLOCKING);
    *request = &begun->super.super;
    coll_strag_request_start(begun);
    return OMPI_SUCCESS;
}

/* What strag runs, or how it is delegated. */
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
        return coll_strag_on_copies_begin(&call, request);
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
