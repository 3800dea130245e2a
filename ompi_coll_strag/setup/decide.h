/* SPDX-License-Identifier: BSD-3-Clause */
/* What was decided for a communicator, after its setup. */
#ifndef COLL_STRAG_SETUP_DECIDE_H
#define COLL_STRAG_SETUP_DECIDE_H

#include "shared/module.h"

/** Calls are to be watched (module->watch_in): count this one, if it is long enough, and begin when
 * it is time. Collective, of blocking calls alone: it waits for other ranks (wire/exchange.h).
 * @return OMPI_SUCCESS, or an error of MPI's */
int coll_strag_setup_watch(struct coll_strag_module *module, ompi_communicator_t *comm,
                           size_t bytes);

/** State or table of the decision are new: forget what rests on the old ones.
 * @param change  what coll_strag_watch_end said */
void coll_strag_apply_change(struct coll_strag_module *module, enum strag_change change);

#endif
