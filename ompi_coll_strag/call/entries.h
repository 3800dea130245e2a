/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions that Open MPI calls. `base` is the struct coll_strag_module of a communicator that
 * strag has taken, or whose calls are recorded. */
#ifndef COLL_STRAG_ENTRIES_H
#define COLL_STRAG_ENTRIES_H

#include "shared/module.h"

/** Take a communicator that is being made (query.c).
 * @return NULL if strag declines it; the reason is logged */
mca_coll_base_module_t *coll_strag_comm_query(ompi_communicator_t *comm, int *priority);

/** MPI_Allreduce (blocking.c). */
int coll_strag_allreduce(const void *sbuf, void *rbuf, coll_strag_count_t count,
                         ompi_datatype_t *dtype, ompi_op_t *op, ompi_communicator_t *comm,
                         mca_coll_base_module_t *base);

/** MPI_Iallreduce (nonblocking.c). */
int coll_strag_iallreduce(const void *sbuf, void *rbuf, coll_strag_count_t count,
                          ompi_datatype_t *dtype, ompi_op_t *op, ompi_communicator_t *comm,
                          ompi_request_t **request, mca_coll_base_module_t *base);

/** MPI_Allreduce_init (persistent.c). */
int coll_strag_allreduce_init(const void *sbuf, void *rbuf, coll_strag_count_t count,
                              ompi_datatype_t *dtype, ompi_op_t *op, ompi_communicator_t *comm,
                              struct ompi_info_t *info, ompi_request_t **request,
                              mca_coll_base_module_t *base);

/** Close the channels of requests that were never freed. Only MPI_COMM_WORLD can end before its
 * requests do: they keep any other communicator. */
void coll_strag_persistent_abandon(struct coll_strag_module *module);

#endif
