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

#endif
