/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Room for messages: slots and rings of the own arena, and how they are put back.
 *
 * A channel keeps the slots of its last 8 messages and uses them again, so most calls take none
 * from the process. If each rank has a processor, a message that fills half of a slot exchanges it
 * for the least recently used one (figures are below). When no slot is free, slots of messages that
 * were taken are put back, from all communicators of the process that are not in a call. Slots in
 * reserve stay untouched, as long as they are not needed. The engine relies on room for the next
 * message to a rank that has taken all earlier ones. Slots that all communicators share do not
 * guarantee that, but two rules do:
 *
 *   1. A rank that waits, whatever for, and sees that a peer is starved of room, copies the peer's
 *      messages, also those that it holds in place, into private memory (drains them).
 *   2. A communicator that has no message in a slot always gets one: there is one in reserve for
 *      each. And it has a ring of its own.
 *
 * So a rank that is starved in a call has messages of this communicator in flight. Each of their
 * receivers is in the call, or will be, since it has not received all of the call's messages; there
 * it takes the message because it needs it, or drains it because it waits. Other communicators,
 * whose threads may wait for this very call, cannot take the reserved slot and the own ring.
 *
 * If a receiver's call has failed, it takes no more of the call's messages. Their slots are free at
 * once; their ring is free when the receiver has left, or when it waits in a later call and drops
 * them. A rank that needs the ring waits for that. But it fails, too, if the messages are of its
 * own call, or if the receiver has given up a call and has not waited in a later one since: it may
 * never come back.
 *
 * Slots are used in turn, since a line that is in another processor's cache is expensive to write.
 * Microseconds of an allreduce of two ranks that halves its vector, by the number of slots for 8
 * messages in flight (EPYC 9004, caches of 1 MiB; the processors share a third-level cache):
 *
 *     slots of 32 KiB     8    16    32    64   128   256
 *      64 KiB           9.6   8.8   6.2   4.2   4.3   7.5
 *     256 KiB            32    24    17    15    15    25
 *       1 MiB           136    76    60    60    76    88
 *       4 MiB           641   339   340   422   425   712
 *
 * If there are threads, the process's lock guards data that communicators share; else there is no
 * locking. A communicator's own data may be used by another communicator's call only while it is
 * not in a call itself: both must enter it (strag_shm_enter, try_enter).
 */
#include "shm/layout.h"

#include <sched.h>

enum { RINGS_LOOKED = 32 }; /* rings examined at a time, at most, to find an idle one */

static void lock(struct strag_shm_process *process)
{
    if (process->threads)
        pthread_mutex_lock(&process->lock);
}

static void unlock(struct strag_shm_process *process)
{
    if (process->threads)
        pthread_mutex_unlock(&process->lock);
}

/* ---- Entering a communicator ---- */

static bool try_enter(struct strag_shm *shm)
{
    return !shm->process->threads ||
           !atomic_exchange_explicit(&shm->in_call, true, memory_order_acquire);
}

/* A call that looks after another communicator does not wait meanwhile, so this is short. */
void strag_shm_enter(struct strag_shm *shm)
{
    while (!try_enter(shm))
        sched_yield();
}

/* ---- Slots: the caller has the lock ---- */

static void push_large(struct strag_shm_process *process, unsigned slot)
{
    struct strag_shm_rotation *rotation = &process->rotation;
    if (rotation->free < rotation->places)
        rotation->slots[(rotation->first + rotation->free++) % rotation->places] = (uint16_t)slot;
    else
        process->free_reserve[process->nfree_reserve++] = (uint16_t)slot;
}

/* @param newest  take the slot that was put back last, rather than the first. Ranks that share
 * processors share caches, too, and the kernel must provide pages for a slot's first use: with 16
 * ranks on two processors the first 40 calls of 1 MiB take 3.6 ms in the mean, without it 7.7. */
static unsigned pop_large(struct strag_shm_process *process, bool newest)
{
    struct strag_shm_rotation *rotation = &process->rotation;
    if (rotation->free == 0)
        return process->free_reserve[--process->nfree_reserve];
    rotation->free--;
    if (newest)
        return rotation->slots[(rotation->first + rotation->free) % rotation->places];
    const unsigned slot = rotation->slots[rotation->first];
    rotation->first = (rotation->first + 1) % rotation->places;
    return slot;
}

