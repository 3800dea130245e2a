/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sharing memory among the ranks of a host, if that is possible on all ranks of the communicator:
 *
 *     all ranks   find a place in the process's arena
 *     all ranks   has each what it needs? an agreement
 *     all ranks   where are the arenas and places? an allgather
 *     all ranks   map the arenas of the others on this host
 *     all ranks   has each? an agreement
 *
 * If one has not, all ranks go on over the PML alone. All know which rank that is, and why: it is
 * in the number of which the least is agreed upon.
 *
 * Ranks that have opened each other's arenas before, and hold them (strag_shm_hold), need the
 * allgather alone; what no rank has said before goes into its note. With more than 128 ranks they
 * agree before it that all have room for the answers; up to then setup has it from the beginning.
 */
#ifndef COLL_STRAG_SETUP_MEMORY_H
#define COLL_STRAG_SETUP_MEMORY_H

#include "setup_steps.h"

/* The first time. setup->hosts says whether it is wanted. */
#define COLL_STRAG_SETUP_MEMORY_STEPS                                                              \
    coll_strag_setup_make_memory, coll_strag_setup_show_memory, coll_strag_setup_join_memory,      \
        coll_strag_setup_end_memory

coll_strag_setup_step coll_strag_setup_make_memory, coll_strag_setup_show_memory,
    coll_strag_setup_join_memory, coll_strag_setup_end_memory;

/* Again. setup->rejoins: do it; setup->lane_of: which ranks are on this host; setup->stop: this
 * rank wants something else, and then whether any does, or cannot share memory. */
#define COLL_STRAG_SETUP_REJOIN_STEPS                                                              \
    coll_strag_setup_ask_room, coll_strag_setup_rejoin_memory, coll_strag_setup_end_rejoin

coll_strag_setup_step coll_strag_setup_ask_room, coll_strag_setup_rejoin_memory,
    coll_strag_setup_end_rejoin;

/** Memory is not shared: give this rank's place back, if it has one. */
void coll_strag_setup_leave_place(struct setup *setup);

/** Is it wanted, as far as is known now? */
bool coll_strag_setup_memory_is_wanted(const struct setup *setup);

#endif
