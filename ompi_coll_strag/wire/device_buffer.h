/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds buffers in a device's memory, and prepares calls on them. If there is no driver,
 * coll_strag_settings.devices is false, and only coll_strag_device_prepare is called.
 */
#ifndef COLL_STRAG_DEVICE_BUFFER_H
#define COLL_STRAG_DEVICE_BUFFER_H

#include "mpi/reducer.h"
#include "transport.h"

#include "device_reducer.h"
#include "run/engine.h"

/* Where a call's buffers are. Both are the same if the call is in place. */
struct coll_strag_buffer_locations {
    struct strag_cuda_location input, output;
};

/** When the component opens: set coll_strag_settings.devices if there can be a device. */
void coll_strag_device_prepare(void);

/** When the component closes. */
void coll_strag_device_close(void);

/** Is one of the buffers in a device's memory? Takes a few ns for buffers on the main thread's
 * stack or the heap. @param dtype  the data may begin far from the buffers' addresses */
bool coll_strag_device_find(const void *sbuf, const void *rbuf, ompi_datatype_t *dtype,
                            struct coll_strag_buffer_locations *locations);

/** Is a driver in use in this process, and does UCX accept its devices' memory? */
bool coll_strag_device_ucp(void);

/**
 * Does a call run in the device's memory? Each rank decides for itself. A warning is printed once
 * if only the transport or missing kernels prevent it.
 *
 * @param transport  the one over the network
 * @param shared     messages within the host go through memory that its ranks share
 * @param bytes      of the vector
 * @param[out] device_reducer  the engine's reducer, if the call does
 */
bool coll_strag_device_runs(const struct coll_strag_transport *transport, bool shared,
                            const struct coll_strag_buffer_locations *locations,
                            const struct coll_strag_reducer *reducer, size_t bytes,
                            struct strag_device_reducer *device_reducer);

/**
 * Prepare the engine's call, if it runs in the device's memory.
 *
 * @param[in,out] call  as for host memory; its input and reducer change
 * @return a status as the engine's functions return
 */
int coll_strag_device_begin(struct coll_strag_transport *transport,
                            const struct coll_strag_buffer_locations *locations,
                            struct strag_device_reducer *reducer, struct strag_call *call);

/* Copies, in pinned host memory, of buffers on a device. The call uses them instead. */
struct coll_strag_copies {
    const void *sbuf; /* the call's arguments */
    void *rbuf;
    void *memory[2]; /* copies of input and result; NULL for one that is not on a device */
    void *user_rbuf;
    size_t bytes;
    ptrdiff_t true_lb;
    bool keeps; /* the call needs some of the result buffer's previous content */
};

/** @return OMPI_SUCCESS; or an error, and no copies were made */
int coll_strag_copies_make(struct coll_strag_copies *copies,
                           const struct coll_strag_buffer_locations *locations, const void *sbuf,
                           void *rbuf, size_t count, ompi_datatype_t *dtype);

/** Copy from the device again, for another call. @param input  the user's */
int coll_strag_copies_again(const struct coll_strag_copies *copies,
                            const struct coll_strag_buffer_locations *locations, const void *input);

/** After the call: copy the result to the user's buffer. @return code, or an error */
int coll_strag_copies_back(const struct coll_strag_copies *copies,
                           const struct coll_strag_buffer_locations *locations, int code);

/** @param code  the call's: after an error a message may still arrive in the copies, and their
 * memory is never used again */
void coll_strag_copies_free(struct coll_strag_copies *copies,
                            const struct coll_strag_buffer_locations *locations, int code);

/** coll_strag_copies_back, then coll_strag_copies_free. */
int coll_strag_copies_end(struct coll_strag_copies *copies,
                          const struct coll_strag_buffer_locations *locations, int code);

#endif
