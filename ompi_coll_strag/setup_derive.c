/* SPDX-License-Identifier: BSD-3-Clause */
#include "setup_derive.h"

#include "explain.h"
#include "info_keys.h"
#include "log.h"

#include <stdlib.h>
#include <string.h>

/* ---- Before the roll call ---- */

static bool is_identity(const int32_t *rank_of, int n)
{
    int rank = 0;
    while (rank < n && rank_of[rank] == rank)
        rank++;
    return rank == n;
}

/* Its own topology: rank 0 keeps it, others the bytes. */
static bool keep_part(struct setup *setup, struct strag_topology *part)
{
    struct coll_strag_heritage *own = setup->module->heritage;
    coll_strag_setup_keep_topology(setup, part);
    return ompi_comm_rank(setup->comm) == 0 ||
           strag_topology_pack(part, &own->packed, &own->packed_bytes, NULL) == STRAG_OK;
}

/* The topology: the origin's, if ranks are numbered alike. */
static bool derive_topology(struct setup *setup)
{
    const int n = ompi_comm_size(setup->comm);
    const struct coll_strag_heritage *origin = setup->origin;
    const struct strag_topology *whole;
    struct strag_topology *unpacked, *part = NULL;
    if (coll_strag_heritage_topology(origin, &whole, &unpacked) != STRAG_OK || NULL == whole)
        return false;
    if (n == origin->n && is_identity(setup->rank_of, n)) {
        setup->module->heritage->numbered_as_origin = true;
        setup->module->topology = whole;
        setup->unpacked = unpacked;
        return true;
    }
    (void)strag_topology_part(whole, setup->rank_of, n, &part, NULL);
    strag_topology_free(unpacked);
    return part && keep_part(setup, part);
}

void coll_strag_setup_forget_origin(struct setup *setup)
{
    struct coll_strag_module *module = setup->module;
    struct coll_strag_heritage *own = module->heritage;
    coll_strag_heritage_release(own->origin);
    strag_topology_free(own->topology);
    strag_topology_free(setup->unpacked);
    free(own->packed);
    free(own->lane_of);
    own->origin = setup->origin = NULL;
    own->numbered_as_origin = false;
    own->topology = setup->unpacked = NULL;
    own->packed = NULL;
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
    bool derived = setup->origin && derive_topology(setup) &&
                   coll_strag_setup_find_lanes(setup) == OMPI_SUCCESS;
    if (derived && root) {
        setup->ranks = coll_strag_setup_find_locations(setup->comm, setup->module->topology);
        derived = NULL != setup->ranks;
    }
    if (!derived)
        coll_strag_setup_forget_origin(setup);
    return derived;
}

struct coll_strag_offer coll_strag_setup_make_offer(struct setup *setup)
{
    struct coll_strag_offer offer;
    memset(&offer, 0, sizeof offer); /* it is sent, padding and all */
    if (!derive(setup))
        return offer;
    offer.origin = setup->origin->id;
    if (setup->ranks)
        coll_strag_setup_fill_in_hosts(setup, &offer.hosts);
    if (!setup->origin->shared)
        offer.hosts.shared_memory = COLL_STRAG_SHARED_NEVER;
    return offer;
}

/* ---- After it ---- */

/* Plans depend on the topology, and on what is compared here. Engines need no other rank to have
 * the same store. */
static void share_plans(struct coll_strag_heritage *heritage)
{
    const struct coll_strag_heritage *origin = heritage->origin;
    const struct coll_strag_decision *own = &heritage->decision, *theirs = &origin->decision;
    if (!heritage->numbered_as_origin || own->ports != theirs->ports ||
        own->reproducible != theirs->reproducible ||
        !strag_state_is_same(&own->state, &theirs->state))
        return;
    strag_plan_store_release(heritage->plans);
    heritage->plans = strag_plan_store_retain(origin->plans);
}

void coll_strag_setup_take_origin(struct setup *setup)
{
    struct coll_strag_module *module = setup->module;
    module->heritage->n = ompi_comm_size(setup->comm);
    module->heritage->hosts = *setup->hosts;
    module->count.derived++;
    if (!setup->ranks)
        return;
    coll_strag_log(setup->comm, "set up from what is known of its ranks");
    coll_strag_explain_topology(setup->comm, module->topology);
}

void coll_strag_setup_want_to_rejoin(struct setup *setup)
{
    setup->stop = false;
    setup->rejoins = coll_strag_setup_memory_is_wanted(setup);
    setup->lane_of = setup->module->lane_of;
}

void coll_strag_setup_end_derive(struct setup *setup)
{
    struct coll_strag_module *module = setup->module;
    struct coll_strag_heritage *heritage = module->heritage;
    share_plans(heritage);
    heritage->pinned = module->decision.pinned;
    heritage->shared = NULL != module->shm;
    setup->concludes = setup->concludes || setup->hosts->transport == COLL_STRAG_UCP;
    if (!setup->concludes && setup->code == OMPI_SUCCESS)
        coll_strag_heritage_publish(heritage);
}
