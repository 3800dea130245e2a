/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sends or receives one message through shared memory, if there is room, or if it has come.
 */
#include "shm/layout.h"

#include "base/status.h"

#include <stdlib.h>
#include <string.h>

/* Does it pay to keep the message out of other processors' caches? Not if it fills less than half
 * of a slot: only a few such messages are in the caches at a time (two ranks, 4 to 16 KiB: a third
 * slower). And not if ranks share processors, and so caches. */
static bool is_long(const struct strag_shm *shm, size_t bytes)
{
    return !shm->host.yields && 2 * bytes >= shm->arena.size.slot;
}

/* ---- Values in and out ---- */

static int copy_in(struct strag_shm *shm, void *slot, const void *buffer, size_t elements)
{
    if (!shm->contiguous)
        return shm->host.pack(shm->type, slot, buffer, elements);
    if (is_long(shm, elements * shm->size))
        strag_shm_write(&shm->writing, slot, buffer, elements * shm->size);
    else
        memcpy(slot, buffer, elements * shm->size);
    return STRAG_OK;
}

static int copy_out(const struct strag_shm *shm, const void *slot, void *buffer, size_t elements)
{
    if (!shm->contiguous)
        return shm->host.unpack(shm->type, buffer, slot, elements);
    memcpy(buffer, slot, elements * shm->size);
    return STRAG_OK;
}

/* ---- Sending ---- */

/* Has the peer taken this message? */
static bool is_taken(struct strag_shm_peer *peer, int64_t number)
{
    if (peer->taken < number)
        strag_shm_see_taken(peer);
    return peer->taken >= number;
}

/* Announce the next message to a peer, when all but its tag is written. */
static void announce(const struct strag_shm *shm, struct strag_shm_peer *peer,
                     struct strag_shm_cell *cell, size_t elements, unsigned slot)
{
    cell->call = peer->out_call = (uint32_t)shm->call;
    cell->bytes = (uint16_t)(elements * shm->size);
    cell->slot = (uint16_t)slot;
    atomic_store_explicit(&cell->tag, peer->out_tag | (uint32_t)++peer->sent, memory_order_release);
}

/* Find the slot that has the same values, and count one more message in it. The slot has them until
 * the channel for which they were written uses it again. @return STRAG_SHM_NO_SLOT if none does */
static uint16_t find_shared(struct strag_shm *shm, const void *buffer, size_t elements,
                            uint64_t content)
{
    for (unsigned s = 0; s < STRAG_SHM_SHARED && s < shm->nshared; s++) {
        const struct strag_shm_shared *shared = &shm->shared[s];
        const struct strag_shm_peer *peer = shared->peer;
        if (shared->content != content || shared->buffer != buffer || shared->elements != elements)
            continue;
        if (peer->sent - shared->number >= STRAG_SHM_CELLS)
            continue;
        const uint16_t slot = peer->slots[(uint64_t)shared->number % STRAG_SHM_CELLS];
        if (slot == STRAG_SHM_NO_SLOT) /* it was put back; another slot may have the values */
            continue;
        shm->process->uses[slot]++;
        return slot;
    }
    return STRAG_SHM_NO_SLOT;
}

/* The next message to a peer may go to others, too. */
static void remember_shared(struct strag_shm *shm, const struct strag_shm_peer *peer,
                            const void *buffer, size_t elements, uint64_t content)
{
    shm->shared[shm->nshared++ % STRAG_SHM_SHARED] =
        (struct strag_shm_shared){content, buffer, elements, peer, peer->sent + 1};
}

/* Copy the values to a slot of their own. @param[in,out] slot  the one to use, STRAG_SHM_NO_SLOT to
 * take another one @return STRAG_OK; STRAG_PENDING if no slot is free; or an error */
