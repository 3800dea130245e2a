/* SPDX-License-Identifier: BSD-3-Clause */
/* A communicator's setup, at its first call that needs to know the other ranks. */
#ifndef COLL_STRAG_SETUP_H
#define COLL_STRAG_SETUP_H

#include "communicator.h"

/** Before setup: what can be known without asking, so that all ranks know the same. */
void coll_strag_setup_prepare(struct coll_strag_module *module, ompi_communicator_t *comm);

/**
 * Tell rank 0 where every rank is, and take over its decision. Collective.
 *
 * @return OMPI_SUCCESS, or an error; where only this rank has it, module->setup_error
 */
int coll_strag_setup(struct coll_strag_module *module, ompi_communicator_t *comm);

/** Where calls are not watched from the first one on: count this one, of so many bytes, and begin
 * when it is time. Collective. @return OMPI_SUCCESS, or an error of MPI's */
int coll_strag_setup_watch(struct coll_strag_module *module, ompi_communicator_t *comm,
                           size_t bytes);

/** State or table of the decision are new: forget what rests on the old ones.
 * @param change  what coll_strag_watch_end said */
void coll_strag_apply_change(struct coll_strag_module *module, enum strag_change change);

#endif
