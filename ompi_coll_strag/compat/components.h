/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which component a communicator's module is of.
 */
#ifndef COLL_STRAG_COMPAT_COMPONENTS_H
#define COLL_STRAG_COMPAT_COMPONENTS_H

#include "compat.h"

#include "ompi/mca/coll/base/coll_base_util.h"

/* The highest that Open MPI knows: larger ones are taken for it. */
enum { COLL_STRAG_PRIORITY_HIGHEST = 100 };

/** Of those that have been enabled so far. @param[out] priority  the component's, if it is found
 * @return its name, which lives as long as the component; NULL: it is none of them */
static inline const char *coll_strag_component_of(const ompi_communicator_t *comm,
                                                  const mca_coll_base_module_t *module,
                                                  int *priority)
{
    mca_coll_base_avail_coll_t *other;
    OPAL_LIST_FOREACH(other, comm->c_coll->module_list, mca_coll_base_avail_coll_t)
    {
        if (other->ac_module == module) {
            *priority = other->ac_priority;
            return other->ac_component_name;
        }
    }
    return NULL;
}

#endif
