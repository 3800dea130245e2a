/* SPDX-License-Identifier: BSD-3-Clause */
#include "loopback.h"

#include "base/status.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* One side of a message. */
struct side {
    struct strag_transfer *transfer; /* NULL: not posted */
    size_t elements;
    uint64_t due; /* it completes no sooner than this tick */
    bool done;
    int status;
};

struct message {
    struct message *next;
    int from, to;
    struct side send, recv;
    const char *source;
    char *target; /* NULL: in place */
    char *copy;   /* the values, when the send has completed before the receive */
};

/* What arrives in place: a length, then the elements. */
struct arrival {
    size_t bytes;
    _Alignas(max_align_t) char elements[];
};

struct endpoint {
    struct strag_transport transport; /* first: the endpoint is found by it */
    struct strag_loopback *network;
    int rank;
    bool dead;
    unsigned posts; /* messages posted so far */
    size_t sent_elements, sent_messages;
    struct arrival **shown; /* [rank]: shown by try_recv, and not released yet */
};

struct strag_loopback {
    pthread_mutex_t lock; /* guards all below */
    int n;
    size_t element;
    struct strag_loopback_options options;
    uint64_t random, now;
    uint64_t *last_due; /* per pair of ranks, both sides: for in_order */
    struct message *first, **last;
    size_t arrived;         /* in place, and not released yet */
    struct arrival **shown; /* of all endpoints */
    struct endpoint *endpoints;
};

