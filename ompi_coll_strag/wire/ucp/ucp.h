/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The engine's transport over UCX.
 *
 *     process.c     the library, this process's worker, the way to its peers
 *     connect.c     what a communicator's ranks exchange of how they are reached
 *     messages.c    the engine's messages
 *     internal.h    what these share
 */
#ifndef COLL_STRAG_UCP_H
#define COLL_STRAG_UCP_H

#include "wire/transport.h"

#include "run/exchange.h"

struct coll_strag_ucp_transport;

/* What a communicator's messages over UCX need to be known on each rank, while it is found out. If
 * that is not possible on all ranks, all use the PML. */
struct coll_strag_ucp_joining {
    ompi_communicator_t *comm;
    struct strag_exchange *exchange;
    int n, rank, step;
    bool connects;        /* all ranks have been able so far; false: none is, or none is to */
    int32_t numbers[3];   /* of which the least is agreed on */
    size_t stride;        /* bytes of a card */
    char *cards;          /* [rank] */
    int32_t *peers, *ids; /* [rank]: its process's number here; that which it gave this one */
    struct coll_strag_ucp_transport *transport;
    char reason[240]; /* why this rank is not able */
};

#ifdef STRAG_HAVE_UCX

/** Open UCX. @param able  false: this rank is out of memory
 * @param exchange  this and each coll_strag_ucp_go_on begin something in it, which has ended before
 *                  the next one */
void coll_strag_ucp_begin(struct coll_strag_ucp_joining *joining, ompi_communicator_t *comm,
                          bool able, struct strag_exchange *exchange);

/** Three times: room for all ranks' cards, the cards, and reaching other ranks. Allowed without
 * coll_strag_ucp_begin, as what follows is, if all is 0. */
void coll_strag_ucp_go_on(struct coll_strag_ucp_joining *joining);

/** @return to be freed with coll_strag_ucp_free; NULL: not all have reached others */
struct coll_strag_transport *coll_strag_ucp_take(struct coll_strag_ucp_joining *joining);

/** What has not been taken. */
void coll_strag_ucp_forget(struct coll_strag_ucp_joining *joining);

/** A number by which this rank knows another transport's messages. UCX is open. */
int32_t coll_strag_ucp_number(void);

/** One more for the same communicator, whose messages do not mix with the first one's.
 * @param numbers  [rank]: each rank's coll_strag_ucp_number for it
 * @return to be freed with coll_strag_ucp_free; NULL: out of memory */
struct coll_strag_transport *coll_strag_ucp_another(const struct coll_strag_transport *transport,
                                                    const int32_t *numbers);

/** NULL is allowed. */
void coll_strag_ucp_free(struct coll_strag_transport *transport);

/** At the end: leave all peers, and close the library. */
void coll_strag_ucp_close(void);

/** Does UCX carry messages from and to a CUDA device's memory? Opens UCX. */
bool coll_strag_ucp_takes_device(void);

#else /* no rank is able */

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
