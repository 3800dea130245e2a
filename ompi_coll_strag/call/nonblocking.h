/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COLL_STRAG_NONBLOCKING_H
#define COLL_STRAG_NONBLOCKING_H

#include "compat/compat.h"

/** MPI_Iallreduce of a communicator that strag has taken. @param base  its struct coll_strag_module
 */
int coll_strag_iallreduce(const void *sbuf, void *rbuf, coll_strag_count_t count,
                          ompi_datatype_t *dtype, ompi_op_t *op, ompi_communicator_t *comm,
                          ompi_request_t **request, mca_coll_base_module_t *base);

/** Does Open MPI itself make such a call when a communicator is made from another one? It is the
 * previous component's, and nobody counts it. @param bytes  of the vector */
bool coll_strag_is_for_new_communicator(size_t bytes, const ompi_op_t *op);

#endif
