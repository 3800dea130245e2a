/* SPDX-License-Identifier: BSD-3-Clause */
#include "rank_info.h"

#include "compat/world.h"
#include "files.h"
#include "user/log.h"
#include "wire/device_buffer.h"
#include "wire/transport_pml.h"

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

/* Hosts on a Slingshot network have a file with their cabinet and chassis. */
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

/* An address from Slurm either ends with the host's name or has no dot. An address that a launcher
 * has copied from another host is ignored. */
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
        find_xname(&own); /* Slurm reports no switches */
}

/* ---- Segments ---- */

/*
 * The length of segments, into which messages are cut. Every rank finds the best length for its own
 * connections; all ranks use the shortest of these.
 *
 *     same host             1 MiB     measured best through shared memory
 *     btl tcp               60 KiB    the eager limit less a page: sent at once
 *     another network, UCX  256 KiB
 *     UCX, from devices     16 MiB within a host, 4 MiB between hosts: a message and a kernel take
 *                           30 us more than their bytes do, in which a link carries megabytes
 *
 * Before a longer message over TCP the PML asks the receiver for its buffer (rendezvous). The
 * answer waits in the same byte stream behind everything that the receiver itself is sending. So if
 * two ranks exchange vectors, one sends while the other waits, which takes twice as long.
 */
static const size_t usual_segments[STRAG_LANES] = {
    [COLL_STRAG_MEMORY] = (size_t)1 << 20,
    [COLL_STRAG_NETWORK] = (size_t)256 << 10,
};

static const size_t device_segments[STRAG_LANES] = {
    [COLL_STRAG_MEMORY] = (size_t)16 << 20,
    [COLL_STRAG_NETWORK] = (size_t)4 << 20,
};

enum { PAGE = 4096 }; /* bytes: enough for the PML's header */

/* The length of segments over a BTL. If the user has set a very low eager limit, rendezvous is
 * intended. @return usual, unless the BTL is tcp */
static size_t spare_btl(const mca_btl_base_module_t *btl, size_t usual)
{
    size_t eager = btl->btl_eager_limit;
    if (strcmp(btl->btl_component->btl_version.mca_component_name, "tcp") != 0 ||
        eager < 4 * (size_t)PAGE)
        return usual;
    return eager - PAGE < usual ? eager - PAGE : usual;
}

/* The length of segments to a process over ob1: the shortest of its BTLs. */
static size_t segment_to(ompi_proc_t *proc, size_t usual)
{
    size_t shortest = usual;
    struct mca_bml_base_endpoint_t *endpoint = mca_bml_base_get_endpoint(proc);
    if (NULL == endpoint)
        return usual;
    for (size_t i = 0; i < mca_bml_base_btl_array_get_size(&endpoint->btl_eager); i++) {
        mca_bml_base_btl_t *bml = mca_bml_base_btl_array_get_index(&endpoint->btl_eager, i);
        size_t segment = spare_btl(bml->btl, usual);
        shortest = segment < shortest ? segment : shortest;
    }
    return shortest;
}

/* Open MPI makes a remote rank's process when it is first looked up, and has a sentinel until then.
 * Only one remote rank is looked up here: 10,000 would take megabytes in each process. */
static enum coll_strag_lane lane_to(ompi_communicator_t *comm, int rank)
{
    const ompi_proc_t *proc = ompi_group_get_proc_ptr_raw(comm->c_remote_group, rank);
    return !ompi_proc_is_sentinel((ompi_proc_t *)proc) &&
                   OPAL_PROC_ON_LOCAL_NODE(proc->super.proc_flags)
               ? COLL_STRAG_MEMORY
               : COLL_STRAG_NETWORK;
}

static void find_segments(ompi_communicator_t *comm, uint64_t *segments)
{
    bool known[STRAG_LANES] = {false};
    for (int l = 0; l < STRAG_LANES; l++)
        segments[l] = usual_segments[l];
    for (int rank = 0; rank < ompi_comm_size(comm) && coll_strag_pml_is_ob1(); rank++) {
        if (rank == ompi_comm_rank(comm))
            continue;
        const enum coll_strag_lane lane = lane_to(comm, rank);
        if (!known[lane])
            segments[lane] = segment_to(ompi_comm_peer_lookup(comm, rank), segments[lane]);
        known[lane] = true;
    }
}

void coll_strag_least_segments(const struct coll_strag_rank_info *ranks, int n,
                               uint64_t segments[][STRAG_LANES])
{
    const size_t wanted = coll_strag_settings.segment;
    const bool devices = coll_strag_settings.transport != COLL_STRAG_PML && coll_strag_device_ucp();
    const size_t *over_ucp = devices ? device_segments : usual_segments;
    for (int l = 0; l < STRAG_LANES; l++) {
        uint64_t least = ranks[0].segments[l];
        for (int rank = 1; rank < n; rank++) {
            if (ranks[rank].segments[l] < least)
                least = ranks[rank].segments[l];
        }
        segments[COLL_STRAG_PML][l] = wanted ? wanted : least;
        segments[COLL_STRAG_UCP][l] = wanted ? wanted : over_ucp[l];
    }
}

/* ---- Messages to rank 0, and the topology ---- */

struct coll_strag_rank_info coll_strag_rank_info(ompi_communicator_t *comm, int pinned)
{
    struct coll_strag_rank_info info;
    memset(&info, 0, sizeof info); /* it is sent, padding included */
    info.location = own;
    info.pinned = pinned;
    info.location.world = (int32_t)OPAL_PROC_MY_NAME.vpid; /* works without MPI_COMM_WORLD, too */
    find_segments(comm, info.segments);
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

struct strag_topology *coll_strag_make_topology(ompi_communicator_t *comm,
                                                const struct strag_rank_location *ranks)
{
    const struct coll_strag_settings *settings = &coll_strag_settings;
    struct strag_topology *topology = NULL;
    struct strag_error why;
    struct strag_job job = {.ranks = ranks, .n = ompi_comm_size(comm)};
    job.part = job.n < coll_strag_world_size();
    job.pattern = strag_names_pattern(settings->layout_file);
    if (settings->layout_file[0] && NULL == job.pattern)
        job.layout = coll_strag_layout();
    else
        job.layout = settings->grid;
    if (job.pattern)
        job.source = STRAG_JOB_BY_NAMES;
    else if (settings->layout_file[0])
        job.source = job.layout ? STRAG_JOB_ON_FILE : STRAG_JOB_FLAT;
    else if (settings->grid)
        job.source = STRAG_JOB_ON_GRID;
    else
        job.source = STRAG_JOB_BY_ADDRESSES;
    (void)strag_job_topology(&job, &topology, &why);
    if (why.text[0] && settings->layout_file[0])
        coll_strag_warn(COLL_STRAG_WARN_LAYOUT, settings->layout_file, why.text);
    else if (why.text[0] && job.source == STRAG_JOB_ON_GRID)
        coll_strag_warn(COLL_STRAG_WARN_TORUS, settings->grid_text, why.text);
    if (why.text[0])
        coll_strag_log(comm, "%s%s",
                       topology && job.source == STRAG_JOB_BY_ADDRESSES
                           ? "SLURM_TOPOLOGY_ADDR is ignored: "
                           : "",
                       why.text);
    return topology;
}
