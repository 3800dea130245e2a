/* SPDX-License-Identifier: BSD-3-Clause */
#include "transport_pml.h"

#include "compat/failures.h"
#include "compat/tags.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static struct coll_strag_pml_transport *own(struct strag_transport *transport)
{
    return (struct coll_strag_pml_transport *)transport;
}

static int failed(struct coll_strag_pml_transport *transport, int mpi_error)
{
    return coll_strag_transport_failed(&transport->super, mpi_error);
}

/* A request is complete: free it and complete its transfer. */
static void finish(struct coll_strag_pml_transport *transport,
                   const struct coll_strag_message *message)
{
    ompi_request_t *request = message->request;
    int status = STRAG_OK;
    coll_strag_transport_moved(&transport->super);
    __atomic_thread_fence(__ATOMIC_ACQUIRE); /* another thread may have completed it */
    const ompi_status_public_t *result = &request->req_status;
    const bool truncated = !message->send && result->MPI_ERROR == MPI_ERR_TRUNCATE;
    if (result->MPI_ERROR != MPI_SUCCESS && !truncated)
        status = failed(transport, result->MPI_ERROR);
    else if (!message->send && result->_cancelled)
        status = failed(transport, MPI_ERR_OTHER);
    else if (truncated || (!message->send && result->_ucount != message->bytes))
        status = coll_strag_transport_differs(&transport->super, message->peer, message->bytes,
                                              result->_ucount);
    ompi_request_free(&request);
    if (message->host >= 0)
        strag_meter_end(transport->meter, message->host, message->bytes, coll_strag_seconds());
    message->transfer->complete(message->transfer, status);
}

/* After a post: keep the message, or finish it if it is complete. @param code  the post's */
static int posted(struct coll_strag_pml_transport *transport, struct coll_strag_message *message,
                  int code, ompi_request_t *request)
{
    if (code != OMPI_SUCCESS)
        return failed(transport, code);
    message->request = request;
    if (message->host >= 0)
        strag_meter_begin(transport->meter, message->host);
    if (REQUEST_COMPLETE(request))
        finish(transport, message);
    else
        transport->super.messages[transport->super.nmessages++] = *message;
    return STRAG_OK;
}

/* A call that polls may be left alone for a while, so its sends are not metered.
 * @return the peer's host; -1 if the send is not metered */
static int32_t metered_host(const struct coll_strag_pml_transport *transport, int peer)
{
    if (NULL == transport->meter || transport->super.polls)
        return -1;
    const int32_t host = strag_compact_at(transport->host_of, peer);
    const int32_t own = strag_compact_at(transport->host_of, ompi_comm_rank(transport->super.comm));
    return host == own ? -1 : host;
}

static int tag(const struct coll_strag_pml_transport *transport)
{
    return transport->by_shape ? COLL_STRAG_TAG_SHAPES - (int)(transport->super.shape >>
                                                               (32 - COLL_STRAG_TAG_SHAPE_BITS))
                               : transport->tag;
}

static int pml_send(struct strag_transport *base, struct strag_transfer *transfer, int peer,
                    const void *buffer, size_t elements)
{
    struct coll_strag_pml_transport *transport = own(base);
    struct coll_strag_message message = {.transfer = transfer,
                                         .send = true,
                                         .bytes = elements * transport->super.size,
                                         .host = metered_host(transport, peer)};
    ompi_request_t *request = MPI_REQUEST_NULL;
    if (!coll_strag_transport_reserve(&transport->super))
        return STRAG_ERR_MEMORY;
    int code = MCA_PML_CALL(isend(buffer, elements, transport->super.dtype, peer, tag(transport),
                                  MCA_PML_BASE_SEND_STANDARD, transport->super.comm, &request));
    return posted(transport, &message, code, request);
}

static int pml_recv(struct strag_transport *base, struct strag_transfer *transfer, int peer,
                    void *buffer, size_t elements)
{
    struct coll_strag_pml_transport *transport = own(base);
    struct coll_strag_message message = {
        .transfer = transfer, .peer = peer, .bytes = elements * transport->super.size, .host = -1};
    ompi_request_t *request = MPI_REQUEST_NULL;
    if (!coll_strag_transport_reserve(&transport->super))
        return STRAG_ERR_MEMORY;
    int code = MCA_PML_CALL(irecv(buffer, elements, transport->super.dtype, peer, tag(transport),
                                  transport->super.comm, &request));
    return posted(transport, &message, code, request);
}

