/* SPDX-License-Identifier: BSD-3-Clause */
#include "carrier.h"

#include "base/status.h"
#include "support.h"

#include <stdlib.h>

static struct carrier *own(struct strag_transport *transport)
{
    return (struct carrier *)transport;
}

/* As UCX does it: done on return. */
static void copy(const struct carrier *carrier, void *out, const void *in, size_t elements)
{
    assert_true(gpu_copy(carrier->gpu, out, in, elements * sizeof(float)));
    assert_int_equal(carrier->gpu->wait_stream(DRIVER_STREAM_LEGACY), 0);
}

static void forget(struct carried *c)
{
    free(c->chunk);
    c->chunk = NULL;
    c->used = false;
}

static void carried_complete(struct strag_transfer *flight, int status)
{
    struct carried *c = (struct carried *)flight;
    struct strag_transfer *outer = c->outer;
    if (!c->send && status == STRAG_OK)
        copy(c->carrier, c->buffer, c->chunk, c->elements);
    forget(c);
    outer->complete(outer, status);
}

static struct carried *carry(struct carrier *carrier, struct strag_transfer *outer,
                             const void *buffer, size_t elements)
{
    struct carried *c = carrier->messages;
    while (c < carrier->messages + CARRIER_MESSAGES && c->used)
        c++;
    assert_true(c < carrier->messages + CARRIER_MESSAGES);
    *c = (struct carried){
        .flight = {.complete = carried_complete},
        .carrier = carrier,
        .outer = outer,
        .buffer = (char *)(uintptr_t)buffer,
        .elements = elements,
        .used = true,
    };
    c->chunk = malloc(elements * sizeof(float));
    assert_non_null(c->chunk);
    return c;
}

static int posted(struct carried *c, int status)
{
    if (status != STRAG_OK)
        forget(c);
    return status;
}

static int carrier_send(struct strag_transport *base, struct strag_transfer *transfer, int peer,
                        const void *buffer, size_t elements)
{
    struct carrier *carrier = own(base);
    struct carried *c = carry(carrier, transfer, buffer, elements);
    c->send = true;
    copy(carrier, c->chunk, buffer, elements);
    return posted(c, carrier->inner->send(carrier->inner, &c->flight, peer, c->chunk, elements));
}

static int carrier_recv(struct strag_transport *base, struct strag_transfer *transfer, int peer,
                        void *buffer, size_t elements)
{
    struct carrier *carrier = own(base);
    struct carried *c = carry(carrier, transfer, buffer, elements);
    return posted(c, carrier->inner->recv(carrier->inner, &c->flight, peer, c->chunk, elements));
}

static int carrier_progress(struct strag_transport *base)
{
    struct strag_transport *inner = own(base)->inner;
    return inner->progress(inner);
}

static int carrier_cancel(struct strag_transport *base, struct strag_transfer *transfer)
{
    struct carrier *carrier = own(base);
    struct carried *c = carrier->messages;
    while (c < carrier->messages + CARRIER_MESSAGES && !(c->used && c->outer == transfer))
        c++;
    if (c == carrier->messages + CARRIER_MESSAGES)
        return STRAG_ERR_ARGUMENT;
    int status = carrier->inner->cancel(carrier->inner, &c->flight);
    if (status == STRAG_PENDING)
        forget(c); /* the loopback does not write to it after its end */
    return status;
}

/* ---- A carrier's life ---- */

void carrier_init(struct carrier *carrier, struct strag_transport *inner, const struct gpu *gpu)
{
    *carrier = (struct carrier){
        .super = {.send = carrier_send,
                  .recv = carrier_recv,
                  .progress = carrier_progress,
                  .cancel = carrier_cancel},
        .inner = inner,
        .gpu = gpu,
    };
}

void carrier_clear(struct carrier *carrier)
{
    for (int i = 0; i < CARRIER_MESSAGES; i++) {
        if (carrier->messages[i].used)
            forget(&carrier->messages[i]);
    }
}
