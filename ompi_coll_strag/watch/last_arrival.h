/* SPDX-License-Identifier: BSD-3-Clause */
/* Which ranks have arrived at a call? This sends the messages of run/arrivals.h over the PML, with
 * a tag of their own, and keeps the plans for calls that go ahead without a rank. */
#ifndef COLL_STRAG_LAST_ARRIVAL_H
#define COLL_STRAG_LAST_ARRIVAL_H

#include "choice/plans.h"
#include "mpi/failure.h"

#include "run/arrivals.h"

#include <math.h>

struct coll_strag_arrivals;

/** Create it on all ranks of a communicator or on none.
 * @param failure  as in struct coll_strag_watch_options @return NULL if out of memory */
struct coll_strag_arrivals *coll_strag_arrivals_create(ompi_communicator_t *comm,
                                                       const struct coll_strag_failure *failure);

/** Memory that a message in flight uses is not freed. `arrivals` may be NULL. */
void coll_strag_arrivals_free(struct coll_strag_arrivals *arrivals);

/** In how many calls the ranks have agreed; the same on all ranks. */
uint64_t coll_strag_arrivals_calls(const struct coll_strag_arrivals *arrivals);

/**
 * This rank has arrived. Agree on the rank that the others do not wait for. Collective.
 *
 * @param wait_limit    seconds to wait for the last rank; INFINITY to wait until it arrives
 * @param[out] without  that rank, or STRAG_ARRIVALS_ALL; the same on all ranks
 * @return OMPI_SUCCESS, or an error of the PML
 */
int coll_strag_arrivals_agree(struct coll_strag_arrivals *arrivals, double wait_limit,
                              int *without);

/** After the call: receive the messages of this call that have not come yet. Collective, but
 * returns as soon as this rank has them.
 * @param code  the call's result; an error is returned, and no message is waited for */
int coll_strag_arrivals_end(struct coll_strag_arrivals *arrivals, int code);

/** The plans without a rank. Called once in a call that goes ahead; the same on all ranks.
 * @return NULL if too many ranks come last in turn (run/kept.h): then `without` is waited for */
struct coll_strag_plans *coll_strag_arrivals_plans(struct coll_strag_arrivals *arrivals,
                                                   int without);

#endif
