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
struct card {
    uint32_t id;
    int32_t pid;
    uint64_t born;
};

/* One exchange, on one rank. */
struct meeting {
    const struct coll_strag_previous *previous;
    ompi_communicator_t *comm;
    int n, rank;
    size_t stride; /* bytes from one card to the next */
    char *cards;
    struct coll_strag_ucp_peer **peers;
    uint32_t *ids;
    struct coll_strag_ucp_transport *transport;
    bool connected;
    char reason[COLL_STRAG_REASON_MAX]; /* why this rank is not able */
};

static opal_process_name_t name_of(const struct meeting *meeting, int rank)
{
    return ompi_comm_peer_lookup(meeting->comm, rank)->super.proc_name;
}

static bool is_local(const struct meeting *meeting, int rank)
{
    return OPAL_PROC_ON_LOCAL_NODE(ompi_comm_peer_lookup(meeting->comm, rank)->super.proc_flags);
}

/* ---- The messages ---- */

/* Are all able? Otherwise the lowest rank that is not says why. Our own allreduce hands on what
 * comes during the exchange.
 *
 * @param[in,out] more  two numbers of which the least are wanted; NULL: none
 * @param[out] all      is every rank able? */
static int agree(const struct meeting *meeting, bool able, int32_t *more, bool *all)
{
    int32_t values[3] = {able ? INT32_MAX : meeting->rank};
    if (more)
        memcpy(values + 1, more, 2 * sizeof *more);
    int code = coll_strag_minimum(meeting->previous, meeting->comm, values, more ? 3 : 1);
    *all = code == OMPI_SUCCESS && values[0] == INT32_MAX;
    if (more)
        memcpy(more, values + 1, 2 * sizeof *more);
    if (code == OMPI_SUCCESS && values[0] == meeting->rank) {
        char who[COLL_STRAG_REASON_MAX], host[72] = "?";
        (void)gethostname(host, sizeof host - 1);
        snprintf(who, sizeof who, "rank %d of %s, on %s", meeting->rank, meeting->comm->c_name,
                 host);
        coll_strag_warn(COLL_STRAG_WARN_NO_UCP, who, meeting->reason);
    }
    return code;
}

static int exchange_cards(const struct meeting *meeting)
{
    ompi_communicator_t *comm = meeting->comm;
    return comm->c_coll->coll_allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, meeting->cards,
                                        (coll_strag_count_t)meeting->stride, MPI_BYTE, comm,
                                        comm->c_coll->coll_allgather_module);
}

/* ---- What a rank does in between ---- */

/* Is there a rank of which the address is not known yet? */
static bool knows_all(const struct meeting *meeting)
{
    bool all = true;
    pthread_mutex_lock(&coll_strag_ucp.lock);
    for (int rank = 0; rank < meeting->n && all; rank++)
        all = rank == meeting->rank || coll_strag_ucp_find(name_of(meeting, rank));
    pthread_mutex_unlock(&coll_strag_ucp.lock);
    return all;
}

/* @param longest  bytes of an address; 0: none is needed */
static bool make_room(struct meeting *meeting, size_t longest)
{
    const size_t n = (size_t)meeting->n, align = sizeof(uint64_t);
    meeting->stride = sizeof(struct card) + (longest + align - 1) / align * align;
    meeting->cards = meeting->stride <= INT_MAX ? calloc(n, meeting->stride) : NULL;
    meeting->peers = calloc(n, sizeof(struct coll_strag_ucp_peer *));
    meeting->ids = calloc(n, sizeof *meeting->ids);
    meeting->transport = calloc(1, sizeof *meeting->transport);
    snprintf(meeting->reason, sizeof meeting->reason, "out of memory");
    return meeting->cards && meeting->peers && meeting->ids && meeting->transport;
}

static struct card *card_of(const struct meeting *meeting, int rank)
{
    return (struct card *)(void *)(meeting->cards + (size_t)rank * meeting->stride);
}

static void write_card(struct meeting *meeting, bool with_address)
{
    struct coll_strag_ucp_process *ucp = &coll_strag_ucp;
    struct card *card = card_of(meeting, meeting->rank);
    pthread_mutex_lock(&ucp->lock);
    *card = (struct card){.id = ucp->numbered++, .pid = (int32_t)getpid(), .born = ucp->born};
    pthread_mutex_unlock(&ucp->lock);
    if (with_address)
        memcpy(card + 1, ucp->address, ucp->address_bytes);
}

