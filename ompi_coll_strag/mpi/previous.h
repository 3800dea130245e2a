/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The component underneath: the functions that it had installed before strag's, for delegated
 * calls.
 */
#ifndef COLL_STRAG_PREVIOUS_H
#define COLL_STRAG_PREVIOUS_H

#include "compat/compat.h"

struct coll_strag_previous {
    mca_coll_base_module_allreduce_fn_t allreduce;
    mca_coll_base_module_t *allreduce_module;
    mca_coll_base_module_iallreduce_fn_t iallreduce; /* NULL: there is none, nor one of strag */
    mca_coll_base_module_t *iallreduce_module;
    mca_coll_base_module_allreduce_init_fn_t allreduce_init; /* likewise */
    mca_coll_base_module_t *allreduce_init_module;
};

#endif
