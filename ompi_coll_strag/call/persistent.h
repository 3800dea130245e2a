/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Allreduce_init. MPI lets it wait for the other ranks: it sets the communicator up if that is
 * not done yet, chooses what runs all starts, and plans.
 *
 * Persistent requests may be started in any order, and in another one on each rank; only the calls
 * of MPI_Allreduce_init are in the same order everywhere. Hence two of them cannot wait for each
 * other, nor can a blocking call wait for one: on another rank it may come first. So each request
 * has a channel and a queue of its own, as if it had a communicator to itself: a mailbox in shared
 * memory, a tag for the PML or numbers for UCX, engine and plan. The tags are counted here and not
 * by Open MPI's counter for nonblocking collectives, which MPI_Comm_idup moves on in its progress,
 * at another point of each rank's program. The first start of one matches the
 * first start of the same one on the other ranks, and so on: what is in a channel is in order.
 *
 * Where that is not possible on a rank (there is no room for a mailbox, or coll/hcoll has the
 * tags), all ranks know, and the previous component's request is the user's, as it is where the
 * choice says so.
 *
 * A request holds its communicator, operator and type until it is freed. One that is freed while it
 * is active is gone when it has completed.
 */
#ifndef COLL_STRAG_PERSISTENT_H
#define COLL_STRAG_PERSISTENT_H

#include "shared/module.h"

/** MPI_Allreduce_init of a communicator that strag has taken. @param base  its struct
 * coll_strag_module */
int coll_strag_allreduce_init(const void *sbuf, void *rbuf, coll_strag_count_t count,
                              ompi_datatype_t *dtype, ompi_op_t *op, ompi_communicator_t *comm,
                              struct ompi_info_t *info, ompi_request_t **request,
                              mca_coll_base_module_t *base);

/** MPI_COMM_WORLD comes to its end though it has requests that were never freed: their channels do,
 * too. */
void coll_strag_persistent_abandon(struct coll_strag_module *module);

#endif
