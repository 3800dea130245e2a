/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Setting up a dup as its parent was, which has been set up:
 *
 *     all ranks   where are the places in the arenas, and do all agree? an allgather, with more
 *                 than 128 ranks an allreduce before it (shared_memory.c); without shared memory
 *                 rank 0's agreement alone, a broadcast of 4 bytes
 *     all ranks   -- how UCX reaches them -->  all ranks      if the parent uses that transport
 *     all ranks   has each all that it needs? an allreduce    with UCX
 *     all ranks   can all watch their calls? an allreduce     if calls are watched, and reported
 */
#ifndef COLL_STRAG_SETUP_INHERIT_H
#define COLL_STRAG_SETUP_INHERIT_H

#include "setup_steps.h"

/** Has any rank, or without shared memory rank 0, a reason not to? Collective; the first message.
 * @param[out] may  none has; the same on all ranks
 * @return OMPI_SUCCESS, or an error of a message */
int coll_strag_setup_may_inherit(struct setup *setup, const struct coll_strag_heritage *parent,
                                 bool *may);

/** All may. Collective.
 * @param parent  module->heritage from now on
 * @return OMPI_SUCCESS, or an error, which other ranks need not have */
int coll_strag_setup_inherit(struct setup *setup, struct coll_strag_heritage *parent);

#endif
