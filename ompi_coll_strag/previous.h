/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The component underneath: what it had installed before ours, for delegated calls, and for
 * our own setup, which cannot use itself.
 */
#ifndef COLL_STRAG_PREVIOUS_H
#define COLL_STRAG_PREVIOUS_H

#include "compat/compat.h"

struct coll_strag_previous {
    mca_coll_base_module_allreduce_fn_t allreduce;
    mca_coll_base_module_t *allreduce_module;
};

/** The least of each number over all ranks. Collective. @return OMPI_SUCCESS, or an MPI error */
static inline int coll_strag_minimum(const struct coll_strag_previous *previous,
                                     ompi_communicator_t *comm, int32_t *numbers, int count)
{
    return previous->allreduce(MPI_IN_PLACE, numbers, (coll_strag_count_t)count, MPI_INT32_T,
                               MPI_MIN, comm, previous->allreduce_module);
}

/** Is every rank able? Collective. @param[out] all  false after an error, too */
static inline int coll_strag_agree(const struct coll_strag_previous *previous,
                                   ompi_communicator_t *comm, bool able, bool *all)
{
    int32_t least = able;
    int code = coll_strag_minimum(previous, comm, &least, 1);
    *all = code == OMPI_SUCCESS && least;
    return code;
}

#endif
