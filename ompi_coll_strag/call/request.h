/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What MPI_Iallreduce and MPI_Allreduce_init give the user for a call that strag runs: a request,
 * the call, and the job that runs it in a queue (mpi/queue.h).
 *
 *     start     active, pending; the job is in a queue
 *     over      complete: MPI_Wait and MPI_Test see it, with the call's error, if it has one
 *     free      the user has no handle any more; the request is reused once it is also over
 */
#ifndef COLL_STRAG_REQUEST_H
#define COLL_STRAG_REQUEST_H

#include "mpi/queue.h"
#include "run.h"

/* Open MPI itself records in `super` which operator and type it retains for the call. */
struct coll_strag_request {
    ompi_coll_base_nbc_request_t super;
    struct coll_strag_job job;
    struct coll_strag_queue *queue;
    struct coll_strag_call call;
    struct coll_strag_buffer_locations locations; /* the call's, if it has some */
    struct coll_strag_channel channel;
    struct coll_strag_run run;
    bool begun;
    double start; /* seconds: when the call began to run, if calls are recorded */

    /* if the previous component runs the call on copies (on_copies.c) */
    ompi_request_t *inner;
    struct coll_strag_queue own;
};

OBJ_CLASS_DECLARATION(coll_strag_request_t);
typedef struct coll_strag_request coll_strag_request_t;

/**
 * Take an inactive request for a call. The caller sets its req_start and req_free.
 *
 * @param call   is copied, with the buffers' locations
 * @param queue  to which the request's job will be added
 * @return NULL if out of memory
 */
struct coll_strag_request *coll_strag_request_take(const struct coll_strag_call *call,
                                                   struct coll_strag_queue *queue);

/** Add the request's job to its queue: it may be over on return. The channel must have been set,
 * unless the previous component runs the call. */
void coll_strag_request_start(struct coll_strag_request *request);

/** Record how a request's call ended. After an error the communicator is kept until MPI_Finalize,
 * even if the user frees it: Open MPI 5 and 6 read its error handler after they free the request.
 * @param code  OMPI_SUCCESS, or an error of MPI's or Open MPI's; the user sees one of MPI's */
static inline void coll_strag_request_ended(struct coll_strag_request *request, int code)
{
    if (code != OMPI_SUCCESS)
        OBJ_RETAIN(request->super.super.req_mpi_object.comm);
    request->super.super.req_status.MPI_ERROR = ompi_errcode_get_mpi_code(code);
}

/** Give back a request that nobody uses any more. */
void coll_strag_request_return(struct coll_strag_request *request);

/** When the component is opened. @return false if out of memory */
bool coll_strag_requests_open(void);

/** When the component is closed, even if opening ran out of memory. */
void coll_strag_requests_close(void);

static inline struct coll_strag_request *coll_strag_request_of(struct coll_strag_job *job)
{
    return COLL_STRAG_OWNER(job, struct coll_strag_request, job);
}

#endif
