/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Draining: a rank that waits copies messages of peers that are starved of room into private
 * memory. It copies messages that it has not asked for yet, and messages that it holds in place
 * because it does not have the values yet with which it must reduce them.
 */
#include "shm/layout.h"

#include "base/status.h"

#include <stdlib.h>
#include <string.h>

/* Failures in a row, for want of memory. Each comes after many polls; all of them take seconds. */
enum { DRAIN_TRIES = 1 << 16 };

void strag_shm_free_drained(struct strag_shm_arrival *arrival)
{
    free(arrival);
}

/* Copy the message that a cell announces. @return NULL if out of memory */
static struct strag_shm_drained *copy_of(const struct strag_shm_peer *peer,
                                         const struct strag_shm_cell *cell)
{
    const void *values = cell->slot == STRAG_SHM_NO_SLOT ? (const void *)cell->data
                                                         : strag_shm_slot(peer->arena, cell->slot);
    struct strag_shm_drained *drained = malloc(sizeof *drained + cell->bytes);
    if (!drained)
        return NULL;
    drained->arrival = (struct strag_shm_arrival){NULL, NULL, false};
    drained->next = NULL;
    drained->call = cell->call;
    drained->bytes = cell->bytes;
    memcpy(drained->data, values, cell->bytes);
    return drained;
}

static bool drain_held(struct strag_shm_peer *peer)
{
    for (uint32_t number = peer->released + 1; number != peer->received + 1; number++) {
        struct strag_shm_arrival *arrival = &peer->arrivals[number % STRAG_SHM_CELLS];
        struct strag_shm_drained *drained;
        if (arrival->released || !strag_shm_is_before(peer->released, number))
            continue; /* done with, or just released with the message before it */
        drained = copy_of(peer, &peer->in[number % STRAG_SHM_CELLS]);
        if (!drained)
            return false;
        arrival->transfer->arrived = drained->data;
        arrival->transfer->handle = &drained->arrival;
        strag_shm_release(arrival);
    }
    return true;
}

static bool drain_next(const struct strag_shm *shm, struct strag_shm_peer *peer)
{
    for (;;) {
        const uint32_t number = peer->received + 1;
        const struct strag_shm_cell *cell = &peer->in[number % STRAG_SHM_CELLS];
        if (atomic_load_explicit(&cell->tag, memory_order_acquire) != (peer->in_tag | number))
            return true;
        /* A message of a failed call is not read, since its slot may have been used again. */
        if (!strag_shm_is_before(cell->call, (uint32_t)shm->call)) {
            struct strag_shm_drained *drained = copy_of(peer, cell);
            if (!drained)
                return false;
            *peer->drained_end = drained;
            peer->drained_end = &drained->next;
        }
        peer->received = number;
        strag_shm_release(&peer->arrivals[number % STRAG_SHM_CELLS]);
    }
}

int strag_shm_drain(struct strag_shm *shm)
{
    bool done = true;
    for (int i = 0; i < shm->n; i++) {
        struct strag_shm_peer *peer = &shm->peers[i];
        if (i == shm->me || !atomic_load_explicit(&peer->status->starved, memory_order_relaxed))
            continue;
        strag_shm_follow(peer);
        done = drain_held(peer) && drain_next(shm, peer) && done;
    }
    shm->drains = done ? 0 : shm->drains + 1;
    return shm->drains < DRAIN_TRIES ? STRAG_OK : STRAG_ERR_MEMORY;
}

void strag_shm_drop_drained(struct strag_shm_peer *peer)
{
    while (peer->drained) {
        struct strag_shm_drained *next = peer->drained->next;
        free(peer->drained);
        peer->drained = next;
    }
    peer->drained_end = &peer->drained;
}
