/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When a communicator is made nothing is sent, since Open MPI makes several concurrently. Its first
 * call that needs to know the other ranks does one of three things, once (heritage.h).
 *
 * A dup inherits, if its parent has been set up and no rank has info keys:
 *
 *     all ranks   where are the places in the arenas, and do all agree? an allgather; without
 *                 shared memory rank 0's agreement alone, a broadcast of 4 bytes
 *
 * Another one derives what it needs, if another communicator that has all its ranks has been set
 * up:
 *
 *     all ranks   have all the same strag, and the same origin? (roll_call.c)
 *     all ranks   those of a host share memory: an allgather
 *     rank 0      makes the table, or finds it among those that were made (table_cache.c)
 *     rank 0      -- struct coll_strag_decision -->  all ranks                broadcast
 *
 * Else everybody is asked:
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
 * the communicator's own gather and broadcast, which are other components'. Which of the three it
 * is all ranks know alike: a dup's by an attribute that all have or none, the second by the roll
 * call. A dup begins with the table that its parent began with. It asks all the same whether rank 0
 * has info keys, since rank 0 may be the only one that has; and desks are new, since two threads
 * may use parent and dup at once.
 *
 * The first two watch their calls from the 16th on: most communicators live shorter.
 *
 * A rank that runs out of memory still takes part in every message. In the end all ranks know, and
 * the previous component runs all calls. What can fail on one rank in the first two is done before
 * their first message, which says so; then everybody is asked.
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
#include "table_cache.h"
#include "ucp/ucp.h"

#include "base/text.h"

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

    /* with an origin */
    struct coll_strag_heritage *origin; /* NULL: all is asked anew */
    int32_t *rank_of;                   /* [rank]: its rank there */
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
    module->is_dup = coll_strag_is_dup(comm);
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

/* @param topology  the heritage's from now on */
static void keep_topology(struct setup *setup, struct strag_topology *topology)
{
    setup->module->heritage->topology = topology;
    setup->module->topology = topology;
}