/* @return whether a message was complete */
static bool scan(struct coll_strag_pml_transport *pml)
{
    struct coll_strag_transport *transport = &pml->super;
    bool found = false;
    for (size_t i = 0; i < transport->nmessages;) {
        if (!REQUEST_COMPLETE((ompi_request_t *)transport->messages[i].request)) {
            i++;
            continue;
        }
        struct coll_strag_message message = transport->messages[i];
        transport->messages[i] = transport->messages[--transport->nmessages];
        finish(pml, &message);
        found = true;
    }
    return found;
}

static int pml_progress(struct strag_transport *base)
{
    struct coll_strag_pml_transport *transport = own(base);
    if (transport->super.nmessages == 0 || scan(transport))
        return STRAG_OK;
    if (!transport->super.polls) {
        opal_progress();
        scan(transport);
    }
    return coll_strag_transport_check(&transport->super);
}

/* A receive that has not been matched yet can be cancelled, and so can a send to a rank that has
 * died. Any other message is given some time: the peer may read directly from the user's vector,
 * which the user may change as soon as the call has returned. After that time the message is left
 * to the PML, which frees the request when it completes. */
static int pml_cancel(struct strag_transport *base, struct strag_transfer *transfer)
{
    struct coll_strag_pml_transport *transport = own(base);
    struct coll_strag_message message;
    if (!coll_strag_transport_take(&transport->super, transfer, &message))
        return STRAG_ERR_ARGUMENT;
    ompi_request_t *request = message.request;
    if (!message.send || coll_strag_failure(transport->super.comm) != OMPI_SUCCESS)
        ompi_request_cancel(request);
    while (!REQUEST_COMPLETE(request) && coll_strag_transport_drains(&transport->super))
        opal_progress();
    if (!REQUEST_COMPLETE(request)) {
        ompi_request_free(&request);
        return STRAG_PENDING;
    }
    finish(transport, &message);
    return STRAG_OK;
}

void coll_strag_pml_init(struct coll_strag_pml_transport *transport, ompi_communicator_t *comm,
                         int tag)
{
    *transport = (struct coll_strag_pml_transport){
        .super = {.super = {.send = pml_send,
                            .recv = pml_recv,
                            .progress = pml_progress,
                            .cancel = pml_cancel},
                  .kind = COLL_STRAG_PML,
                  .comm = comm,
                  .other = -1},
        .tag = tag,
    };
}

void coll_strag_pml_free(struct coll_strag_pml_transport *transport)
{
    free(transport->super.messages);
    transport->super.messages = NULL;
}

bool coll_strag_pml_is_ob1(void)
{
    return strcmp(mca_pml_base_selected_component.pmlm_version.mca_component_name, "ob1") == 0;
}

/* ---- Freed communicators ---- */

enum { KEPT = 64 };

static struct {
    pthread_mutex_t lock;
    opal_object_t *parts[KEPT]; /* ob1's, of the communicators freed last; each holds a reference */
    size_t next;
    bool over; /* MPI_COMM_WORLD is freed: ob1 is closed next, and no thread is in MPI any more */
} kept = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void let_go(size_t i, opal_object_t *instead)
{
    if (kept.parts[i])
        OBJ_RELEASE(kept.parts[i]);
    kept.parts[i] = instead;
}

void coll_strag_pml_keep(const ompi_communicator_t *comm)
{
    if (!opal_using_threads() || NULL == comm->c_pml_comm || !coll_strag_pml_is_ob1())
        return;
    pthread_mutex_lock(&kept.lock);
    kept.over = kept.over || comm == &ompi_mpi_comm_world.comm;
    for (size_t i = 0; kept.over && i < KEPT; i++)
        let_go(i, NULL);
    if (!kept.over) {
        opal_object_t *part = (opal_object_t *)comm->c_pml_comm;
        OBJ_RETAIN(part);
        let_go(kept.next++ % KEPT, part);
    }
    pthread_mutex_unlock(&kept.lock);
}

void coll_strag_pml_close(void)
{
    kept.over = false;
    memset(kept.parts, 0, sizeof kept.parts);
}
