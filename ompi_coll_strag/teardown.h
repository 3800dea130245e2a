/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What has to be brought to an end before a communicator is freed, or MPI is finalized: messages
 * under way, of which other ranks wait for this one's part.
 *
 * An attribute of the communicator is deleted: MPI_Comm_free does that first, in the user's own
 * thread. Later would be too late: as long as messages are under way the communicator is not
 * destroyed, and then it is by the last one of them, in the midst of Open MPI's progress, where
 * nothing can be waited for. And an attribute of MPI_COMM_SELF is deleted: MPI_Finalize does that
 * first.
 *
 * MPI_Comm_free makes a list of the attributes first, and what ends while it goes over that may
 * have to wait for Open MPI's progress. An attribute that was set there would never be deleted. So
 * a call of the program's own sets it, before there is anything to end, and what comes later joins
 * a list.
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

/** Set the communicator's attribute, once: in a call of the program's, not in progress.
 * @return false: out of memory, or MPI has ended */
bool coll_strag_teardown_open(ompi_communicator_t *comm);

/** Let `end` be called when the time comes: at once, if it comes just now. The communicator has its
 * attribute. */
void coll_strag_teardown_attach(struct coll_strag_teardown *teardown, ompi_communicator_t *comm,
                                void (*end)(struct coll_strag_teardown *teardown));

/** Let `end` be called when MPI ends, after those of communicators.
 * @return false: it will not be, since MPI ends just now, or only sessions do */
bool coll_strag_teardown_attach_last(struct coll_strag_teardown *teardown,
                                     void (*end)(struct coll_strag_teardown *teardown));

/** Does MPI end? Else a communicator is freed. */
bool coll_strag_teardown_is_final(void);

/** There is nothing left to be done. Allowed without attach, if all was 0. */
void coll_strag_teardown_leave(struct coll_strag_teardown *teardown);

/** MPI has ended. With sessions it may begin again. */
void coll_strag_teardown_close(void);

#endif
