/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * strag's attribute of a communicator, which its dups do not get. When Open MPI deletes it the
 * communicator is being freed, and what is still in flight is brought to its end (mpi/teardown.h).
 * MPI_COMM_SELF has it, too: MPI_Finalize deletes that before anything else.
 *
 * It is set when the communicator is made. After that strag neither sets nor deletes an attribute:
 * a program may call MPI_Allreduce in a callback of an attribute of its own, while Open MPI goes
 * over all attributes of that communicator, and a change to them would make Open MPI use memory
 * that is freed. What the attribute points to changes instead.
 */
#ifndef COLL_STRAG_ATTRIBUTE_H
#define COLL_STRAG_ATTRIBUTE_H

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

/** The attributes' key is gone. */
void coll_strag_attribute_close(void);

#endif
