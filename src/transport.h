/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the engine needs of a network. Implemented by loopback.c (tests), and by the component over
 * Open MPI's PML.
 *
 * Messages between two ranks must match in the order of posting. A transport moves elements; how
 * large one is, and how it is packed, is the transport's own knowledge.
 */
#ifndef STRAG_TRANSPORT_H
#define STRAG_TRANSPORT_H

#include <stddef.h>

/* One message in flight; the engine owns it and leaves it alone until it is complete. */
struct strag_transfer {
    /* Called once, from send, recv, progress or cancel. status: STRAG_OK or an error. It only takes
     * note: the engine posts nothing from inside it. */
    void (*complete)(struct strag_transfer *transfer, int status);
    void *handle; /* for the transport */
};

struct strag_transport {
    /**
     * Post a message. The buffer stays untouched (send) or unread (recv) until completion.
     *
     * @param peer      rank of the other side
     * @param buffer    address of the first element
     * @param elements  at least 1
     * @return STRAG_OK, then `complete` is called exactly once; or an error, then it never is
     */
    int (*send)(struct strag_transport *transport, struct strag_transfer *transfer, int peer,
                const void *buffer, size_t elements);
    int (*recv)(struct strag_transport *transport, struct strag_transfer *transfer, int peer,
                void *buffer, size_t elements);

    /** Move things along; calls `complete` for what is done. @return STRAG_OK or an error */
    int (*progress)(struct strag_transport *transport);

    /**
     * Give up a message after an error. Either `complete` is called before this returns, and the
     * buffer is free again, or STRAG_PENDING is returned: the transport could not stop the message;
     * `complete` will never be called, and the buffer must not be reused or freed.
     */
    int (*cancel)(struct strag_transport *transport, struct strag_transfer *transfer);
};

#endif
