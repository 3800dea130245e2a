/* SPDX-License-Identifier: BSD-3-Clause */
#include "choice/explain.h"
#include "facts/model.h"
#include "facts/ping.h"
#include "steps.h"
#include "user/info_keys.h"
#include "user/log.h"

#include <stdlib.h>
#include <string.h>

/* doc/guide/administrators.md states it. */
_Static_assert(sizeof(struct coll_strag_rank_info) == 304, "what rank 0 gets from each rank");

/* ---- All ranks' facts ---- */

void coll_strag_setup_tell_own(struct setup *setup)
{
    setup->ask.own =
        coll_strag_rank_info(setup->comm, coll_strag_key(setup->comm, COLL_STRAG_KEY_ALGORITHM,
                                                         setup->module->first.pinned));
    strag_exchange_gather(&setup->messages.exchange, &setup->ask.own, sizeof setup->ask.own,
                          setup->ask.info);
}

/* ---- Hosts ---- */

/* On rank 0: find out where the ranks are. */
static void find_hosts(struct setup *setup, struct coll_strag_hosts *hosts)
{
    struct strag_topology *topology;
    size_t size = 0;
    coll_strag_rank_info_compare(setup->ask.info, ompi_comm_size(setup->comm));
    topology = coll_strag_make_topology(setup->comm, setup->ranks);
    if (topology && strag_topology_pack(topology, &setup->ask.packed, &size, NULL) == STRAG_OK)
        setup->module->topology = setup->module->shared_setup->topology = topology;
    else
        strag_topology_free(topology);
    coll_strag_setup_fill_in_hosts(setup, hosts);
    coll_strag_explain_topology(setup->comm, setup->module->topology);
    hosts->topology_bytes = setup->module->topology ? size : 0;
}

/* ---- How fast the network is ---- */

/*
 * A ping measures how long two ranks take to answer, so both must do nothing else. All ranks begin
 * setup in the same call: if it is a blocking one, both are in it until setup is done (setup.c). If
 * it is a nonblocking one, either may be outside of MPI for a while, and nothing is measured.
 */
int coll_strag_setup_find_ping(const struct setup *setup, const struct coll_strag_hosts *hosts)
{
    const struct coll_strag_module *module = setup->module;
    const struct coll_strag_settings *settings = &coll_strag_settings;
    if (!setup->blocking || !settings->learn || settings->reproducible != STRAG_REPRODUCIBLE_NO ||
        !module->topology ||
        coll_strag_key(setup->comm, COLL_STRAG_KEY_ALGORITHM, module->first.pinned) !=
            COLL_STRAG_AUTO ||
        hosts->transport == COLL_STRAG_UCP)
        return 0;
    int peer = 1;
    while (peer < module->topology->n && strag_topology_same_host(module->topology, 0, peer))
        peer++;
    if (peer == module->topology->n)
        return 0;
    const struct strag_sourced_model model =
        coll_strag_make_model(module->topology, false, COLL_STRAG_PML);
    /* Every ping measures alpha: if it is the default, there has been none. */
    return model.origin[STRAG_MODEL_ALPHA] == STRAG_FROM_DEFAULT ? peer : 0;
}

/* Rank 0 has heard from all ranks: it sends the transports, and the topology's length. */
void coll_strag_setup_tell_hosts(struct setup *setup)
{
    struct coll_strag_hosts *hosts = &setup->ask.hosts;
    memset(hosts, 0, sizeof *hosts); /* it is sent, padding and all */
    setup->hosts = hosts;
    for (int rank = 0; setup->ask.info && rank < ompi_comm_size(setup->comm); rank++)
        setup->ranks[rank] = setup->ask.info[rank].location;
    if (setup->ask.info) {
        find_hosts(setup, hosts);
        hosts->ping = coll_strag_setup_find_ping(setup, hosts);
    }
    strag_exchange_broadcast(&setup->messages.exchange, hosts, sizeof *hosts);
}

