/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the ranks are. When a communicator is made nothing is sent; its first call that needs to
 * know does this, once:
 *
 *     all ranks   -- struct coll_strag_rank_info -->  rank 0                      gather
 *     rank 0      reads the files, makes the topology
 *     rank 0      -- struct coll_strag_hosts, topology -->  all ranks         broadcasts
 *     all ranks   those of a host share memory (coll_strag_shm.c)
 *     rank 0      makes the table
 *     rank 0      -- struct coll_strag_decision -->  all ranks                broadcast
 *     all ranks   -- how UCX reaches them -->  all ranks     if rank 0 wants that transport
 *     all ranks   can all watch their calls? an allreduce     if calls are watched
 *
 * So only rank 0's files and parameters count, and ranks cannot disagree. The messages are those of
 * the communicator's own gather and broadcast, which are other components'.
 *
 * A rank that runs out of memory still takes part in every message; its calls fail from then on.
 */
#include "coll_strag_report.h"

#include "algorithms/table.h"
#include "machine/hwloc_core.h"
#include "watch/link_speed.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- What this process knows of itself ---- */

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

static uint64_t hash(uint64_t state, uint64_t number)
{
    state = (state ^ number) * 0x9fb21c651e98df25u;
    return state ^ (state >> 29);
}

void coll_strag_find_rank_info(void)
{
    struct coll_strag_rank_info *info = &mca_coll_strag_component.rank_info;
    struct strag_rank_location *location = &info->location;
    memset(info, 0, sizeof *info);
    if (gethostname(location->host, sizeof location->host - 1) != 0 || location->host[0] == '\0')
        strcpy(location->host, "?");
    location->core = find_core();
    location->link_speed = strag_link_speed("/sys");
    find_address(location);
}

/* What ranks must have alike, for this communicator. */
static struct coll_strag_rank_info own_info(const mca_coll_strag_module_t *module,
                                            ompi_communicator_t *comm)
{
    struct coll_strag_rank_info info = mca_coll_strag_component.rank_info;
    info.location.world = ompi_comm_rank(&ompi_mpi_comm_world.comm);
    info.parameters = hash(hash(hash(hash(1, (uint64_t)module->pinned), module->locate_from),
                                mca_coll_strag_component.described),
                           mca_coll_strag_component.minimum_said);
    coll_strag_find_segments(comm, info.segments);
    return info;
}

static void compare_parameters(const struct coll_strag_rank_info *info, int n)
{
    char what[128];
    for (int rank = 1; rank < n; rank++) {
        if (info[rank].parameters == info[0].parameters)
            continue;
        snprintf(what, sizeof what, "rank %d on %s", rank, info[rank].location.host);
        coll_strag_warn(COLL_STRAG_WARN_DIFFERENT, what, info[0].location.host);
        return;
    }
}

/* ---- The messages ---- */

static int broadcast(ompi_communicator_t *comm, void *data, size_t bytes)
{
    return comm->c_coll->coll_bcast(data, (coll_strag_count_t)bytes, MPI_BYTE, 0, comm,
                                    comm->c_coll->coll_bcast_module);
}

/* Long data goes in pieces, so that a rank without memory for it can let it pass.
 * @param data  NULL: let it pass */
static int broadcast_long(ompi_communicator_t *comm, char *data, size_t bytes)
{
    char piece[8192] = {0};
    for (size_t done = 0; done < bytes; done += sizeof piece) {
        size_t length = bytes - done < sizeof piece ? bytes - done : sizeof piece;
        int code = broadcast(comm, data ? data + done : piece, length);
        if (code != OMPI_SUCCESS)
            return code;
    }
    return OMPI_SUCCESS;
}

/* What all ranks know, on rank 0. First it says whether it has room for that.
 * @param[out] all, ranks  rank 0's to free; NULL elsewhere */
