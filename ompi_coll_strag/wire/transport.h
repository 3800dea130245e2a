/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The common part of the engine's transports over a network. Each communicator has a transport of
 * its own, which carries one call at a time. Messages in flight are in a small array, which is
 * scanned for completed ones.
 */
#ifndef COLL_STRAG_TRANSPORT_H
#define COLL_STRAG_TRANSPORT_H

#include "compat/compat.h"

#include "user/settings.h"

#include "base/status.h"
#include "run/transport.h"

/* Messages within a host have another size than those between hosts. */
enum coll_strag_lane { COLL_STRAG_MEMORY, COLL_STRAG_NETWORK };

/* Where a call's buffers are. ANYWHERE means that the driver manages some: UCX has to look. */
enum coll_strag_buffers { COLL_STRAG_HOST, COLL_STRAG_DEVICE, COLL_STRAG_ANYWHERE };

struct coll_strag_message {
    struct strag_transfer *transfer;
    void *request; /* the PML's or UCX's */
    int peer;
    bool send;
    size_t bytes; /* of data */

    /* over the PML */
    int32_t host; /* the receiver's, for a send that is metered; else -1 */

    /* over UCX */
    int status;      /* ucs_status_t */
    size_t received; /* bytes, of a receive that is complete */
    void *packed;    /* temporary space; NULL if the elements have no gaps */
    void *buffer;    /* with `packed`: the address of the elements */
    size_t elements;
};

struct coll_strag_transport {
    struct strag_transport super;
    enum coll_strag_transport_kind kind;
    ompi_communicator_t *comm;
    struct coll_strag_message *messages;
    size_t nmessages, room;

    /* the call */
    ompi_datatype_t *dtype;
    size_t size; /* bytes of data in an element */
    enum coll_strag_buffers buffers;
    bool polls; /* this and the next two: as in coll_strag_transport_begin */
    uint64_t number;
    uint32_t shape;
    int mpi_error; /* the first one */
    int other; /* the sender of a message of another length, if that is the first error; or -1 */
    size_t expected, received; /* bytes of that message */
    unsigned moves;            /* completed messages, in all calls; atomic, for other threads */
    unsigned draining;  /* 1 + the failed call that waits for its messages; 0 if none; atomic */
    uint64_t doomed;    /* 1 + the call that coll_strag_transport_doom ends; 0 if none; atomic */
    int doom;           /* ... with this MPI error */
    double drain_until; /* when waiting ends, seconds; 0 until a message has to be given up */
};

/** Prepare for a call. @param number  as in struct coll_strag_call; 0 if outside of calls
 * @param shape  a hash of the call, the same on all ranks that make the same call: keeps its
 *               messages apart from those of another call
 * @param polls  progress is called from opal_progress, so it must not call opal_progress itself */
void coll_strag_transport_begin(struct coll_strag_transport *transport, uint64_t number,
                                uint32_t shape, ompi_datatype_t *dtype, size_t size, bool polls);

/** Count a message that is complete. */
static inline void coll_strag_transport_moved(struct coll_strag_transport *transport)
{
    __atomic_store_n(&transport->moves, transport->moves + 1, __ATOMIC_RELAXED);
}

/** Let a call fail at its next progress, unless it ends before. May be called by any thread. */
void coll_strag_transport_doom(struct coll_strag_transport *transport, uint64_t number,
                               int mpi_error);

/** Is the call doomed, or has the communicator failed? Checked in the call's progress.
 * @return STRAG_OK or STRAG_ERR_TRANSPORT */
int coll_strag_transport_check(struct coll_strag_transport *transport);

/** Keep the first error. @return STRAG_ERR_TRANSPORT */
int coll_strag_transport_failed(struct coll_strag_transport *transport, int mpi_error);

/** A message had an unexpected length. @return as coll_strag_transport_failed */
int coll_strag_transport_differs(struct coll_strag_transport *transport, int peer, size_t expected,
                                 size_t received);

/** Make room for one more message. @return false if out of memory */
bool coll_strag_transport_reserve(struct coll_strag_transport *transport);

/** Take a transfer's message out of the array. @return false if there is none */
bool coll_strag_transport_take(struct coll_strag_transport *transport,
                               const struct strag_transfer *transfer,
                               struct coll_strag_message *message);

/** After an error: is there time left to wait for messages that cannot be cancelled any more? All
 * messages of a call share the time. */
bool coll_strag_transport_drains(struct coll_strag_transport *transport);

/** Seconds of a monotonic clock. */
double coll_strag_seconds(void);

/** Copy elements between the user's layout and contiguous data.
 * @param pack  to contiguous data, else from it @return whether that was possible */
bool coll_strag_convert(bool pack, ompi_datatype_t *dtype, const void *elements, size_t count,
                        const void *packed);

#endif
