/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Small collective operations that never block: gather to rank 0, broadcast from rank 0, allgather,
 * agreements, and a barrier, one after another. The owner begins one, and calls
 * strag_exchange_progress, which does what can be done and returns. So a rank may be in the middle
 * of an exchange while its program does something else.
 *
 * All but the allgather and the barrier go over a binomial tree: a rank's parent is its number
 * without the lowest bit that is set, and its subtree has the ranks from its own number up to the
 * next number that has as many zeros at its end. Seven ranks:
 *
 *            0            gather:     6 -> 4, 5 -> 4;  3 -> 2;  4 -> 0 (with entries of 5 and 6),
 *         /  |  \                     2 -> 0, 1 -> 0
 *        1   2   4        broadcast:  0 -> 4, 2, 1;  4 -> 6, 5;  2 -> 3
 *            |   | \      agreement:  values are added up on the way to rank 0; the sum comes back
 *            3   5  6     merge:      the same, but only rank 0 gets the sum
 *                         collection: as a gather, but each rank keeps the entries of its subtree,
 *                                     and some ranks may not take part; a spread then sends data
 *                                     that rank 0 makes of the entries back down the tree
 *
 * In an allgather the entries of each rank double: a rank gets the entries of the rank 1, 2, 4 and
 * so on behind it, cyclically. A barrier is an allgather of nothing. So a gather, a broadcast or an
 * allgather takes log2(n) messages one behind the other, and an agreement twice as many. No rank
 * has more than 3 log2(n) neighbours, so few connections are needed.
 *
 * A rank uses the caller's memory, and allocates none: data that passes through it on the tree goes
 * in pieces of 4 KB. Only rank 0 holds all entries of a gather; of a collection each rank holds
 * those of its subtree. So a rank that is out of memory can still take part: it lets a broadcast
 * pass, and reports the failure in the next agreement.
 *
 * Messages between two ranks have to match in order, as in run/transport.h. All ranks begin the
 * same exchanges in the same order, at any time.
 */
#ifndef STRAG_EXCHANGE_H
#define STRAG_EXCHANGE_H

#include "run/transport.h"

#include <stdbool.h>

enum {
    STRAG_EXCHANGE_PIECE = 4032,   /* bytes of a message at most: sent at once by most transports */
    STRAG_EXCHANGE_VALUE = 240,    /* bytes of a value in an agreement, at most */
    STRAG_EXCHANGE_UNDER_WAY = 16, /* messages of a rank in flight, at most */
};

/* How values are combined. */
struct strag_agreement {
    /* Add a value from another rank to this rank's. The sum must not depend on the order in which
     * ranks are added. */
    void (*add)(void *context, void *value, const void *other);

    /* Does this neighbour take part? If not, the function records that in `value`, this rank's, and
     * no message is sent to the neighbour or received from it. A rank whose parent does not take
     * part is the root of its subtree. NULL if all take part. Called once for each neighbour. */
    bool (*takes_part)(void *context, void *value, int neighbour);
    void *context;
};

struct strag_exchange;

struct strag_exchange_message {
    struct strag_transfer transfer;
    struct strag_exchange *exchange;
    bool under_way;
};

/* One rank's part. Its owner provides the memory, which must not move. Only exchange.c uses it. */
struct strag_exchange {
    struct strag_transport *transport; /* of single bytes */
    int n, me;
    int status; /* the first error */
    void (*step)(
        struct strag_exchange *exchange); /* next, once nothing is in flight; NULL at the end */
    int under_way;
    struct strag_exchange_message messages[STRAG_EXCHANGE_UNDER_WAY];

    char *data;  /* the entries or value; of a broadcast NULL if it passes through this rank */
    char *value; /* this rank's, in an agreement or collection */
    const char *own;
    size_t bytes; /* of an entry, of the whole broadcast, or of a value */
    size_t done;  /* bytes that were broadcast */

