/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The component underneath: what it had installed before ours, for delegated calls, and for a
 * blocking call's own questions, which cannot use itself.
 */
#ifndef COLL_STRAG_PREVIOUS_H
#define COLL_STRAG_PREVIOUS_H

#include "compat/compat.h"

struct coll_strag_previous {
    mca_coll_base_module_allreduce_fn_t allreduce;
    mca_coll_base_module_t *allreduce_module;
    mca_coll_base_module_iallreduce_fn_t iallreduce; /* NULL: there is none, nor one of ours */
    mca_coll_base_module_t *iallreduce_module;
    mca_coll_base_module_allreduce_init_fn_t allreduce_init; /* likewise */
    mca_coll_base_module_t *allreduce_init_module;
};

/** Is every rank able? Collective. @param[out] all  false after an error, too */
static inline int coll_strag_agree(const struct coll_strag_previous *previous,
                                   ompi_communicator_t *comm, bool able, bool *all)
{
    int32_t least = able;
    int code = previous->allreduce(MPI_IN_PLACE, &least, 1, MPI_INT32_T, MPI_MIN, comm,
                                   previous->allreduce_module);
    *all = code == OMPI_SUCCESS && least;
    return code;
}

#endif