/* Rank 0 sends the topology, whose bytes the other ranks keep. */
void coll_strag_setup_tell_topology(struct setup *setup)
{
    const size_t bytes = setup->hosts->topology_bytes;
    if (ompi_comm_rank(setup->comm) != 0 && bytes)
        setup->ask.packed = malloc(bytes);
    if (bytes && !setup->ask.packed)
        setup->code = OMPI_ERR_OUT_OF_RESOURCE;
    strag_exchange_broadcast(&setup->messages.exchange, setup->ask.packed, bytes);
}

/* @return false if the topology from rank 0 cannot be unpacked */
static bool keep_topology(struct setup *setup)
{
    struct coll_strag_shared_setup *shared_setup = setup->module->shared_setup;
    struct strag_topology *topology;
    struct strag_error err;
    const size_t bytes = setup->hosts->topology_bytes;
    if (ompi_comm_rank(setup->comm) == 0 || !bytes || !setup->ask.packed)
        return true;
    if (strag_topology_unpack(setup->ask.packed, bytes, &topology, &err) != STRAG_OK) {
        coll_strag_log(setup->comm, "the topology from rank 0: %s", err.text);
        return false;
    }
    setup->module->topology = setup->unpacked = topology;
    shared_setup->packed = setup->ask.packed;
    shared_setup->packed_bytes = bytes;
    setup->ask.packed = NULL;
    return true;
}

/* Find each rank's lane: is it on this host? @param topology  NULL if it is not known
 * @return [n]: enum coll_strag_lane; the caller's to free; NULL if out of memory */
static uint8_t *find_lanes(const struct strag_topology *topology, int n, int me)
{
    uint8_t *lane_of = malloc((size_t)n);
    for (int rank = 0; lane_of && rank < n; rank++) {
        const bool together = topology && strag_topology_same_host(topology, me, rank);
        lane_of[rank] = together ? COLL_STRAG_MEMORY : COLL_STRAG_NETWORK;
    }
    return lane_of;
}

void coll_strag_setup_keep_topology(struct setup *setup)
{
    if (!keep_topology(setup))
        setup->code = OMPI_ERR_OUT_OF_RESOURCE;
    if (setup->code != OMPI_SUCCESS)
        return;
    struct coll_strag_module *module = setup->module;
    module->lane_of = module->shared_setup->lane_of =
        find_lanes(module->topology, ompi_comm_size(setup->comm), ompi_comm_rank(setup->comm));
    if (!module->lane_of)
        setup->code = OMPI_ERR_OUT_OF_RESOURCE;
}

void coll_strag_setup_ping(struct setup *setup)
{
    struct coll_strag_measured measured = {{0}};
    const int me = ompi_comm_rank(setup->comm), peer = setup->hosts->ping;
    int code = OMPI_SUCCESS;
    if (peer && (me == 0 || me == peer))
        code = coll_strag_ping(&setup->module->failure, peer, measured.number);
    if (code == OMPI_ERR_OUT_OF_RESOURCE) /* from the PML: a message is lost, and the other waits */
        code = OMPI_ERROR;
    if (coll_strag_setup_may_continue(setup, code))
        coll_strag_measured_keep(&measured, false);
}

/* ---- All together ---- */

/* Prepare what later communicators may use of this one. @return false if out of memory */
static bool prepare_shared_setup(const struct setup *setup)
{
    const struct coll_strag_module *module = setup->module;
    struct coll_strag_shared_setup *shared_setup = module->shared_setup;
    shared_setup->shared = NULL != module->shm;
    if (module->shm)
        shared_setup->hold = strag_shm_hold(module->shm);
    return coll_strag_shared_setup_identify(shared_setup, setup->comm, setup->hosts->id) &&
           (shared_setup->hold || !module->shm);
}

void coll_strag_setup_end_ask(struct setup *setup)
{
    if (setup->code == OMPI_SUCCESS && !(setup->attached && prepare_shared_setup(setup)))
        setup->code = OMPI_ERR_OUT_OF_RESOURCE;
    coll_strag_count(STRAG_COUNT_SETUPS_ASKED);
    if (setup->module->watch_in)
        setup->module->watch_in = 1; /* one of the job's first communicators: it lives long */
}