static int gather(const mca_coll_strag_module_t *module, ompi_communicator_t *comm,
                  struct coll_strag_rank_info **all, struct strag_rank_location **ranks)
{
    const int n = ompi_comm_size(comm);
    struct coll_strag_rank_info own = own_info(module, comm);
    int32_t ready = 1;
    *all = NULL;
    *ranks = NULL;
    if (ompi_comm_rank(comm) == 0) {
        *all = calloc((size_t)n, sizeof **all);
        *ranks = malloc((size_t)n * sizeof **ranks);
        ready = NULL != *all && NULL != *ranks;
    }
    int code = broadcast(comm, &ready, sizeof ready);
    if (code == OMPI_SUCCESS && !ready)
        code = OMPI_ERR_OUT_OF_RESOURCE; /* on all ranks */
    if (code == OMPI_SUCCESS)
        code = comm->c_coll->coll_gather(&own, sizeof own, MPI_BYTE, *all, sizeof own, MPI_BYTE, 0,
                                         comm, comm->c_coll->coll_gather_module);
    if (code != OMPI_SUCCESS) {
        free(*all);
        free(*ranks);
        *all = NULL;
        *ranks = NULL;
    }
    for (int rank = 0; *ranks && rank < n; rank++)
        (*ranks)[rank] = (*all)[rank].location;
    return code;
}

/* ---- Rank 0's decision, and following it ---- */

/* On hosts with several ranks; not where all is to go over UCX. */
static enum coll_strag_shared_memory shared_memory_wanted(const mca_coll_strag_module_t *module,
                                                          ompi_communicator_t *comm)
{
    enum coll_strag_shared_memory wanted = mca_coll_strag_component.shared_memory;
    bool several = module->topology && module->topology->hosts < ompi_comm_size(comm);
    bool over_ucp = wanted == COLL_STRAG_SHARED_AUTO && coll_strag_carrier(comm) == COLL_STRAG_UCP;
    return several && !over_ucp ? wanted : COLL_STRAG_SHARED_NEVER;
}

/* @param[out] bytes  the packed topology, the caller's to free; NULL: there is none */
static void place(mca_coll_strag_module_t *module, ompi_communicator_t *comm,
                  const struct strag_rank_location *ranks, struct coll_strag_hosts *hosts,
                  void **bytes)
{
    size_t size = 0;
    module->topology = coll_strag_place(comm, ranks);
    if (module->topology && strag_topology_pack(module->topology, bytes, &size, NULL) != STRAG_OK) {
        strag_topology_free(module->topology);
        module->topology = NULL;
    }
    hosts->shared_memory = shared_memory_wanted(module, comm);
    hosts->topology_bytes = module->topology ? size : 0;
    coll_strag_tell_topology(comm, module->topology);
}

static void decide(mca_coll_strag_module_t *module, ompi_communicator_t *comm,
                   const struct coll_strag_rank_info *info, const struct strag_rank_location *ranks,
                   struct coll_strag_decision *decision)
{
    coll_strag_tell_shared_memory(module, comm);
    coll_strag_find_watching(comm, module->pinned != COLL_STRAG_AUTO, module->topology, decision);
    module->reproducible = decision->reproducible;
    coll_strag_find_state(comm, ranks, coll_strag_planning_topology(module), &decision->state);
    decision->ports = coll_strag_ports(comm);
    decision->carrier = coll_strag_carrier(comm);
    coll_strag_least_segments(info, ompi_comm_size(comm), decision->segments);
    coll_strag_decide(module, comm, coll_strag_planning_topology(module), decision,
                      &module->selection);
}

/* The topology's bytes, and on other ranks than 0 what they say. */
static int share_topology(mca_coll_strag_module_t *module, ompi_communicator_t *comm, void *bytes,
                          size_t size)
{
    struct strag_error err;
    bool root = ompi_comm_rank(comm) == 0;
    if (!root)
        bytes = malloc(size);
    int code = broadcast_long(comm, bytes, size);
    if (code == OMPI_SUCCESS && !bytes)
        code = OMPI_ERR_OUT_OF_RESOURCE;
    if (code == OMPI_SUCCESS && !root &&
        strag_topology_unpack(bytes, size, &module->topology, &err) != STRAG_OK) {
        coll_strag_tell("coll:strag: %s: the topology from rank 0: %s", comm->c_name, err.text);
        code = OMPI_ERR_OUT_OF_RESOURCE;
    }
    if (!root)
        free(bytes);
    return code;
}