    /* A gather, in bytes. A subtree's entries are one stream, in the ranks' order. */
    size_t taken, next, sent;   /* of the own entry; of the stream: received so far, and sent */
    size_t held, arrived, used; /* in `outgoing`; in `incoming`, and taken from there */

    int bit; /* the next child is me + bit; of an allgather: the number of entries received */

    /* An agreement or a collection. A spread uses children and has_parent of its collection. */
    struct strag_agreement agreement;
    uint32_t children; /* bits of the children that take part */
    bool has_parent;   /* it has one, which takes part */
    bool merges;       /* the sum stays on rank 0 */
    int values;        /* in `incoming` */

    _Alignas(max_align_t) char outgoing[STRAG_EXCHANGE_PIECE], incoming[STRAG_EXCHANGE_PIECE];
};

/** Before the first exchange. @param transport  used for nothing else; its elements are bytes */
void strag_exchange_init(struct strag_exchange *exchange, struct strag_transport *transport, int n,
                         int me);

/* Begin an exchange. None may be in progress. Arguments must stay valid until it has ended. */

/** @param own    this rank's entry
 * @param bytes  of an entry, at least 1
 * @param all    on rank 0: [rank], all entries; not used on other ranks */
void strag_exchange_gather(struct strag_exchange *exchange, const void *own, size_t bytes,
                           void *all);

/** @param data  rank 0's goes to all; NULL on a rank through which it passes only */
void strag_exchange_broadcast(struct strag_exchange *exchange, void *data, size_t bytes);

/** @param all  [rank]: entries; at first this rank's own in its place */
void strag_exchange_allgather(struct strag_exchange *exchange, void *all, size_t bytes);

/** @param value  this rank's, then the sum of all ranks' values
 * @param bytes  at most STRAG_EXCHANGE_VALUE */
void strag_exchange_agree(struct strag_exchange *exchange, void *value, size_t bytes,
                          const struct strag_agreement *agreement);

/** @param value  this rank's, then the sum of its subtree's values, on rank 0 of all
 * @param bytes  at most STRAG_EXCHANGE_PIECE */
void strag_exchange_merge(struct strag_exchange *exchange, void *value, size_t bytes,
                          const struct strag_agreement *agreement);

/** A barrier ends once all ranks have begun it. */
void strag_exchange_barrier(struct strag_exchange *exchange);

/**
 * @param entries     [rank]: at first this rank's own in its place; in the end those of its
 *                    subtree, on rank 0 all. If a rank does not take part, its subtree's entries
 *                    do not come: the values in their places stay, and go on to rank 0
 * @param bytes       of an entry, at least 1
 * @param takes_part  as in an agreement; `value` is this rank's entry
 */
void strag_exchange_collect(struct strag_exchange *exchange, void *entries, size_t bytes,
                            bool (*takes_part)(void *context, void *value, int neighbour),
                            void *context);

/** Right after a collection: send data from rank 0 to the ranks that took part. Below a rank that
 * did not, data comes from the roots of its subtrees. @param data  of equal length on all ranks */
void strag_exchange_spread(struct strag_exchange *exchange, void *data, size_t bytes);

/** After a collection. @return how many entries this rank has, from its own on */
int strag_exchange_collected(const struct strag_exchange *exchange);

/** Agree on the minimum of each number. @param count  at most STRAG_EXCHANGE_VALUE / 4 */
void strag_exchange_minimum(struct strag_exchange *exchange, int32_t *numbers, int count);

/** Do what can be done now.
 * @return STRAG_OK if the exchange has ended, or none was begun; STRAG_PENDING; or an error, after
 *         which only strag_exchange_stop may be called */
int strag_exchange_progress(struct strag_exchange *exchange);

/** Give up the exchange in progress.
 * @return STRAG_OK; or STRAG_PENDING if some messages could not be stopped: then the exchange and
 *         its arguments must not be reused or freed */
int strag_exchange_stop(struct strag_exchange *exchange);

#endif