static int copy_to_slot(struct strag_shm *shm, const void *buffer, size_t elements, uint16_t *slot)
{
    if (*slot == STRAG_SHM_NO_SLOT)
        *slot = (uint16_t)strag_shm_take_slot(shm, elements * shm->size);
    if (*slot == STRAG_SHM_NO_SLOT)
        return STRAG_PENDING;
    int status = copy_in(shm, strag_shm_slot(&shm->arena, *slot), buffer, elements);
    if (status != STRAG_OK) {
        strag_shm_put_slot(shm, *slot);
        *slot = STRAG_SHM_NO_SLOT;
    }
    return status;
}

/* The message that was in the same cell before has been taken, but the channel may still have its
 * slot. @return that slot; or, if the next message is_long, the least recently used slot instead;
 * STRAG_SHM_NO_SLOT if there is none, or if it does not suit */
static uint16_t reuse_slot(struct strag_shm *shm, struct strag_shm_peer *peer, uint16_t *place,
                           size_t bytes)
{
    const uint16_t slot = *place;
    if (slot == STRAG_SHM_NO_SLOT)
        return slot;
    *place = STRAG_SHM_NO_SLOT;
    peer->in_slots--;
    const bool is_small = slot < shm->arena.size.small;
    if (shm->process->uses[slot] == 1 && (bytes <= STRAG_SHM_SMALL || !is_small))
        return is_small || !is_long(shm, bytes) ? slot
                                                : (uint16_t)strag_shm_exchange_slot(shm, slot);
    strag_shm_put_slot(shm, slot);
    return STRAG_SHM_NO_SLOT;
}

/* Send a message in a slot, if possible the one that has its values already. @return as send_now */
static int send_in_slot(struct strag_shm *shm, struct strag_shm_peer *peer,
                        struct strag_shm_cell *cell, const void *buffer, size_t elements,
                        uint64_t content)
{
    uint16_t *place = &peer->slots[(uint64_t)(peer->sent + 1) % STRAG_SHM_CELLS];
    uint16_t slot = reuse_slot(shm, peer, place, elements * shm->size);
    const unsigned same = content ? find_shared(shm, buffer, elements, content) : STRAG_SHM_NO_SLOT;
    if (same != STRAG_SHM_NO_SLOT) {
        if (slot != STRAG_SHM_NO_SLOT)
            strag_shm_put_slot(shm, slot);
        slot = (uint16_t)same;
    } else {
        int status = copy_to_slot(shm, buffer, elements, &slot);
        if (status != STRAG_OK)
            return status;
        if (content)
            remember_shared(shm, peer, buffer, elements, content);
    }
    *place = slot;
    peer->in_slots++;
    announce(shm, peer, cell, elements, slot);
    return STRAG_OK;
}

/* There is no room for a message: wait, unless the peer has ended the call. */
static int stand_by(struct strag_shm *shm, const struct strag_shm_peer *peer)
{
    return strag_shm_is_over(shm, peer) ? STRAG_ERR_MISMATCH : STRAG_PENDING;
}

/* ... although the peer has taken earlier messages: other channels use the room. */
static int starve(struct strag_shm *shm, const struct strag_shm_peer *peer)
{
    if (!shm->starved)
        strag_shm_publish_starved(shm, true);
    return stand_by(shm, peer);
}

/* Will the peer, having ended the call, take no more messages before this rank returns? It takes no
 * more of this call's messages. It drops those of earlier calls while it waits in a later one; but
 * if it has given a call up it may never come back. */
static bool takes_no_more(const struct strag_shm *shm, const struct strag_shm_peer *peer)
{
    const struct strag_shm_rank_status *status = peer->status;
    const uint64_t begun = atomic_load_explicit(&status->begun, memory_order_acquire);
    if (begun <= shm->call || begun == STRAG_SHM_LEFT) /* a rank that has left needs no ring */
        return false;
    return peer->out_call == (uint32_t)shm->call ||
           atomic_load_explicit(&status->given_up, memory_order_relaxed) + 1 >= begun;
}

/* There is no ring: a channel keeps its ring until its messages are taken. (Most ranks that have
 * ended the call have taken all of them, but `taken` may be out of date.) */