static void put(struct strag_shm *shm, unsigned slot)
{
    struct strag_shm_process *process = shm->process;
    if (--process->uses[slot] > 0)
        return;
    if (slot < process->arena.size.small) {
        process->free_small[process->nfree_small++] = (uint16_t)slot;
    } else {
        push_large(process, slot);
        process->large_used--;
    }
    shm->slots_used--;
}

/* List a communicator as one with slots. It stays in the list until a slot is missing. */
static void set_busy(struct strag_shm *shm)
{
    if (shm->is_busy)
        return;
    shm->is_busy = true;
    shm->next_busy = shm->process->busy;
    shm->process->busy = shm;
}

static void remove_busy(struct strag_shm *shm)
{
    struct strag_shm **place = &shm->process->busy;
    while (*place && *place != shm)
        place = &(*place)->next_busy;
    if (*place)
        *place = shm->next_busy;
    shm->is_busy = false;
}

static unsigned take_large(const struct strag_shm *shm)
{
    shm->process->large_used++;
    return pop_large(shm->process, shm->host.yields);
}

static unsigned pop(const struct strag_shm *shm, size_t bytes)
{
    struct strag_shm_process *process = shm->process;
    if (bytes <= STRAG_SHM_SMALL && process->nfree_small > 0)
        return process->free_small[--process->nfree_small];
    return process->large_used < process->arena.size.large ? take_large(shm) : STRAG_SHM_NO_SLOT;
}

/* Put back the slots of messages to a peer, up to a number. */
static void put_up_to(struct strag_shm *shm, struct strag_shm_peer *peer, int64_t last)
{
    for (int64_t number = peer->sent - STRAG_SHM_CELLS + 1; number <= last && peer->in_slots > 0;
         number++) {
        uint16_t *slot = &peer->slots[(uint64_t)number % STRAG_SHM_CELLS];
        if (*slot == STRAG_SHM_NO_SLOT)
            continue;
        put(shm, *slot);
        *slot = STRAG_SHM_NO_SLOT;
        peer->in_slots--;
    }
}

void strag_shm_see_taken(struct strag_shm_peer *peer)
{
    uint32_t taken = atomic_load_explicit(peer->out_taken, memory_order_acquire);
    int64_t last = peer->sent - (uint32_t)((uint32_t)peer->sent - taken);
    if (last > peer->taken) /* else it has not changed, or the mailbox is not the peer's any more */
        peer->taken = last;
}

/* Put back the slots of messages that peers have taken, or will never read. */
static void look_after(struct strag_shm *shm)
{
    for (int i = 0; i < shm->n && shm->slots_used > 0; i++) {
        struct strag_shm_peer *peer = &shm->peers[i];
        if (peer->in_slots == 0)
            continue;
        strag_shm_see_taken(peer);
        put_up_to(shm, peer, strag_shm_is_stale(shm, peer) ? peer->sent : peer->taken);
    }
}

static void look_after_others(struct strag_shm *shm)
{
    struct strag_shm **place = &shm->process->busy;
    while (*place) {
        struct strag_shm *other = *place;
        const bool entered = other != shm && try_enter(other);
        if (entered) {
            look_after(other);
            other->is_busy = other->slots_used > 0;
        }
        if (other->is_busy)
            place = &other->next_busy;
        else
            *place = other->next_busy;
        if (entered)
            strag_shm_leave(other);
    }
}

/* ---- Slots: functions for a call ---- */

unsigned strag_shm_take_slot(struct strag_shm *shm, size_t bytes)
{
    struct strag_shm_process *process = shm->process;
    lock(process);
    unsigned slot = pop(shm, bytes);
    if (slot == STRAG_SHM_NO_SLOT) {
        look_after(shm);
        slot = pop(shm, bytes);
    }
    if (slot == STRAG_SHM_NO_SLOT) {
        look_after_others(shm);
        slot = pop(shm, bytes);
    }
    if (slot == STRAG_SHM_NO_SLOT && shm->slots_used == 0)
        slot = take_large(shm); /* the communicator's, in reserve */
    if (slot != STRAG_SHM_NO_SLOT) {
        process->uses[slot] = 1;
        shm->slots_used++;
        set_busy(shm);
    }
    unlock(process);
    return slot;
}

