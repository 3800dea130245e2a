/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What has to end before a communicator is freed, or MPI is finalized: messages in flight, in which
 * other ranks wait for this one. Messages in flight keep the communicator from being destroyed, and
 * the last of them destroys it at a point where nothing can be waited for. So this is done when an
 * attribute is deleted, in the user's own thread: strag's, which a communicator has from the
 * beginning and its dups do not get, or MPI_COMM_SELF's, which MPI_Finalize deletes first.
 *
 * Another attribute's callback may use the communicator after that. What it begins is refused, or
 * holds a reference to the communicator. Meanwhile Open MPI goes over the communicator's
 * attributes, and would use freed memory if they changed: so what the attribute points to changes
 * instead.
 */
#ifndef COLL_STRAG_TEARDOWN_H
#define COLL_STRAG_TEARDOWN_H

#include "compat/compat.h"

struct coll_strag_attribute {
    struct coll_strag_attribute **user; /* its user's pointer to it, while it exists; or NULL */
};

/**
 * Give the attribute to a communicator that is being made.
 *
 * @param[out] user  the attribute; NULL if there is no memory for it. It becomes NULL when the
 * attribute is deleted, and must stay where it is until then, or until coll_strag_attribute_leave
 */
void coll_strag_attribute_open(ompi_communicator_t *comm, struct coll_strag_attribute **user);

/** The user's pointer must not be written any more. @param attribute  NULL is allowed */
void coll_strag_attribute_leave(struct coll_strag_attribute *attribute);

/* In its owner's memory, where it stays from attach to leave. */
struct coll_strag_teardown {
    /* Each is called once at most, and not after coll_strag_teardown_leave: first `begin`, if it is
     * not NULL, of all teardowns whose time has come, then `end` of each, which may wait. If one is
     * attached meanwhile, only its `end` is called. */
    void (*begin)(struct coll_strag_teardown *teardown);
    void (*end)(struct coll_strag_teardown *teardown);
    ompi_communicator_t *comm;

    /* this file's */
    bool attached;
    int called; /* how many of the two */
    struct coll_strag_teardown *next;
};

/** Let both be called when the communicator is freed, or by MPI_Finalize unless it is a session's.
 * If either is in progress, they are called now; if the communicator's attribute is already gone,
 * when MPI ends. */
void coll_strag_teardown_attach(struct coll_strag_teardown *teardown, ompi_communicator_t *comm,
                                void (*begin)(struct coll_strag_teardown *teardown),
                                void (*end)(struct coll_strag_teardown *teardown));

/** Is the communicator torn down by MPI_Finalize? If not, it is being freed. */
bool coll_strag_teardown_is_final(const ompi_communicator_t *comm);

/** Detach: nothing is left to be done. Allowed without attach, if all members are 0. */
void coll_strag_teardown_leave(struct coll_strag_teardown *teardown);

/** MPI has ended. With sessions it may begin again. */
void coll_strag_teardown_close(void);

#endif
