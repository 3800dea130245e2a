/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What can fail on one rank is done before the roll call. If it fails, or if a rank has info keys
 * of the watch, that rank answers that it has no origin, and all ranks are asked instead. They are
 * asked as well if the algorithm's info key differs between them, which gives a warning, and if the
 * origin did not need the network's speed, which has to be measured now.
 */
#include "choice/explain.h"
#include "steps.h"
#include "user/info_keys.h"
#include "user/log.h"
#include "wire/transport_shm.h"

#include <stdlib.h>
#include <string.h>

/* ---- Before the roll call ---- */

/* Make the communicator's own topology and lanes from the origin's. */
static bool make_topology(const struct setup *setup)
{
    const struct coll_strag_setup_derive *derive = &setup->derive;
    struct coll_strag_shared_setup *own = setup->module->shared_setup;
    const int n = ompi_comm_size(setup->comm);
    const struct strag_topology *whole = NULL;
    struct strag_topology *unpacked = NULL, *made = NULL;
    own->lane_of = malloc((size_t)n);
    if (own->lane_of &&
        coll_strag_shared_setup_topology(derive->origin, &whole, &unpacked) == STRAG_OK)
        (void)strag_topology_part(whole, derive->rank_of, n, &made, NULL);
    strag_topology_free(unpacked);
    for (int rank = 0; made && rank < n; rank++)
        own->lane_of[rank] = derive->origin->lane_of[derive->rank_of[rank]];
    if (ompi_comm_rank(setup->comm) == 0) {
        own->topology = made;
        return NULL != made;
    }
    const bool packed =
        made && strag_topology_pack(made, &own->packed, &own->packed_bytes, NULL) == STRAG_OK;
    strag_topology_free(made);
    return packed;
}

static void forget_origin(struct setup *setup)
{
    struct coll_strag_module *module = setup->module;
    coll_strag_shared_setup_forget_origin(module->shared_setup);
    setup->derive.origin = NULL;
    module->topology = NULL;
    module->lane_of = NULL;
}

/* Find each rank's host, from the topology, and its rank in the job, from its process's name.
 * @return false if the hosts have no names */
static bool find_locations(const struct setup *setup)
{
    const struct strag_topology *topology = setup->module->topology;
    for (int rank = 0; rank < ompi_comm_size(setup->comm); rank++) {
        struct strag_rank_location *own = &setup->ranks[rank];
        const char *host = topology->nodes[topology->host_node[rank]].name;
        if (NULL == host)
            return false;
        *own = (struct strag_rank_location){
            .core = {-1, -1, -1},
            .world = (int32_t)ompi_group_get_proc_name(setup->comm->c_local_group, rank).vpid,
        };
        snprintf(own->host, sizeof own->host, "%s", host);
    }
    return true;
}

/* Do all that needs no message. If the ranks are numbered as in the origin, as a dup's are,
 * topology and lanes are the origin's. @return false if there is no origin, or it cannot be used */
static bool find_origin(struct setup *setup)
{
    struct coll_strag_setup_derive *derive = &setup->derive;
    struct coll_strag_module *module = setup->module;
    struct coll_strag_shared_setup *own = module->shared_setup;
    derive->rank_of = malloc((size_t)ompi_comm_size(setup->comm) * sizeof *derive->rank_of);
    if (derive->rank_of && setup->attached && !coll_strag_has_watch_keys(setup->comm))
        own->origin =
            coll_strag_shared_setup_find(setup->comm, derive->rank_of, &own->numbered_as_origin);
    derive->origin = own->origin;
    if (!own->origin || !(own->origin->topology || own->origin->packed) ||
        !(own->numbered_as_origin || make_topology(setup)))
        return false;
    const struct coll_strag_shared_setup *owner = own->numbered_as_origin ? own->origin : own;
    module->lane_of = owner->lane_of;
    if (ompi_comm_rank(setup->comm) != 0)
        return true;
    module->topology = owner->topology;
    return find_locations(setup);
}

/* @param[out] offer  this rank's; stays all 0 if there is no origin, or it cannot be used */
static void make_offer(struct setup *setup, struct coll_strag_offer *offer)
{
    if (!find_origin(setup)) {
        forget_origin(setup);
        return;
    }
    offer->origin = setup->derive.origin->id;
    offer->pinned =
        coll_strag_key(setup->comm, COLL_STRAG_KEY_ALGORITHM, setup->module->first.pinned);
    if (setup->ranks) {
        coll_strag_setup_fill_in_hosts(setup, &offer->hosts);
        /* The origin's algorithm was pinned, so the network's speed was not measured: ask. (Not for
         * a grid: its place in its network would be lost.) */
        if (setup->module->topology->network == STRAG_NETWORK_TREE &&
            coll_strag_setup_find_ping(setup, &offer->hosts))
            offer->origin = 0;
    }
    if (!setup->derive.origin->shared)
        offer->hosts.shared_memory = COLL_STRAG_SHARED_NEVER;
}

void coll_strag_setup_call_roll(struct setup *setup)
{
    const int me = ompi_comm_rank(setup->comm);
    struct coll_strag_setup_derive *derive = &setup->derive;
    struct coll_strag_entry *entries = derive->reply->entries;
    memset(derive->reply, 0, sizeof *derive->reply); /* sent with its padding, as the entries are */
    memset(entries + me, 0,
           (size_t)strag_exchange_collected(&setup->messages.exchange) * sizeof *entries);
    make_offer(setup, &derive->reply->answer.offer);
    if (derive->reply->answer.offer.origin && derive->origin->shared)
        setup->memory.shm =
            coll_strag_shared_memory_create(setup->comm, setup->module->lane_of, &entries[me].info);
    coll_strag_roll_call_begin(&derive->reply->answer, &setup->messages.exchange, setup->comm,
                               &setup->module->first, entries);
}

