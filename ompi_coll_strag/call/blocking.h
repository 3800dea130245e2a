/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COLL_STRAG_BLOCKING_H
#define COLL_STRAG_BLOCKING_H

#include "compat/compat.h"

/** MPI_Allreduce of a communicator that strag has taken. @param base  its struct coll_strag_module
 */
int coll_strag_allreduce(const void *sbuf, void *rbuf, coll_strag_count_t count,
                         ompi_datatype_t *dtype, ompi_op_t *op, ompi_communicator_t *comm,
                         mca_coll_base_module_t *base);

#endif
