/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages from and to device memory over a transport that needs host memory.
 *
 *     send        device > chunk        COPYING       recv     (gaps: device > chunk)   COPYING
 *                 posted                FLYING                 posted                   FLYING
 *                 complete                                     arrived                  LANDED
 *                                                              chunk > device           LANDING
 *                                                              complete
 *
 * Messages between two ranks match in the order of posting. A message that cannot be posted yet
 * therefore delays later ones of its direction, even those that need no chunk.
 *
 * Sends of the same values share a chunk, also over different transports, while one of them is in
 * flight:
 *
 *     send to 1   device > chunk, posted, complete
 *     send to 2                posted,    complete
 *     send to 3                   posted,       complete; the chunk is free
 *
 * A transport may identify values by their number and address. As chunks are reused, their contents
 * have numbers of their own.
 */
#include "staging_internal.h"

#include <stdlib.h>

enum message_state { COPYING, READY, FLYING, LANDED, LANDING, DONE };

struct staged_chunk {
    struct staged_chunk *next; /* in use */
    void *memory;
    int users;    /* messages */
    bool copying; /* from or to the device */
    uint64_t ticket;
    int status; /* of the last copy */
    bool lost;  /* a message may still arrive in it */

    /* of sends that may share it */
    uint64_t content; /* the engine's number; 0: none */
    const void *buffer;
    size_t elements;
    uint64_t number; /* ours */
};

struct staged_message {
    struct strag_transfer flight; /* must be first */
    struct staged_message *next;
    struct strag_transfer *outer; /* the engine's */
    enum message_state state;
    bool send;
    int peer;
    void *buffer; /* the engine's */
    size_t elements;
    struct staged_chunk *chunk; /* NULL: the buffer is in host memory */
    int status;
};

static struct staged_transport *own(struct strag_transport *transport)
{
    return (struct staged_transport *)transport;
}

static void landed(struct strag_transfer *flight, int status)
{
    struct staged_message *message = (struct staged_message *)flight;
    message->status = status;
    message->state = LANDED;
}

/* ---- Chunks ---- */

static struct staged_chunk *find_chunk(const struct strag_staging *staging,
                                       const struct staged_message *message)
{
    struct staged_chunk *chunk = staging->chunks;
    while (chunk && (chunk->content != message->outer->content ||
                     chunk->buffer != message->buffer || chunk->elements != message->elements))
        chunk = chunk->next;
    return chunk;
}

static struct staged_chunk *take_chunk(struct strag_staging *staging, size_t elements)
{
    void *memory = staging_take(staging, elements);
    struct staged_chunk *chunk = memory ? malloc(sizeof *chunk) : NULL;
    if (!chunk) {
        staging_give(staging, memory, false);
        return NULL;
    }
    *chunk = (struct staged_chunk){
        .next = staging->chunks, .memory = memory, .users = 1, .elements = elements};
    staging->chunks = chunk;
    return chunk;
}

/* A message no longer uses it; waits for a pending copy. NULL is allowed. */
static void leave_chunk(struct strag_staging *staging, struct staged_chunk *chunk, bool lost)
{
    if (!chunk)
        return;
    if (chunk->copying) {
        chunk->status = staging->options.cuda->wait(staging->options.device, chunk->ticket);
        chunk->copying = false;
    }
    chunk->lost |= lost;
    if (--chunk->users > 0)
        return;
    struct staged_chunk **link = &staging->chunks;
    while (*link != chunk)
        link = &(*link)->next;
    *link = chunk->next;
    staging_give(staging, chunk->memory, chunk->lost);
    free(chunk);
}

/* Start to fill a message's chunk, or to empty it. */
static int copy(struct strag_staging *staging, struct staged_message *message, bool fill)
{
    struct staged_chunk *chunk = message->chunk;
    int status = fill ? staging_copy(staging, STRAG_CUDA_FROM_DEVICE, chunk->memory,
                                     message->buffer, message->elements, &chunk->ticket)
                      : staging_copy(staging, STRAG_CUDA_TO_DEVICE, message->buffer, chunk->memory,
                                     message->elements, &chunk->ticket);
    chunk->copying = status == STRAG_OK;
    return status;
}

