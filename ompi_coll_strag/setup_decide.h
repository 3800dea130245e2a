/* SPDX-License-Identifier: BSD-3-Clause */
/* What rank 0 decides for a communicator, and following it: in its setup, and later. */
#ifndef COLL_STRAG_SETUP_DECIDE_H
#define COLL_STRAG_SETUP_DECIDE_H

#include "setup_steps.h"

/* Rank 0 decides, all follow; plans from files come behind. */
#define COLL_STRAG_SETUP_DECIDE_STEPS                                                              \
    coll_strag_setup_decide, coll_strag_setup_take_decision, coll_strag_setup_take_given

coll_strag_setup_step coll_strag_setup_decide, coll_strag_setup_take_decision,
    coll_strag_setup_take_given;

/** The first half, on rank 0: its decision is the heritage's, as it is sent. */
coll_strag_setup_step coll_strag_setup_make_decision;

/** What was decided holds from now on. */
void coll_strag_setup_follow(struct coll_strag_module *module,
                             const struct coll_strag_decision *decision);

/** Calls are to be watched (module->watch_in): count this one, of so many bytes, and begin when it
 * is time. Collective, of blocking calls alone: it uses the communicator's own collectives.
 * @return OMPI_SUCCESS, or an error of MPI's */
int coll_strag_setup_watch(struct coll_strag_module *module, ompi_communicator_t *comm,
                           size_t bytes);

/** State or table of the decision are new: forget what rests on the old ones.
 * @param change  what coll_strag_watch_end said */
void coll_strag_apply_change(struct coll_strag_module *module, enum strag_change change);

#endif
