/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages from and to a device's memory over a transport that takes host memory only.
 *
 *     send        device > chunk        COPYING       recv     (gaps: device > chunk)   COPYING
 *                 posted                FLYING                 posted                   FLYING
 *                 complete                                     arrived                  LANDED
 *                                                              chunk > device           LANDING
 *                                                              complete
 *
 * Messages between two ranks match in the order of posting. What cannot be posted at once is
 * therefore posted in the order in which the engine wanted it, and what comes after it waits, even
 * if it needs no chunk itself. Sends wait for sends, receives for receives.
 */
#include "staging_internal.h"

#include <stdlib.h>

enum message_state { COPYING, READY, FLYING, LANDED, LANDING, DONE };

struct staged_message {
    struct strag_transfer flight; /* first: the completion finds the message by it */
    struct staged_message *next;
    struct strag_transfer *outer; /* the engine's */
    enum message_state state;
    bool send;
    int peer;
    void *buffer; /* the engine's */
    size_t elements;
    void *chunk; /* NULL: the buffer is in host memory */
    uint64_t ticket;
    int status;
};

static void landed(struct strag_transfer *flight, int status)
{
    struct staged_message *message = (struct staged_message *)flight;
    message->status = status;
    message->state = LANDED;
}

/* ---- The list ---- */

static struct staged_message *append(struct strag_staging *staging,
                                     const struct staged_message *what)
{
    struct staged_message *message = staging->free_messages;
    if (message)
        staging->free_messages = message->next;
    else
        message = malloc(sizeof *message);
    if (!message)
        return NULL;
    *message = *what;
    message->next = NULL;
    *staging->last = message;
    staging->last = &message->next;
    return message;
}

/* Take it out of the list, and give its chunk back. */
static void take_out(struct strag_staging *staging, struct staged_message *message, bool lost)
{
    struct staged_message **link = &staging->messages;
    while (*link != message)
        link = &(*link)->next;
    *link = message->next;
    if (!message->next)
        staging->last = link;
    staging_give(staging, message->chunk, lost);
    message->next = staging->free_messages;
    staging->free_messages = message;
}

static void finish(struct strag_staging *staging, struct staged_message *message, bool lost)
{
    struct strag_transfer *outer = message->outer;
    int status = message->status;
    take_out(staging, message, lost);
    outer->complete(outer, status);
}

/* Must a new message of that direction wait for one that is not posted yet? */
static bool must_wait(const struct strag_staging *staging, bool send)
{
    const struct staged_message *message = staging->messages;
    while (message && (message->send != send || message->state > READY))
        message = message->next;
    return message;
}

/* ---- Posting ---- */

static bool on_host(const struct strag_staging *staging, const void *buffer)
{
    const char *first = (const char *)buffer + staging->options.span.true_lb;
    return staging->host_begin && first >= staging->host_begin && first < staging->host_end;
}

static int fly(struct strag_staging *staging, struct staged_message *message)
{
    struct strag_transport *inner = staging->options.inner;
    void *buffer = message->chunk ? message->chunk : message->buffer;
    message->state = FLYING;
    return message->send
               ? inner->send(inner, &message->flight, message->peer, buffer, message->elements)
               : inner->recv(inner, &message->flight, message->peer, buffer, message->elements);
}

/* Get a chunk, and fill it if what is in it matters. */
static int prepare(struct strag_staging *staging, struct staged_message *message)
{
    message->chunk = staging_take(staging, message->elements);
    if (!message->chunk)
        return STRAG_ERR_MEMORY;
    if (!message->send && !staging->options.span.gaps)
        return STRAG_OK;
    int status = staging_copy(staging, STRAG_CUDA_FROM_DEVICE, message->chunk, message->buffer,
                              message->elements, &message->ticket);
    if (status == STRAG_OK)
        message->state = COPYING;
    return status;
}

static int post(struct strag_staging *staging, const struct staged_message *what)
{
    struct staged_message message = *what;
    bool waits = must_wait(staging, what->send);
    int status = on_host(staging, what->buffer) ? STRAG_OK : prepare(staging, &message);
    struct staged_message *posted = status == STRAG_OK ? append(staging, &message) : NULL;
    if (!posted) {
        if (message.state == COPYING)
            staging->options.cuda->wait(staging->options.device, message.ticket);
        staging_give(staging, message.chunk, false);
        return status == STRAG_OK ? STRAG_ERR_MEMORY : status;
    }
    if (posted->state == COPYING || waits)
        return STRAG_OK;
    status = fly(staging, posted);
    if (status != STRAG_OK) /* refused: nothing will complete */
        take_out(staging, posted, false);
    return status;
}

