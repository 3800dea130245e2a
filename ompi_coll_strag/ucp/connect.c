/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ranks of a communicator exchange how UCX reaches them. It goes like this on all of
 * them, whatever happens to one:
 *
 *     1  allreduce   have all opened UCX? how long is the longest address? do all know all others,
 *                    from communicators before?
 *     2  allreduce   have all room for what comes?
 *     3  allgather   a card of each: its number for the communicator; if they do not know each
 *                    other, also its address
 *     4  allreduce   has every rank reached a rank on its own host, and one on another?
 *
 * If the answer is no, all ranks go on over the PML, and the lowest of those that failed says why.
 *
 * Endpoints to all other ranks are made when they are first needed. Two are made here, since with
 * an unlucky choice of UCX_TLS none could be made.
 *
 * Messages must not be taken for those of other communicators. A receiver knows its communicator by
 * a number that it chose itself, and the sender puts that number into the tag: so nothing has to be
 * agreed on, and nothing is known of Open MPI's own numbers, which differ between its versions.
 */
#include "internal.h"

#include "../log.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What a rank sends to all others; if they need it, its address follows, padded. */
struct peer_info {
    uint32_t id;
    int32_t pid;
    uint64_t start_time;
};

/* One exchange, on one rank. */
struct exchange {
    const struct coll_strag_previous *previous;
    ompi_communicator_t *comm;
    int n, rank;
    size_t stride; /* bytes from one card to the next */
    char *peer_infos;
    struct coll_strag_ucp_peer **peers;
    uint32_t *ids;
    struct coll_strag_ucp_transport *transport;
    bool connected;
    char reason[COLL_STRAG_REASON_MAX]; /* why this rank is not able */
};

static opal_process_name_t name_of(const struct exchange *exchange, int rank)
{
    return ompi_comm_peer_lookup(exchange->comm, rank)->super.proc_name;
}

static bool is_local(const struct exchange *exchange, int rank)
{
    return OPAL_PROC_ON_LOCAL_NODE(ompi_comm_peer_lookup(exchange->comm, rank)->super.proc_flags);
}

/* ---- The messages ---- */

/* Are all able? Otherwise the lowest rank that is not says why. Our own allreduce hands on what
 * comes during the exchange.
 *
 * @param[in,out] more  two numbers of which the least are wanted; NULL: none
 * @param[out] all      is every rank able? */
static int agree(const struct exchange *exchange, bool able, int32_t *more, bool *all)
{
    int32_t values[3] = {able ? INT32_MAX : exchange->rank};
    if (more)
        memcpy(values + 1, more, 2 * sizeof *more);
    int code = coll_strag_minimum(exchange->previous, exchange->comm, values, more ? 3 : 1);
    *all = code == OMPI_SUCCESS && values[0] == INT32_MAX;
    if (more)
        memcpy(more, values + 1, 2 * sizeof *more);
    if (code == OMPI_SUCCESS && values[0] == exchange->rank) {
        char who[COLL_STRAG_REASON_MAX], host[72] = "?";
        (void)gethostname(host, sizeof host - 1);
        snprintf(who, sizeof who, "rank %d of %s, on %s", exchange->rank, exchange->comm->c_name,
                 host);
        coll_strag_warn(COLL_STRAG_WARN_NO_UCP, who, exchange->reason);
    }
    return code;
}

static int exchange_infos(const struct exchange *exchange)
{
    ompi_communicator_t *comm = exchange->comm;
    return comm->c_coll->coll_allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, exchange->peer_infos,
                                        (coll_strag_count_t)exchange->stride, MPI_BYTE, comm,
                                        comm->c_coll->coll_allgather_module);
}

/* ---- What a rank does in between ---- */

/* Is there a rank of which the address is not known yet? */
static bool knows_all(const struct exchange *exchange)
{
    bool all = true;
    pthread_mutex_lock(&coll_strag_ucp.lock);
    for (int rank = 0; rank < exchange->n && all; rank++)
        all = rank == exchange->rank || coll_strag_ucp_find(name_of(exchange, rank));
    pthread_mutex_unlock(&coll_strag_ucp.lock);
    return all;
}

/* @param longest  bytes of an address; 0: none is needed */
static bool make_room(struct exchange *exchange, size_t longest)
{
    const size_t n = (size_t)exchange->n, align = sizeof(uint64_t);
    exchange->stride = sizeof(struct peer_info) + (longest + align - 1) / align * align;
    exchange->peer_infos = exchange->stride <= INT_MAX ? calloc(n, exchange->stride) : NULL;
    exchange->peers = calloc(n, sizeof(struct coll_strag_ucp_peer *));
    exchange->ids = calloc(n, sizeof *exchange->ids);
    exchange->transport = calloc(1, sizeof *exchange->transport);
    snprintf(exchange->reason, sizeof exchange->reason, "out of memory");
    return exchange->peer_infos && exchange->peers && exchange->ids && exchange->transport;
}

