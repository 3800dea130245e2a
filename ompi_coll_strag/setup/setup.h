/* SPDX-License-Identifier: BSD-3-Clause */
/* A communicator's setup, at its first call that needs to know the other ranks. */
#ifndef COLL_STRAG_SETUP_H
#define COLL_STRAG_SETUP_H

#include "shared/module.h"

/** Before setup: decide what depends only on what all ranks know without a message. */
void coll_strag_setup_prepare(struct coll_strag_module *module, ompi_communicator_t *comm);

/** Free what setup needs: it has ended, or the communicator is destroyed. NULL is allowed. */
void coll_strag_setup_free(struct setup *setup);

/** Begin setup in a nonblocking call, which is the same one on all ranks. Setup goes on in
 * opal_progress, as the first job of the communicator's queue. If the communicator is freed before
 * setup is done, MPI_Comm_free completes it. */
void coll_strag_setup_start(struct coll_strag_module *module);

/** Set up, in a blocking call: returns when it is done.
 * @return OMPI_SUCCESS, or the error with which the call is to end, delegated or not */
int coll_strag_setup(struct coll_strag_module *module, ompi_communicator_t *comm);

/** If calls are to be watched (module->watch_in): count this call, if it is long enough, and make
 * the watch when it is time. Only blocking calls do this; it waits for all ranks (wire/exchange.h).
 * @return OMPI_SUCCESS, or an error of MPI's */
int coll_strag_setup_watch(struct coll_strag_module *module, ompi_communicator_t *comm,
                           size_t bytes);

/** The decision's state or table has changed: forget what depends on the old one.
 * @param change  what coll_strag_watch_end said */
void coll_strag_apply_change(struct coll_strag_module *module, enum strag_change change);

#endif
