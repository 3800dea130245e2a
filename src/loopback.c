/* SPDX-License-Identifier: BSD-3-Clause */
#include "loopback.h"

#include "status.h"

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

struct endpoint {
    struct strag_transport transport; /* first: the endpoint is found by it */
    struct strag_loopback *network;
    int rank;
    bool dead;
    unsigned posts; /* messages posted so far */
    size_t sent_elements, sent_messages;
};

struct strag_loopback {
    pthread_mutex_t lock; /* guards all below */
    int n;
    size_t element;
    struct strag_loopback_options options;
    uint64_t random, now;
    uint64_t *last_due; /* per pair of ranks, both sides: for in_order */
    struct message *first, **last;
    size_t arrived; /* in place, and not released yet */
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

/* What arrives in place: a length, then the elements. */
struct arrival {
    size_t bytes;
    _Alignas(max_align_t) char elements[];
};

static int post_recv_in_place(struct strag_transport *transport, struct strag_transfer *transfer,
                              int peer, size_t elements)
{
    return post_recv(transport, transfer, peer, NULL, elements);
}

static void release(struct strag_transport *transport, struct strag_transfer *transfer)
{
    struct endpoint *me = (struct endpoint *)transport;
    struct arrival *arrival = transfer->handle;
    memset(arrival->elements, 0xa5, arrival->bytes);
    free(arrival);
    pthread_mutex_lock(&me->network->lock);
    me->network->arrived--;
    pthread_mutex_unlock(&me->network->lock);
}

/* @return STRAG_OK or STRAG_ERR_MEMORY */
static int arrive(struct strag_loopback *network, const struct message *message, const char *values)
{
    struct strag_transfer *transfer = message->recv.transfer;
    size_t bytes = message->recv.elements * network->element;
    struct arrival *arrival = malloc(sizeof *arrival + bytes);
    if (!arrival)
        return STRAG_ERR_MEMORY;
    arrival->bytes = bytes;
    memcpy(arrival->elements, values, bytes);
    transfer->handle = arrival;
    transfer->arrived = arrival->elements;
    network->arrived++;
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
        status = arrive(network, message, values);
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

struct strag_loopback *strag_loopback_create(int n, size_t element,
                                             const struct strag_loopback_options *options)
{
    struct strag_loopback *network = calloc(1, sizeof *network);
    if (!network)
        return NULL;
    network->endpoints = calloc((size_t)n, sizeof *network->endpoints);
    network->last_due = calloc(2 * (size_t)n * (size_t)n, sizeof *network->last_due);
    if (!network->endpoints || !network->last_due ||
        pthread_mutex_init(&network->lock, NULL) != 0) {
        free(network->endpoints);
        free(network->last_due);
        free(network);
        return NULL;
    }
    network->n = n;
    network->element = element;
    network->options = *options;
    network->random = options->seed;
    network->last = &network->first;
    for (int rank = 0; rank < n; rank++) {
        network->endpoints[rank] = (struct endpoint){
            .transport =
                {
                    .send = post_send,
                    .recv = post_recv,
                    .progress = progress,
                    .cancel = cancel,
                    .recv_in_place = options->in_place ? post_recv_in_place : NULL,
                    .release = options->in_place ? release : NULL,
                },
            .network = network,
            .rank = rank,
        };
    }
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
