/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What lets the engine run on a vector in a device's memory: a reducer, and transports in place of
 * those that cannot take device memory. Each lane of a call may have another one: a host's ranks
 * share memory, which is the host's, while UCX takes messages to other hosts from the device.
 *
 *     transport takes     the device          a segment's way
 *     device memory       reduces it
 *     yes                 yes                 network > device
 *     yes                 no                  network > host, reduced there with a copy > device
 *     no                  yes                 network > pinned chunk > device
 *     no                  no                  network > host, reduced there with a copy > device
 *
 * Pinned chunks are as long as a segment, and there are at most as many as the engine has messages
 * in flight, however long the vector is; what goes to several ranks is copied to the host once.
 * All copies go on by themselves, so that some segments travel while others are copied and
 * reduced. The messages are those that host memory would send: other ranks' vectors may be there.
 *
 * The vector itself is in place (input and output of the call are the same), unless the device
 * reduces.
 */
#ifndef STRAG_CUDA_STAGING_H
#define STRAG_CUDA_STAGING_H

#include "run/engine.h"
#include "run/reducer.h"
#include "run/transport.h"
#include "strag_cuda.h"

/* Where an element's data is. */
struct strag_span {
    ptrdiff_t extent;      /* bytes from one element to the next */
    ptrdiff_t true_lb;     /* where the data begins, seen from the element's origin */
    ptrdiff_t true_extent; /* from its first byte to its last; at most the extent */
    bool gaps;             /* bytes in between are not the element's, and must not change */
};

struct strag_staging_options {
    const struct strag_cuda *cuda;
    struct strag_cuda_device *device;
    struct strag_span span;

    bool on_device; /* the device reduces: */
    enum strag_cuda_op op;
    enum strag_cuda_type type;
    struct strag_reducer *host; /* else: in host memory, at once */
};

struct strag_staging;

/** For one call. @return NULL when out of memory */
struct strag_staging *strag_staging_create(const struct strag_staging_options *options);

/** NULL is allowed. The call has ended. */
void strag_staging_free(struct strag_staging *staging);

/** What to give to the engine. */
struct strag_reducer *strag_staging_reducer(struct strag_staging *staging);

/**
 * What to give to the engine in place of a transport that takes host memory only. It offers no
 * messages in place.
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
