/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A few small things that all ranks tell each other, one after another, without ever waiting:
 * gather to rank 0, broadcast from rank 0, allgather, agreements, and a barrier. Each is begun, and
 * then goes on whenever its owner calls strag_exchange_progress, which looks and returns. So a rank
 * may be in the midst of an exchange while its program does something else.
 *
 * All but the allgather and the barrier go over a binomial tree: a rank's parent is its number
 * without the lowest bit that is set, and the ranks below it are those from its own number up to
 * the next one that has as many zeros at its end. Seven ranks:
 *
 *            0            gather:     6 -> 4, 5 -> 4;  3 -> 2;  4 -> 0 (what 5 and 6 have, too),
 *         /  |  \                     2 -> 0, 1 -> 0
 *        1   2   4        broadcast:  0 -> 4, 2, 1;  4 -> 6, 5;  2 -> 3
 *            |   | \      agreement:  values are added up on the way to rank 0; the sum comes back
 *            3   5  6     merge:      the same, but only rank 0 gets the sum
 *                         collection: as a gather, but ranks have what those below them have, too,
 *                                     and some ranks may not take part; then it is spread: what
 *                                     rank 0 makes of it comes back, as the sum of an agreement
 *
 * In an allgather what each rank has doubles: from the one 1, 2, 4 and so on behind it a rank gets
 * what that has, cyclically; a barrier is an allgather of nothing. So a gather or broadcast takes
 * log2(n) messages one behind the other, as an allgather does, and an agreement twice as many; and
 * no rank has more than 3 log2(n) neighbours, so that few connections are needed.
 *
 * In addition to what the caller gives, a rank takes no memory, and allocates none: what passes
 * through it on the tree goes in pieces of 4 KB. With 4,096 ranks, rank 0 alone has what is
 * gathered; of a collection each rank has what those below it have. So a rank that is out of memory
 * can still take part: it lets a broadcast pass, and says so in the next agreement.
 *
 * Messages between two ranks have to match in order, as in run/transport.h; and all ranks begin the
 * same exchanges in the same order, each when it likes.
 */
#ifndef STRAG_EXCHANGE_H
#define STRAG_EXCHANGE_H

#include "run/transport.h"

#include <stdbool.h>

enum {
    STRAG_EXCHANGE_PIECE = 4032,   /* bytes of a message at most: sent at once by most transports */
    STRAG_EXCHANGE_VALUE = 240,    /* bytes of a value to be agreed upon, at most */
    STRAG_EXCHANGE_UNDER_WAY = 16, /* messages of a rank */
};

/* How values are agreed upon. */
struct strag_agreement {
    /* Add a value from another rank to this rank's; in the end all must have the same, in whatever
     * order ranks are added. */
    void (*add)(void *context, void *value, const void *other);

    /* Does this neighbour take part? If not, that is recorded in `value`, this rank's, and nothing
     * is sent to it or received from it: a rank whose parent does not take part is the root of
     * those below it. NULL: all do. Called once for each neighbour. */
    bool (*takes_part)(void *context, void *value, int neighbour);
    void *context;
};

struct strag_exchange;

struct strag_exchange_message {
    struct strag_transfer transfer;
    struct strag_exchange *exchange;
    bool under_way;
};

/* One rank's part. Its owner's memory, but all in it is exchange.c's. It stays where it is. */
struct strag_exchange {
    struct strag_transport *transport; /* of single bytes */
    int n, me;
    int status; /* the first error */
    void (*step)(
        struct strag_exchange *exchange); /* once nothing is in flight; NULL: it has ended */
    int under_way;
    struct strag_exchange_message messages[STRAG_EXCHANGE_UNDER_WAY];

    char *data;  /* gathered on rank 0; broadcast, NULL: let pass; agreed upon; or collected */
    char *value; /* this rank's, in an agreement or collection */
    const char *own;
    size_t bytes; /* of an entry, of all that is broadcast, or of a value */
    size_t done;  /* bytes that were broadcast */

