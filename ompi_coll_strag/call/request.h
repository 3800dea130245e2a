/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What MPI_Iallreduce and MPI_Allreduce_init give the user for a call that strag runs: a request,
 * the call, and the job that runs it in a queue (mpi/queue.h).
 *
 *     start     active, pending; the job is in a queue
 *     over      complete: MPI_Wait and MPI_Test see it, with the call's error, if it has one
 *     free      the user has no handle any more; after `over` it is nobody's
 */
#ifndef COLL_STRAG_REQUEST_H
#define COLL_STRAG_REQUEST_H

#include "call.h"
#include "mpi/queue.h"

/* Open MPI itself notes in the first part which operator and type it keeps for the call. */
struct coll_strag_request {
    ompi_coll_base_nbc_request_t super;
    struct coll_strag_job job;
    struct coll_strag_queue *queue;
    struct coll_strag_call call;
    struct coll_strag_buffer_locations locations; /* the call's, if it has any */
    struct coll_strag_channel channel;
    struct coll_strag_run run;
    bool begun;
    double start; /* when, where that is recorded */

    /* where the previous component runs it (on_copies.c) */
    ompi_request_t *inner;
    struct coll_strag_queue own;
};

OBJ_CLASS_DECLARATION(coll_strag_request_t);
typedef struct coll_strag_request coll_strag_request_t;

/**
 * A request for a call, inactive; its req_start and req_free are the caller's to set.
 *
 * @param call   is copied, with the buffers' locations
 * @param queue  where its job will be added
 * @return NULL: out of memory
 */
struct coll_strag_request *coll_strag_request_take(const struct coll_strag_call *call,
                                                   struct coll_strag_queue *queue, bool persistent);

/** Add its job to its queue: it may be over on return. The channel has been set. */
void coll_strag_request_start(struct coll_strag_request *request);

/** How its call ended. After an error the communicator is kept until MPI_Finalize, even if the user
 * frees it: Open MPI 5 and 6 ask it for its error handler once they have freed the request.
 * @param code  OMPI_SUCCESS, or an error, Open MPI's own too: the user sees one of MPI's */
static inline void coll_strag_request_ended(struct coll_strag_request *request, int code)
{
    if (code != OMPI_SUCCESS)
        OBJ_RETAIN(request->super.super.req_mpi_object.comm);
    request->super.super.req_status.MPI_ERROR = ompi_errcode_get_mpi_code(code);
}

/** Nobody has it any more. */
void coll_strag_request_return(struct coll_strag_request *request);

/** At the beginning. @return false: out of memory */
bool coll_strag_requests_open(void);

/** At the end, also if there was no memory. */
void coll_strag_requests_close(void);

static inline struct coll_strag_request *coll_strag_request_of(struct coll_strag_job *job)
{
    return COLL_STRAG_OWNER(job, struct coll_strag_request, job);
}

#endif
