/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The engine's messages over UCX: tagged ones, from this process's worker to a peer's.
 *
 *     tag    | the communicator's number on the receiving rank | call's shape | sender's rank |
 *              63                                            36  35          24  23            0
 *
 * Calls that differ in vector, operator or plan have different shapes, except one pair in 4,096.
 * Messages with the same tag from the same worker match in the order of posting, as the engine
 * requires.
 *
 * Elements with gaps between their data are packed into temporary space, a message at a time, and
 * unpacked from there. (They cannot use the PML instead: a type may have gaps on some ranks only,
 * and all messages of a call must use the same transport.)
 *
 * A receive belongs to no endpoint of UCX, so a rank that waits for a peer checks whether the peer
 * has failed.
 */
#include "internal.h"

#include "user/log.h"

#include <stdlib.h>

/* How often to check peers from which no message comes. */
static const double watch_seconds = 0.5;

enum { IDLE_LOOKS = 1024 }; /* scans without a result after which the clock is read */

static struct coll_strag_ucp_transport *own(struct strag_transport *transport)
{
    return (struct coll_strag_ucp_transport *)transport;
}

static const struct coll_strag_ucp_library *library(void)
{
    return &coll_strag_ucp.library;
}

/* The caller has the lock. */
static struct coll_strag_ucp_peer *peer_of(const struct coll_strag_ucp_transport *transport,
                                           int rank)
{
    return coll_strag_ucp.all[strag_compact_at(transport->peers, rank)];
}

/* ---- Errors ---- */

static int failed(struct coll_strag_ucp_transport *transport, int peer, ucs_status_t status)
{
    char who[128];
    if (status == UCS_ERR_NO_MEMORY)
        return coll_strag_transport_failed(&transport->super, OMPI_ERR_OUT_OF_RESOURCE);
    pthread_mutex_lock(&coll_strag_ucp.lock);
    const bool ended = peer_of(transport, peer)->ended;
    pthread_mutex_unlock(&coll_strag_ucp.lock);
    snprintf(who, sizeof who, "rank %d of %s", peer, transport->super.comm->c_name);
    coll_strag_warn(COLL_STRAG_WARN_LOST, who,
                    ended ? "its process has ended" : library()->ucs_status_string(status));
    return coll_strag_transport_failed(&transport->super, MPI_ERR_OTHER);
}

/* ---- Elements with gaps ---- */

static bool has_gaps(const struct coll_strag_transport *transport)
{
    return !ompi_datatype_is_contiguous_memory_layout(transport->dtype, 2);
}

/* @param[out] message  bytes; for elements with gaps also packed, buffer and elements
 * @return the memory that UCX sends or fills; NULL if out of memory */
static void *prepare(const struct coll_strag_transport *transport,
                     struct coll_strag_message *message, const void *buffer, size_t elements)
{
    ptrdiff_t true_lb, true_extent;
    char *first = (char *)(uintptr_t)buffer;
    message->bytes = elements * transport->size;
    if (has_gaps(transport)) {
        message->packed = malloc(message->bytes);
        message->buffer = first;
        message->elements = elements;
        if (message->packed && message->send &&
            !coll_strag_convert(true, transport->dtype, buffer, elements, message->packed)) {
            free(message->packed);
            message->packed = NULL;
        }
        return message->packed;
    }
    ompi_datatype_get_true_extent(transport->dtype, &true_lb, &true_extent);
    return first + true_lb;
}

/* ---- Requests ---- */

/* A message is complete, and its request is freed: complete its transfer. */
static void finish(struct coll_strag_ucp_transport *transport,
                   const struct coll_strag_message *message)
{
    int status = STRAG_OK;
    const bool truncated = message->status == UCS_ERR_MESSAGE_TRUNCATED;
    coll_strag_transport_moved(&transport->super);
    if (message->status != UCS_OK && !truncated)
        status = failed(transport, message->peer, message->status);
    else if (truncated || (!message->send && message->received != message->bytes))
        status = coll_strag_transport_differs(&transport->super, message->peer, message->bytes,
                                              message->received);
    else if (!message->send && message->packed &&
             !coll_strag_convert(false, transport->super.dtype, message->buffer, message->elements,
                                 message->packed))
        status = STRAG_ERR_MEMORY;
    free(message->packed);
    message->transfer->complete(message->transfer, status);
}