/* ---- The list ---- */

static struct staged_message *append(struct staged_transport *transport,
                                     const struct staged_message *what)
{
    struct staged_message *message = malloc(sizeof *message);
    if (!message)
        return NULL;
    *message = *what;
    message->next = NULL;
    *transport->last = message;
    transport->last = &message->next;
    return message;
}

/* Remove it from the list and from its chunk. */
static void take_out(struct staged_transport *transport, struct staged_message *message, bool lost)
{
    struct staged_message **link = &transport->messages;
    while (*link != message)
        link = &(*link)->next;
    *link = message->next;
    if (!message->next)
        transport->last = link;
    leave_chunk(transport->staging, message->chunk, lost);
    free(message);
}

static void finish(struct staged_transport *transport, struct staged_message *message, bool lost)
{
    struct strag_transfer *outer = message->outer;
    int status = message->status;
    take_out(transport, message, lost);
    outer->complete(outer, status);
}

/* Is a message of that direction not posted yet? */
static bool must_wait(const struct staged_transport *transport, bool send)
{
    const struct staged_message *message = transport->messages;
    while (message && (message->send != send || message->state > READY))
        message = message->next;
    return message;
}

/* ---- Posting ---- */

static int fly(struct staged_transport *transport, struct staged_message *message)
{
    struct strag_transport *inner = transport->inner;
    void *buffer = message->chunk ? message->chunk->memory : message->buffer;
    message->state = FLYING;
    return message->send
               ? inner->send(inner, &message->flight, message->peer, buffer, message->elements)
               : inner->recv(inner, &message->flight, message->peer, buffer, message->elements);
}

/* The chunk of another send of the same values, or a new one that is being filled. */
static int prepare_send(struct strag_staging *staging, struct staged_message *message)
{
    const uint64_t content = message->outer->content;
    message->chunk = content ? find_chunk(staging, message) : NULL;
    if (message->chunk) {
        message->chunk->users++;
    } else {
        message->chunk = take_chunk(staging, message->elements);
        int status = message->chunk ? copy(staging, message, true) : STRAG_ERR_MEMORY;
        if (status != STRAG_OK)
            return status;
        if (content) {
            message->chunk->content = content;
            message->chunk->buffer = message->buffer;
            message->chunk->number = ++staging->contents;
        }
    }
    message->flight.content = message->chunk->number;
    message->state = COPYING;
    return STRAG_OK;
}

/* A chunk to receive into, filled first where elements have gaps. */
static int prepare_recv(struct strag_staging *staging, struct staged_message *message)
{
    message->chunk = take_chunk(staging, message->elements);
    if (!message->chunk)
        return STRAG_ERR_MEMORY;
    if (!staging->options.span.gaps)
        return STRAG_OK;
    message->state = COPYING;
    return copy(staging, message, true);
}

static int prepare(struct strag_staging *staging, struct staged_message *message)
{
    if (staging_on_host(staging, message->buffer))
        return STRAG_OK;
    return message->send ? prepare_send(staging, message) : prepare_recv(staging, message);
}

static int post(struct strag_transport *base, struct strag_transfer *transfer, bool send, int peer,
                void *buffer, size_t elements)
{
    struct staged_transport *transport = own(base);
    struct staged_message message = {
        .flight = {.complete = landed},
        .outer = transfer,
        .state = READY,
        .send = send,
        .peer = peer,
        .buffer = buffer,
        .elements = elements,
    };
    bool waits = must_wait(transport, send);
    int status = prepare(transport->staging, &message);
    struct staged_message *posted = status == STRAG_OK ? append(transport, &message) : NULL;
    if (!posted) {
        leave_chunk(transport->staging, message.chunk, false);
        return status == STRAG_OK ? STRAG_ERR_MEMORY : status;
    }
    if (posted->state == COPYING || waits)
        return STRAG_OK;
    status = fly(transport, posted);
    if (status != STRAG_OK) /* it will never complete */
        take_out(transport, posted, false);
    return status;
}

