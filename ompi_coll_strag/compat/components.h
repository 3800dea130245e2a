/* SPDX-License-Identifier: BSD-3-Clause */
/* Which components have taken a communicator, and which one runs its allreduces. */
#ifndef COLL_STRAG_COMPAT_COMPONENTS_H
#define COLL_STRAG_COMPAT_COMPONENTS_H

#include "compat.h"

#include <stdbool.h>
#include <string.h>

/* The highest that Open MPI knows: it lowers larger ones to this. */
enum { COLL_STRAG_PRIORITY_HIGHEST = 100 };

/** Has a component of this name taken the communicator? */
static inline bool coll_strag_component_is_there(const ompi_communicator_t *comm, const char *name)
{
    mca_coll_base_avail_coll_t *other;
    OPAL_LIST_FOREACH(other, comm->c_coll->module_list, mca_coll_base_avail_coll_t)
    {
        if (strcmp(other->ac_component_name, name) == 0)
            return true;
    }
    return false;
}

/* Does a component only count a call, or copy its vectors, and hand it to the component below? */
static inline bool coll_strag_component_wraps(const char *name)
{
    return strcmp(name, "monitoring") == 0 || strcmp(name, "cuda") == 0 ||
           strcmp(name, "accelerator") == 0;
}

/** Which of the components that have been enabled so far runs the allreduces handed to a module?
 * @param[out] priority  the component's, if it is found
 * @return its name, which lives as long as the component; NULL if it is none of them */
static inline const char *coll_strag_component_below(const ompi_communicator_t *comm,
                                                     const mca_coll_base_module_t *module,
                                                     int *priority)
{
    mca_coll_base_avail_coll_t *other;
    const char *name = NULL;
    OPAL_LIST_FOREACH(other, comm->c_coll->module_list, mca_coll_base_avail_coll_t)
    {
        if (other->ac_module == module) {
            *priority = other->ac_priority;
            name = other->ac_component_name;
        }
    }
    if (NULL == name || !coll_strag_component_wraps(name))
        return name;
    const int above = *priority;
    *priority = -1;
    OPAL_LIST_FOREACH(other, comm->c_coll->module_list, mca_coll_base_avail_coll_t)
    {
        if (other->ac_priority > *priority && other->ac_priority <= above &&
            other->ac_module->coll_allreduce &&
            !coll_strag_component_wraps(other->ac_component_name)) {
            *priority = other->ac_priority;
            name = other->ac_component_name;
        }
    }
    return name;
}

#endif
