/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Setting up from another communicator that has all ranks of this one, the origin:
 *
 *     all ranks   look for an origin, and make the topology from its own, or take the one that was
 *                 made for the same ranks before (parts.h), without a message
 *     all ranks   have all the same strag, and the same origin? (roll_call.c)
 *     all ranks   -- how UCX reaches them -->  all ranks      if rank 0 wants that transport
 *     all ranks   those of a host share memory: an allgather, with more than 128 ranks an agreement
 *                 before it (setup_memory.h)
 *     rank 0      makes the table, or finds it among those that were made (table_cache.c)
 *     rank 0      -- struct coll_strag_decision -->  all ranks                broadcast
 *     all ranks   has each all that it needs? an agreement    with UCX
 *     all ranks   can all watch their calls? an agreement     if calls are watched, and reported
 *
 * What can fail on one rank is done first: that rank has no offer, so that the roll call tells all
 * to ask everybody instead. So does a rank that has info keys of the watch: communicators
 * that are derived are not watched from their first call on. Other keys are rank 0's when it
 * decides; everybody is asked where the algorithm's is not the same on all ranks, so that there is
 * a warning.
 */
#ifndef COLL_STRAG_SETUP_DERIVE_H
#define COLL_STRAG_SETUP_DERIVE_H

#include "setup_decide.h"
#include "setup_memory.h"
#include "setup_network.h"

/** Before the roll call: look for an origin, and do without messages what can be done.
 * @return this rank's; all 0: there is no origin, or it cannot be used */
struct coll_strag_offer coll_strag_setup_make_offer(struct setup *setup);

/** Nothing comes from an origin, if there was one. */
void coll_strag_setup_forget_origin(struct setup *setup);

/* All have the same origin: use it. setup->hosts is rank 0's. */
#define COLL_STRAG_SETUP_DERIVE_STEPS                                                              \
    coll_strag_setup_take_origin, COLL_STRAG_SETUP_NETWORK_STEPS, coll_strag_setup_want_to_rejoin, \
        COLL_STRAG_SETUP_REJOIN_STEPS, COLL_STRAG_SETUP_DECIDE_STEPS, coll_strag_setup_end_derive, \
        COLL_STRAG_SETUP_CONCLUDE_STEPS

coll_strag_setup_step coll_strag_setup_take_origin, coll_strag_setup_want_to_rejoin,
    coll_strag_setup_end_derive;

#endif
