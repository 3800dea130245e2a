/* SPDX-License-Identifier: BSD-3-Clause */
#include "setup_ask.h"

#include "explain.h"
#include "log.h"
#include "model.h"
#include "ping.h"
#include "place.h"
#include "rank_info.h"
#include "setup_decide.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>

/* ---- The messages ---- */

/* Long data goes in pieces, so that a rank without memory for it can let it pass.
 * @param data  NULL: let it pass */
static int broadcast_long(ompi_communicator_t *comm, char *data, size_t bytes)
{
    char piece[8192] = {0};
    for (size_t done = 0; done < bytes; done += sizeof piece) {
        size_t length = bytes - done < sizeof piece ? bytes - done : sizeof piece;
        int code = coll_strag_setup_broadcast(comm, data ? data + done : piece, length);
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
    int code = coll_strag_setup_broadcast(comm, &room, sizeof room);
    *ready = room;
    if (code == OMPI_SUCCESS && room)
        code = comm->c_coll->coll_gather(&own, sizeof own, MPI_BYTE, setup->info, sizeof own,
                                         MPI_BYTE, 0, comm, comm->c_coll->coll_gather_module);
    for (int rank = 0; code == OMPI_SUCCESS && room && setup->ranks && rank < n; rank++)
        setup->ranks[rank] = setup->info[rank].location;
    return code;
}

/* The topology's bytes, which other ranks than 0 keep, and on these what they say. */
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
    if (!topology) {
        if (!root)
            free(bytes);
        return code;
    }
    coll_strag_setup_keep_topology(setup, topology);
    setup->module->heritage->packed = bytes;
    setup->module->heritage->packed_bytes = size;
    return code;
}

/* ---- Hosts ---- */

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
        coll_strag_setup_keep_topology(setup, topology);
    else
        strag_topology_free(topology);
    coll_strag_setup_fill_in_hosts(setup, hosts);
    coll_strag_explain_topology(setup->comm, setup->module->topology);
    hosts->topology_bytes = setup->module->topology ? size : 0;
    hosts->id = make_id();
}

/* ---- How fast the network is ---- */

/* Rank 0: whether nobody knows, and whom to ask. @return 0: nobody */
static int find_ping(const struct setup *setup, const struct coll_strag_hosts *hosts)
{
    const struct coll_strag_module *module = setup->module;
    const struct coll_strag_settings *settings = &coll_strag_settings;
    if (!settings->learn || settings->reproducible || !module->topology ||
        module->decision.pinned != COLL_STRAG_AUTO || hosts->transport == COLL_STRAG_UCP)
        return 0;
    const struct strag_sourced_model model =
        coll_strag_make_model(module->topology, false, COLL_STRAG_PML);
    if (model.origin[STRAG_MODEL_ALPHA] != STRAG_FROM_DEFAULT &&
        model.origin[STRAG_MODEL_BANDWIDTH] != STRAG_FROM_DEFAULT)
        return 0;
    int peer = 1;
    while (peer < module->topology->n && strag_topology_same_host(module->topology, 0, peer))
        peer++;
    return peer < module->topology->n ? peer : 0;
}

static int ping(const struct setup *setup, int peer)
{
    struct coll_strag_measured measured = {{0}};
    const int me = ompi_comm_rank(setup->comm);
    int code = OMPI_SUCCESS;
    if (peer && (me == 0 || me == peer))
        code = coll_strag_ping(setup->comm, peer, &measured.number[STRAG_MODEL_ALPHA],
                               &measured.number[STRAG_MODEL_BANDWIDTH]);
    if (code == OMPI_SUCCESS)
        coll_strag_measured_keep(&measured, false);
    return code;
}

static bool share_hosts(struct setup *setup)
{
    struct coll_strag_hosts hosts;
    memset(&hosts, 0, sizeof hosts); /* it is sent, padding and all */
    if (setup->info) {
        find_hosts(setup, &hosts);
        hosts.ping = find_ping(setup, &hosts);
    }
    int code = coll_strag_setup_broadcast(setup->comm, &hosts, sizeof hosts);
    if (code == OMPI_SUCCESS && hosts.topology_bytes)
        code = share_topology(setup, hosts.topology_bytes);
    if (code == OMPI_SUCCESS)
        code = coll_strag_setup_find_lanes(setup);
    setup->module->heritage->hosts = hosts;
    return coll_strag_setup_may_continue(setup, code) &&
           coll_strag_setup_connect_network(setup, &hosts) &&
           coll_strag_setup_connect_memory(setup, &hosts) &&
           coll_strag_setup_may_continue(setup, ping(setup, hosts.ping));
}

/* ---- All together ---- */

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
    if (module->shm)
        heritage->hold = strag_shm_hold(module->shm);
    return coll_strag_heritage_note_names(heritage, setup->comm) &&
           (heritage->hold || !module->shm);
}

int coll_strag_setup_ask_all(struct setup *setup, bool attached)
{
    bool ready;
    int code = gather(setup, &ready);
    if (code == OMPI_SUCCESS && !ready)
        coll_strag_setup_give_up(setup->module, COLL_STRAG_NO_MEMORY);
    if (code != OMPI_SUCCESS || !ready)
        return code;
    if (share_hosts(setup))
        coll_strag_setup_share_decision(setup);
    if (setup->code == OMPI_SUCCESS && !(attached && prepare_heritage(setup)))
        setup->code = OMPI_ERR_OUT_OF_RESOURCE;
    coll_strag_setup_conclude(setup);
    setup->module->count.asked++;
    return setup->code;
}