/* The topology's bytes, and on other ranks than 0 what they say. */
static int share_topology(struct setup *setup, size_t size)
{
    struct strag_topology *topology = NULL;
    struct strag_error err;
    const bool root = ompi_comm_rank(setup->comm) == 0;
    void *bytes = root ? setup->packed : malloc(size);
    int code = broadcast_long(setup->comm, bytes, size);
    if (code == OMPI_SUCCESS && !bytes)
        code = OMPI_ERR_OUT_OF_RESOURCE;
    if (code == OMPI_SUCCESS && !root &&
        strag_topology_unpack(bytes, size, &topology, &err) != STRAG_OK) {
        coll_strag_log(setup->comm, "the topology from rank 0: %s", err.text);
        code = OMPI_ERR_OUT_OF_RESOURCE;
    }
    if (topology)
        keep_topology(setup, topology);
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

/* Rank 0: what is wanted, once it is known where the ranks are. */
static void fill_in_hosts(const struct setup *setup, struct coll_strag_hosts *hosts)
{
    hosts->transport = (int32_t)coll_strag_transport_wanted(setup->comm, device_over_ucp);
    hosts->shared_memory = shared_memory_wanted(setup);
    hosts->unless_ucp = hosts->shared_memory == COLL_STRAG_SHARED_AUTO;
    hosts->keyed = coll_strag_has_keys(setup->comm);
}

/* A number that no other communicator of the ranks in this one has. */
static uint64_t make_id(void)
{
    static uint32_t made;
    const opal_process_name_t own = OPAL_PROC_MY_NAME;
    const uint32_t numbers[] = {own.jobid, own.vpid,
                                __atomic_add_fetch(&made, 1, __ATOMIC_RELAXED)};
    const uint64_t id = strag_hash(STRAG_HASH_START, numbers, sizeof numbers);
    return id ? id : 1;
}

/* Rank 0: where the ranks are. */
static void find_hosts(struct setup *setup, struct coll_strag_hosts *hosts)
{
    struct strag_topology *topology;
    size_t size = 0;
    coll_strag_rank_info_compare(setup->info, ompi_comm_size(setup->comm));
    topology = coll_strag_make_topology(setup->comm, setup->ranks);
    if (topology && strag_topology_pack(topology, &setup->packed, &size, NULL) == STRAG_OK)
        keep_topology(setup, topology);
    else
        strag_topology_free(topology);
    fill_in_hosts(setup, hosts);
    coll_strag_explain_topology(setup->comm, setup->module->topology);
    hosts->topology_bytes = setup->module->topology ? size : 0;
    hosts->id = make_id();
}

/* How messages to every rank are cut. */
static int find_lanes(const struct setup *setup)
{
    struct coll_strag_module *module = setup->module;
    const int n = ompi_comm_size(setup->comm), me = ompi_comm_rank(setup->comm);
    module->lane_of = module->heritage->lane_of = malloc((size_t)n);
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
    bool stop = false;
    if (hosts->shared_memory == COLL_STRAG_SHARED_NEVER || (hosts->unless_ucp && module->ucp))
        return true;
    if (setup->origin)
        return may_continue(setup, coll_strag_shared_memory_reconnect(
                                       setup->comm, &module->previous, module->lane_of,
                                       COLL_STRAG_MEMORY, &stop, &module->shm));
    return may_continue(setup, coll_strag_shared_memory_connect(setup->comm, &module->previous,
                                                                module->lane_of, COLL_STRAG_MEMORY,
                                                                wanted, &module->shm));
}

static bool share_hosts(struct setup *setup)
{
    struct coll_strag_hosts hosts;
    memset(&hosts, 0, sizeof hosts); /* it is sent, padding and all */
    if (setup->info)
        find_hosts(setup, &hosts);
    int code = broadcast(setup->comm, &hosts, sizeof hosts);
    if (code == OMPI_SUCCESS && hosts.topology_bytes)
        code = share_topology(setup, hosts.topology_bytes);
    if (code == OMPI_SUCCESS)
        code = find_lanes(setup);
    setup->module->heritage->hosts = hosts;
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

static void log_within_hosts(const struct setup *setup)
{
    const struct coll_strag_module *module = setup->module;
    if (module->topology && module->topology->hosts < ompi_comm_size(setup->comm))
        coll_strag_log(setup->comm, "within hosts: %s", module->shm ? "shared memory" : "the PML");
}

/* Hosts that the origin's setup found to be slow. */
static void derive_slow(const struct setup *setup, struct strag_state_record *state)
{
    const struct strag_topology *whole = setup->origin->topology;
    const struct strag_state_record *found = &setup->origin->decision.state;
    for (int i = 0; i < found->nslow; i++) {
        int rank = 0;
        while (rank < ompi_comm_size(setup->comm) &&
               !strag_topology_same_host(whole, found->slow[i].rank, setup->rank_of[rank]))
            rank++;
        if (rank < ompi_comm_size(setup->comm))
            strag_state_add_slow(state, rank, found->slow[i].factor);
    }
}

/* What the ranks themselves know: from what they sent, or from what they sent to the origin. */
static void decide_from_ranks(const struct setup *setup, struct coll_strag_decision *decision)
{
    const struct coll_strag_decision *before = setup->origin ? &setup->origin->decision : NULL;
    if (!before) {
        coll_strag_least_segments(setup->info, ompi_comm_size(setup->comm), decision->segments);
        return;
    }
    memcpy(decision->segments, before->segments, sizeof decision->segments);
    if (decision->slow_found && before->slow_found && !decision->reproducible)
        derive_slow(setup, &decision->state);
}

static void decide(const struct setup *setup, struct coll_strag_table_inputs *inputs,
                   struct coll_strag_decision *decision)
{
    struct coll_strag_module *module = setup->module;
    const int pinned = module->decision.pinned;
    coll_strag_decide_watching(setup->comm, pinned != COLL_STRAG_AUTO, module->topology, decision);
    *inputs = inputs_of(setup, pinned, decision->reproducible);
    coll_strag_read_state(setup->comm, setup->ranks, inputs->topology, &decision->state);
    decision->slow_found = coll_strag_finds_slow(setup->comm);
    decision->ports = coll_strag_ports(setup->comm);
    decide_from_ranks(setup, decision);
    log_within_hosts(setup);
    if (setup->origin && !coll_strag_logging)
        coll_strag_decide_once(inputs, decision);
    else
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

/* What was decided holds from now on. */
static void follow(struct coll_strag_module *module, const struct coll_strag_decision *decision)
{
    module->decision = *decision;
    memcpy(module->segments, decision->segments[module->transport->kind], sizeof module->segments);
    find_shortest(module);
}

static void share_decision(struct setup *setup)
{
    struct coll_strag_module *module = setup->module;
    struct coll_strag_table_inputs inputs = {.comm = setup->comm};
    struct coll_strag_decision decision;
    memset(&decision, 0, sizeof decision);
    if (setup->ranks)
        decide(setup, &inputs, &decision);
    coll_strag_table_pack(&decision.table);
    if (!may_continue(setup, broadcast(setup->comm, &decision, sizeof decision)))
        return;
    coll_strag_table_unpack(&decision.table);
    follow(module, &decision);
    module->heritage->decision = decision;
    if (decision.watching != COLL_STRAG_WATCH_NOT && !setup->origin)
        watch(setup, &inputs);
}

/* The previous component runs all calls from now on. The same on all ranks. */
static void give_up(struct coll_strag_module *module, enum coll_strag_reason reason)
{
    module->decision.pinned = COLL_STRAG_AUTO;
    module->decision.reason = reason;
    module->decision.table = (struct strag_table){.entries = 1};
    module->decision.watching = COLL_STRAG_WATCH_NOT;
    module->watch_in = 0;
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
    if (setup->code == OMPI_SUCCESS && all)
        coll_strag_heritage_publish(setup->module->heritage);
}

/* ---- All is asked anew ---- */

/* What others may have of this communicator later. */
static bool prepare_heritage(const struct setup *setup)
{
    struct coll_strag_module *module = setup->module;
    struct coll_strag_heritage *heritage = module->heritage;
    heritage->n = ompi_comm_size(setup->comm);
    heritage->id = heritage->hosts.id;
    heritage->keyed = heritage->hosts.keyed;
    heritage->pinned = module->decision.pinned;
    heritage->shared = NULL != module->shm;
    heritage->names = coll_strag_process_names(setup->comm);
    if (module->shm)
        heritage->hold = strag_shm_hold(module->shm);
    return heritage->names && (heritage->hold || !module->shm);
}

/* @param attached  dups will have the heritage */
static int ask_all(struct setup *setup, bool attached)
{
    bool ready;
    int code = gather(setup, &ready);
    if (code == OMPI_SUCCESS && !ready)
        give_up(setup->module, COLL_STRAG_NO_MEMORY);
    if (code != OMPI_SUCCESS || !ready)
        return code;
    if (share_hosts(setup))
        share_decision(setup);
    if (setup->code == OMPI_SUCCESS && !(attached && prepare_heritage(setup)))
        setup->code = OMPI_ERR_OUT_OF_RESOURCE;
    conclude(setup);
    setup->module->count.asked++;
    return setup->code;
}

/* ---- Derived from a communicator that has all these ranks ---- */

/* Host and rank in the job: from the topology, and the processes' names.
 * @return the caller's to free; NULL: out of memory, or the hosts have no names */
static struct strag_rank_location *find_locations(ompi_communicator_t *comm,
                                                  const struct strag_topology *topology)
{
    const int n = ompi_comm_size(comm);
    struct strag_rank_location *ranks = topology ? calloc((size_t)n, sizeof *ranks) : NULL;
    for (int rank = 0; ranks && rank < n; rank++) {
        const char *host = topology->nodes[topology->host_node[rank]].name;
        if (NULL == host) {
            free(ranks);
            return NULL;
        }
        snprintf(ranks[rank].host, sizeof ranks[rank].host, "%s", host);
        ranks[rank].core = (struct strag_core){-1, -1, -1};
        ranks[rank].world = (int32_t)ompi_group_get_proc_name(comm->c_local_group, rank).vpid;
    }
    return ranks;
}

static bool is_identity(const int32_t *rank_of, int n)
{
    int rank = 0;
    while (rank < n && rank_of[rank] == rank)
        rank++;
    return rank == n;
}

/* The topology: the origin's, if ranks are numbered alike. */
static bool derive_topology(struct setup *setup)
{
    const int n = ompi_comm_size(setup->comm);
    struct coll_strag_heritage *origin = setup->origin;
    struct strag_topology *part = NULL;
    if (n == origin->n && is_identity(setup->rank_of, n)) {
        setup->module->topology = origin->topology;
        return true;
    }
    if (strag_topology_part(origin->topology, setup->rank_of, n, &part, NULL) == STRAG_OK)
        keep_topology(setup, part);
    return NULL != part;
}

/* Nothing comes from an origin. */
static void forget_origin(struct setup *setup)
{
    struct coll_strag_module *module = setup->module;
    struct coll_strag_heritage *own = module->heritage;
    coll_strag_heritage_release(own->origin);
    strag_topology_free(own->topology);
    free(own->lane_of);
    own->origin = setup->origin = NULL;
    own->topology = NULL;
    module->topology = NULL;
    own->lane_of = module->lane_of = NULL;
    free(setup->ranks);
    setup->ranks = NULL;
}

/* Do without messages what can be done; all ranks must then agree that they have the same origin.
 */
static bool derive(struct setup *setup)
{
    const bool root = ompi_comm_rank(setup->comm) == 0;
    setup->rank_of = malloc((size_t)ompi_comm_size(setup->comm) * sizeof *setup->rank_of);
    if (setup->rank_of && !coll_strag_has_keys(setup->comm))
        setup->origin = coll_strag_heritage_find(setup->comm, setup->rank_of);
    setup->module->heritage->origin = setup->origin;
    bool derived = setup->origin && setup->origin->topology && derive_topology(setup) &&
                   find_lanes(setup) == OMPI_SUCCESS;
    if (derived && root) {
        setup->ranks = find_locations(setup->comm, setup->module->topology);
        derived = NULL != setup->ranks;
    }
    if (!derived)
        forget_origin(setup);
    return derived;
}

static struct coll_strag_offer make_offer(struct setup *setup)
{
    struct coll_strag_offer offer;
    memset(&offer, 0, sizeof offer); /* it is sent, padding and all */
    if (!derive(setup))
        return offer;
    offer.origin = setup->origin->id;
    if (setup->ranks)
        fill_in_hosts(setup, &offer.hosts);
    if (!setup->origin->shared)
        offer.hosts.shared_memory = COLL_STRAG_SHARED_NEVER;
    return offer;
}

/* So many calls are not watched: most communicators live shorter. */
enum { WATCHED_AFTER = 16 };

static int watch_later(struct setup *setup)
{
    struct coll_strag_module *module = setup->module;
    const bool now = module->decision.report;
    if (module->decision.watching == COLL_STRAG_WATCH_NOT)
        return setup->code;
    module->watch_in = now ? 1 : WATCHED_AFTER;
    return now ? coll_strag_setup_watch(module, setup->comm, SIZE_MAX) : setup->code;
}

static int take_origin(struct setup *setup, const struct coll_strag_hosts *hosts)
{
    struct coll_strag_module *module = setup->module;
    struct coll_strag_heritage *heritage = module->heritage;
    if (setup->ranks) {
        coll_strag_log(setup->comm, "set up from what is known of its ranks");
        coll_strag_explain_topology(setup->comm, module->topology);
    }
    if (connect_network(setup, hosts) && connect_memory(setup, hosts))
        share_decision(setup);
    heritage->n = ompi_comm_size(setup->comm);
    heritage->hosts = *hosts;
    heritage->pinned = module->decision.pinned;
    heritage->shared = NULL != module->shm;
    if (hosts->transport == COLL_STRAG_UCP)
        conclude(setup);
    else if (setup->code == OMPI_SUCCESS)
        coll_strag_heritage_publish(heritage);
    module->count.derived++;
    return setup->code == OMPI_SUCCESS ? watch_later(setup) : setup->code;
}

/* ---- Inherited by a dup ---- */

/* Has any rank, or without shared memory rank 0, a reason not to? */
static int may_inherit(struct setup *setup, const struct coll_strag_heritage *parent, bool *may)
{
    struct coll_strag_module *module = setup->module;
    bool stop = coll_strag_has_keys(setup->comm);
    int32_t stops = stop;
    int code;
    if (parent->shared)
        code = coll_strag_shared_memory_reconnect(setup->comm, &module->previous, parent->lane_of,
                                                  COLL_STRAG_MEMORY, &stop, &module->shm);
    else
        code = broadcast(setup->comm, &stops, sizeof stops);
    *may = code == OMPI_SUCCESS && !(parent->shared ? stop : stops);
    return code;
}

/* @param parent  module->heritage from now on */
static int inherit(struct setup *setup, struct coll_strag_heritage *parent)
{
    struct coll_strag_module *module = setup->module;
    coll_strag_heritage_release(module->heritage);
    module->heritage = parent;
    module->topology = coll_strag_heritage_topology(parent);
    module->lane_of = parent->lane_of;
    if (ompi_comm_rank(setup->comm) == 0) {
        coll_strag_log(setup->comm, "set up as its parent");
        coll_strag_explain_topology(setup->comm, module->topology);
        log_within_hosts(setup);
    }
    if (connect_network(setup, &parent->hosts))
        follow(module, &parent->decision);
    if (parent->hosts.transport == COLL_STRAG_UCP)
        conclude(setup);
    module->count.inherited++;
    return setup->code == OMPI_SUCCESS ? watch_later(setup) : setup->code;
}

/* ---- One of the three ---- */

static int ask(struct setup *setup)
{
    struct coll_strag_module *module = setup->module;
    const bool attached = coll_strag_heritage_attach(module->heritage, setup->comm);
    struct coll_strag_offer offer;
    bool alike;
    memset(&offer, 0, sizeof offer);
    if (attached)
        offer = make_offer(setup);
    int code = coll_strag_roll_call(setup->comm, &module->first, &offer, &alike);
    if (code == OMPI_SUCCESS && !alike)
        give_up(module, COLL_STRAG_STRANGER);
    if (code != OMPI_SUCCESS || !alike)
        return code;
    if (offer.origin)
        return take_origin(setup, &offer.hosts);
    if (setup->origin)
        forget_origin(setup);
    return ask_all(setup, attached);
}

static int exchange(struct setup *setup)
{
    struct coll_strag_heritage *parent =
        setup->module->is_dup ? coll_strag_heritage_of(setup->comm) : NULL;
    bool may = false;
    int code = OMPI_SUCCESS;
    if (parent && parent->pinned == setup->module->decision.pinned)
        code = may_inherit(setup, parent, &may);
    if (may)
        return inherit(setup, parent);
    coll_strag_heritage_release(parent);
    return code == OMPI_SUCCESS ? ask(setup) : code;
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
    free(setup.rank_of);
    module->setup = COLL_STRAG_SETUP_DONE;
    return module->setup_error;
}

int coll_strag_setup_watch(struct coll_strag_module *module, ompi_communicator_t *comm,
                           size_t bytes)
{
    struct setup setup = {.module = module, .comm = comm};
    if (bytes < module->decision.watch_from || --module->watch_in > 0)
        return OMPI_SUCCESS;
    struct coll_strag_table_inputs inputs =
        inputs_of(&setup, module->decision.pinned, module->decision.reproducible);
    if (ompi_comm_rank(comm) == 0) {
        struct coll_strag_decision again = module->decision; /* for the candidates' times */
        setup.ranks = find_locations(comm, module->topology);
        if (setup.ranks && !module->selection)
            coll_strag_decide(&inputs, &again, &module->selection);
        if (!setup.ranks)
            setup.code = OMPI_ERR_OUT_OF_RESOURCE;
    }
    watch(&setup, &inputs);
    free(setup.ranks);
    return setup.code == OMPI_ERR_OUT_OF_RESOURCE ? OMPI_SUCCESS : setup.code;
}
