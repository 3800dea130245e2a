/* SPDX-License-Identifier: BSD-3-Clause */
#include "carrier.h"

#include "base/status.h"
#include "support.h"

#include <stdlib.h>
#include <string.h>

enum { ROOM = 8 }; /* messages on their way, up to which a send is complete at once */

static struct carrier *own(struct strag_transport *transport)
{
    return (struct carrier *)transport;
}

/* ---- Values in and out ---- */

/* As UCX does it: done on return. */
static void copy(const struct carrier *carrier, void *out, const void *in, size_t bytes)
{
    if (carrier->gpu) {
        assert_true(gpu_copy(carrier->gpu, out, in, bytes));
        assert_int_equal(carrier->gpu->wait_stream(GPU_STREAM_LEGACY), 0);
    } else
        memcpy(out, in, bytes); /* of a device's memory: the end of this process */
}

static void pack(const struct carrier *carrier, char *chunk, const char *buffer, size_t elements)
{
    if (carrier->extent == sizeof(float))
        copy(carrier, chunk, buffer, elements * sizeof(float));
    for (size_t i = 0; i < elements && carrier->extent != sizeof(float); i++)
        memcpy(chunk + i * sizeof(float), buffer + i * carrier->extent, sizeof(float));
}

static void unpack(const struct carried *c)
{
    const size_t extent = c->carrier->extent;
    if (extent == sizeof(float))
        copy(c->carrier, c->buffer, c->chunk, c->elements * sizeof(float));
    for (size_t i = 0; i < c->elements && extent != sizeof(float); i++)
        memcpy(c->buffer + i * extent, c->chunk + i * sizeof(float), sizeof(float));
}

/* The values of such a number at that address: read when they are first sent. */
static const char *keep(struct carrier *carrier, uint64_t content, const void *buffer,
                        size_t elements)
{
    for (int k = 0; k < carrier->nkept; k++) {
        const struct kept *kept = &carrier->kept[k];
        if (kept->content != content || kept->buffer != buffer || kept->elements != elements)
            continue;
        carrier->shared++;
        return kept->values;
    }
    if (carrier->nkept == CARRIER_KEPT)
        return NULL;
    struct kept *kept = &carrier->kept[carrier->nkept++];
    *kept = (struct kept){content, buffer, elements, malloc(elements * sizeof(float))};
    assert_non_null(kept->values);
    pack(carrier, kept->values, buffer, elements);
    return kept->values;
}

static void fill(struct carried *c, uint64_t content)
{
    struct carrier *carrier = c->carrier;
    const char *values =
        content && !carrier->gpu ? keep(carrier, content, c->buffer, c->elements) : NULL;
    if (values)
        memcpy(c->chunk, values, c->elements * sizeof(float));
    else
        pack(carrier, c->chunk, c->buffer, c->elements);
}

/* ---- Messages ---- */

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
    if (!c->send && !c->in_place && status == STRAG_OK)
        unpack(c);
    if (c->in_place && status == STRAG_OK) {
        outer->arrived = flight->arrived;
        outer->handle = c;
        c->carrier->in_place++;
    } else {
        forget(c);
    }
    if (outer)
        outer->complete(outer, status);
}

static int on_their_way(const struct carrier *carrier)
{
    int messages = 0;
    for (int i = 0; i < CARRIER_MESSAGES; i++)
        messages += carrier->messages[i].used && carrier->messages[i].send;
    return messages;
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
    if (buffer) {
        c->chunk = malloc(elements * sizeof(float));
        assert_non_null(c->chunk);
    }
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
    bool room = !carrier->gpu && on_their_way(carrier) < ROOM;
    struct carried *c = carry(carrier, transfer, buffer, elements);
    c->send = true;
    fill(c, transfer->content);
    if (room)
        c->outer = NULL;
    int status =
        posted(c, carrier->inner->send(carrier->inner, &c->flight, peer, c->chunk, elements));
    if (room && status == STRAG_OK)
        transfer->complete(transfer, STRAG_OK);
    return status;
}

static int carrier_recv(struct strag_transport *base, struct strag_transfer *transfer, int peer,
                        void *buffer, size_t elements)
{
    struct carrier *carrier = own(base);
    struct carried *c = carry(carrier, transfer, buffer, elements);
    return posted(c, carrier->inner->recv(carrier->inner, &c->flight, peer, c->chunk, elements));
}

static int carrier_recv_in_place(struct strag_transport *base, struct strag_transfer *transfer,
                                 int peer, size_t elements)
{
    struct carrier *carrier = own(base);
    struct carried *c = carry(carrier, transfer, NULL, elements);
    c->in_place = true;
    return posted(c, carrier->inner->recv_in_place(carrier->inner, &c->flight, peer, elements));
}

static void carrier_release(struct strag_transport *base, struct strag_transfer *transfer)
{
    struct carried *c = transfer->handle;
    own(base)->inner->release(own(base)->inner, &c->flight);
    forget(c);
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

void carrier_init(struct carrier *carrier, struct strag_transport *inner, const struct gpu *gpu,
                  size_t extent)
{
    *carrier = (struct carrier){
        .super = {.send = carrier_send,
                  .recv = carrier_recv,
                  .progress = carrier_progress,
                  .cancel = carrier_cancel},
        .inner = inner,
        .gpu = gpu,
        .extent = extent,
    };
    if (!gpu && extent == sizeof(float) && inner->recv_in_place) {
        carrier->super.recv_in_place = carrier_recv_in_place;
        carrier->super.release = carrier_release;
    }
}

void carrier_clear(struct carrier *carrier)
{
    for (int i = 0; i < CARRIER_MESSAGES; i++) {
        if (carrier->messages[i].used)
            forget(&carrier->messages[i]);
    }
    while (carrier->nkept > 0)
        free(carrier->kept[--carrier->nkept].values);
}
