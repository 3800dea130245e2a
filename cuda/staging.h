/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For an engine on a vector in device memory: a reducer, and transports in place of those that
 * cannot access device memory. The lanes of a call may differ: ranks of a host communicate through
 * shared memory in host memory, while UCX sends to other hosts from the device.
 *
 *     transport takes     the device          a segment's way
 *     device memory       reduces it
 *     yes                 yes                 network > device
 *     yes                 no                  network > host, reduced there with a copy > device
 *     no                  yes                 network > pinned chunk > device
 *     no                  no                  network > host, reduced there with a copy > device
 *
 * Pinned chunks are as long as a segment, and there are at most as many as the engine has messages
 * in flight, for any length of the vector; what is sent to several ranks is copied to the host
 * once. Copies are asynchronous, so some segments are in flight while others are copied and
 * reduced. Messages are the same as with host memory, where other ranks' vectors may be.
 *
 * The vector is in place (input and output of the call are the same), unless the device reduces.
 */
#ifndef STRAG_CUDA_STAGING_H
#define STRAG_CUDA_STAGING_H

#include "run/engine.h"
#include "run/reducer.h"
#include "run/transport.h"
#include "strag_cuda.h"

/* The layout of an element. */
struct strag_span {
    ptrdiff_t extent;      /* bytes from one element to the next */
    ptrdiff_t true_lb;     /* from the element's origin to its data */
    ptrdiff_t true_extent; /* from its first byte to its last; at most the extent */
    bool gaps;             /* other bytes in between, which must not change */
};

struct strag_staging_options {
    const struct strag_cuda *cuda;
    struct strag_cuda_device *device;
    struct strag_span span;

    bool on_device; /* the device reduces: */
    enum strag_cuda_op op;
    enum strag_cuda_type type;
    struct strag_reducer *host; /* else: in host memory, synchronously */
};

struct strag_staging;

/** For one call. @return NULL when out of memory */
struct strag_staging *strag_staging_create(const struct strag_staging_options *options);

/** NULL is allowed. The call has ended. */
void strag_staging_free(struct strag_staging *staging);

/** The engine's reducer. */
struct strag_reducer *strag_staging_reducer(struct strag_staging *staging);

/**
 * The engine's transport in place of one that needs host memory. It has no messages in place.
 *
 * @param inner  one of at most STRAG_LANES; the same one gives the same transport
 */
struct strag_transport *strag_staging_transport(struct strag_staging *staging,
                                                struct strag_transport *inner);

/**
 * out = in, between any two memories; done on return.
 *
 * @return STRAG_OK, STRAG_ERR_MEMORY or STRAG_ERR_REDUCE
 */
int strag_staging_copy(struct strag_staging *staging, void *out, const void *in, size_t elements);

#endif