/* How messages to every rank are cut. */
static int find_lanes(mca_coll_strag_module_t *module, ompi_communicator_t *comm)
{
    const int n = ompi_comm_size(comm), me = ompi_comm_rank(comm);
    module->lane_of = malloc((size_t)n);
    if (NULL == module->lane_of)
        return OMPI_ERR_OUT_OF_RESOURCE;
    for (int rank = 0; rank < n; rank++)
        module->lane_of[rank] =
            module->topology && strag_topology_same_host(module->topology, me, rank)
                ? COLL_STRAG_MEMORY
                : COLL_STRAG_NETWORK;
    return OMPI_SUCCESS;
}

/* Shared memory, if rank 0 says so. A rank that is out of memory takes part in the messages.
 * @param code  how it went so far */
static int connect_hosts(mca_coll_strag_module_t *module, ompi_communicator_t *comm, int wanted,
                         int code)
{
    bool able = code == OMPI_SUCCESS;
    if (wanted == COLL_STRAG_SHARED_NEVER || (!able && code != OMPI_ERR_OUT_OF_RESOURCE))
        return code;
    int connected = coll_strag_shm_connect(module, comm, able, wanted == COLL_STRAG_SHARED_WANTED);
    return able ? connected : code;
}

const struct strag_topology *coll_strag_planning_topology(const mca_coll_strag_module_t *module)
{
    return module->reproducible ? NULL : module->topology;
}

/* How long the calls are that are handed on before anything else. */
size_t coll_strag_too_short(const mca_coll_strag_module_t *module)
{
    const struct coll_strag_table *table = &module->table;
    if (module->pinned != COLL_STRAG_AUTO || mca_coll_strag_component.telling ||
        table->choice[0] < COLL_STRAG_ALGORITHMS_MAX)
        return 0;
    int entry = 0;
    while (entry < table->entries && table->choice[entry] >= COLL_STRAG_ALGORITHMS_MAX)
        entry++;
    size_t from = entry < table->entries ? table->from[entry] : SIZE_MAX;
    return module->watch_from < from ? module->watch_from : from;
}

static int share_hosts(mca_coll_strag_module_t *module, ompi_communicator_t *comm,
                       struct coll_strag_hosts *hosts, void *bytes)
{
    int code = broadcast(comm, hosts, sizeof *hosts);
    if (code == OMPI_SUCCESS && hosts->topology_bytes)
        code = share_topology(module, comm, bytes, hosts->topology_bytes);
    if (code == OMPI_SUCCESS)
        code = find_lanes(module, comm);
    return connect_hosts(module, comm, hosts->shared_memory, code);
}

static int share_decision(mca_coll_strag_module_t *module, ompi_communicator_t *comm,
                          struct coll_strag_decision *decision)
{
    int code = broadcast(comm, decision, sizeof *decision);
    if (code != OMPI_SUCCESS)
        return code;
    module->pinned = decision->pinned;
    module->line = decision->line;
    module->ports = decision->ports;
    module->state = decision->state;
    module->table = decision->table;
    module->reproducible = decision->reproducible;
    module->watch_from =
        decision->watching == COLL_STRAG_WATCH_NOT ? SIZE_MAX : decision->watch_from;
    module->too_short = coll_strag_too_short(module);
    module->patience = ULLONG_MAX;
    return OMPI_SUCCESS;
}

