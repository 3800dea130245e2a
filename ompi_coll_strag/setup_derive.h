/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Setting up from another communicator that has all ranks of this one, the origin:
 *
 *     all ranks   look for an origin, and make the topology from its own, without a message
 *     all ranks   have all the same strag, and the same origin? (roll_call.c)
 *     all ranks   -- how UCX reaches them -->  all ranks      if rank 0 wants that transport
 *     all ranks   those of a host share memory: an allgather, with more than 128 ranks an allreduce
 *                 before it (shared_memory.c)
 *     rank 0      makes the table, or finds it among those that were made (table_cache.c)
 *     rank 0      -- struct coll_strag_decision -->  all ranks                broadcast
 *     all ranks   has each all that it needs? an allreduce    with UCX
 *     all ranks   can all watch their calls? an allreduce     if calls are watched, and reported
 *
 * What can fail on one rank is done first: that rank has no offer, so that the roll call tells all
 * to ask everybody instead.
 */
#ifndef COLL_STRAG_SETUP_DERIVE_H
#define COLL_STRAG_SETUP_DERIVE_H

#include "roll_call.h"
#include "setup_steps.h"

/** Before the roll call: look for an origin, and do without messages what can be done.
 * @return this rank's; all 0: there is no origin, or it cannot be used */
struct coll_strag_offer coll_strag_setup_make_offer(struct setup *setup);

/** Nothing comes from an origin, if there was one. */
void coll_strag_setup_forget_origin(struct setup *setup);

/** All have the same origin: use it. Collective.
 * @param hosts  rank 0's
 * @return OMPI_SUCCESS, or an error, which other ranks need not have */
int coll_strag_setup_take_origin(struct setup *setup, const struct coll_strag_hosts *hosts);

#endif