    /* A gather, in bytes; those of this rank and all below it are one stream, in the ranks' order.
     */
    size_t taken, next, sent;   /* of the own entry; of the stream, come from below, and sent */
    size_t held, arrived, used; /* in `outgoing`; in `incoming`, and taken from there */

    int bit; /* the child that is me + bit is next; in an allgather: the number of entries received
              */

    /* An agreement or a collection; the last two also for what is spread after it. */
    struct strag_agreement agreement;
    uint32_t children; /* bits of those that take part */
    bool has_parent;   /* it takes part */
    bool merges;       /* the sum stays on rank 0 */
    int values;        /* that are in `incoming` */

    _Alignas(max_align_t) char outgoing[STRAG_EXCHANGE_PIECE], incoming[STRAG_EXCHANGE_PIECE];
};

/** Before the first one. @param transport  its elements are bytes; it has nothing else to carry */
void strag_exchange_init(struct strag_exchange *exchange, struct strag_transport *transport, int n,
                         int me);

/* Begin one. None may be in progress. Arguments must stay valid until it has ended. */

/** @param own    this rank's entry
 * @param bytes  of an entry, at least 1
 * @param all    on rank 0: [rank], entries; elsewhere it is not used */
void strag_exchange_gather(struct strag_exchange *exchange, const void *own, size_t bytes,
                           void *all);

/** @param data  rank 0's goes to all; NULL on others: it passes through */
void strag_exchange_broadcast(struct strag_exchange *exchange, void *data, size_t bytes);

/** @param all  [rank]: entries, this rank's own in its place */
void strag_exchange_allgather(struct strag_exchange *exchange, void *all, size_t bytes);

/** @param value  this rank's, then that of all
 * @param bytes  at most STRAG_EXCHANGE_VALUE */
void strag_exchange_agree(struct strag_exchange *exchange, void *value, size_t bytes,
                          const struct strag_agreement *agreement);

/** @param value  this rank's; then of this rank and those below it, for rank 0 all
 * @param bytes  at most STRAG_EXCHANGE_PIECE */
void strag_exchange_merge(struct strag_exchange *exchange, void *value, size_t bytes,
                          const struct strag_agreement *agreement);

/** It ends once all ranks have begun it. */
void strag_exchange_barrier(struct strag_exchange *exchange);

/**
 * @param entries     [rank]: this rank's own in its place; in the end, on each rank, also those of
 *                    the ranks below it, for rank 0 all. Of ranks that do not take part, and of
 *                    those below them, nothing comes: what is there stays, and goes on to rank 0
 * @param bytes       of an entry, at least 1
 * @param takes_part  as in an agreement; `value` is this rank's entry
 */
void strag_exchange_collect(struct strag_exchange *exchange, void *entries, size_t bytes,
                            bool (*takes_part)(void *context, void *value, int neighbour),
                            void *context);

/** Right after a collection, to the ranks that took part: from rank 0, and to those below a rank
 * that did not from the highest of them in the tree. @param data  the same number of bytes on all
 */
void strag_exchange_spread(struct strag_exchange *exchange, void *data, size_t bytes);

/** After a collection. @return how many ranks' entries this rank has, from its own on */
int strag_exchange_collected(const struct strag_exchange *exchange);

/** Agree on the least of each number. @param count  at most STRAG_EXCHANGE_VALUE / 4 */
void strag_exchange_minimum(struct strag_exchange *exchange, int32_t *numbers, int count);

/** Do what can be done now.
 * @return STRAG_OK: it has ended, or none was begun; STRAG_PENDING; or an error, after which
 *         strag_exchange_stop is to be called, and nothing else */
int strag_exchange_progress(struct strag_exchange *exchange);

/** Give up the exchange in progress.
 * @return STRAG_OK; or STRAG_PENDING: some messages could not be stopped, and the exchange and what
 *         it was given must not be reused or freed */
int strag_exchange_stop(struct strag_exchange *exchange);

#endif