/* What messages go over. Also a rank that has failed before takes part. */
static int connect_all(mca_coll_strag_module_t *module, ompi_communicator_t *comm,
                       const struct coll_strag_decision *decision, int before)
{
    int code = OMPI_SUCCESS;
    if (decision->carrier == COLL_STRAG_UCP)
        code = coll_strag_ucp_connect(module, comm, before == OMPI_SUCCESS);
    memcpy(module->segments, decision->segments[module->ucp ? COLL_STRAG_UCP : COLL_STRAG_PML],
           sizeof module->segments);
    coll_strag_tell_carrier(module, comm);
    return before == OMPI_SUCCESS ? code : before;
}

/* Another table for the same communicator. */
static void make_table(void *context, const struct strag_state_record *state,
                       struct coll_strag_table *table, struct strag_selection **selection)
{
    const mca_coll_strag_module_t *module = context;
    struct coll_strag_decision decision = {
        .ports = module->ports, .watching = COLL_STRAG_WATCH_SWITCH, .state = *state};
    coll_strag_decide(module, module->pml.super.comm, coll_strag_planning_topology(module),
                      &decision, selection);
    *table = decision.table;
}

/* Watch calls, if that was decided. @param ranks  rank 0's, else NULL */
static int watch(mca_coll_strag_module_t *module, ompi_communicator_t *comm,
                 const struct strag_rank_location *ranks,
                 const struct coll_strag_decision *decision, bool able)
{
    const struct coll_strag_watch_options options = {
        .comm = comm,
        .allreduce = module->previous_allreduce,
        .allreduce_module = module->previous_allreduce_module,
        .topology = module->topology,
        .state = &module->state,
        .table = &module->table,
        .ranks = ranks,
        .selection = &module->selection,
        .make = make_table,
        .context = module,
        .report = coll_strag_report,
    };
    if (decision->watching == COLL_STRAG_WATCH_NOT)
        return OMPI_SUCCESS;
    int code = coll_strag_watch_create(&options, decision, able, &module->watch);
    const struct coll_strag_links *links =
        module->watch ? coll_strag_watch_links(module->watch) : NULL;
    if (links) {
        module->pml.meter = links->meter;
        module->pml.host_of = links->hosts.host_of;
    }
    if (!module->selection)
        module->selection = coll_strag_watch_selection(module->watch);
    return code;
}

static int exchange(mca_coll_strag_module_t *module, ompi_communicator_t *comm)
{
    struct coll_strag_rank_info *info;
    struct strag_rank_location *ranks;
    struct coll_strag_hosts hosts = {0, COLL_STRAG_SHARED_NEVER};
    struct coll_strag_decision decision;
    void *bytes = NULL;
    int code = gather(module, comm, &info, &ranks);
    if (code == OMPI_ERR_OUT_OF_RESOURCE)
        return code;
    if (code == OMPI_SUCCESS) {
        if (info) {
            compare_parameters(info, ompi_comm_size(comm));
            place(module, comm, ranks, &hosts, &bytes);
        }
        code = share_hosts(module, comm, &hosts, bytes);
    }
    if (code == OMPI_SUCCESS || code == OMPI_ERR_OUT_OF_RESOURCE) {
        memset(&decision, 0, sizeof decision);
        if (info)
            decide(module, comm, info, ranks, &decision);
        int shared = share_decision(module, comm, &decision);
        code = connect_all(module, comm, &decision, code == OMPI_SUCCESS ? shared : code);
        if (code == OMPI_SUCCESS || code == OMPI_ERR_OUT_OF_RESOURCE) {
            int watched = watch(module, comm, ranks, &decision, code == OMPI_SUCCESS);
            code = code == OMPI_SUCCESS ? watched : code;
        }
    }
    free(bytes);
    free(info);
    free(ranks);
    module->locate_error = code;
    module->located = true;
    return code;
}

int coll_strag_locate(mca_coll_strag_module_t *module, ompi_communicator_t *comm)
{
    if (NULL == comm->c_coll->coll_gather || NULL == comm->c_coll->coll_bcast ||
        NULL == comm->c_coll->coll_allgather)
        return OMPI_ERR_NOT_SUPPORTED; /* a choice of components that Open MPI itself refuses */
    module->locating = true;
    int code = exchange(module, comm);
    module->locating = false;
    return code;
}
