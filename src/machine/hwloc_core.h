/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The package, NUMA domain and last-level cache of a set of processors.
 *
 * Include hwloc.h before this file: Open MPI may have its own, whose functions have other names.
 */
#ifndef STRAG_HWLOC_CORE_H
#define STRAG_HWLOC_CORE_H

#include "machine/layout.h"

/* The nearest NUMA domain: the smallest that contains the processors; of equal ones (HBM and DRAM)
 * the first. */
static inline int strag_hwloc_numa(hwloc_topology_t topology, hwloc_const_cpuset_t cpus)
{
    int nearest = -1, fewest = 0;
    for (hwloc_obj_t numa = NULL;
         (numa = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, numa)) != NULL;) {
        if (!hwloc_bitmap_isincluded(cpus, numa->cpuset))
            continue;
        int size = hwloc_bitmap_weight(numa->cpuset);
        if (nearest < 0 || size < fewest) {
            nearest = (int)numa->logical_index;
            fewest = size;
        }
    }
    return nearest;
}

/* The object of a depth that contains all of these processors; -1 if there is none. */
static inline int strag_hwloc_container(hwloc_topology_t topology, int depth,
                                        hwloc_const_cpuset_t cpus)
{
    hwloc_obj_t object = hwloc_get_obj_covering_cpuset(topology, cpus);
    if (depth >= 0 && object)
        object = hwloc_get_ancestor_obj_by_depth(topology, depth, object);
    return depth >= 0 && object ? (int)object->logical_index : -1;
}

/* The depth of the last-level caches, which are the uppermost data caches. */
static inline int strag_hwloc_cache_depth(hwloc_topology_t topology)
{
    for (int depth = 0; depth < hwloc_topology_get_depth(topology); depth++)
        if (hwloc_obj_type_is_dcache(hwloc_get_depth_type(topology, depth)))
            return depth;
    return -1;
}

/** The objects that contain all of the processors; -1 for those that do not. */
static inline struct strag_core strag_hwloc_core(hwloc_topology_t topology,
                                                 hwloc_const_cpuset_t cpus)
{
    struct strag_core core = {-1, -1, -1};
    if (hwloc_bitmap_iszero(cpus))
        return core;
    core.package =
        strag_hwloc_container(topology, hwloc_get_type_depth(topology, HWLOC_OBJ_PACKAGE), cpus);
    core.cache = strag_hwloc_container(topology, strag_hwloc_cache_depth(topology), cpus);
    core.numa = strag_hwloc_numa(topology, cpus);
    return core;
}

#endif
