/* SPDX-License-Identifier: BSD-3-Clause */
/* What rank 0 decides for a communicator, and following it: in its setup, and later. */
#ifndef COLL_STRAG_SETUP_DECIDE_H
#define COLL_STRAG_SETUP_DECIDE_H

#include "communicator.h"

struct setup;

/** Rank 0 decides, all follow, and watch their calls if they are to from the first one on.
 * Collective; errors are noted in `setup`. */
void coll_strag_setup_share_decision(struct setup *setup);

/** What was decided holds from now on. */
void coll_strag_setup_follow(struct coll_strag_module *module,
                             const struct coll_strag_decision *decision);

/** If calls are watched at all, then from a later one on; at once where the user wants a report.
 * Collective. @return OMPI_SUCCESS, or how setup went */
int coll_strag_setup_watch_later(struct setup *setup);

/** Where calls are not watched from the first one on: count this one, of so many bytes, and begin
 * when it is time. Collective. @return OMPI_SUCCESS, or an error of MPI's */
int coll_strag_setup_watch(struct coll_strag_module *module, ompi_communicator_t *comm,
                           size_t bytes);

/** State or table of the decision are new: forget what rests on the old ones.
 * @param change  what coll_strag_watch_end said */
void coll_strag_apply_change(struct coll_strag_module *module, enum strag_change change);

#endif