static int starve_of_rings(struct strag_shm *shm, const struct strag_shm_peer *peer)
{
    for (int i = 0; i < shm->n; i++) {
        struct strag_shm_peer *other = &shm->peers[i];
        if (other->sent != other->taken && takes_no_more(shm, other) &&
            !is_taken(other, other->sent))
            return STRAG_ERR_MISMATCH;
    }
    return starve(shm, peer);
}

/* @return STRAG_OK; STRAG_PENDING if there is no room; or an error */
static int send_now(struct strag_shm *shm, struct strag_shm_peer *peer, const void *buffer,
                    size_t elements, uint64_t content)
{
    int64_t number = peer->sent + 1;
    if (!is_taken(peer, number - STRAG_SHM_CELLS))
        return stand_by(shm, peer);
    if (__builtin_expect(!peer->out, 0) && !strag_shm_take_ring(shm, peer))
        return starve_of_rings(shm, peer);
    struct strag_shm_cell *cell = &peer->out[number % STRAG_SHM_CELLS];
    int status;
    if (elements * shm->size <= STRAG_SHM_INLINE) {
        status = copy_in(shm, cell->data, buffer, elements);
        if (status == STRAG_OK)
            announce(shm, peer, cell, elements, STRAG_SHM_NO_SLOT);
    } else {
        status = send_in_slot(shm, peer, cell, buffer, elements, content);
        if (status == STRAG_PENDING)
            return starve(shm, peer);
    }
    if (__builtin_expect(shm->starved, 0))
        strag_shm_publish_starved(shm, false);
    return status;
}

int strag_shm_send_pending(struct strag_shm *shm, const struct strag_shm_pending *message)
{
    return send_now(shm, message->peer, message->buffer, message->elements,
                    message->transfer->content);
}

/* ---- Receiving ---- */

/* The next message of this call, or of a later one; peer->received is moved to it, and it must be
 * released. @return NULL if it has not come yet */
static const struct strag_shm_cell *next_message(const struct strag_shm *shm,
                                                 struct strag_shm_peer *peer)
{
    for (;;) {
        uint32_t number = peer->received + 1;
        const struct strag_shm_cell *cell = &peer->in[number % STRAG_SHM_CELLS];
        if (atomic_load_explicit(&cell->tag, memory_order_acquire) != (peer->in_tag | number)) {
            if (strag_shm_follow(peer))
                continue;
            return NULL;
        }
        peer->received = number;
        if (!strag_shm_is_before(cell->call, (uint32_t)shm->call))
            return cell;
        strag_shm_release(&peer->arrivals[number % STRAG_SHM_CELLS]); /* of a call that failed */
    }
}

static struct strag_shm_drained *take_drained(struct strag_shm_peer *peer)
{
    struct strag_shm_drained *drained = peer->drained;
    peer->drained = drained->next;
    if (!peer->drained)
        peer->drained_end = &peer->drained;
    return drained;
}

/* The message that receive_now has returned. It must be released. */
static struct strag_shm_arrival *last_arrival(struct strag_shm_peer *peer)
{
    if (__builtin_expect(peer->drained != NULL, 0))
        return &take_drained(peer)->arrival;
    return &peer->arrivals[peer->received % STRAG_SHM_CELLS];
}

static const void *values_of(const struct strag_shm_peer *peer, const struct strag_shm_cell *cell)
{
    return cell->slot == STRAG_SHM_NO_SLOT ? (const void *)cell->data
                                           : strag_shm_slot(peer->arena, cell->slot);
}

/* As receive_now, among drained messages. @return STRAG_PENDING if there is none of this call */
static int receive_drained(const struct strag_shm *shm, struct strag_shm_peer *peer,
                           size_t elements, const void **values)
{
    while (peer->drained && strag_shm_is_before(peer->drained->call, (uint32_t)shm->call))
        free(take_drained(peer));
    if (!peer->drained)
        return STRAG_PENDING;
    if (peer->drained->call != (uint32_t)shm->call)
        return STRAG_ERR_MISMATCH;
    if (peer->drained->bytes != elements * shm->size) {
        free(take_drained(peer));
        return STRAG_ERR_MISMATCH;
    }
    *values = peer->drained->data;
    return STRAG_OK;
}

