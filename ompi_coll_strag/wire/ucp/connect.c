/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each rank makes two endpoints here, to find out whether UCX_TLS leaves a usable transport.
 *
 * Messages of different communicators must not be confused. Each rank chooses a number for the
 * communicator, and senders put the receiver's number into the tag.
 */
#include "internal.h"

#include "user/log.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A rank sends this to all others. Its worker's address follows, padded, if a rank needs one. */
struct card {
    int32_t id;
    int32_t pid;
    uint64_t start_time;
};

static opal_process_name_t name_of(const struct coll_strag_ucp_joining *joining, int rank)
{
    return ompi_comm_peer_lookup(joining->comm, rank)->super.proc_name;
}

static bool is_local(const struct coll_strag_ucp_joining *joining, int rank)
{
    return OPAL_PROC_ON_LOCAL_NODE(ompi_comm_peer_lookup(joining->comm, rank)->super.proc_flags);
}

/* Begin to agree on the least of each of `count` numbers. The first one is the lowest rank that is
 * not able. */
static void agree(struct coll_strag_ucp_joining *joining, bool able, int count)
{
    joining->numbers[0] = able ? INT32_MAX : joining->rank;
    strag_exchange_minimum(joining->exchange, joining->numbers, count);
}

/* Are all ranks able? If not, the lowest one that is not warns with its reason. */
static bool agreed(struct coll_strag_ucp_joining *joining)
{
    char who[sizeof joining->reason], host[72] = "?";
    if (!joining->connects)
        return false;
    if (joining->numbers[0] == joining->rank) {
        (void)gethostname(host, sizeof host - 1);
        snprintf(who, sizeof who, "rank %d of %s, on %s", joining->rank, joining->comm->c_name,
                 host);
        coll_strag_warn(COLL_STRAG_WARN_NO_UCP, who, joining->reason);
    }
    joining->connects = joining->numbers[0] == INT32_MAX;
    return joining->connects;
}

/* ---- Exchanging cards ---- */

/* Does this process know the address of every rank? */
static bool knows_all(const struct coll_strag_ucp_joining *joining)
{
    bool all = true;
    pthread_mutex_lock(&coll_strag_ucp.lock);
    for (int rank = 0; rank < joining->n && all; rank++)
        all = NULL != coll_strag_ucp_find(name_of(joining, rank));
    pthread_mutex_unlock(&coll_strag_ucp.lock);
    return all;
}

static struct card *card_of(const struct coll_strag_ucp_joining *joining, int rank)
{
    return (struct card *)(void *)(joining->cards + (size_t)rank * joining->stride);
}

void coll_strag_ucp_begin(struct coll_strag_ucp_joining *joining, ompi_communicator_t *comm,
                          bool able, struct strag_exchange *exchange)
{
    const char *why = "out of memory";
    *joining = (struct coll_strag_ucp_joining){.comm = comm,
                                               .exchange = exchange,
                                               .n = ompi_comm_size(comm),
                                               .rank = ompi_comm_rank(comm),
                                               .connects = true};
    const bool fits = joining->n <= 1 << COLL_STRAG_UCP_RANK_BITS;
    const bool open = able && fits && coll_strag_ucp_open(&why);
    if (!fits)
        why = "its tags have no room for the numbers of all ranks";
    snprintf(joining->reason, sizeof joining->reason, "%s", why);
    joining->numbers[1] = open ? -(int32_t)coll_strag_ucp.address_bytes : 0; /* the longest */
    joining->numbers[2] = open && knows_all(joining);
    agree(joining, open, 3);
}

/* Allocate. Cards have addresses unless every rank knows all others'. */
static void make_room(struct coll_strag_ucp_joining *joining)
{
    const size_t n = (size_t)joining->n, align = sizeof(uint64_t);
    const size_t longest = joining->numbers[2] ? 0 : (size_t)-joining->numbers[1];
    joining->stride = sizeof(struct card) + (longest + align - 1) / align * align;
    joining->cards = calloc(n, joining->stride);
    joining->peers = calloc(n, sizeof *joining->peers);
    joining->ids = calloc(n, sizeof *joining->ids);
    joining->transport = calloc(1, sizeof *joining->transport);
    snprintf(joining->reason, sizeof joining->reason, "out of memory");
    agree(joining, joining->cards && joining->peers && joining->ids && joining->transport, 1);
}

static void show_card(struct coll_strag_ucp_joining *joining)
{
    const struct coll_strag_ucp_process *ucp = &coll_strag_ucp;
    struct card *card = card_of(joining, joining->rank);
    *card = (struct card){
        .id = coll_strag_ucp_number(),
        .pid = (int32_t)getpid(),
        .start_time = ucp->start_time,
    };
    if (joining->stride > sizeof *card)
        memcpy(card + 1, ucp->address, ucp->address_bytes);
    strag_exchange_allgather(joining->exchange, joining->cards, joining->stride);
}

