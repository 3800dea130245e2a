/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Everybody is asked, after a roll call:
 *
 *     rank 0      has it room for the answers?  -->  all ranks                broadcast
 *     all ranks   -- struct coll_strag_rank_info -->  rank 0                  gather
 *     rank 0      reads the files, makes the topology
 *     rank 0      -- struct coll_strag_hosts, topology -->  all ranks         broadcasts
 *     all ranks   -- how UCX reaches them -->  all ranks      if rank 0 wants that transport
 *     all ranks   those of a host share memory (shared_memory.c)
 *     rank 0      makes the table
 *     rank 0      -- struct coll_strag_decision -->  all ranks                broadcast
 *     all ranks   can all watch their calls? an allreduce     if calls are watched
 *     all ranks   has each all that it needs? an allreduce
 */
#ifndef COLL_STRAG_SETUP_ASK_H
#define COLL_STRAG_SETUP_ASK_H

#include "setup_steps.h"

/**
 * Collective.
 *
 * @param attached  dups will have the heritage; false: this rank is out of memory
 * @return OMPI_SUCCESS, or an error, which other ranks need not have
 */
int coll_strag_setup_ask_all(struct setup *setup, bool attached);

#endif