/* Find the next message, which must have this many elements. It must be released.
 * @return STRAG_OK; STRAG_PENDING if it has not come yet; or an error */
static int receive_now(struct strag_shm *shm, struct strag_shm_peer *peer, size_t elements,
                       const void **values)
{
    if (__builtin_expect(peer->drained != NULL, 0)) {
        int status = receive_drained(shm, peer, elements, values);
        if (status != STRAG_PENDING)
            return status;
    }
    const struct strag_shm_cell *cell = next_message(shm, peer);
    if (!cell && !strag_shm_is_over(shm, peer))
        return STRAG_PENDING;
    if (!cell)
        cell = next_message(shm, peer); /* it may have come between these two checks */
    if (!cell)
        return STRAG_ERR_MISMATCH;
    if (cell->call != (uint32_t)shm->call) { /* of a later call: keep it for that */
        peer->received--;
        return STRAG_ERR_MISMATCH;
    }
    if (cell->bytes != elements * shm->size) { /* ranks made the call with different counts */
        strag_shm_release(last_arrival(peer));
        return STRAG_ERR_MISMATCH;
    }
    *values = values_of(peer, cell);
    return STRAG_OK;
}

int strag_shm_receive_pending(struct strag_shm *shm, const struct strag_shm_pending *message)
{
    struct strag_shm_peer *peer = message->peer;
    const void *values;
    int status = receive_now(shm, peer, message->elements, &values);
    if (status != STRAG_OK)
        return status;
    struct strag_shm_arrival *arrival = last_arrival(peer);
    if (message->in_place) {
        arrival->transfer = message->transfer;
        message->transfer->arrived = values;
        message->transfer->handle = arrival;
        return STRAG_OK;
    }
    status = copy_out(shm, values, message->buffer, message->elements);
    strag_shm_release(arrival);
    return status;
}

/* Drop a peer's messages of a call that was given up: they take the room of others. @return whether
 * more of them may come: not if the peer had ended that call before this check, nor if a message of
 * this call or of a later one has come */
static bool drop_old_of(struct strag_shm *shm, struct strag_shm_peer *peer)
{
    const uint64_t given_up =
        atomic_load_explicit(&shm->mailbox.status->given_up, memory_order_relaxed);
    const bool is_over =
        atomic_load_explicit(&peer->status->begun, memory_order_acquire) > given_up;
    const bool found = next_message(shm, peer) != NULL;
    if (found)
        peer->received--;
    return !is_over && !found;
}

void strag_shm_drop_old(struct strag_shm *shm)
{
    shm->has_stale = false;
    for (int i = 0; i < shm->n; i++) {
        if (i != shm->me && drop_old_of(shm, &shm->peers[i]))
            shm->has_stale = true;
    }
}

/* ---- In order, without a queue ---- */

/* Record the result of try_send or try_recv. @return status */
static int note(struct strag_shm *shm, int status)
{
    if (status != STRAG_PENDING && shm->published)
        strag_shm_publish_wait(shm, 0);
    if (status == STRAG_OK) {
        shm->idle = 0;
        strag_shm_count_move(shm);
    }
    shm->refused = status == STRAG_PENDING;
    return status;
}

int strag_shm_try_send(struct strag_transport *base, int peer, const void *buffer, size_t elements,
                       uint64_t content)
{
    struct strag_shm *shm = strag_shm_of(base);
    return note(shm, send_now(shm, shm->peer[peer], buffer, elements, content));
}

int strag_shm_try_recv(struct strag_transport *base, int peer, size_t elements,
                       const void **arrived)
{
    struct strag_shm *shm = strag_shm_of(base);
    return note(shm, receive_now(shm, shm->peer[peer], elements, arrived));
}

void strag_shm_release_recv(struct strag_transport *base, int peer)
{
    strag_shm_release(last_arrival(strag_shm_of(base)->peer[peer]));
}
