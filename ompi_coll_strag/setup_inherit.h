/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Setting up a dup as its parent was, which has been set up:
 *
 *     all ranks   where are the places in the arenas, and do all agree? an allgather, with more
 *                 than 128 ranks an agreement before it (setup_memory.h); without shared memory
 *                 an agreement alone
 *     all ranks   -- how UCX reaches them -->  all ranks      if the parent uses that transport
 *     all ranks   has each all that it needs? an agreement    with UCX
 *     all ranks   can all watch their calls? an agreement     if calls are watched, and reported
 */
#ifndef COLL_STRAG_SETUP_INHERIT_H
#define COLL_STRAG_SETUP_INHERIT_H

#include "setup_decide.h"
#include "setup_memory.h"
#include "setup_network.h"

/* Has any rank a reason not to? */
#define COLL_STRAG_SETUP_MAY_INHERIT_STEPS                                                         \
    coll_strag_setup_want_to_inherit, COLL_STRAG_SETUP_REJOIN_STEPS, coll_strag_setup_ask_for_keys

coll_strag_setup_step coll_strag_setup_want_to_inherit, coll_strag_setup_ask_for_keys;

/** After them. @return whether all may; the same on all ranks */
bool coll_strag_setup_may_inherit(const struct setup *setup);

/* If so. */
#define COLL_STRAG_SETUP_INHERIT_STEPS                                                             \
    coll_strag_setup_inherit, COLL_STRAG_SETUP_NETWORK_STEPS, coll_strag_setup_end_inherit,        \
        COLL_STRAG_SETUP_CONCLUDE_STEPS

coll_strag_setup_step coll_strag_setup_inherit, coll_strag_setup_end_inherit;

#endif
