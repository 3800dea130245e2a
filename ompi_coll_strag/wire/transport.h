/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the engine's transports over a network have in common: one for each communicator, which
 * carries one call at a time. Messages in flight are in a small array, which is scanned for
 * completed ones.
 */
#ifndef COLL_STRAG_TRANSPORT_H
#define COLL_STRAG_TRANSPORT_H

#include "compat/compat.h"

#include "user/settings.h"

#include "base/status.h"
#include "run/transport.h"

/* Messages within a host are cut in another way than those to other hosts. */
enum coll_strag_lane { COLL_STRAG_MEMORY, COLL_STRAG_NETWORK };

/* Where a call's buffers are; ANYWHERE: some are managed by the driver, and UCX has to look. */
enum coll_strag_buffers { COLL_STRAG_HOST, COLL_STRAG_DEVICE, COLL_STRAG_ANYWHERE };

struct coll_strag_message {
    struct strag_transfer *transfer;
    void *request; /* the PML's or UCX's */
    int peer;
    bool send;
    size_t bytes; /* of data */

    /* over the PML */
    int32_t host; /* of a send that the meter is to know of; else -1 */

    /* over UCX */
    int status;      /* ucs_status_t */
    size_t received; /* bytes, of a receive that is complete */
    void *packed;    /* temporary space, or NULL */
    void *buffer;    /* with `packed`: where the elements are */
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
    bool polls;      /* as in coll_strag_transport_begin */
    uint64_t number; /* as there */
    uint32_t shape;  /* as there */
    int mpi_error;   /* the first one, ... */
    int other;       /* ... and if it is that a message had another length: its sender, else -1, */
    size_t expected, received; /* bytes */
    unsigned moves;     /* messages that were complete, in all calls; atomic, for other threads */
    unsigned draining;  /* 1 + the call that has failed and waits for its messages; likewise */
    uint64_t doomed;    /* 1 + the call that coll_strag_transport_doom ends; 0: none; atomic */
    int doom;           /* ... with this MPI error */
    double drain_until; /* seconds: 0 until a message of the call has to be given up */
};

/** Get ready for a call. @param number  as in struct coll_strag_call; 0: in none
 * @param shape  the same on all ranks if they make the same call: messages of another one are not
 *               taken for this one's
 * @param polls  its progress is called from opal_progress: it looks, and does not call that itself
 */
void coll_strag_transport_begin(struct coll_strag_transport *transport, uint64_t number,
                                uint32_t shape, ompi_datatype_t *dtype, size_t size, bool polls);

/** A message is complete. */
static inline void coll_strag_transport_moved(struct coll_strag_transport *transport)
{
    __atomic_store_n(&transport->moves, transport->moves + 1, __ATOMIC_RELAXED);
}

/** Let a call fail at its next progress, unless it ends before. Any thread may ask for it. */
void coll_strag_transport_doom(struct coll_strag_transport *transport, uint64_t number,
                               int mpi_error);

/** Is the call to fail, or has the communicator failed? To be asked in the call's progress.
 * @return STRAG_OK or STRAG_ERR_TRANSPORT */
int coll_strag_transport_check(struct coll_strag_transport *transport);

/** Keep the first error. @return STRAG_ERR_TRANSPORT */
int coll_strag_transport_failed(struct coll_strag_transport *transport, int mpi_error);

/** A message had another length than it should have. @return as coll_strag_transport_failed */
int coll_strag_transport_differs(struct coll_strag_transport *transport, int peer, size_t expected,
                                 size_t received);

/** Room for one more message. @return false: out of memory */
bool coll_strag_transport_reserve(struct coll_strag_transport *transport);

/** Take a message out of the array. @return false: there is none of this transfer */
bool coll_strag_transport_take(struct coll_strag_transport *transport,
                               const struct strag_transfer *transfer,
                               struct coll_strag_message *message);

/** After an error: is there time left to wait for messages that cannot be cancelled any more? For
 * all of a call together. */
bool coll_strag_transport_drains(struct coll_strag_transport *transport);

/** Seconds of a clock that only goes forward. */
double coll_strag_seconds(void);

/** Copy elements between where the user has them and where their data lies back to back.
 * @param pack  to the latter @return whether that was possible */
bool coll_strag_convert(bool pack, ompi_datatype_t *dtype, const void *elements, size_t count,
                        const void *packed);

#endif
