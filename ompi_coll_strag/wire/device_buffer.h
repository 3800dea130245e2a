/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Buffers in a device's memory: finding out, and what a call on them needs. If there is no driver,
 * coll_strag_settings.devices is false, and nothing of this is ever called.
 */
#ifndef COLL_STRAG_DEVICE_BUFFER_H
#define COLL_STRAG_DEVICE_BUFFER_H

#include "mpi/reducer.h"
#include "transport.h"

#include "run/engine.h"
#include "staging.h"
#include "strag_cuda.h"

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

/** Is a driver in use in this process, and the plug-in open? */
bool coll_strag_device_open(void);

/**
 * Let the engine's call run on the buffers where they are.
 *
 * @param[in,out] call  as for host memory; its input, transport and reducer change
 * @param[out] staging  what the call needs, to be freed by strag_staging_free; or NULL
 * @return as the engine's functions
 */
int coll_strag_device_begin(struct coll_strag_transport *transport,
                            const struct coll_strag_buffer_locations *locations,
                            const struct coll_strag_reducer *reducer, size_t size,
                            struct strag_call *call, struct strag_staging **staging);

/** Can the engine run on elements of that type where they are? Not if they reach into each other.
 */
bool coll_strag_device_suits(ompi_datatype_t *dtype);

/* Copies in host memory of what is on a device, for calls that others run. */
struct coll_strag_copies {
    const void *sbuf; /* what to call with */
    void *rbuf;
    void *memory[2]; /* of the copies, or NULL */
    void *user_rbuf;
    size_t bytes;
    ptrdiff_t true_lb;
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

void coll_strag_copies_free(struct coll_strag_copies *copies);

/** Both of these. */
int coll_strag_copies_end(struct coll_strag_copies *copies,
                          const struct coll_strag_buffer_locations *locations, int code);

#endif