/* splitmix64 */
static uint64_t next_random(struct strag_loopback *network)
{
    uint64_t z = network->random += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static uint64_t due(struct strag_loopback *network, const struct message *message, bool send)
{
    uint64_t when = network->now + next_random(network) % (network->options.max_delay + 1u);
    if (network->options.in_order) {
        size_t pair = (size_t)message->from * (size_t)network->n + (size_t)message->to;
        uint64_t *last = &network->last_due[2 * pair + send];
        when = *last = when > *last ? when : *last;
    }
    return when;
}

/* The oldest message of the pair that lacks this side; a new one if there is none. */
static struct message *find(struct strag_loopback *network, int from, int to, bool send)
{
    for (struct message *m = network->first; m; m = m->next) {
        if (m->from == from && m->to == to && !(send ? m->send.transfer : m->recv.transfer))
            return m;
    }
    struct message *message = calloc(1, sizeof *message);
    if (!message)
        return NULL;
    message->from = from;
    message->to = to;
    *network->last = message;
    network->last = &message->next;
    return message;
}

static int post_locked(struct endpoint *me, struct strag_transfer *transfer, int peer,
                       const void *source, void *target, size_t elements)
{
    struct strag_loopback *network = me->network;
    const struct strag_loopback_options *options = &network->options;
    bool send = source != NULL;
    bool fails = ++me->posts == options->fail_post && me->rank == options->fail_rank;
    if (me->dead || (fails && !options->fail_late))
        return STRAG_ERR_TRANSPORT;
    struct message *message =
        send ? find(network, me->rank, peer, true) : find(network, peer, me->rank, false);
    if (!message)
        return STRAG_ERR_MEMORY;
    struct side *side = send ? &message->send : &message->recv;
    *side = (struct side){transfer, elements, due(network, message, send), false,
                          fails ? STRAG_ERR_TRANSPORT : STRAG_OK};
    transfer->handle = message;
    if (send) {
        message->source = source;
        me->sent_elements += elements;
        me->sent_messages++;
    } else {
        message->target = target;
        if (target)
            memset(target, 0xa5, elements * network->element);
    }
    return STRAG_OK;
}

static int post_send(struct strag_transport *transport, struct strag_transfer *transfer, int peer,
                     const void *buffer, size_t elements)
{
    struct endpoint *me = (struct endpoint *)transport;
    pthread_mutex_lock(&me->network->lock);
    int status = post_locked(me, transfer, peer, buffer, NULL, elements);
    pthread_mutex_unlock(&me->network->lock);
    return status;
}

static int post_recv(struct strag_transport *transport, struct strag_transfer *transfer, int peer,
                     void *buffer, size_t elements)
{
    struct endpoint *me = (struct endpoint *)transport;
    pthread_mutex_lock(&me->network->lock);
    int status = post_locked(me, transfer, peer, NULL, buffer, elements);
    pthread_mutex_unlock(&me->network->lock);
    return status;
}

static int post_recv_in_place(struct strag_transport *transport, struct strag_transfer *transfer,
                              int peer, size_t elements)
{
    return post_recv(transport, transfer, peer, NULL, elements);
}

static void give_back(struct strag_loopback *network, struct arrival *arrival)
{
    memset(arrival->elements, 0xa5, arrival->bytes);
    free(arrival);
    pthread_mutex_lock(&network->lock);
    network->arrived--;
    pthread_mutex_unlock(&network->lock);
}

static void release(struct strag_transport *transport, struct strag_transfer *transfer)
{
    give_back(((struct endpoint *)transport)->network, transfer->handle);
}

/* @return NULL: out of memory */
static struct arrival *arrive(struct strag_loopback *network, const char *values, size_t elements)
{
    size_t bytes = elements * network->element;
    struct arrival *arrival = malloc(sizeof *arrival + bytes);
    if (!arrival)
        return NULL;
    arrival->bytes = bytes;
    memcpy(arrival->elements, values, bytes);
    network->arrived++;
    return arrival;
}

/* @return STRAG_OK or STRAG_ERR_MEMORY */
static int arrive_in_place(struct strag_loopback *network, const struct message *message,
                           const char *values)
{
    struct strag_transfer *transfer = message->recv.transfer;
    struct arrival *arrival = arrive(network, values, message->recv.elements);
    if (!arrival)
        return STRAG_ERR_MEMORY;
    transfer->handle = arrival;
    transfer->arrived = arrival->elements;
    return STRAG_OK;
}

static void finish(struct side *side, int status)
{
    side->done = true;
    side->transfer->complete(side->transfer, side->status != STRAG_OK ? side->status : status);
}

static bool can_finish(const struct strag_loopback *network, const struct message *message,
                       const struct side *side)
{
    bool eager = side == &message->send && side->elements <= network->options.eager;
    bool met = message->send.transfer && message->recv.transfer;
    return side->transfer && !side->done && network->now >= side->due && (met || eager);
}

static void finish_send(struct strag_loopback *network, struct message *message)
{
    int status = STRAG_OK;
    if (!message->recv.done) { /* else the receive took the values from the source */
        size_t bytes = message->send.elements * network->element;
        message->copy = malloc(bytes);
        if (message->copy)
            memcpy(message->copy, message->source, bytes);
        else
            status = STRAG_ERR_MEMORY;
    }
    finish(&message->send, status);
}

static void finish_recv(struct strag_loopback *network, struct message *message)
{
    const char *values = message->send.done ? message->copy : message->source;
    bool fits = message->recv.elements == message->send.elements && values;
    int status = fits ? message->recv.status : STRAG_ERR_TRANSPORT;
    if (status == STRAG_OK && message->target)
        memcpy(message->target, values, message->send.elements * network->element);
    else if (status == STRAG_OK)
        status = arrive_in_place(network, message, values);
    finish(&message->recv, status);
}

/* What can finish on this endpoint finishes; messages with a dead peer, or of a dead rank, fail. */
static void step(struct endpoint *me, struct message *message)
{
    struct strag_loopback *network = me->network;
    struct side *side = message->from == me->rank ? &message->send
                        : message->to == me->rank ? &message->recv
                                                  : NULL;
    if (!side || !side->transfer || side->done)
        return;
    int peer = message->from == me->rank ? message->to : message->from;
    bool peer_done = side == &message->send ? message->recv.done : message->send.done;
    if (me->dead || (network->endpoints[peer].dead && !peer_done))
        finish(side, STRAG_ERR_TRANSPORT);
    else if (!can_finish(network, message, side))
        return;
    else if (side == &message->send)
        finish_send(network, message);
    else
        finish_recv(network, message);
}

/* Is the side done, or will it never be posted since its rank is gone? */
static bool over(const struct strag_loopback *network, const struct side *side, int rank)
{
    return side->done || (!side->transfer && network->endpoints[rank].dead);
}

/* A message goes when no side of it will ever need it again. */
static bool finished(const struct strag_loopback *network, const struct message *message)
{
    return over(network, &message->send, message->from) &&
           over(network, &message->recv, message->to);
}

static void sweep(struct strag_loopback *network)
{
    struct message **link = &network->first;
    while (*link) {
        struct message *message = *link;
        if (finished(network, message)) {
            *link = message->next;
            free(message->copy);
            free(message);
        } else {
            link = &message->next;
        }
    }
    network->last = link;
}

static int progress(struct strag_transport *transport)
{
    struct endpoint *me = (struct endpoint *)transport;
    struct strag_loopback *network = me->network;
    pthread_mutex_lock(&network->lock);
    network->now++;
    for (struct message *m = network->first; m; m = m->next)
        step(me, m);
    sweep(network);
    pthread_mutex_unlock(&network->lock);
    return STRAG_OK;
}

static int cancel(struct strag_transport *transport, struct strag_transfer *transfer)
{
    struct endpoint *me = (struct endpoint *)transport;
    struct message *message = transfer->handle;
    int status = STRAG_OK;
    pthread_mutex_lock(&me->network->lock);
    struct side *side = message->send.transfer == transfer ? &message->send : &message->recv;
    if (me->network->options.cannot_cancel && message->send.transfer && message->recv.transfer) {
        side->done = true;
        status = STRAG_PENDING;
    } else {
        finish(side, STRAG_ERR_TRANSPORT);
    }
    pthread_mutex_unlock(&me->network->lock);
    return status;
}

/* ---- In order: these sides are complete from the beginning ---- */

static void ignore(struct strag_transfer *transfer, int status)
{
}

static struct strag_transfer nobodys = {.complete = ignore};

/* Is there no room for another message of the pair, or is that simulated? */
static bool has_no_room(struct endpoint *me, int peer)
{
    struct strag_loopback *network = me->network;
    int under_way = 0;
    for (const struct message *m = network->first; m; m = m->next)
        under_way += m->from == me->rank && m->to == peer && m->send.transfer && !m->recv.done;
    return under_way >= network->options.room ||
           (network->options.max_delay && next_random(network) % 4 == 0);
}

static int try_send_locked(struct endpoint *me, int peer, const void *buffer, size_t elements)
{
    struct strag_loopback *network = me->network;
    const struct strag_loopback_options *options = &network->options;
    if (me->dead || network->endpoints[peer].dead)
        return STRAG_ERR_TRANSPORT;
    if (has_no_room(me, peer))
        return STRAG_PENDING;
    if (++me->posts == options->fail_post && me->rank == options->fail_rank)
        return STRAG_ERR_TRANSPORT;
    struct message *message = find(network, me->rank, peer, true);
    if (message)
        message->copy = malloc(elements * network->element);
    if (!message || !message->copy)
        return STRAG_ERR_MEMORY;
    memcpy(message->copy, buffer, elements * network->element);
    message->send = (struct side){&nobodys, elements, due(network, message, true), true, STRAG_OK};
    me->sent_elements += elements;
    me->sent_messages++;
    return STRAG_OK;
}

static int try_send(struct strag_transport *transport, int peer, const void *buffer,
                    size_t elements, uint64_t content)
{
    struct endpoint *me = (struct endpoint *)transport;
    pthread_mutex_lock(&me->network->lock);
    int status = try_send_locked(me, peer, buffer, elements);
    pthread_mutex_unlock(&me->network->lock);
    return status;
}

/* The peer's oldest message that nobody receives yet. */
static struct message *next_from(const struct endpoint *me, int peer)
{
    struct message *message = me->network->first;
    while (message && (message->from != peer || message->to != me->rank || message->recv.transfer))
        message = message->next;
    return message;
}

static int get_locked(struct endpoint *me, int peer, size_t elements)
{
    struct strag_loopback *network = me->network;
    const struct strag_loopback_options *options = &network->options;
    struct message *message = next_from(me, peer);
    if (me->dead || me->shown[peer] || (!message && network->endpoints[peer].dead))
        return STRAG_ERR_TRANSPORT;
    if (!message || network->now < message->send.due)
        return STRAG_PENDING;
    const char *values = message->send.done ? message->copy : message->source;
    if ((++me->posts == options->fail_post && me->rank == options->fail_rank) || !values ||
        message->send.status != STRAG_OK || message->send.elements != elements)
        return STRAG_ERR_TRANSPORT;
    me->shown[peer] = arrive(network, values, elements);
    if (!me->shown[peer])
        return STRAG_ERR_MEMORY;
    message->recv = (struct side){&nobodys, elements, 0, true, STRAG_OK};
    return STRAG_OK;
}

static int try_recv(struct strag_transport *transport, int peer, size_t elements,
                    const void **arrived)
{
    struct endpoint *me = (struct endpoint *)transport;
    pthread_mutex_lock(&me->network->lock);
    int status = get_locked(me, peer, elements);
    if (status == STRAG_OK)
        *arrived = me->shown[peer]->elements;
    pthread_mutex_unlock(&me->network->lock);
    return status;
}

static void release_recv(struct strag_transport *transport, int peer)
{
    struct endpoint *me = (struct endpoint *)transport;
    give_back(me->network, me->shown[peer]);
    me->shown[peer] = NULL;
}

/* ---- Networks ---- */

static void open_endpoint(struct strag_loopback *network, int rank, struct arrival **shown_from)
{
    const struct strag_loopback_options *options = &network->options;
    struct endpoint *me = &network->endpoints[rank];
    *me = (struct endpoint){
        .transport =
            {
                .send = post_send,
                .recv = post_recv,
                .progress = progress,
                .cancel = cancel,
            },
        .network = network,
        .rank = rank,
        .shown = shown_from,
    };
    if (options->in_place) {
        me->transport.recv_in_place = post_recv_in_place;
        me->transport.release = release;
    }
    if (options->room) {
        me->transport.try_send = try_send;
        me->transport.try_recv = try_recv;
        me->transport.release_recv = release_recv;
        me->transport.try_send_max = SIZE_MAX;
        me->transport.try_send_depth = options->room;
    }
}

struct strag_loopback *strag_loopback_create(int n, size_t element,
                                             const struct strag_loopback_options *options)
{
    struct strag_loopback *network = calloc(1, sizeof *network);
    if (!network)
        return NULL;
    const size_t pairs = (size_t)n * (size_t)n;
    network->endpoints = calloc((size_t)n, sizeof *network->endpoints);
    network->last_due = calloc(2 * pairs, sizeof *network->last_due);
    network->shown = calloc(pairs, sizeof(struct arrival *));
    if (!network->endpoints || !network->last_due || !network->shown ||
        pthread_mutex_init(&network->lock, NULL) != 0) {
        free(network->endpoints);
        free(network->last_due);
        free(network->shown);
        free(network);
        return NULL;
    }
    network->n = n;
    network->element = element;
    network->options = *options;
    network->random = options->seed;
    network->last = &network->first;
    for (int rank = 0; rank < n; rank++)
        open_endpoint(network, rank, network->shown + (size_t)rank * (size_t)n);
    return network;
}

void strag_loopback_free(struct strag_loopback *network)
{
    if (!network)
        return;
    while (network->first) {
        struct message *message = network->first;
        network->first = message->next;
        free(message->copy);
        free(message);
    }
    pthread_mutex_destroy(&network->lock);
    free(network->endpoints);
    free(network->last_due);
    free(network->shown);
    free(network);
}

struct strag_transport *strag_loopback_endpoint(struct strag_loopback *network, int rank)
{
    return &network->endpoints[rank].transport;
}

void strag_loopback_kill(struct strag_loopback *network, int rank)
{
    pthread_mutex_lock(&network->lock);
    network->endpoints[rank].dead = true;
    sweep(network);
    pthread_mutex_unlock(&network->lock);
}

size_t strag_loopback_pending(struct strag_loopback *network)
{
    pthread_mutex_lock(&network->lock);
    size_t pending = network->arrived;
    for (const struct message *m = network->first; m; m = m->next) {
        pending += m->send.transfer && !m->send.done && !network->endpoints[m->from].dead;
        pending += m->recv.transfer && !m->recv.done && !network->endpoints[m->to].dead;
    }
    pthread_mutex_unlock(&network->lock);
    return pending;
}

void strag_loopback_sent(struct strag_loopback *network, int rank, size_t *elements,
                         size_t *messages)
{
    pthread_mutex_lock(&network->lock);
    *elements = network->endpoints[rank].sent_elements;
    *messages = network->endpoints[rank].sent_messages;
    pthread_mutex_unlock(&network->lock);
}
