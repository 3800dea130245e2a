/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What has to be brought to an end before a communicator is freed, or MPI is finalized: messages in
 * flight, of which other ranks wait for this one's part. While they are in flight the communicator
 * is not destroyed, and the last of them destroys it where nothing can be waited for. So this is
 * done when an attribute is deleted, in the user's own thread: strag's, which a communicator has
 * from the beginning and its dups do not get, or MPI_COMM_SELF's, which MPI_Finalize deletes first.
 *
 * A callback of another attribute may use the communicator after that. What it begins is refused,
 * or holds a reference to the communicator. Open MPI goes over the communicator's attributes
 * meanwhile, and a change to them would make it use memory that is freed: what the attribute points
 * to changes instead.
 */
#ifndef COLL_STRAG_TEARDOWN_H
#define COLL_STRAG_TEARDOWN_H

#include "compat/compat.h"

struct coll_strag_attribute {
    struct coll_strag_attribute **user; /* points to this one as long as it exists; or NULL */
};

/**
 * A communicator is made: give it the attribute.
 *
 * @param[out] user  the attribute; NULL if there is no memory for it. It becomes NULL when the
 * attribute is deleted, and must stay where it is until then, or until coll_strag_attribute_leave
 */
void coll_strag_attribute_open(ompi_communicator_t *comm, struct coll_strag_attribute **user);

/** `user` must not be written any more. @param attribute  NULL is allowed */
void coll_strag_attribute_leave(struct coll_strag_attribute *attribute);

/* Its owner's; it stays where it is from attach to leave. */
struct coll_strag_teardown {
    /* Each is called once at most, and no more after coll_strag_teardown_leave: first `begin`, if
     * it is not NULL, of all whose time has come, then `end` of each, which may wait. What is
     * attached meanwhile has `end` called alone. */
    void (*begin)(struct coll_strag_teardown *teardown);
    void (*end)(struct coll_strag_teardown *teardown);
    ompi_communicator_t *comm;

    /* this file's */
    bool attached;
    int called; /* how many of the two */
    struct coll_strag_teardown *next;
};

/** Let both be called when the time comes: at once, if it comes just now. If it has come already
 * for the communicator, then when MPI ends. */
void coll_strag_teardown_attach(struct coll_strag_teardown *teardown, ompi_communicator_t *comm,
                                void (*begin)(struct coll_strag_teardown *teardown),
                                void (*end)(struct coll_strag_teardown *teardown));

/** Does MPI end? Else a communicator is freed. */
bool coll_strag_teardown_is_final(void);

/** There is nothing left to be done. Allowed without attach, if all was 0. */
void coll_strag_teardown_leave(struct coll_strag_teardown *teardown);

/** MPI has ended. With sessions it may begin again. */
void coll_strag_teardown_close(void);

#endif
