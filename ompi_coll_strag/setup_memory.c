/* SPDX-License-Identifier: BSD-3-Clause */
#include "setup_memory.h"

#include "log.h"
#include "shared_memory.h"

#include <stdlib.h>
#include <string.h>

bool coll_strag_setup_memory_is_wanted(const struct setup *setup)
{
    const struct coll_strag_hosts *hosts = setup->hosts;
    return hosts->shared_memory != COLL_STRAG_SHARED_NEVER &&
           !(hosts->unless_ucp && setup->module->ucp);
}

/* Up to COLL_STRAG_SETUP_FEW_RANKS no rank can be without. */
static void make_room(struct setup *setup)
{
    const int n = ompi_comm_size(setup->comm);
    if (setup->infos) /* it was tried in another way before */
        return;
    setup->infos = n <= COLL_STRAG_SETUP_FEW_RANKS ? setup->few_infos
                                                   : calloc((size_t)n, sizeof *setup->infos);
}

void coll_strag_setup_leave_place(struct setup *setup)
{
    coll_strag_shared_memory_free(setup->shm);
    setup->shm = NULL;
}

/* ---- The first time ---- */

/* A reason, and whose it is, in one number: above all of them if there is none. */
static void ask(struct setup *setup, enum strag_shm_reason reason)
{
    setup->numbers[0] = reason == STRAG_SHM_ABLE
                            ? INT32_MAX
                            : ompi_comm_rank(setup->comm) * STRAG_SHM_REASONS + (int32_t)reason;
    strag_exchange_minimum(&setup->exchange, setup->numbers, 1);
}

/* @return whether all are able */
static bool agreed(struct setup *setup)
{
    const int32_t least = setup->numbers[0];
    char text[256];
    if (least == INT32_MAX)
        return true;
    snprintf(text, sizeof text, "rank %d could not: %s", (int)least / STRAG_SHM_REASONS,
             strag_shm_reason_text((enum strag_shm_reason)(least % STRAG_SHM_REASONS)));
    coll_strag_setup_leave_place(setup);
    setup->joins = false;
    if (ompi_comm_rank(setup->comm) != 0)
        return false;
    coll_strag_log(setup->comm, "no shared memory: %s", text);
    if (setup->hosts->shared_memory == COLL_STRAG_SHARED_WANTED)
        coll_strag_warn(COLL_STRAG_WARN_NOT_SHARED, setup->comm->c_name, text);
    return false;
}

void coll_strag_setup_make_memory(struct setup *setup)
{
    setup->joins = coll_strag_setup_memory_is_wanted(setup);
    if (!setup->joins)
        return;
    struct strag_shm_info own;
    setup->shm =
        coll_strag_shared_memory_create(setup->comm, setup->module->lane_of, COLL_STRAG_MEMORY);
    make_room(setup);
    memset(&own, 0, sizeof own);
    const bool room = setup->shm && setup->infos;
    const enum strag_shm_reason reason =
        room ? strag_shm_make(setup->shm, &own) : STRAG_SHM_NO_MEMORY;
    if (room)
        setup->infos[ompi_comm_rank(setup->comm)] = own;
    ask(setup, reason);
}

void coll_strag_setup_show_memory(struct setup *setup)
{
    if (setup->joins && agreed(setup))
        strag_exchange_allgather(&setup->exchange, setup->infos, sizeof *setup->infos);
}

void coll_strag_setup_join_memory(struct setup *setup)
{
    if (setup->joins)
        ask(setup, strag_shm_join(setup->shm, setup->infos));
}

void coll_strag_setup_end_memory(struct setup *setup)
{
    if (!setup->joins || !agreed(setup))
        return;
    setup->module->shm = setup->shm;
    setup->shm = NULL;
}

/* ---- Again ---- */

void coll_strag_setup_ask_room(struct setup *setup)
{
    if (!setup->rejoins)
        return;
    setup->shm = coll_strag_shared_memory_create(setup->comm, setup->lane_of, COLL_STRAG_MEMORY);
    make_room(setup);
    struct strag_shm_info *own = &setup->own_info;
    memset(own, 0, sizeof *own);
    own->note = setup->stop || !setup->shm || strag_shm_make(setup->shm, own) != STRAG_SHM_ABLE;
    setup->numbers[0] = !own->note && setup->infos;
    if (ompi_comm_size(setup->comm) > COLL_STRAG_SETUP_FEW_RANKS)
        strag_exchange_minimum(&setup->exchange, setup->numbers, 1);
    else
        setup->numbers[0] = true;
}

void coll_strag_setup_rejoin_memory(struct setup *setup)
{
    if (!setup->rejoins)
        return;
    setup->stop = !setup->numbers[0];
    if (setup->stop)
        return;
    setup->infos[ompi_comm_rank(setup->comm)] = setup->own_info;
    strag_exchange_allgather(&setup->exchange, setup->infos, sizeof *setup->infos);
}

void coll_strag_setup_end_rejoin(struct setup *setup)
{
    if (!setup->rejoins)
        return;
    for (int rank = 0; !setup->stop && rank < ompi_comm_size(setup->comm); rank++)
        setup->stop = setup->infos[rank].note;
    if (setup->stop) {
        coll_strag_setup_leave_place(setup);
    } else if (strag_shm_join(setup->shm, setup->infos) != STRAG_SHM_ABLE) {
        setup->code = OMPI_ERROR; /* it holds all arenas: that cannot be */
    } else {
        setup->module->shm = setup->shm;
        setup->shm = NULL;
    }
}