static int staged_send(struct strag_transport *base, struct strag_transfer *transfer, int peer,
                       const void *buffer, size_t elements)
{
    const struct staged_message message = {
        .flight = {landed, NULL},
        .outer = transfer,
        .state = READY,
        .send = true,
        .peer = peer,
        .buffer = (void *)(uintptr_t)buffer,
        .elements = elements,
    };
    return post(STAGING_OF(base, transport), &message);
}

static int staged_recv(struct strag_transport *base, struct strag_transfer *transfer, int peer,
                       void *buffer, size_t elements)
{
    const struct staged_message message = {
        .flight = {landed, NULL},
        .outer = transfer,
        .state = READY,
        .peer = peer,
        .buffer = buffer,
        .elements = elements,
    };
    return post(STAGING_OF(base, transport), &message);
}

/* ---- Moving along ---- */

/* It has arrived, or was sent. */
static void land(struct strag_staging *staging, struct staged_message *message)
{
    message->state = DONE;
    if (message->send || !message->chunk || message->status != STRAG_OK)
        return;
    message->status = staging_copy(staging, STRAG_CUDA_TO_DEVICE, message->buffer, message->chunk,
                                   message->elements, &message->ticket);
    if (message->status == STRAG_OK)
        message->state = LANDING;
}

/* Is the copy done that is under way? */
static bool copied(struct strag_staging *staging, struct staged_message *message)
{
    int status = staging->options.cuda->test(staging->options.device, message->ticket);
    if (status == STRAG_PENDING)
        return false;
    message->status = status;
    if (status != STRAG_OK)
        message->state = DONE;
    return true;
}

/* One message. @param[in,out] waits  by direction: an earlier one is not posted yet */
static void move(struct strag_staging *staging, struct staged_message *message, bool *waits)
{
    if (message->state == COPYING && copied(staging, message) && message->state == COPYING)
        message->state = READY;
    if (message->state == READY && !waits[message->send]) {
        int status = fly(staging, message);
        if (status != STRAG_OK) {
            message->status = status;
            message->state = DONE;
        }
    }
    if (message->state == LANDED)
        land(staging, message);
    if (message->state == LANDING && copied(staging, message))
        message->state = DONE;
    waits[message->send] |= message->state <= READY;
}

static int staged_progress(struct strag_transport *base)
{
    struct strag_staging *staging = STAGING_OF(base, transport);
    struct strag_transport *inner = staging->options.inner;
    bool waits[2] = {false, false};
    int status = inner->progress(inner);
    struct staged_message *next;
    for (struct staged_message *message = staging->messages; message; message = next) {
        next = message->next;
        move(staging, message, waits);
        if (message->state == DONE)
            finish(staging, message, false);
    }
    return status;
}

/* The engine's buffer is free as soon as no copy is under way; a chunk that a message may still
 * arrive in is given up. */
static int staged_cancel(struct strag_transport *base, struct strag_transfer *transfer)
{
    struct strag_staging *staging = STAGING_OF(base, transport);
    const struct strag_staging_options *options = &staging->options;
    struct staged_message *message = staging->messages;
    bool lost = false;
    while (message && message->outer != transfer)
        message = message->next;
    if (!message)
        return STRAG_ERR_ARGUMENT;
    if (message->state == COPYING || message->state == LANDING)
        options->cuda->wait(options->device, message->ticket);
    if (message->state == FLYING)
        lost = options->inner->cancel(options->inner, &message->flight) != STRAG_OK;
    if (lost && !message->chunk) {
        take_out(staging, message, true);
        return STRAG_PENDING;
    }
    message->status = STRAG_ERR_TRANSPORT;
    finish(staging, message, lost);
    return STRAG_OK;
}

void staged_transport_init(struct strag_staging *staging)
{
    staging->last = &staging->messages;
    staging->transport = (struct strag_transport){.send = staged_send,
                                                  .recv = staged_recv,
                                                  .progress = staged_progress,
                                                  .cancel = staged_cancel};
}

void staged_transport_free(struct strag_staging *staging)
{
    while (staging->free_messages) {
        struct staged_message *message = staging->free_messages;
        staging->free_messages = message->next;
        free(message);
    }
}
