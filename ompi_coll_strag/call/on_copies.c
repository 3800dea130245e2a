/* SPDX-License-Identifier: BSD-3-Clause */
#include "on_copies.h"

#include "request.h"

/* As in struct coll_strag_job. */
static bool progress(struct coll_strag_job *job)
{
    struct coll_strag_request *request = coll_strag_request_of(job);
    ompi_request_t *super = &request->super.super, *inner = request->inner;
    const struct coll_strag_call *call = &request->call;
    int code = OMPI_SUCCESS;
    if (!request->begun && super->req_persistent) {
        code = coll_strag_copies_again(&request->run.copies, call->locations, call->input);
        if (code == OMPI_SUCCESS)
            code = inner->req_start(1, &request->inner);
    }
    request->begun = true;
    if (code == OMPI_SUCCESS && !REQUEST_COMPLETE(inner))
        return false;
    __atomic_thread_fence(__ATOMIC_ACQUIRE); /* another thread may have completed it */
    if (code == OMPI_SUCCESS)
        code = inner->req_status.MPI_ERROR;
    if (super->req_persistent)
        inner->req_state = OMPI_REQUEST_INACTIVE;
    coll_strag_request_ended(request,
                             coll_strag_copies_back(&request->run.copies, call->locations, code));
    return true;
}

/* As in struct coll_strag_queue: the user has no handle, and nothing is pending. */
static void closed(struct coll_strag_queue *queue)
{
    struct coll_strag_request *request = COLL_STRAG_OWNER(queue, struct coll_strag_request, own);
    const bool persistent = request->super.super.req_persistent;
    const struct coll_strag_call call = request->call;
    ompi_request_free(&request->inner);
    coll_strag_copies_free(&request->run.copies, request->call.locations,
                           request->super.super.req_status.MPI_ERROR);
    coll_strag_request_return(request);
    if (persistent)
        coll_strag_call_release(&call);
}

static int request_free(ompi_request_t **request)
{
    struct coll_strag_request *own = (struct coll_strag_request *)*request;
    if (!own->super.super.req_persistent && !REQUEST_COMPLETE(*request))
        return MPI_ERR_REQUEST; /* MPI does not allow it */
    *request = MPI_REQUEST_NULL;
    coll_strag_queue_close(&own->own, closed);
    return OMPI_SUCCESS;
}

static int request_start(size_t count, ompi_request_t **requests)
{
    for (size_t i = 0; i < count; i++) {
        if (requests[i]->req_state == OMPI_REQUEST_ACTIVE)
            return MPI_ERR_REQUEST;
        coll_strag_request_start((struct coll_strag_request *)requests[i]);
    }
    return OMPI_SUCCESS;
}

/* Make a request with copies. @return NULL if out of memory */
static struct coll_strag_request *make(const struct coll_strag_call *call)
{
    struct coll_strag_request *request = coll_strag_request_take(call, NULL);
    if (NULL == request)
        return NULL;
    const void *sbuf = call->input == call->output ? MPI_IN_PLACE : call->input;
    coll_strag_queue_init(&request->own, call->comm);
    request->queue = &request->own;
    request->job.progress = progress;
    request->super.super.req_free = request_free;
    request->super.super.req_start = request_start;
    if (coll_strag_copies_make(&request->run.copies, call->locations, sbuf, call->output,
                               call->count, call->dtype) == OMPI_SUCCESS)
        return request;
    coll_strag_request_return(request);
    return NULL;
}

int coll_strag_on_copies(const struct coll_strag_call *call, struct ompi_info_t *info,
                         ompi_request_t **given)
{
    const struct coll_strag_previous *previous = &call->module->previous;
    const coll_strag_count_t count = (coll_strag_count_t)call->count;
    const bool persistent = call->kind == COLL_STRAG_PERSISTENT;
    struct coll_strag_request *request = make(call);
    if (NULL == request)
        return OMPI_ERR_OUT_OF_RESOURCE;
    struct coll_strag_copies *copies = &request->run.copies;
    const int code =
        persistent ? previous->allreduce_init(copies->sbuf, copies->rbuf, count, call->dtype,
                                              call->op, call->comm, info, &request->inner,
                                              previous->allreduce_init_module)
                   : previous->iallreduce(copies->sbuf, copies->rbuf, count, call->dtype, call->op,
                                          call->comm, &request->inner, previous->iallreduce_module);
    if (code != OMPI_SUCCESS) {
        coll_strag_copies_free(copies, request->call.locations, code);
        coll_strag_request_return(request);
        return code;
    }
    *given = &request->super.super;
    if (persistent)
        coll_strag_call_retain(call);
    else
        coll_strag_request_start(request);
    return code;
}