static int staged_send(struct strag_transport *base, struct strag_transfer *transfer, int peer,
                       const void *buffer, size_t elements)
{
    return post(base, transfer, true, peer, (void *)(uintptr_t)buffer, elements);
}

static int staged_recv(struct strag_transport *base, struct strag_transfer *transfer, int peer,
                       void *buffer, size_t elements)
{
    return post(base, transfer, false, peer, buffer, elements);
}

/* ---- Progress ---- */

/* The inner transfer is complete. */
static void land(struct strag_staging *staging, struct staged_message *message)
{
    message->state = DONE;
    if (message->send || !message->chunk || message->status != STRAG_OK)
        return;
    message->status = copy(staging, message, false);
    if (message->status == STRAG_OK)
        message->state = LANDING;
}

/* Has the pending copy ended? */
static bool copied(const struct strag_staging *staging, struct staged_message *message)
{
    struct staged_chunk *chunk = message->chunk;
    if (chunk->copying) {
        chunk->status = staging->options.cuda->test(staging->options.device, chunk->ticket);
        chunk->copying = chunk->status == STRAG_PENDING;
    }
    if (chunk->copying)
        return false;
    message->status = chunk->status;
    if (message->status != STRAG_OK)
        message->state = DONE;
    return true;
}

/* Advance a message. @param[in,out] waits  by direction: an earlier one is not posted yet */
static void move(struct staged_transport *transport, struct staged_message *message, bool *waits)
{
    const struct strag_staging *staging = transport->staging;
    if (message->state == COPYING && copied(staging, message) && message->state == COPYING)
        message->state = READY;
    if (message->state == READY && !waits[message->send]) {
        int status = fly(transport, message);
        if (status != STRAG_OK) {
            message->status = status;
            message->state = DONE;
        }
    }
    if (message->state == LANDED)
        land(transport->staging, message);
    if (message->state == LANDING && copied(staging, message))
        message->state = DONE;
    waits[message->send] |= message->state <= READY;
}

static int staged_progress(struct strag_transport *base)
{
    struct staged_transport *transport = own(base);
    bool waits[2] = {false, false};
    int status = transport->inner->progress(transport->inner);
    struct staged_message *next;
    for (struct staged_message *message = transport->messages; message; message = next) {
        next = message->next;
        move(transport, message, waits);
        if (message->state == DONE)
            finish(transport, message, false);
    }
    return status;
}

/* The engine may use its buffer again as no copy is pending; a chunk into which a message may still
 * arrive is lost. */
static int staged_cancel(struct strag_transport *base, struct strag_transfer *transfer)
{
    struct staged_transport *transport = own(base);
    struct strag_transport *inner = transport->inner;
    struct staged_message *message = transport->messages;
    bool lost = false;
    while (message && message->outer != transfer)
        message = message->next;
    if (!message)
        return STRAG_ERR_ARGUMENT;
    if (message->state == FLYING)
        lost = inner->cancel(inner, &message->flight) != STRAG_OK;
    if (lost && !message->chunk) {
        take_out(transport, message, true);
        return STRAG_PENDING;
    }
    message->status = STRAG_ERR_TRANSPORT;
    finish(transport, message, lost);
    return STRAG_OK;
}

void staged_transport_init(struct staged_transport *transport, struct strag_staging *staging,
                           struct strag_transport *inner)
{
    *transport = (struct staged_transport){
        .super = {.send = staged_send,
                  .recv = staged_recv,
                  .progress = staged_progress,
                  .cancel = staged_cancel},
        .staging = staging,
        .inner = inner,
        .last = &transport->messages,
    };
}
