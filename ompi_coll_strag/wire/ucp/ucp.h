/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The engine's transport over UCX.
 *
 *     process.c     the library, this process's worker, its endpoints to peers
 *     connect.c     the exchange of addresses among a communicator's ranks
 *     messages.c    the engine's messages
 *     internal.h    declarations that these files share
 */
#ifndef COLL_STRAG_UCP_H
#define COLL_STRAG_UCP_H

#include "wire/transport.h"

#include "run/exchange.h"

struct coll_strag_ucp_transport;

/* A communicator's transport over UCX while it is being set up. If that is not possible on all
 * ranks, all use the PML. */
struct coll_strag_ucp_joining {
    ompi_communicator_t *comm;
    struct strag_exchange *exchange;
    int n, rank, step;
    bool connects;        /* every step so far has succeeded on all ranks */
    int32_t numbers[3];   /* the ranks agree on the least of each */
    size_t stride;        /* bytes of a card */
    char *cards;          /* [rank] */
    int32_t *peers, *ids; /* [rank]: its process's number here; its number for the communicator */
    struct coll_strag_ucp_transport *transport;
    char reason[240]; /* why this rank is not able */
};

#ifdef STRAG_HAVE_UCX

/** Open UCX. @param able  false if this rank is out of memory
 * @param exchange  this function and each coll_strag_ucp_go_on begin an exchange; the caller lets
 *                  it end before the next call */
void coll_strag_ucp_begin(struct coll_strag_ucp_joining *joining, ompi_communicator_t *comm,
                          bool able, struct strag_exchange *exchange);

/** The next step. Called three times: allocate all ranks' cards, exchange cards, reach other ranks.
 * This and the next two functions do nothing if `joining` is all zero. */
void coll_strag_ucp_go_on(struct coll_strag_ucp_joining *joining);

/** @return to be freed with coll_strag_ucp_free; NULL if a step has failed on some rank */
struct coll_strag_transport *coll_strag_ucp_take(struct coll_strag_ucp_joining *joining);

/** Free what has not been taken. */
void coll_strag_ucp_forget(struct coll_strag_ucp_joining *joining);

/** A new number, by which this rank knows a transport's messages. UCX is open. */
int32_t coll_strag_ucp_number(void);

/** Another transport for the same communicator, with messages of its own.
 * @param numbers  [rank]: each rank's coll_strag_ucp_number for it
 * @return to be freed with coll_strag_ucp_free; NULL if out of memory */
struct coll_strag_transport *coll_strag_ucp_another(const struct coll_strag_transport *transport,
                                                    const int32_t *numbers);

/** `transport` may be NULL. */
void coll_strag_ucp_free(struct coll_strag_transport *transport);

/** At the end: close all endpoints, and the library. */
void coll_strag_ucp_close(void);

/** Does UCX carry messages from and to a CUDA device's memory? Opens UCX. */
bool coll_strag_ucp_takes_device(void);

#else /* no rank can use UCX */

static inline void coll_strag_ucp_begin(struct coll_strag_ucp_joining *joining,
                                        ompi_communicator_t *comm, bool able,
                                        struct strag_exchange *exchange)
{
    (void)comm, (void)able;
    strag_exchange_minimum(exchange, joining->numbers, 3);
}
#define coll_strag_ucp_go_on(joining)              ((void)(joining))
#define coll_strag_ucp_take(joining)               ((void)(joining), NULL)
#define coll_strag_ucp_forget(joining)             ((void)(joining))
#define coll_strag_ucp_number()                    0
#define coll_strag_ucp_another(transport, numbers) ((void)(transport), (void)(numbers), NULL)
#define coll_strag_ucp_free(transport)             ((void)(transport))
#define coll_strag_ucp_close()                     ((void)0)
#define coll_strag_ucp_takes_device()              false

#endif
#endif
