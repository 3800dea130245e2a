/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The engine's interface to a network. Implemented by shm/shm.c, by the component over Open MPI's
 * PML and over UCX, and by the tests' loopback.
 *
 * Messages between two ranks must match in the order of posting. A transport moves elements; only
 * the transport knows how large an element is, and how it is packed.
 */
#ifndef STRAG_TRANSPORT_H
#define STRAG_TRANSPORT_H

#include <stddef.h>
#include <stdint.h>

/* One message in flight. The engine owns it, and does not change it until it is complete. */
struct strag_transfer {
    /* Called once, from send, recv, progress or cancel. status: STRAG_OK or an error. It only
     * records the status: the engine posts no message from inside it. */
    void (*complete)(struct strag_transfer *transfer, int status);
    void *handle; /* for the transport */

    /* Once recv_in_place is complete: the elements, aligned for any type. NULL after an error. */
    const void *arrived;

    /* Sends of a call with the same number other than 0, the same buffer and the same length have
     * the same values: a transport may keep one copy for all of them. */
    uint64_t content;
};

struct strag_transport {
    /**
     * Post a message. The buffer stays untouched (send) or unread (recv) until completion.
     *
     * @param peer      rank of the other side
     * @param buffer    address of the first element
     * @param elements  at least 1
     * @return STRAG_OK, and `complete` is called exactly once; or an error, and it never is
     */
    int (*send)(struct strag_transport *transport, struct strag_transfer *transfer, int peer,
                const void *buffer, size_t elements);
    int (*recv)(struct strag_transport *transport, struct strag_transfer *transfer, int peer,
                void *buffer, size_t elements);

    /** Make progress, and call `complete` for completed messages. @return STRAG_OK or an error */
    int (*progress)(struct strag_transport *transport);

    /**
     * Give up a message after an error. Either `complete` is called before this returns, and the
     * buffer is free again, or STRAG_PENDING is returned: the transport could not stop the message;
     * `complete` will never be called, and the buffer must not be reused or freed.
     */
    int (*cancel)(struct strag_transport *transport, struct strag_transfer *transfer);

    /*
     * A transport whose messages arrive in memory of its own may let them be read there. Both
     * functions are NULL if it does not.
     *
     * recv_in_place is recv without a buffer: when it has completed with STRAG_OK,
     * transfer->arrived points to the elements, which may be read but not written, until they are
     * released. They must be released once, in any order, and as soon as possible: they may use the
     * room of the peer's next message. Until then progress may move them, and change
     * transfer->arrived. Do not release after an error, or when cancel returned STRAG_PENDING.
     */
    int (*recv_in_place)(struct strag_transport *transport, struct strag_transfer *transfer,
                         int peer, size_t elements);
    void (*release)(struct strag_transport *transport, struct strag_transfer *transfer);

    /*
     * A transport may also transfer short messages immediately (in_order.h); try_send is NULL if it
     * does not in this call. These messages are in one order with those of the functions above: a
     * message sent by try_send may be received by recv, and the other way round. A rank that uses
     * these functions has no other message in flight.
     *
     * When try_send returns STRAG_OK, the values have left the buffer; `content` is as in struct
     * strag_transfer. try_recv returns the address of a peer's next message, which must be released
     * by release_recv before the peer's following message is asked for. Both return STRAG_PENDING
     * if that is not possible now: call progress and try again.
     *
     * hint_wait may be NULL. It is called once, whenever try_recv or try_send is not possible, with
     * the ranks from which the caller needs a message before its next send or its end (bit r: rank
     * r; ranks from 64 on are left out). `ranks` is 0 if it waits for room or for such ranks only.
     */
    int (*try_send)(struct strag_transport *transport, int peer, const void *buffer,
                    size_t elements, uint64_t content);
    int (*try_recv)(struct strag_transport *transport, int peer, size_t elements,
                    const void **arrived);
    void (*release_recv)(struct strag_transport *transport, int peer);
    void (*hint_wait)(struct strag_transport *transport, uint64_t ranks);
    size_t try_send_max; /* elements of a message */
    int try_send_depth;  /* messages to a peer that have room, once earlier calls' have been read */
};

#endif
