/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When a communicator is made nothing is sent, since Open MPI makes several concurrently. Its first
 * call that needs to know the other ranks does this, once:
 *
 *     all ranks   have all the same strag? (roll_call.c)
 *     all ranks   -- struct coll_strag_rank_info -->  rank 0                  gather
 *     rank 0      reads the files, makes the topology
 *     rank 0      -- struct coll_strag_hosts, topology -->  all ranks         broadcasts
 *     all ranks   -- how UCX reaches them -->  all ranks      if rank 0 wants that transport
 *     all ranks   those of a host share memory (shared_memory.c)
 *     rank 0      makes the table
 *     rank 0      -- struct coll_strag_decision -->  all ranks                broadcast
 *     all ranks   can all watch their calls? an allreduce     if calls are watched
 *     all ranks   has each all that it needs? an allreduce
 *
 * So only rank 0's files and parameters count, and ranks cannot disagree. The messages are those of
 * the communicator's own gather and broadcast, which are other components'.
 *
 * A rank that runs out of memory still takes part in every message. In the end all ranks know, and
 * the previous component runs all calls.
 */
#include "setup.h"

#include "device.h"
#include "info_keys.h"
#include "log.h"
#include "place.h"
#include "rank_info.h"
#include "report.h"
#include "roll_call.h"
#include "segments.h"
#include "shared_memory.h"
#include "state.h"
#include "ucp/ucp.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* So many short calls are delegated before a communicator finds out whether shared memory makes
 * them faster: most communicators live shorter than finding out takes. */
enum { SHORT_CALLS = 32 };

/* On one rank, while it lasts. */
struct setup {
    struct coll_strag_module *module;
    ompi_communicator_t *comm;
    int code; /* how it went so far; OMPI_ERR_OUT_OF_RESOURCE: this rank still takes part */

    /* rank 0's; NULL elsewhere */
    struct coll_strag_rank_info *info; /* [rank] */
    struct strag_rank_location *ranks; /* the same ones' locations */
    void *packed;                      /* the topology; NULL: there is none */
};

/* ---- Before ---- */

/* Which calls need setup: none where the previous component is pinned; all but those too short to
 * be ours or watched, unless a layout or rules make them ours. */
static size_t shortest_setup(const struct coll_strag_module *module)
{
    const struct coll_strag_fingerprint *first = &module->first;
    if (module->decision.pinned == COLL_STRAG_PREVIOUS)
        return SIZE_MAX;
    if (module->decision.pinned != COLL_STRAG_AUTO || first->has_layout_or_rules)
        return 0;
    return first->watch_from < first->minimum ? first->watch_from : first->minimum;
}

