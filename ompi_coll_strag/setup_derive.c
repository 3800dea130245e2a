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

/* The topology, unless it is the origin's, and who is on this host. Rank 0 wants the bytes, too: it
 * looks for tables by them. */
static bool fill(struct coll_strag_part *part, const struct strag_topology *whole,
                 const int32_t *rank_of, int n, int me)
{
    struct strag_topology *made = NULL;
    part->as_origin = n == whole->n && is_identity(rank_of, n);
    if (!part->as_origin && strag_topology_part(whole, rank_of, n, &made, NULL) != STRAG_OK)
        return false;
    const struct strag_topology *topology = made ? made : whole;
    const bool packs = me == 0 || made;
    part->lane_of = coll_strag_setup_find_lanes(topology, n, me);
    const bool packed = !packs || strag_topology_pack(topology, &part->packed, &part->packed_bytes,
                                                      NULL) == STRAG_OK;
    if (me == 0)
        part->topology = made;
    else
        strag_topology_free(made);
    return part->lane_of && packed;
}

static struct coll_strag_part *make_part(const struct setup *setup)
{
    const int n = ompi_comm_size(setup->comm), me = ompi_comm_rank(setup->comm);
    const struct strag_topology *whole = NULL;
    struct strag_topology *unpacked = NULL;
    struct coll_strag_part *part = NULL;
    if (coll_strag_heritage_topology(setup->origin, &whole, &unpacked) == STRAG_OK && whole)
        part = coll_strag_part_create(setup->origin->id, setup->rank_of, n);
    if (part && fill(part, whole, setup->rank_of, n, me)) {
        coll_strag_part_keep(part);
    } else {
        coll_strag_part_release(part);
        part = NULL;
    }
    strag_topology_free(unpacked);
    return part;
}

/* On rank 0 the origin may have the topology, which it then has as it is, being rank 0 there. */
static void use_part(struct setup *setup, struct coll_strag_part *part)
{
    struct coll_strag_module *module = setup->module;
    struct coll_strag_heritage *own = module->heritage;
    coll_strag_heritage_take_part(own, part);
    module->lane_of = own->lane_of;
    if (ompi_comm_rank(setup->comm) == 0)
        module->topology = own->numbered_as_origin ? setup->origin->topology : own->topology;
}

void coll_strag_setup_forget_origin(struct setup *setup)
{
    struct coll_strag_module *module = setup->module;
    coll_strag_heritage_drop_part(module->heritage);
    setup->origin = NULL;
    module->topology = NULL;
    module->lane_of = NULL;
    free(setup->ranks);
    setup->ranks = NULL;
}

/* Do without messages what can be done; all ranks must then agree that they have the same origin.
 */
static bool derive(struct setup *setup)
{
    const bool root = ompi_comm_rank(setup->comm) == 0;
    const int n = ompi_comm_size(setup->comm);
    struct coll_strag_part *part = NULL;
    setup->rank_of = malloc((size_t)n * sizeof *setup->rank_of);
    if (setup->rank_of && !coll_strag_has_watch_keys(setup->comm))
        setup->origin = coll_strag_heritage_find(setup->comm, setup->rank_of);
    setup->module->heritage->origin = setup->origin;
    if (setup->origin)
        part = coll_strag_part_find(setup->origin->id, setup->rank_of, n);
    if (setup->origin && !part)
        part = make_part(setup);
    bool derived = NULL != part;
    if (derived)
        use_part(setup, part);
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
    offer.pinned = coll_strag_pinned(setup->comm, setup->module->first.pinned);
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
    if (own->given_bytes) /* plans from files stay where they are used: few communicators have any
                           */
        return;
    if (!heritage->numbered_as_origin || own->ports != theirs->ports ||
        own->reproducible != theirs->reproducible ||
        !strag_state_is_same(&own->state, &theirs->state)) {
        heritage->plans = coll_strag_part_plans(heritage->part, own, heritage->plans);
        return;
    }
    strag_plan_store_release(heritage->plans);
    heritage->plans = strag_plan_store_retain(origin->plans);
}

void coll_strag_setup_take_origin(struct setup *setup)
{
    struct coll_strag_module *module = setup->module;
    module->heritage->n = ompi_comm_size(setup->comm);
    module->heritage->hosts = *setup->hosts;
    module->heritage->keyed = setup->hosts->keyed;
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
    heritage->shared = NULL != module->shm;
    setup->concludes = setup->concludes || setup->hosts->transport == COLL_STRAG_UCP;
    if (!setup->concludes && setup->code == OMPI_SUCCESS)
        coll_strag_heritage_publish(heritage);
}