/* ---- The answer ---- */

static bool has_origin(const struct coll_strag_answer *answer)
{
    return answer->presence.missing == INT32_MAX && answer->offer.origin;
}

/* The origin is the same on all ranks: use it. */
static void join(struct setup *setup)
{
    struct coll_strag_module *module = setup->module;
    setup->hosts = &setup->derive.reply->answer.offer.hosts;
    coll_strag_count(STRAG_COUNT_SETUPS_DERIVED);
    if (setup->ranks) {
        coll_strag_log(setup->comm, "set up from the locations of another communicator's ranks");
        coll_strag_explain_topology(setup->comm, module->topology);
    }
    coll_strag_setup_end_network(setup);
    coll_strag_setup_rejoin_memory(setup);
}

/* Without UCX rank 0 decides here; over UCX, more has to be exchanged before. */
void coll_strag_setup_answer(struct setup *setup)
{
    struct coll_strag_setup_derive *derive = &setup->derive;
    const int me = ompi_comm_rank(setup->comm);
    struct coll_strag_answer *answer = &derive->reply->answer;
    coll_strag_roll_call_add(answer, derive->reply->entries + me,
                             strag_exchange_collected(&setup->messages.exchange));
    if (me == 0 && has_origin(answer) && answer->offer.hosts.transport != COLL_STRAG_UCP) {
        join(setup);
        coll_strag_setup_make_decision(setup);
        derive->reply->decision = setup->module->shared_setup->decision;
    }
    strag_exchange_spread(&setup->messages.exchange, derive->reply, sizeof *derive->reply);
}

/* Ranks that share memory need the places of all ranks on their host, which rank 0 has. */
void coll_strag_setup_show_places(struct setup *setup)
{
    struct coll_strag_entry *entries = setup->derive.reply->entries;
    if (setup->hosts->shared_memory != COLL_STRAG_SHARED_NEVER)
        strag_exchange_broadcast(&setup->messages.exchange, entries,
                                 (size_t)ompi_comm_size(setup->comm) * sizeof *entries);
}

bool coll_strag_setup_is_derived(struct setup *setup, bool *here)
{
    const struct coll_strag_answer *answer = &setup->derive.reply->answer;
    *here = coll_strag_roll_call_end(setup->comm, &setup->module->first, answer);
    setup->module->pml.by_shape = answer->presence.few == INT32_MAX;
    setup->hosts = &answer->offer.hosts;
    if (has_origin(answer))
        return true;
    coll_strag_setup_leave_place(setup);
    forget_origin(setup);
    return false;
}

void coll_strag_setup_join_derived(struct setup *setup)
{
    const bool over_ucp = setup->hosts->transport == COLL_STRAG_UCP;
    if (over_ucp || ompi_comm_rank(setup->comm) != 0) /* else rank 0 has joined to decide */
        join(setup);
    if (over_ucp)
        coll_strag_setup_decide(setup);
    else
        setup->module->shared_setup->decision = setup->derive.reply->decision;
}

/* ---- The end ---- */

/* Share the origin's plans, which depend on the topology and on what is compared here, whatever
 * other ranks do. Plans from files stay with the communicators that use them, which are few. */
static void share_plans(struct coll_strag_shared_setup *shared_setup)
{
    const struct coll_strag_shared_setup *origin = shared_setup->origin;
    const struct coll_strag_decision *own = &shared_setup->decision, *theirs = &origin->decision;
    if (own->given_bytes || !shared_setup->numbered_as_origin || own->ports != theirs->ports ||
        own->reproducible != theirs->reproducible ||
        !strag_state_is_same(&own->state, &theirs->state))
        return;
    strag_plan_store_release(shared_setup->plans);
    shared_setup->plans = strag_plan_store_retain(origin->plans);
}

/* Does strag run the call that waits for setup? Then no rank leaves it before all have come. */
static bool runs_first(const struct coll_strag_module *module)
{
    const size_t bytes = __atomic_load_n(&module->stuck.bytes, __ATOMIC_RELAXED);
    return NULL != strag_table_entry(&module->decision.table, bytes)->algorithm;
}

/* Later communicators, such as dups, can be derived from this one; if its ranks are numbered as the
 * origin's, they find the origin. Not from one that a nonblocking call has set up: its ranks come
 * here at different times. */
void coll_strag_setup_end_derive(struct setup *setup)
{
    struct coll_strag_shared_setup *shared_setup = setup->module->shared_setup;
    share_plans(shared_setup);
    shared_setup->shared = NULL != setup->module->shm;
    if (setup->blocking && !shared_setup->numbered_as_origin)
        (void)coll_strag_shared_setup_identify(shared_setup, setup->comm, setup->hosts->id);
    if (!setup->blocking || shared_setup->decision.given_bytes ||
        setup->hosts->transport == COLL_STRAG_UCP || !runs_first(setup->module))
        return;
    if (setup->code == OMPI_SUCCESS)
        coll_strag_shared_setup_publish(shared_setup);
    setup->next = NULL; /* no conclusion: nothing could fail on one rank alone */
}