void coll_strag_setup_prepare(struct coll_strag_module *module, ompi_communicator_t *comm)
{
    const int pinned = coll_strag_pinned(comm, module->first.pinned);
    const bool always = pinned == COLL_STRAG_PREVIOUS || module->first.minimum_set;
    coll_strag_check_keys(comm);
    module->decision.pinned = pinned;
    module->delegate_below = shortest_setup(module);
    module->delegate_limit = always ? ULLONG_MAX : SHORT_CALLS;
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

/* What all ranks know, on rank 0; first it says whether it has room for that.
 * @param[out] ready  whether it had; the same on all ranks */
static int gather(struct setup *setup, bool *ready)
{
    ompi_communicator_t *comm = setup->comm;
    const int n = ompi_comm_size(comm);
    const struct coll_strag_rank_info own =
        coll_strag_rank_info(comm, setup->module->decision.pinned);
    int32_t room = 1;
    if (ompi_comm_rank(comm) == 0) {
        setup->info = calloc((size_t)n, sizeof *setup->info);
        setup->ranks = malloc((size_t)n * sizeof *setup->ranks);
        room = NULL != setup->info && NULL != setup->ranks;
    }
    int code = broadcast(comm, &room, sizeof room);
    *ready = room;
    if (code == OMPI_SUCCESS && room)
        code = comm->c_coll->coll_gather(&own, sizeof own, MPI_BYTE, setup->info, sizeof own,
                                         MPI_BYTE, 0, comm, comm->c_coll->coll_gather_module);
    for (int rank = 0; code == OMPI_SUCCESS && room && setup->ranks && rank < n; rank++)
        setup->ranks[rank] = setup->info[rank].location;
    return code;
}

/* The topology's bytes, and on other ranks than 0 what they say. */
static int share_topology(struct setup *setup, size_t size)
{
    struct strag_error err;
    const bool root = ompi_comm_rank(setup->comm) == 0;
    void *bytes = root ? setup->packed : malloc(size);
    int code = broadcast_long(setup->comm, bytes, size);
    if (code == OMPI_SUCCESS && !bytes)
        code = OMPI_ERR_OUT_OF_RESOURCE;
    if (code == OMPI_SUCCESS && !root &&
        strag_topology_unpack(bytes, size, &setup->module->topology, &err) != STRAG_OK) {
        coll_strag_log(setup->comm, "the topology from rank 0: %s", err.text);
        code = OMPI_ERR_OUT_OF_RESOURCE;
    }
    if (!root)
        free(bytes);
    return code;
}

/* ---- Hosts ---- */

static bool device_over_ucp(void)
{
    return coll_strag_device_open() && coll_strag_ucp_takes_device();
}

/* On hosts with several ranks. */
static enum coll_strag_shared_memory shared_memory_wanted(const struct setup *setup)
{
    const struct strag_topology *topology = setup->module->topology;
    const bool several = topology && topology->hosts < ompi_comm_size(setup->comm);
    return several ? coll_strag_settings.shared_memory : COLL_STRAG_SHARED_NEVER;
}

/* Rank 0: where the ranks are. */
static struct coll_strag_hosts find_hosts(struct setup *setup)
{
    struct coll_strag_module *module = setup->module;
    struct coll_strag_hosts hosts = {.shared_memory = COLL_STRAG_SHARED_NEVER};
    size_t size = 0;
    coll_strag_rank_info_compare(setup->info, ompi_comm_size(setup->comm));
    module->topology = coll_strag_make_topology(setup->comm, setup->ranks);
    if (module->topology &&
        strag_topology_pack(module->topology, &setup->packed, &size, NULL) != STRAG_OK) {
        strag_topology_free(module->topology);
        module->topology = NULL;
    }
    hosts.transport = (int32_t)coll_strag_transport_wanted(setup->comm, device_over_ucp);
    hosts.shared_memory = shared_memory_wanted(setup);
    hosts.unless_ucp = hosts.shared_memory == COLL_STRAG_SHARED_AUTO;
    hosts.topology_bytes = module->topology ? size : 0;
    coll_strag_explain_topology(setup->comm, module->topology);
    return hosts;
}

/* How messages to every rank are cut. */
static int find_lanes(const struct setup *setup)
{
    struct coll_strag_module *module = setup->module;
    const int n = ompi_comm_size(setup->comm), me = ompi_comm_rank(setup->comm);
    module->lane_of = malloc((size_t)n);
    if (NULL == module->lane_of)
        return OMPI_ERR_OUT_OF_RESOURCE;
    for (int rank = 0; rank < n; rank++) {
        bool together = module->topology && strag_topology_same_host(module->topology, me, rank);
        module->lane_of[rank] = together ? COLL_STRAG_MEMORY : COLL_STRAG_NETWORK;
    }
    return OMPI_SUCCESS;
}

/* An error ends setup; but a rank that is out of memory goes on, and keeps that as its error.
 * @return whether it goes on after a step that ended with `code` */
static bool may_continue(struct setup *setup, int code)
{
    if (setup->code == OMPI_SUCCESS || code != OMPI_SUCCESS)
        setup->code = code;
    return setup->code == OMPI_SUCCESS || setup->code == OMPI_ERR_OUT_OF_RESOURCE;
}

/* What messages between hosts go over. */
static bool connect_network(struct setup *setup, const struct coll_strag_hosts *hosts)
{
    struct coll_strag_module *module = setup->module;
    int code = OMPI_SUCCESS;
    if (hosts->transport == COLL_STRAG_UCP)
        code = coll_strag_ucp_connect(setup->comm, &module->previous, setup->code == OMPI_SUCCESS,
                                      &module->ucp);
    module->transport = module->ucp ? module->ucp : &module->pml.super;
    if (ompi_comm_rank(setup->comm) == 0)
        coll_strag_log(setup->comm, "transport: %s", module->ucp ? "ucp" : "pml");
    return may_continue(setup, code);
}

/* What those within a host go over. */
static bool connect_memory(struct setup *setup, const struct coll_strag_hosts *hosts)
{
    struct coll_strag_module *module = setup->module;
    const bool wanted = hosts->shared_memory == COLL_STRAG_SHARED_WANTED;
    if (hosts->shared_memory == COLL_STRAG_SHARED_NEVER || (hosts->unless_ucp && module->ucp))
        return true;
    return may_continue(setup, coll_strag_shared_memory_connect(setup->comm, &module->previous,
                                                                module->lane_of, COLL_STRAG_MEMORY,
                                                                wanted, &module->shm));
}

static bool share_hosts(struct setup *setup)
{
    struct coll_strag_hosts hosts = {.topology_bytes = 0};
    if (setup->info)
        hosts = find_hosts(setup);
    int code = broadcast(setup->comm, &hosts, sizeof hosts);
    if (code == OMPI_SUCCESS && hosts.topology_bytes)
        code = share_topology(setup, hosts.topology_bytes);
    if (code == OMPI_SUCCESS)
        code = find_lanes(setup);
    return may_continue(setup, code) && connect_network(setup, &hosts) &&
           connect_memory(setup, &hosts);
}

/* ---- Rank 0's decision, and following it ---- */

/* All ranks share memory. */
static struct strag_crowd crowd_of(const struct strag_shm *shm, int n)
{
    const int processors = strag_shm_processors(shm);
    return (struct strag_crowd){
        .n = n,
        .processors = processors > 0 ? processors : 1,
        .window = strag_shm_window(shm),
    };
}

static struct coll_strag_table_inputs inputs_of(const struct setup *setup, int pinned,
                                                bool reproducible)
{
    const struct coll_strag_module *module = setup->module;
    const bool shared = module->shm && !reproducible;
    const bool all_shared = shared && strag_shm_is_alone(module->shm);
    return (struct coll_strag_table_inputs){
        .comm = setup->comm,
        .topology = reproducible ? NULL : module->topology,
        .pinned = pinned,
        .shared = shared,
        .all_shared = all_shared,
        .crowd = all_shared ? crowd_of(module->shm, ompi_comm_size(setup->comm))
                            : (struct strag_crowd){.n = 0},
    };
}

static void decide(const struct setup *setup, struct coll_strag_table_inputs *inputs,
                   struct coll_strag_decision *decision)
{
    struct coll_strag_module *module = setup->module;
    const int pinned = module->decision.pinned;
    coll_strag_decide_watching(setup->comm, pinned != COLL_STRAG_AUTO, module->topology, decision);
    *inputs = inputs_of(setup, pinned, decision->reproducible);
    coll_strag_read_state(setup->comm, setup->ranks, inputs->topology, &decision->state);
    decision->ports = coll_strag_ports(setup->comm);
    coll_strag_least_segments(setup->info, ompi_comm_size(setup->comm), decision->segments);
    if (module->topology && module->topology->hosts < ompi_comm_size(setup->comm))
        coll_strag_log(setup->comm, "within hosts: %s", module->shm ? "shared memory" : "the PML");
    coll_strag_decide(inputs, decision, &module->selection);
}

/* Calls that are never ours are delegated at once from now on. */
static void find_shortest(struct coll_strag_module *module)
{
    const struct coll_strag_decision *decision = &module->decision;
    size_t shortest = coll_strag_table_shortest(&decision->table);
    if (decision->watching != COLL_STRAG_WATCH_NOT && decision->watch_from < shortest)
        shortest = decision->watch_from;
    module->delegate_below = decision->pinned == COLL_STRAG_AUTO ? shortest : 0;
    module->delegate_limit = ULLONG_MAX;
}

void coll_strag_apply_change(struct coll_strag_module *module, enum strag_change change)
{
    if (change == STRAG_CHANGE_NOTHING)
        return;
    coll_strag_plans_free(&module->plans, change == STRAG_CHANGE_STRAGGLER);
    memset(&module->explained, 0, sizeof module->explained);
    find_shortest(module);
}

static void watch(struct setup *setup, const struct coll_strag_table_inputs *inputs)
{
    struct coll_strag_module *module = setup->module;
    const struct coll_strag_watch_options options = {
        .comm = setup->comm,
        .previous = &module->previous,
        .topology = module->topology,
        .decision = &module->decision,
        .ranks = setup->ranks,
        .selection = &module->selection,
        .inputs = *inputs,
        .report = coll_strag_report,
    };
    may_continue(setup,
                 coll_strag_watch_create(&options, setup->code == OMPI_SUCCESS, &module->watch));
    const struct coll_strag_links *links =
        module->watch ? coll_strag_watch_links(module->watch) : NULL;
    if (links) {
        module->pml.meter = links->meter;
        module->pml.host_of = links->hosts.host_of;
    }
}

static void share_decision(struct setup *setup)
{
    struct coll_strag_module *module = setup->module;
    struct coll_strag_table_inputs inputs = {.comm = setup->comm};
    struct coll_strag_decision decision;
    memset(&decision, 0, sizeof decision);
    if (setup->info)
        decide(setup, &inputs, &decision);
    coll_strag_table_pack(&decision.table);
    if (!may_continue(setup, broadcast(setup->comm, &decision, sizeof decision)))
        return;
    coll_strag_table_unpack(&decision.table);
    module->decision = decision;
    memcpy(module->segments, decision.segments[module->transport->kind], sizeof module->segments);
    find_shortest(module);
    if (decision.watching != COLL_STRAG_WATCH_NOT)
        watch(setup, &inputs);
}

/* The previous component runs all calls from now on. The same on all ranks. */
static void give_up(struct coll_strag_module *module, enum coll_strag_reason reason)
{
    module->decision.pinned = COLL_STRAG_AUTO;
    module->decision.reason = reason;
    module->decision.table = (struct strag_table){.entries = 1};
    module->decision.watching = COLL_STRAG_WATCH_NOT;
    coll_strag_watch_free(module->watch);
    module->watch = NULL;
    module->pml.meter = NULL;
    find_shortest(module);
}

/* Has each rank all that it needs? An error of a message stays this rank's own. */
static void conclude(struct setup *setup)
{
    bool all = false;
    const bool able = setup->code == OMPI_SUCCESS;
    if (!may_continue(setup, OMPI_SUCCESS))
        return;
    setup->code = coll_strag_agree(&setup->module->previous, setup->comm, able, &all);
    if (setup->code == OMPI_SUCCESS && !all)
        give_up(setup->module, COLL_STRAG_NO_MEMORY);
}

static int exchange(struct setup *setup)
{
    bool alike, ready;
    int code = coll_strag_roll_call(setup->comm, &setup->module->first, &alike);
    if (code == OMPI_SUCCESS && !alike)
        give_up(setup->module, COLL_STRAG_STRANGER);
    if (code != OMPI_SUCCESS || !alike)
        return code;
    code = gather(setup, &ready);
    if (code == OMPI_SUCCESS && !ready)
        give_up(setup->module, COLL_STRAG_NO_MEMORY);
    if (code != OMPI_SUCCESS || !ready)
        return code;
    if (share_hosts(setup))
        share_decision(setup);
    conclude(setup);
    return setup->code;
}

int coll_strag_setup(struct coll_strag_module *module, ompi_communicator_t *comm)
{
    struct setup setup = {.module = module, .comm = comm};
    if (NULL == comm->c_coll->coll_gather || NULL == comm->c_coll->coll_bcast ||
        NULL == comm->c_coll->coll_allgather)
        return OMPI_ERR_NOT_SUPPORTED; /* a choice of components that Open MPI itself refuses */
    module->setup = COLL_STRAG_SETUP_RUNNING;
    snprintf(module->plans.name, sizeof module->plans.name, "%s", comm->c_name);
    module->setup_error = exchange(&setup);
    free(setup.packed);
    free(setup.info);
    free(setup.ranks);
    module->setup = COLL_STRAG_SETUP_DONE;
    return module->setup_error;
}
