/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions of a communicator whose calls are reported or traced: each call is recorded, and
 * goes on as it would otherwise, to strag or to the component that is selected instead.
 */
#ifndef COLL_STRAG_RECORDED_H
#define COLL_STRAG_RECORDED_H

#include "collect/record.h"

/** MPI_Allreduce, MPI_Iallreduce and MPI_Allreduce_init of a communicator that has a ledger.
 * @param base  its struct coll_strag_module */
int coll_strag_recorded_allreduce(const void *sbuf, void *rbuf, coll_strag_count_t count,
                                  ompi_datatype_t *dtype, ompi_op_t *op, ompi_communicator_t *comm,
                                  mca_coll_base_module_t *base);
int coll_strag_recorded_iallreduce(const void *sbuf, void *rbuf, coll_strag_count_t count,
                                   ompi_datatype_t *dtype, ompi_op_t *op, ompi_communicator_t *comm,
                                   ompi_request_t **request, mca_coll_base_module_t *base);
int coll_strag_recorded_allreduce_init(const void *sbuf, void *rbuf, coll_strag_count_t count,
                                       ompi_datatype_t *dtype, ompi_op_t *op,
                                       ompi_communicator_t *comm, struct ompi_info_t *info,
                                       ompi_request_t **request, mca_coll_base_module_t *base);

/* These three. */
extern const struct coll_strag_ways coll_strag_recorded_ways;

#endif