/* ---- Reaching peers ---- */

/* A process of this host can be watched if this process can see it: it may be in another PID
 * namespace. */
static struct coll_strag_ucp_peer *add_peer(const struct coll_strag_ucp_joining *joining, int rank)
{
    const struct card *card = card_of(joining, rank);
    struct coll_strag_ucp_peer *peer = coll_strag_ucp_find(name_of(joining, rank));
    if (peer)
        return peer;
    peer = coll_strag_ucp_add(name_of(joining, rank), card + 1, joining->stride - sizeof *card);
    if (NULL == peer)
        return NULL;
    peer->local = is_local(joining, rank);
    peer->pid = card->pid;
    peer->start_time = peer->local && coll_strag_ucp_start_time(card->pid) == card->start_time
                           ? card->start_time
                           : 0;
    return peer;
}

/* @return the first rank after this one, cyclically, on this host (`local`) or on another one; -1
 * if there is none */
static int next_rank(const struct coll_strag_ucp_joining *joining, bool local)
{
    for (int step = 1; step < joining->n; step++) {
        int rank = (joining->rank + step) % joining->n;
        if (is_local(joining, rank) == local)
            return rank;
    }
    return -1;
}

static bool try_to_reach(struct coll_strag_ucp_joining *joining, int rank)
{
    if (rank < 0)
        return true;
    ucs_status_t status = coll_strag_ucp_reach(coll_strag_ucp.all[joining->peers[rank]]);
    if (status != UCS_OK)
        snprintf(joining->reason, sizeof joining->reason, "rank %d is out of UCX's reach: %s", rank,
                 coll_strag_ucp.library.ucs_status_string(status));
    return status == UCS_OK;
}

static void read_cards(struct coll_strag_ucp_joining *joining)
{
    bool able = true;
    pthread_mutex_lock(&coll_strag_ucp.lock);
    for (int rank = 0; rank < joining->n && able; rank++) {
        const struct coll_strag_ucp_peer *peer = add_peer(joining, rank);
        able = NULL != peer;
        joining->peers[rank] = peer ? peer->number : 0;
        joining->ids[rank] = card_of(joining, rank)->id;
    }
    able = able && strag_compact_make(joining->peers, joining->n, &joining->transport->own_peers) &&
           strag_compact_make(joining->ids, joining->n, &joining->transport->ids);
    able = able && try_to_reach(joining, next_rank(joining, true)) &&
           try_to_reach(joining, next_rank(joining, false));
    pthread_mutex_unlock(&coll_strag_ucp.lock);
    agree(joining, able, 1);
}

void coll_strag_ucp_go_on(struct coll_strag_ucp_joining *joining)
{
    static void (*const steps[])(struct coll_strag_ucp_joining *) = {make_room, show_card,
                                                                     read_cards};
    if (agreed(joining))
        steps[joining->step++](joining);
}

struct coll_strag_transport *coll_strag_ucp_take(struct coll_strag_ucp_joining *joining)
{
    if (!agreed(joining))
        return NULL;
    struct coll_strag_ucp_transport *transport = joining->transport;
    joining->transport = NULL;
    coll_strag_ucp_transport_init(transport, joining->comm, &transport->own_peers);
    return &transport->super;
}

void coll_strag_ucp_forget(struct coll_strag_ucp_joining *joining)
{
    free(joining->cards);
    free(joining->peers);
    free(joining->ids);
    coll_strag_ucp_free((struct coll_strag_transport *)joining->transport);
    *joining = (struct coll_strag_ucp_joining){.comm = NULL};
}

/* ---- Another transport ---- */

int32_t coll_strag_ucp_number(void)
{
    pthread_mutex_lock(&coll_strag_ucp.lock);
    const int32_t number = (int32_t)(coll_strag_ucp.next_id++ % (1 << COLL_STRAG_UCP_ID_BITS));
    pthread_mutex_unlock(&coll_strag_ucp.lock);
    return number;
}

struct coll_strag_transport *coll_strag_ucp_another(const struct coll_strag_transport *transport,
                                                    const int32_t *numbers)
{
    const struct coll_strag_ucp_transport *first =
        (const struct coll_strag_ucp_transport *)transport;
    struct coll_strag_ucp_transport *made = calloc(1, sizeof *made);
    if (!made || !strag_compact_make(numbers, ompi_comm_size(transport->comm), &made->ids)) {
        free(made);
        return NULL;
    }
    coll_strag_ucp_transport_init(made, transport->comm, first->peers);
    return &made->super;
}
