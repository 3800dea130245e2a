/* SPDX-License-Identifier: BSD-3-Clause */
/* A communicator's setup, at its first call that needs to know the other ranks. */
#ifndef COLL_STRAG_SETUP_H
#define COLL_STRAG_SETUP_H

#include "shared/module.h"

/** Before setup: what can be known without asking, so that all ranks know the same. */
void coll_strag_setup_prepare(struct coll_strag_module *module, ompi_communicator_t *comm);

/** The communicator is gone. NULL is allowed. */
void coll_strag_setup_free(struct setup *setup);

/** Begin to set up, in a nonblocking call, which is the same one on all ranks. It does what can be
 * done now, and goes on in opal_progress, as the first job of the communicator's queue. If the
 * communicator is freed before it is done, MPI_Comm_free ends it. */
void coll_strag_setup_start(struct coll_strag_module *module);

/** Set up, in a blocking call: returns when it is done. @return as coll_strag_undecided */
int coll_strag_setup(struct coll_strag_module *module, ompi_communicator_t *comm);

/** Calls are to be watched (module->watch_in): count this one, if it is long enough, and begin when
 * it is time. Collective, of blocking calls alone: it waits for other ranks (wire/exchange.h).
 * @return OMPI_SUCCESS, or an error of MPI's */
int coll_strag_setup_watch(struct coll_strag_module *module, ompi_communicator_t *comm,
                           size_t bytes);

/** State or table of the decision are new: forget what rests on the old ones.
 * @param change  what coll_strag_watch_end said */
void coll_strag_apply_change(struct coll_strag_module *module, enum strag_change change);

#endif
