/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What has to be brought to an end before a communicator is freed, or MPI is finalized: messages
 * in flight, of which other ranks wait for this one's part.
 *
 * Both delete an attribute first (shared/attribute.h), in the user's own thread. Later would be too
 * late: while messages are in flight the communicator is not destroyed. The last of them destroys
 * it, in Open MPI's progress, where nothing can be waited for.
 *
 * A program may still use the communicator after that, in a callback of another attribute. What it
 * begins there has to do without: it is refused, or holds a reference to the communicator.
 */
#ifndef COLL_STRAG_TEARDOWN_H
#define COLL_STRAG_TEARDOWN_H

#include "compat/compat.h"

/* Its owner's; it stays where it is from attach to leave. */
struct coll_strag_teardown {
    /* Called once at most, and no more after coll_strag_teardown_leave. It may wait. */
    void (*end)(struct coll_strag_teardown *teardown);
    ompi_communicator_t *comm;

    /* this file's */
    bool attached, called;
    struct coll_strag_teardown *next;
};

/** It is time. @param comm  the communicator that is being freed; NULL: MPI ends */
void coll_strag_teardown_run(const ompi_communicator_t *comm);

/** Let `end` be called when the time comes: at once, if it comes just now. If it has come already
 * for the communicator, then when MPI ends. */
void coll_strag_teardown_attach(struct coll_strag_teardown *teardown, ompi_communicator_t *comm,
                                void (*end)(struct coll_strag_teardown *teardown));

/** Does MPI end? Else a communicator is freed. */
bool coll_strag_teardown_is_final(void);

/** There is nothing left to be done. Allowed without attach, if all was 0. */
void coll_strag_teardown_leave(struct coll_strag_teardown *teardown);

/** MPI has ended. With sessions it may begin again. */
void coll_strag_teardown_close(void);

#endif