/* Ask UCX whether a message is complete. The caller has the lock. */
static void look(struct coll_strag_message *message)
{
    ucp_tag_recv_info_t info = {.length = 0};
    message->status = message->send ? library()->ucp_request_check_status(message->request)
                                    : library()->ucp_tag_recv_request_test(message->request, &info);
    if (message->status == UCS_INPROGRESS)
        return;
    message->received = info.length;
    library()->ucp_request_free(message->request);
    message->request = NULL;
}

static ucs_memory_type_t memory_type(const struct coll_strag_transport *transport)
{
    static const ucs_memory_type_t types[] = {
        [COLL_STRAG_HOST] = UCS_MEMORY_TYPE_HOST,
        [COLL_STRAG_DEVICE] = UCS_MEMORY_TYPE_CUDA,
        [COLL_STRAG_ANYWHERE] = UCS_MEMORY_TYPE_UNKNOWN,
    };
    return types[transport->buffers];
}

static uint64_t tag(const struct coll_strag_ucp_transport *transport, int receiver, int sender)
{
    const uint64_t shape = transport->super.shape >> (32 - COLL_STRAG_UCP_SHAPE_BITS);
    return (uint64_t)strag_compact_at(&transport->ids, receiver)
               << (COLL_STRAG_UCP_SHAPE_BITS + COLL_STRAG_UCP_RANK_BITS) |
           shape << COLL_STRAG_UCP_RANK_BITS | (uint32_t)sender;
}

/* Post a message. The caller has the lock. A receive is not allowed to complete at once: UCX up to
 * 1.13 would not report its length then. */
static void *post(struct coll_strag_ucp_transport *transport,
                  const struct coll_strag_message *message, void *data)
{
    const struct coll_strag_ucp_peer *peer = peer_of(transport, message->peer);
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_MEMORY_TYPE,
        .memory_type = memory_type(&transport->super),
    };
    if (message->send)
        return library()->ucp_tag_send_nbx(peer->endpoint, data, message->bytes,
                                           tag(transport, message->peer, transport->rank), &param);
    param.op_attr_mask |= UCP_OP_ATTR_FLAG_NO_IMM_CMPL;
    return library()->ucp_tag_recv_nbx(coll_strag_ucp.worker, data, message->bytes,
                                       tag(transport, transport->rank, message->peer), UINT64_MAX,
                                       &param);
}

/* Send or receive. A receiver makes the endpoint, too: UCX reports a failed sender through it. */
static int start(struct coll_strag_ucp_transport *transport, struct coll_strag_message *message,
                 const void *buffer, size_t elements)
{
    struct coll_strag_transport *base = &transport->super;
    void *data =
        coll_strag_transport_reserve(base) ? prepare(base, message, buffer, elements) : NULL;
    if (NULL == data)
        return STRAG_ERR_MEMORY;
    pthread_mutex_lock(&coll_strag_ucp.lock);
    ucs_status_t status = coll_strag_ucp_reach(peer_of(transport, message->peer));
    void *request = status == UCS_OK ? post(transport, message, data) : NULL;
    pthread_mutex_unlock(&coll_strag_ucp.lock);
    if (UCS_PTR_IS_ERR(request))
        status = UCS_PTR_STATUS(request);
    if (status != UCS_OK) {
        free(message->packed);
        return failed(transport, message->peer, status);
    }
    message->request = request;
    if (request)
        base->messages[base->nmessages++] = *message;
    else
        finish(transport, message);
    return STRAG_OK;
}

static int ucp_send(struct strag_transport *base, struct strag_transfer *transfer, int peer,
                    const void *buffer, size_t elements)
{
    struct coll_strag_message message = {.transfer = transfer, .peer = peer, .send = true};
    return start(own(base), &message, buffer, elements);
}

static int ucp_recv(struct strag_transport *base, struct strag_transfer *transfer, int peer,
                    void *buffer, size_t elements)
{
    struct coll_strag_message message = {.transfer = transfer, .peer = peer};
    return start(own(base), &message, buffer, elements);
}

/* ---- Progress ---- */

