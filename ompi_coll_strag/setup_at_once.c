/* SPDX-License-Identifier: BSD-3-Clause */
#include "setup_at_once.h"

#include "shared_memory.h"

#include <string.h>

size_t coll_strag_setup_at_once_bytes(int n)
{
    const size_t entries = (size_t)n * sizeof(struct coll_strag_entry);
    return n <= COLL_STRAG_SETUP_FEW_RANKS ? sizeof(struct coll_strag_at_once) + entries : 0;
}

/* Places were found before it was known what rank 0 wants, where the origin shares memory. */
static void find_place(struct setup *setup)
{
    setup->stop = false;
    setup->rejoins = setup->origin && setup->origin->shared;
    setup->lane_of = setup->module->lane_of;
    memset(&setup->own_info, 0, sizeof setup->own_info);
    coll_strag_setup_ask_room(setup);
}

void coll_strag_setup_show_all(struct setup *setup, const struct coll_strag_offer *offer)
{
    struct coll_strag_entry *entries = setup->at_once->entries;
    memset(setup->at_once, 0, coll_strag_setup_at_once_bytes(ompi_comm_size(setup->comm)));
    find_place(setup);
    struct coll_strag_entry *own = &entries[ompi_comm_rank(setup->comm)];
    own->origin = offer->origin;
    own->pinned = offer->pinned;
    own->info = setup->own_info;
    coll_strag_roll_call_collect(&setup->roll_call, &setup->exchange, setup->comm,
                                 &setup->module->first, offer, entries);
}

/* As far as the answer says, alike on all ranks. */
static bool is_decided(const struct setup *setup)
{
    const struct coll_strag_answer *answer = &setup->at_once->answer;
    return answer->presence.missing == INT32_MAX && answer->offer.origin &&
           answer->offer.hosts.transport != COLL_STRAG_UCP;
}

/* All that comes before the decision. */
static void join(struct setup *setup)
{
    const struct coll_strag_entry *entries = setup->at_once->entries;
    setup->hosts = &setup->roll_call.answer.offer.hosts;
    coll_strag_setup_take_origin(setup);
    coll_strag_setup_end_network(setup);
    setup->rejoins = setup->rejoins && coll_strag_setup_memory_is_wanted(setup);
    for (int rank = 0; setup->rejoins && rank < ompi_comm_size(setup->comm); rank++)
        setup->infos[rank] = entries[rank].info;
    if (setup->rejoins)
        coll_strag_setup_end_rejoin(setup);
    else
        coll_strag_setup_leave_place(setup);
}

void coll_strag_setup_answer_all(struct setup *setup)
{
    struct coll_strag_at_once *all = setup->at_once;
    const int me = ompi_comm_rank(setup->comm), n = ompi_comm_size(setup->comm);
    if (!all)
        return;
    coll_strag_roll_call_add(&setup->roll_call, all->entries + me,
                             strag_exchange_collected(&setup->exchange));
    all->answer = setup->roll_call.answer;
    if (me == 0 && is_decided(setup)) {
        join(setup);
        coll_strag_setup_make_decision(setup);
        all->decision = setup->module->heritage->decision;
    }
    strag_exchange_spread(&setup->exchange, all, coll_strag_setup_at_once_bytes(n));
}

bool coll_strag_setup_is_decided(struct setup *setup)
{
    if (!setup->at_once)
        return false;
    setup->roll_call.answer = setup->at_once->answer;
    const bool decided = is_decided(setup);
    if (!decided)
        coll_strag_setup_leave_place(setup);
    return decided;
}

void coll_strag_setup_take_all(struct setup *setup)
{
    if (ompi_comm_rank(setup->comm) != 0) {
        join(setup);
        setup->module->heritage->decision = setup->at_once->decision;
    }
    coll_strag_setup_take_decision(setup);
}
