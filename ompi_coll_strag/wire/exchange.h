/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What all ranks tell each other in the midst of a blocking call, after setup: exchanges of
 * run/exchange.h, which the call waits for. Another component's collective would wait for
 * ever for a rank that has failed; these end with an error.
 *
 * Messages have the tag of calls: a rank whose calls have not failed has received all of theirs.
 *
 * Each is called by all ranks of a communicator, in the same order. Nothing that was given is used
 * after it has returned. @param failure  the communicator's @return OMPI_SUCCESS; or an error, also
 * that of an earlier call: then coll_strag_fail_undecided must follow
 */
#ifndef COLL_STRAG_EXCHANGE_H
#define COLL_STRAG_EXCHANGE_H

#include "mpi/failure.h"

#include <stddef.h>

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