static struct peer_info *info_of(const struct exchange *exchange, int rank)
{
    return (struct peer_info *)(void *)(exchange->peer_infos + (size_t)rank * exchange->stride);
}

static void write_info(struct exchange *exchange, bool with_address)
{
    struct coll_strag_ucp_process *ucp = &coll_strag_ucp;
    struct peer_info *peer_info = info_of(exchange, exchange->rank);
    pthread_mutex_lock(&ucp->lock);
    *peer_info = (struct peer_info){
        .id = ucp->next_id++, .pid = (int32_t)getpid(), .start_time = ucp->start_time};
    pthread_mutex_unlock(&ucp->lock);
    if (with_address)
        memcpy(peer_info + 1, ucp->address, ucp->address_bytes);
}

/* A process of this host can be watched if it is seen from here: it may have a name space of its
 * own for numbers of processes. */
static struct coll_strag_ucp_peer *add_peer(const struct exchange *exchange, int rank)
{
    const struct peer_info *peer_info = info_of(exchange, rank);
    struct coll_strag_ucp_peer *peer = coll_strag_ucp_find(name_of(exchange, rank));
    if (peer)
        return peer;
    peer = coll_strag_ucp_add(name_of(exchange, rank), peer_info + 1,
                              exchange->stride - sizeof *peer_info);
    if (NULL == peer)
        return NULL;
    peer->local = is_local(exchange, rank);
    peer->pid = peer_info->pid;
    peer->start_time =
        peer->local && coll_strag_ucp_start_time(peer_info->pid) == peer_info->start_time
            ? peer_info->start_time
            : 0;
    return peer;
}

/* The first rank after this one, cyclically, that is on this host, or is not. @return -1: none */
static int next_rank(const struct exchange *exchange, bool local)
{
    for (int step = 1; step < exchange->n; step++) {
        int rank = (exchange->rank + step) % exchange->n;
        if (is_local(exchange, rank) == local)
            return rank;
    }
    return -1;
}

static bool try_to_reach(struct exchange *exchange, int rank)
{
    if (rank < 0)
        return true;
    ucs_status_t status = coll_strag_ucp_reach(exchange->peers[rank]);
    if (status != UCS_OK)
        snprintf(exchange->reason, sizeof exchange->reason, "rank %d is out of UCX's reach: %s",
                 rank, coll_strag_ucp.library.ucs_status_string(status));
    return status == UCS_OK;
}

static bool read_infos(struct exchange *exchange)
{
    bool able = true;
    pthread_mutex_lock(&coll_strag_ucp.lock);
    for (int rank = 0; rank < exchange->n && able; rank++) {
        exchange->ids[rank] = info_of(exchange, rank)->id;
        if (rank != exchange->rank) {
            exchange->peers[rank] = add_peer(exchange, rank);
            able = NULL != exchange->peers[rank];
        }
    }
    able = able && try_to_reach(exchange, next_rank(exchange, true)) &&
           try_to_reach(exchange, next_rank(exchange, false));
    pthread_mutex_unlock(&coll_strag_ucp.lock);
    return able;
}

/* ---- All of it ---- */

/* @return OMPI_SUCCESS, or an error of a message */
static int run_exchange(struct exchange *exchange, bool able)
{
    const char *why = "out of memory";
    bool all, open = able && coll_strag_ucp_open(&why);
    snprintf(exchange->reason, sizeof exchange->reason, "%s", why);
    int32_t more[2] = {open ? -(int32_t)coll_strag_ucp.address_bytes : 0,
                       open && knows_all(exchange)};
    int code = agree(exchange, open, more, &all);
    if (!all)
        return code;
    bool known = more[1];
    code = agree(exchange, make_room(exchange, known ? 0 : (size_t)-more[0]), NULL, &all);
    if (!all)
        return code;
    write_info(exchange, !known);
    code = exchange_infos(exchange);
    if (code != OMPI_SUCCESS)
        return code;
    code = agree(exchange, read_infos(exchange), NULL, &all);
    if (!all)
        return code;
    coll_strag_ucp_transport_init(exchange->transport, exchange->comm, exchange->peers,
                                  exchange->ids);
    exchange->connected = true;
    return OMPI_SUCCESS;
}

int coll_strag_ucp_connect(ompi_communicator_t *comm, const struct coll_strag_previous *previous,
                           bool able, struct coll_strag_transport **transport)
{
    struct exchange exchange = {
        .previous = previous,
        .comm = comm,
        .n = ompi_comm_size(comm),
        .rank = ompi_comm_rank(comm),
    };
    int code = run_exchange(&exchange, able);
    free(exchange.peer_infos);
    *transport = exchange.connected ? &exchange.transport->super : NULL;
    if (exchange.connected)
        return code;
    free(exchange.peers);
    free(exchange.ids);
    free(exchange.transport);
    return code;
}
