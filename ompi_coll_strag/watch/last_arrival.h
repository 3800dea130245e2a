/* SPDX-License-Identifier: BSD-3-Clause */
/* Which ranks have arrived? The messages of run/arrivals.h, over the PML with a tag of their own;
 * and the plans for calls that go ahead without a rank. */
#ifndef COLL_STRAG_LAST_ARRIVAL_H
#define COLL_STRAG_LAST_ARRIVAL_H

#include "choice/plans.h"
#include "mpi/failure.h"

#include "run/arrivals.h"

#include <math.h>

struct coll_strag_arrivals;

/** On all ranks of a communicator or on none. @param failure  as in struct coll_strag_watch_options
 * @return NULL: out of memory */
struct coll_strag_arrivals *coll_strag_arrivals_create(ompi_communicator_t *comm,
                                                       const struct coll_strag_failure *failure);

/** What a message still uses is left to it. NULL is allowed. */
void coll_strag_arrivals_free(struct coll_strag_arrivals *arrivals);

/** How many calls have been agreed upon; the same on all ranks. */
uint64_t coll_strag_arrivals_calls(const struct coll_strag_arrivals *arrivals);

/**
 * This rank is there; which one is not waited for? Collective.
 *
 * @param wait_limit      seconds to wait for the last rank; INFINITY: it is waited for
 * @param[out] without  a rank, or STRAG_ARRIVALS_ALL; the same on all ranks
 * @return OMPI_SUCCESS, or an error of the PML
 */
int coll_strag_arrivals_agree(struct coll_strag_arrivals *arrivals, double wait_limit,
                              int *without);

/** After the call: receive what is still to come. Collective, but returns as soon as that is here.
 * @param code  what the call ended with; returned, if it is an error: then nothing is waited for */
int coll_strag_arrivals_end(struct coll_strag_arrivals *arrivals, int code);

/** Where plans without a rank are kept. Once in a call that goes ahead; the same on all ranks.
 * @return NULL: too many ranks come last in turn (run/kept.h): this one is waited for after all */
struct coll_strag_plans *coll_strag_arrivals_plans(struct coll_strag_arrivals *arrivals,
                                                   int without);

#endif
