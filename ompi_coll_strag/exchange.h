/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What all ranks tell each other in the midst of a blocking call, after setup: exchanges of
 * run/exchange.h, one after another, which the call waits for. A rank that cannot take part tells
 * the others (coll_strag_fail_undecided); then an exchange ends with an error, where another
 * component's collective would wait for ever.
 *
 * Messages have the tag of calls: a rank whose calls have not failed has received all of theirs.
 */
#ifndef COLL_STRAG_EXCHANGE_H
#define COLL_STRAG_EXCHANGE_H

#include "failure.h"
#include "transport_pml.h"

#include "run/exchange.h"

struct coll_strag_exchange {
    const struct coll_strag_failure *failure; /* the communicator's */
    struct coll_strag_pml_transport pml;
    struct coll_strag_message under_way[STRAG_EXCHANGE_UNDER_WAY];
    struct strag_exchange exchange; /* to be begun by the caller, then waited for here */
};

/** On all ranks, in the same call.
 * @return OMPI_SUCCESS; or an error, also that of an earlier call of this rank: then
 *         coll_strag_fail_undecided must follow */
int coll_strag_exchange_create(ompi_communicator_t *comm, const struct coll_strag_failure *failure,
                               struct coll_strag_exchange **made);

/** @return OMPI_SUCCESS, or the error of a message or of another rank; then as above */
int coll_strag_exchange_wait(struct coll_strag_exchange *own);

/** NULL is allowed. @return false: after an error messages are left that still use what they were
 * given, which must be left to them */
bool coll_strag_exchange_free(struct coll_strag_exchange *own);

#endif
