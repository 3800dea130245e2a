/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Buffers in a device's memory: finding out, and what a call on them needs. If there is no driver,
 * coll_strag_settings.devices is false, and nothing of this is ever called.
 */
#ifndef COLL_STRAG_DEVICE_BUFFER_H
#define COLL_STRAG_DEVICE_BUFFER_H

#include "mpi/reducer.h"
#include "transport.h"

#include "device_reducer.h"
#include "run/engine.h"

/* Where a call's buffers are. In place: both the same. */
struct coll_strag_buffer_locations {
    struct strag_cuda_location input, output;
};

/** At the start: can there be a device? Sets coll_strag_settings.devices. */
void coll_strag_device_prepare(void);

/** At the end. */
void coll_strag_device_close(void);

/** Is one of the buffers in a device's memory? A few ns for what is on the main thread's stack or
 * the heap. @param dtype  whose data may begin far from the buffers' addresses */
bool coll_strag_device_find(const void *sbuf, const void *rbuf, ompi_datatype_t *dtype,
                            struct coll_strag_buffer_locations *locations);

/** Is a driver in use in this process, and does UCX take its devices' memory? */
bool coll_strag_device_ucp(void);

/**
 * Does a call run in the device's memory? Each rank decides for itself. If only the transport or
 * the missing kernels are against it, that is said once.
 *
 * @param transport  over the network
 * @param shared     messages within the host go through memory that its ranks share
 * @param bytes      of the vector
 * @param[out] device_reducer  what the engine reduces with, if it does
 */
bool coll_strag_device_runs(const struct coll_strag_transport *transport, bool shared,
                            const struct coll_strag_buffer_locations *locations,
                            const struct coll_strag_reducer *reducer, size_t bytes,
                            struct strag_device_reducer *device_reducer);

/**
 * Then get the engine's call ready.
 *
 * @param[in,out] call  as for host memory; its input and reducer change
 * @return as the engine's functions
 */
int coll_strag_device_begin(struct coll_strag_transport *transport,
                            const struct coll_strag_buffer_locations *locations,
                            struct strag_device_reducer *reducer, struct strag_call *call);

/* Copies in pinned host memory of what is on a device, to call with instead. */
struct coll_strag_copies {
    const void *sbuf; /* what to call with */
    void *rbuf;
    void *memory[2]; /* of the input and of the result; NULL: that is the user's */
    void *user_rbuf;
    size_t bytes;
    ptrdiff_t true_lb;
    bool keeps; /* something of what is in the result's buffer before the call */
};

/** @return OMPI_SUCCESS, or an error and there are none */
int coll_strag_copies_make(struct coll_strag_copies *copies,
                           const struct coll_strag_buffer_locations *locations, const void *sbuf,
                           void *rbuf, size_t count, ompi_datatype_t *dtype);

/** The same copies for another call: what is on the device has changed. @param input  the user's */
int coll_strag_copies_again(const struct coll_strag_copies *copies,
                            const struct coll_strag_buffer_locations *locations, const void *input);

/** The call has ended: the result goes to where the user wants it. @return code, or an error */
int coll_strag_copies_back(const struct coll_strag_copies *copies,
                           const struct coll_strag_buffer_locations *locations, int code);

/** @param code  of the call: after an error a message may still arrive in them, and they are never
 * used again */
void coll_strag_copies_free(struct coll_strag_copies *copies,
                            const struct coll_strag_buffer_locations *locations, int code);

/** Both of these. */
int coll_strag_copies_end(struct coll_strag_copies *copies,
                          const struct coll_strag_buffer_locations *locations, int code);

#endif
