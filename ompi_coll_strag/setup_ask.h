/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Everybody is asked, after a roll call:
 *
 *     rank 0      has it room for the answers?  -->  all ranks                broadcast
 *     all ranks   -- struct coll_strag_rank_info -->  rank 0                  gather
 *     rank 0      reads the files, makes the topology
 *     rank 0      -- struct coll_strag_hosts, topology -->  all ranks         broadcasts
 *     all ranks   -- how UCX reaches them -->  all ranks      if rank 0 wants that transport
 *     all ranks   those of a host share memory (setup_memory.h)
 *     rank 0      finds out how fast the network is (ping.h), if all are in a blocking call
 *     rank 0      makes the table
 *     rank 0      -- struct coll_strag_decision -->  all ranks                broadcast
 *     all ranks   can all watch their calls? an agreement     if calls are watched
 *     all ranks   has each all that it needs? an agreement
 */
#ifndef COLL_STRAG_SETUP_ASK_H
#define COLL_STRAG_SETUP_ASK_H

#include "setup_decide.h"
#include "setup_memory.h"
#include "setup_network.h"

/* setup->attached: dups will have the heritage; false: this rank is out of memory. */
#define COLL_STRAG_SETUP_ASK_STEPS                                                                 \
    coll_strag_setup_make_room, coll_strag_setup_tell_own, coll_strag_setup_tell_hosts,            \
        coll_strag_setup_tell_topology, coll_strag_setup_keep_told,                                \
        COLL_STRAG_SETUP_NETWORK_STEPS, COLL_STRAG_SETUP_MEMORY_STEPS, coll_strag_setup_ping,      \
        COLL_STRAG_SETUP_DECIDE_STEPS, coll_strag_setup_end_ask, COLL_STRAG_SETUP_CONCLUDE_STEPS

coll_strag_setup_step coll_strag_setup_make_room, coll_strag_setup_tell_own,
    coll_strag_setup_tell_hosts, coll_strag_setup_tell_topology, coll_strag_setup_keep_told,
    coll_strag_setup_ping, coll_strag_setup_end_ask;

#endif
