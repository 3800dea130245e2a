/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exchanges among all ranks in the middle of a blocking call, after setup: those of run/exchange.h,
 * with the tag of calls. If a rank has failed, these end with an error; another component's
 * collectives would wait for ever.
 *
 * All functions but the first two are called by all ranks of a communicator, in the same order.
 * Arguments are not used after the function has returned. @param failure  the communicator's
 * @return OMPI_SUCCESS; or an error, perhaps an earlier call's: then coll_strag_fail must follow
 */
#ifndef COLL_STRAG_EXCHANGE_H
#define COLL_STRAG_EXCHANGE_H

#include "mpi/failure.h"
#include "transport_pml.h"

#include "run/exchange.h"

/* An exchange that makes progress while the program does something else. Its owner begins it with
 * a function of run/exchange.h. */
struct coll_strag_exchange {
    const struct coll_strag_failure *failure;
    struct coll_strag_pml_transport pml;
    struct coll_strag_message under_way[STRAG_EXCHANGE_UNDER_WAY];
    struct strag_exchange exchange;
};

/** @param tag  of its messages */
void coll_strag_exchange_init(struct coll_strag_exchange *exchange,
                              const struct coll_strag_failure *failure, int tag);

/** Do what can be done now. @return whether the exchange is done
 * @param[out] code  OMPI_SUCCESS; or an error, and strag_exchange_stop must follow */
bool coll_strag_exchange_is_over(struct coll_strag_exchange *exchange, int *code);

/** @param[in,out] value  this rank's, then the least of all ranks' values */
int coll_strag_minimum(const struct coll_strag_failure *failure, int32_t *value);

/** @param[in,out] value  this rank's, then the sum of all
 * @param bytes  at most STRAG_EXCHANGE_VALUE
 * @param add    as in struct strag_agreement, without a context */
int coll_strag_agree(const struct coll_strag_failure *failure, void *value, size_t bytes,
                     void (*add)(void *context, void *value, const void *other));

/** Broadcast from rank 0. @param data  [bytes] */
int coll_strag_broadcast(const struct coll_strag_failure *failure, void *data, size_t bytes);

/** @param[in,out] all  [rank], entries of `bytes` bytes: first this rank's own, then all */
int coll_strag_allgather(const struct coll_strag_failure *failure, void *all, size_t bytes);

#endif
