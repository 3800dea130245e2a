/* SPDX-License-Identifier: BSD-3-Clause */
/* Which plan runs a call, or why the previous component does. To choose may set the communicator
 * up. */
#ifndef COLL_STRAG_CHOOSE_H
#define COLL_STRAG_CHOOSE_H

#include "call.h"

/** Must setup, or a nonblocking call, end before a blocking call or MPI_Allreduce_init goes on? */
static inline bool coll_strag_is_after_others(const struct coll_strag_module *module)
{
    return !coll_strag_queue_is_empty(&module->queue) ||
           __atomic_load_n(&module->setup, __ATOMIC_RELAXED) == COLL_STRAG_SETUP_RUNNING;
}

/** Wait until all nonblocking calls have ended, and setup, if one of them has begun it. */
void coll_strag_wait_for_earlier(struct coll_strag_module *module, ompi_communicator_t *comm);

/**
 * Choose what runs a call: sets `choice` and `from_table`, and logs the choice. It is the same on
 * all ranks if they ask in program order. If the communicator has not been set up and the call
 * needs it, a blocking or persistent call sets it up at once; a nonblocking one begins setup and
 * does not wait. @return OMPI_SUCCESS, or the error that keeps this rank from knowing the choice
 */
int coll_strag_choose(struct coll_strag_call *call);

/** Strag cannot run a call for which it was chosen: there is no room for its persistent request.
 * Record that the previous component does. */
void coll_strag_leave_to_previous(struct coll_strag_call *call);

#endif