/* Let UCX make progress, and test all messages. @return whether one was complete */
static bool scan(struct coll_strag_ucp_transport *ucp)
{
    struct coll_strag_transport *transport = &ucp->super;
    bool found = false;
    pthread_mutex_lock(&coll_strag_ucp.lock);
    library()->ucp_worker_progress(coll_strag_ucp.worker);
    for (size_t i = 0; i < transport->nmessages; i++) {
        look(&transport->messages[i]);
        found |= NULL == transport->messages[i].request;
    }
    pthread_mutex_unlock(&coll_strag_ucp.lock);
    for (size_t i = 0; i < transport->nmessages && found;) {
        struct coll_strag_message message = transport->messages[i];
        if (message.request) {
            i++;
            continue;
        }
        transport->messages[i] = transport->messages[--transport->nmessages];
        finish(ucp, &message);
    }
    return found;
}

/* Has a peer of a message in flight failed? @param watch  also check whether its process runs */
static int check_peers(struct coll_strag_ucp_transport *transport, bool watch)
{
    ucs_status_t status = UCS_OK;
    int peer = 0;
    pthread_mutex_lock(&coll_strag_ucp.lock);
    for (size_t i = 0; i < transport->super.nmessages && status == UCS_OK; i++) {
        peer = transport->super.messages[i].peer;
        if (watch)
            coll_strag_ucp_watch(peer_of(transport, peer));
        status = peer_of(transport, peer)->failure;
    }
    pthread_mutex_unlock(&coll_strag_ucp.lock);
    return status == UCS_OK ? STRAG_OK : failed(transport, peer, status);
}

/* No message has completed for a while: check the peers. */
static int wait_longer(struct coll_strag_ucp_transport *transport)
{
    double now = coll_strag_seconds();
    bool watch = now - transport->watched > watch_seconds;
    transport->idle = 0;
    if (watch)
        transport->watched = now;
    return check_peers(transport, watch);
}

static int ucp_progress(struct strag_transport *base)
{
    struct coll_strag_ucp_transport *transport = own(base);
    if (transport->super.nmessages == 0 || scan(transport))
        return STRAG_OK;
    if (!transport->super.polls) {
        opal_progress();
        if (scan(transport))
            return STRAG_OK;
    }
    if (++transport->idle < IDLE_LOOKS)
        return STRAG_OK;
    const int status = wait_longer(transport);
    return status == STRAG_OK ? coll_strag_transport_check(&transport->super) : status;
}

/* ---- After an error ---- */

/* Cancel a receive, then wait for the message as long as there is time.
 * @return whether it is complete */
static bool stop(struct coll_strag_ucp_transport *transport, struct coll_strag_message *message)
{
    pthread_mutex_lock(&coll_strag_ucp.lock);
    if (!message->send)
        library()->ucp_request_cancel(coll_strag_ucp.worker, message->request);
    look(message);
    while (message->request && coll_strag_transport_drains(&transport->super)) {
        library()->ucp_worker_progress(coll_strag_ucp.worker);
        look(message);
    }
    if (message->request)
        library()->ucp_request_free(message->request); /* takes effect when it is complete */
    pthread_mutex_unlock(&coll_strag_ucp.lock);
    return NULL == message->request;
}

static int ucp_cancel(struct strag_transport *base, struct strag_transfer *transfer)
{
    struct coll_strag_ucp_transport *transport = own(base);
    struct coll_strag_message message;
    if (!coll_strag_transport_take(&transport->super, transfer, &message))
        return STRAG_ERR_ARGUMENT;
    if (!stop(transport, &message))
        return STRAG_PENDING; /* `packed` is not freed: UCX may still use it */
    if (message.status == UCS_ERR_CANCELED) {
        free(message.packed);
        transfer->complete(transfer, STRAG_ERR_TRANSPORT);
    } else {
        finish(transport, &message);
    }
    return STRAG_OK;
}

/* ---- Making and freeing a transport ---- */

void coll_strag_ucp_transport_init(struct coll_strag_ucp_transport *transport,
                                   ompi_communicator_t *comm, const struct strag_compact *peers)
{
    transport->super = (struct coll_strag_transport){
        .super = {.send = ucp_send,
                  .recv = ucp_recv,
                  .progress = ucp_progress,
                  .cancel = ucp_cancel},
        .kind = COLL_STRAG_UCP,
        .comm = comm,
        .other = -1,
    };
    transport->rank = ompi_comm_rank(comm);
    transport->peers = peers;
}

void coll_strag_ucp_free(struct coll_strag_transport *base)
{
    struct coll_strag_ucp_transport *transport = (struct coll_strag_ucp_transport *)base;
    if (NULL == base)
        return;
    free(transport->super.messages);
    strag_compact_free(&transport->own_peers);
    strag_compact_free(&transport->ids);
    free(transport);
}
