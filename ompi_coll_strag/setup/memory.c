/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sharing memory among the ranks of a host, if all ranks of the communicator can. If one cannot,
 * all ranks learn which one and why: both are encoded in a number, and they agree on the least.
 * Ranks that already hold each other's arenas (strag_shm_hold) only need each other's places.
 */
#include "steps.h"
#include "user/log.h"
#include "wire/transport_shm.h"

static bool is_wanted(const struct setup *setup)
{
    const struct coll_strag_hosts *hosts = setup->hosts;
    return hosts->shared_memory != COLL_STRAG_SHARED_NEVER &&
           !(hosts->shared_memory == COLL_STRAG_SHARED_AUTO && setup->module->ucp);
}

void coll_strag_setup_leave_place(struct setup *setup)
{
    coll_strag_shared_memory_free(setup->memory.shm);
    setup->memory.shm = NULL;
}

static void take(struct setup *setup)
{
    setup->module->shm = setup->memory.shm;
    setup->memory.shm = NULL;
}

void coll_strag_setup_keep_place(struct setup *setup)
{
    if (setup->memory.shm)
        take(setup);
}

/* ---- If all ranks are asked ---- */

/* @return whether all ranks can share memory */
static bool agreed(struct setup *setup)
{
    const int32_t least = setup->number;
    char text[256];
    if (least == INT32_MAX)
        return true;
    snprintf(text, sizeof text, "rank %d could not: %s", (int)least / STRAG_SHM_REASONS,
             strag_shm_reason_text((enum strag_shm_reason)(least % STRAG_SHM_REASONS)));
    coll_strag_setup_leave_place(setup);
    setup->memory.joins = false;
    if (ompi_comm_rank(setup->comm) != 0)
        return false;
    coll_strag_log(setup->comm, "no shared memory: %s", text);
    if (setup->hosts->shared_memory == COLL_STRAG_SHARED_WANTED)
        coll_strag_warn(COLL_STRAG_WARN_NOT_SHARED, setup->comm->c_name, text);
    return false;
}

void coll_strag_setup_make_memory(struct setup *setup)
{
    struct coll_strag_setup_memory *own = &setup->memory;
    own->joins = is_wanted(setup);
    if (!own->joins)
        return;
    own->shm = coll_strag_shared_memory_create(setup->comm, setup->module->lane_of,
                                               &own->infos[ompi_comm_rank(setup->comm)]);
    strag_exchange_allgather(&setup->messages.exchange, own->infos, sizeof *own->infos);
}

/* The number encodes a rank and its reason; INT32_MAX, above all of these, if it has none. */
void coll_strag_setup_join_memory(struct setup *setup)
{
    const struct strag_shm_info *infos = setup->memory.infos;
    const int n = ompi_comm_size(setup->comm);
    int32_t reason;
    if (!setup->memory.joins)
        return;
    int rank = coll_strag_shared_memory_lacking(infos, n);
    if (rank < n) {
        reason = infos[rank].note;
    } else {
        reason = (int32_t)strag_shm_join(setup->memory.shm, infos);
        rank = ompi_comm_rank(setup->comm);
    }
    setup->number = reason == STRAG_SHM_ABLE ? INT32_MAX : rank * STRAG_SHM_REASONS + reason;
    strag_exchange_minimum(&setup->messages.exchange, &setup->number, 1);
}

void coll_strag_setup_end_memory(struct setup *setup)
{
    if (setup->memory.joins && agreed(setup))
        take(setup);
}

/* ---- If setup is derived ---- */

void coll_strag_setup_rejoin_memory(struct setup *setup)
{
    const struct coll_strag_entry *entries = setup->derive.reply->entries;
    struct coll_strag_setup_memory *own = &setup->memory;
    const bool wanted = is_wanted(setup);
    const int n = ompi_comm_size(setup->comm);
    for (int rank = 0; wanted && rank < n; rank++)
        own->infos[rank] = entries[rank].info;
    if (!wanted || coll_strag_shared_memory_lacking(own->infos, n) < n)
        coll_strag_setup_leave_place(setup);
    else if (strag_shm_join(own->shm, own->infos) == STRAG_SHM_ABLE)
        take(setup);
    else
        setup->code = OMPI_ERROR; /* cannot happen: it holds all arenas */
}
