/* SPDX-License-Identifier: BSD-3-Clause */
#include "request.h"

enum { MORE_AT_A_TIME = 16 };

static opal_free_list_t requests;

static void request_construct(coll_strag_request_t *request)
{
    request->super.super.req_type = OMPI_REQUEST_COLL;
    request->super.super.req_cancel = NULL;
    request->super.super.req_f_to_c_index = MPI_UNDEFINED;
}

OBJ_CLASS_INSTANCE(coll_strag_request_t, ompi_coll_base_nbc_request_t, request_construct, NULL);

bool coll_strag_requests_open(void)
{
    OBJ_CONSTRUCT(&requests, opal_free_list_t);
    return opal_free_list_init(&requests, sizeof(coll_strag_request_t), opal_cache_line_size,
                               OBJ_CLASS(coll_strag_request_t), 0, 0, 0, -1, MORE_AT_A_TIME, NULL,
                               0, NULL, NULL, NULL) == OPAL_SUCCESS;
}

/* As in struct coll_strag_job. */
static bool job_progress(struct coll_strag_job *job)
{
    struct coll_strag_request *request = coll_strag_request_of(job);
    int status = STRAG_PENDING;
    if (!request->begun) {
        const struct coll_strag_call *call = &request->call;
        request->begun = true;
        coll_strag_stuck_begin(request->channel.stuck, call->number, call->count * call->size);
        coll_strag_stuck_say(request->channel.stuck, request->channel.shm, &call->choice, call->op,
                             0);
        request->start = request->call.module->ledger ? coll_strag_seconds() : 0;
        status = coll_strag_run_begin(&request->run, &request->call, &request->channel);
    }
    if (status == STRAG_PENDING)
        status = coll_strag_run_progress(&request->run);
    if (status == STRAG_PENDING) {
        job->moved = request->channel.shm && strag_shm_has_moved(request->channel.shm);
        return false;
    }
    coll_strag_request_ended(request, coll_strag_run_end(&request->run, &request->call, status));
    coll_strag_stuck_end(request->channel.stuck);
    if (request->call.module->ledger)
        coll_strag_call_traced(&request->call, request->start);
    return true;
}

/* As in struct coll_strag_job. From here on the request is the user's, who may free it at once. */
static void job_over(struct coll_strag_job *job)
{
    ompi_request_complete(&coll_strag_request_of(job)->super.super, true);
}

struct coll_strag_request *coll_strag_request_take(const struct coll_strag_call *call,
                                                   struct coll_strag_queue *queue)
{
    struct coll_strag_request *request = (struct coll_strag_request *)opal_free_list_get(&requests);
    if (NULL == request)
        return NULL;
    ompi_request_t *super = &request->super.super;
    OMPI_REQUEST_INIT(super, call->kind == COLL_STRAG_PERSISTENT);
    super->req_mpi_object.comm = call->comm;
    super->req_status = (ompi_status_public_t){
        .MPI_SOURCE = MPI_ANY_SOURCE, .MPI_TAG = MPI_ANY_TAG, .MPI_ERROR = MPI_SUCCESS};
    request->job = (struct coll_strag_job){.progress = job_progress, .over = job_over};
    request->queue = queue;
    request->call = *call;
    if (call->locations) {
        request->locations = *call->locations;
        request->call.locations = &request->locations;
    }
    return request;
}

void coll_strag_request_start(struct coll_strag_request *request)
{
    ompi_request_t *super = &request->super.super;
    const struct coll_strag_call *call = &request->call;
    if (super->req_persistent && call->locations) /* copies to a device may be in flight */
        (void)coll_strag_device_find(call->input, call->output, call->dtype, &request->locations);
    request->begun = false;
    super->req_status.MPI_ERROR = MPI_SUCCESS;
    super->req_state = OMPI_REQUEST_ACTIVE;
    super->req_complete = REQUEST_PENDING;
    coll_strag_queue_add(request->queue, &request->job);
}

/* Release the operator and type that Open MPI retained for the call. It does so itself when the
 * request completes, unless another thread completes it before Open MPI has set its callback. */
static void release_kept(struct coll_strag_request *request)
{
    opal_object_t **kept = coll_strag_request_kept(&request->super);
    for (int i = 0; i < 2; i++) {
        if (kept[i])
            OBJ_RELEASE(kept[i]);
        kept[i] = NULL;
    }
}

void coll_strag_request_return(struct coll_strag_request *request)
{
    release_kept(request);
    OMPI_REQUEST_FINI(&request->super.super);
    opal_free_list_return(&requests, &request->super.super.super);
}

void coll_strag_requests_close(void)
{
    OBJ_DESTRUCT(&requests);
}