unsigned strag_shm_exchange_slot(struct strag_shm *shm, unsigned slot)
{
    struct strag_shm_process *process = shm->process;
    lock(process);
    if (process->rotation.free > 0) {
        const unsigned next = pop_large(process, false);
        push_large(process, slot);
        process->uses[next] = process->uses[slot];
        process->uses[slot] = 0;
        slot = next;
    }
    unlock(process);
    return slot;
}

void strag_shm_put_slot(struct strag_shm *shm, unsigned slot)
{
    lock(shm->process);
    put(shm, slot);
    unlock(shm->process);
}

/* ---- Rings ---- */

/* Has the peer taken all messages to it, or left? */
static bool is_idle(struct strag_shm_peer *peer)
{
    if (peer->taken != peer->sent)
        strag_shm_see_taken(peer);
    return peer->taken == peer->sent || strag_shm_has_left(peer);
}

/* Take a ring from its channel, if none of its messages is in flight. @return whether it is free */
static bool give_up_ring(const struct strag_shm *shm, const struct strag_shm_user *user)
{
    if (user->shm != shm && !try_enter(user->shm))
        return false;
    bool idle = is_idle(user->peer);
    if (idle)
        user->peer->out = NULL;
    if (user->shm != shm)
        strag_shm_leave(user->shm);
    return idle;
}

/* @return a ring that is free, or that its channel does not need; NULL if there is none */
static struct strag_shm_ring *find_ring(struct strag_shm *shm, const struct strag_shm_peer *peer)
{
    struct strag_shm_process *process = shm->process;
    const unsigned rings = process->arena.size.rings;
    for (unsigned i = 0; i < rings && i < RINGS_LOOKED; i++) {
        const unsigned ring = process->next_ring;
        struct strag_shm_user *user = &process->users[ring];
        process->next_ring = ring > 0 ? ring - 1 : rings - 1;
        if (user->shm && !give_up_ring(shm, user))
            continue;
        *user = (struct strag_shm_user){shm, (struct strag_shm_peer *)(uintptr_t)peer};
        return &process->arena.rings[ring];
    }
    return NULL;
}

/* @return the mailbox's ring; NULL if its channel needs it */
static struct strag_shm_ring *find_own(struct strag_shm *shm, struct strag_shm_peer *peer)
{
    const struct strag_shm_user user = {shm, shm->ring_user};
    if (user.peer && !give_up_ring(shm, &user))
        return NULL;
    shm->ring_user = peer;
    return shm->mailbox.ring;
}

bool strag_shm_take_ring(struct strag_shm *shm, struct strag_shm_peer *peer)
{
    struct strag_shm_process *process = shm->process;
    lock(process);
    struct strag_shm_ring *ring = shm->ring_user ? find_ring(shm, peer) : NULL;
    if (!ring)
        ring = find_own(shm, peer);
    if (ring) {
        if (++process->assignments == 0)
            process->assignments = 1;
        const uint64_t offset = (uint64_t)((char *)ring - process->arena.base) / STRAG_SHM_LINE;
        const uint64_t entry = (uint64_t)process->assignments << 32 | offset;
        peer->out = ring->cells;
        peer->out_tag = strag_shm_tag(entry);
        atomic_store_explicit(peer->out_entry, entry, memory_order_release);
    }
    unlock(process);
    return ring != NULL;
}

void strag_shm_put_all(struct strag_shm *shm)
{
    struct strag_shm_process *process = shm->process;
    for (int i = 0; i < shm->n; i++)
        put_up_to(shm, &shm->peers[i], shm->peers[i].sent);
    remove_busy(shm);
    for (unsigned ring = 0; ring < process->arena.size.rings; ring++) {
        if (process->users[ring].shm == shm)
            process->users[ring] = (struct strag_shm_user){NULL, NULL};
    }
}