/* A process of this host can be watched if it is seen from here: it may have a name space of its
 * own for numbers of processes. */
static struct coll_strag_ucp_peer *meet(const struct meeting *meeting, int rank)
{
    const struct card *card = card_of(meeting, rank);
    struct coll_strag_ucp_peer *peer = coll_strag_ucp_find(name_of(meeting, rank));
    if (peer)
        return peer;
    peer = coll_strag_ucp_add(name_of(meeting, rank), card + 1, meeting->stride - sizeof *card);
    if (NULL == peer)
        return NULL;
    peer->local = is_local(meeting, rank);
    peer->pid = card->pid;
    peer->born = peer->local && coll_strag_ucp_born(card->pid) == card->born ? card->born : 0;
    return peer;
}

/* The first rank after this one, cyclically, that is on this host, or is not. @return -1: none */
static int next_rank(const struct meeting *meeting, bool local)
{
    for (int step = 1; step < meeting->n; step++) {
        int rank = (meeting->rank + step) % meeting->n;
        if (is_local(meeting, rank) == local)
            return rank;
    }
    return -1;
}

static bool try_to_reach(struct meeting *meeting, int rank)
{
    if (rank < 0)
        return true;
    ucs_status_t status = coll_strag_ucp_reach(meeting->peers[rank]);
    if (status != UCS_OK)
        snprintf(meeting->reason, sizeof meeting->reason, "rank %d is out of UCX's reach: %s", rank,
                 coll_strag_ucp.library.ucs_status_string(status));
    return status == UCS_OK;
}

static bool read_cards(struct meeting *meeting)
{
    bool able = true;
    pthread_mutex_lock(&coll_strag_ucp.lock);
    for (int rank = 0; rank < meeting->n && able; rank++) {
        meeting->ids[rank] = card_of(meeting, rank)->id;
        if (rank != meeting->rank) {
            meeting->peers[rank] = meet(meeting, rank);
            able = NULL != meeting->peers[rank];
        }
    }
    able = able && try_to_reach(meeting, next_rank(meeting, true)) &&
           try_to_reach(meeting, next_rank(meeting, false));
    pthread_mutex_unlock(&coll_strag_ucp.lock);
    return able;
}

/* ---- All of it ---- */

/* @return OMPI_SUCCESS, or an error of a message */
static int hold(struct meeting *meeting, bool able)
{
    const char *why = "out of memory";
    bool all, open = able && coll_strag_ucp_open(&why);
    snprintf(meeting->reason, sizeof meeting->reason, "%s", why);
    int32_t more[2] = {open ? -(int32_t)coll_strag_ucp.address_bytes : 0,
                       open && knows_all(meeting)};
    int code = agree(meeting, open, more, &all);
    if (!all)
        return code;
    bool known = more[1];
    code = agree(meeting, make_room(meeting, known ? 0 : (size_t)-more[0]), NULL, &all);
    if (!all)
        return code;
    write_card(meeting, !known);
    code = exchange_cards(meeting);
    if (code != OMPI_SUCCESS)
        return code;
    code = agree(meeting, read_cards(meeting), NULL, &all);
    if (!all)
        return code;
    coll_strag_ucp_transport_init(meeting->transport, meeting->comm, meeting->peers, meeting->ids);
    meeting->connected = true;
    return OMPI_SUCCESS;
}

int coll_strag_ucp_connect(ompi_communicator_t *comm, const struct coll_strag_previous *previous,
                           bool able, struct coll_strag_transport **transport)
{
    struct meeting meeting = {
        .previous = previous,
        .comm = comm,
        .n = ompi_comm_size(comm),
        .rank = ompi_comm_rank(comm),
    };
    int code = hold(&meeting, able);
    free(meeting.cards);
    *transport = meeting.connected ? &meeting.transport->super : NULL;
    if (meeting.connected)
        return code;
    free(meeting.peers);
    free(meeting.ids);
    free(meeting.transport);
    return code;
}
