/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What all ranks tell each other in the midst of a blocking call, after setup: exchanges of
 * run/exchange.h, with the tag of calls. Another component's collective would wait for ever for a
 * rank that has failed; these end with an error.
 *
 * Each but the first two is called by all ranks of a communicator, in the same order. Nothing that
 * was given is used after it has returned. @param failure  the communicator's @return OMPI_SUCCESS;
 * or an error, also that of an earlier call: then coll_strag_fail must follow
 */
#ifndef COLL_STRAG_EXCHANGE_H
#define COLL_STRAG_EXCHANGE_H

#include "mpi/failure.h"
#include "transport_pml.h"

#include "run/exchange.h"

/* One that goes on while the program does something else: which, its owner says with the functions
 * of run/exchange.h. */
struct coll_strag_exchange {
    const struct coll_strag_failure *failure;
    struct coll_strag_pml_transport pml;
    struct coll_strag_message under_way[STRAG_EXCHANGE_UNDER_WAY];
    struct strag_exchange exchange;
};

/** @param tag  of its messages */
void coll_strag_exchange_init(struct coll_strag_exchange *exchange,
                              const struct coll_strag_failure *failure, int tag);

/** Do what can be done now. @return whether it is over @param[out] code  OMPI_SUCCESS, or an error:
 * then strag_exchange_stop must follow */
bool coll_strag_exchange_is_over(struct coll_strag_exchange *exchange, int *code);

/** @param value  this rank's, then the least of all ranks' */
int coll_strag_minimum(const struct coll_strag_failure *failure, int32_t *value);

/** @param value  this rank's, then that of all; at most STRAG_EXCHANGE_VALUE `bytes`
 * @param add  as in struct strag_agreement, without a context */
int coll_strag_agree(const struct coll_strag_failure *failure, void *value, size_t bytes,
                     void (*add)(void *context, void *value, const void *other));

/** From rank 0. @param data  [bytes] */
int coll_strag_broadcast(const struct coll_strag_failure *failure, void *data, size_t bytes);

/** @param all  [rank], of `bytes`: this rank's own in its place; then all */
int coll_strag_allgather(const struct coll_strag_failure *failure, void *all, size_t bytes);

#endif
