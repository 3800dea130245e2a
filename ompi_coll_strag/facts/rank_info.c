/* SPDX-License-Identifier: BSD-3-Clause */
#include "rank_info.h"

#include "segments.h"
#include "user/log.h"

#include "base/file.h"
#include "machine/hwloc_core.h"
#include "machine/link_speed.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct strag_rank_location own;

/* The processors to which the process is bound; all of them if it is not. */
static struct strag_core find_core(void)
{
    struct strag_core core = {-1, -1, -1};
    if (opal_hwloc_base_get_topology() != OPAL_SUCCESS || NULL == opal_hwloc_topology)
        return core;
    hwloc_cpuset_t cpus = hwloc_bitmap_alloc();
    if (NULL == cpus)
        return core;
    if (hwloc_get_cpubind(opal_hwloc_topology, cpus, HWLOC_CPUBIND_PROCESS) == 0)
        core = strag_hwloc_core(opal_hwloc_topology, cpus);
    hwloc_bitmap_free(cpus);
    return core;
}

/* A host of Slingshot knows its cabinet and chassis. */
static void find_xname(struct strag_rank_location *location)
{
    struct strag_error err;
    char *name = NULL, *address = NULL;
    size_t length;
    if (strag_file_read("/etc/cray/xname", 255, &name, &length, &err) != STRAG_OK)
        return;
    name[strcspn(name, " \t\r\n")] = '\0';
    if (strag_names_address(strag_names_pattern("names:xname"), name, location->host, &address,
                            &err) == STRAG_OK &&
        strlen(address) < sizeof location->address)
        strcpy(location->address, address);
    free(address);
    free(name);
}

/* Slurm's address ends with the host's name, or has none. An address that a launcher has copied
 * from another host is left out. */
static void find_address(struct strag_rank_location *location)
{
    const char *address = getenv("SLURM_TOPOLOGY_ADDR");
    if (NULL == address || strlen(address) >= sizeof location->address)
        return;
    const char *dot = strrchr(address, '.');
    if (NULL == dot || strag_same_host_name(dot + 1, location->host))
        strcpy(location->address, address);
}

void coll_strag_rank_info_prepare(void)
{
    memset(&own, 0, sizeof own);
    if (gethostname(own.host, sizeof own.host - 1) != 0 || own.host[0] == '\0')
        strcpy(own.host, "?");
    own.core = find_core();
    own.link_speed = strag_link_speed("/sys");
    find_address(&own);
    if (NULL == strchr(own.address, '.') && NULL == strchr(own.address, ':'))
        find_xname(&own); /* Slurm knows of no switches */
}

struct coll_strag_rank_info coll_strag_rank_info(ompi_communicator_t *comm, int pinned)
{
    struct coll_strag_rank_info info;
    memset(&info, 0, sizeof info); /* it is sent, padding and all */
    info.location = own;
    info.pinned = pinned;
    info.location.world = ompi_comm_rank(&ompi_mpi_comm_world.comm);
    coll_strag_find_segments(comm, info.segments);
    return info;
}

void coll_strag_rank_info_compare(const struct coll_strag_rank_info *ranks, int n)
{
    char who[128];
    for (int rank = 1; rank < n; rank++) {
        if (ranks[rank].pinned == ranks[0].pinned)
            continue;
        snprintf(who, sizeof who, "rank %d on %s", rank, ranks[rank].location.host);
        coll_strag_warn(COLL_STRAG_WARN_DIFFERENT, who,
                        "the info key coll_strag_algorithm is not the same there as on rank 0");
        return;
    }
}
