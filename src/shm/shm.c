/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The engine's messages through memory that the ranks of a host share (shm/layout.h says
 * what is in it).
 *
 * A message is copied once, by its sender, into a cell or a slot, where the receiver reads it: what
 * it reduces it takes straight from there. Elements that are not contiguous are packed on the way
 * in, and unpacked on the way out: what is in the slots does not depend on how a rank lays its
 * elements out.
 *
 * Sends complete when they are copied; those that find no room wait in a queue, and so do receives.
 *
 * A call that fails, or that ranks made with different counts, leaves messages behind, and waits
 * for some that will never come. Every message carries its call's number: those of earlier calls
 * are dropped. And a rank that has waited for long, or has given a call up, publishes in which call
 * it is: no rank waits for a message, or for room, in a call that is over for the other side.
 * (Ranks that have different plans for different counts may still wait in a circle.)
 */
#include "shm/layout.h"

#include "base/status.h"

#include <stdlib.h>
#include <string.h>

enum {
    DRAIN = 64,       /* progresses in which nothing happens, until we look who is starved, and
                         whether the communicator has failed */
    CALLS = 32,       /* between two calls of the host's progress, if a rank never has to wait */
    TURNS_MAX = 4096, /* bytes; the root of longer vectors had better have its own in the cache */
};

static struct strag_shm *own(struct strag_transport *transport)
{
    return (struct strag_shm *)transport;
}

/* Does it pay to keep the message out of other processors' caches? Not if it fills less than half
 * of a slot: few such ones are in the caches at a time (two ranks, 4 to 16 KiB: a third slower),
 * nor where ranks share processors, and so caches. */
static bool is_long(const struct strag_shm *shm, size_t bytes)
{
    return !shm->host.yields && 2 * bytes >= shm->arena.size.slot;
}

/* Only this thread writes the counter, others may read it. */
static void count_move(struct strag_shm *shm)
{
    __atomic_store_n(&shm->moves, shm->moves + 1, __ATOMIC_RELAXED);
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

/* Has the peer taken this message that we sent? */
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

/* @return where the same values are, for one more message; or STRAG_SHM_NO_SLOT. They are there as
 * long as the channel for which they were put there has not used the slot again. */
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
        if (slot == STRAG_SHM_NO_SLOT) /* it came back; perhaps they were put elsewhere since */
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

/* The values in a slot of their own. @param[in,out] slot  what is there already; STRAG_SHM_NO_SLOT:
 * nothing, also where STRAG_PENDING is returned: there is no room */
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

/* For the slot of the message that was in the same cell before, which has been taken and is still
 * with the channel: the same again; or, if the next message is_long, the slot that has not been
 * used for longest. STRAG_SHM_NO_SLOT: there is none, or it is of no use. */
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

/* The message goes where the values are, in a slot. @return as send_now */
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

/* There is no room for a message. */
static int stand_by(struct strag_shm *shm, const struct strag_shm_peer *peer)
{
    return strag_shm_is_over(shm, peer) ? STRAG_ERR_MISMATCH : STRAG_PENDING;
}

/* ... although the peer has taken what was sent before: others are in the way. */
static int starve(struct strag_shm *shm, const struct strag_shm_peer *peer)
{
    if (!shm->starved)
        strag_shm_publish_starved(shm, true);
    return stand_by(shm, peer);
}

/* The call is over for the peer: will it never take what it has not taken yet, or not before we
 * return? It wants no more of this call's messages. Those of earlier ones it takes out of the way
 * while it waits in a later call; but if it has given one up it may never come back. */
static bool takes_no_more(const struct strag_shm *shm, const struct strag_shm_peer *peer)
{
    const struct strag_shm_rank_status *status = peer->status;
    const uint64_t begun = atomic_load_explicit(&status->begun, memory_order_acquire);
    if (begun <= shm->call || begun == STRAG_SHM_LEFT) /* who has left needs no ring */
        return false;
    return peer->out_call == (uint32_t)shm->call ||
           atomic_load_explicit(&status->given_up, memory_order_relaxed) + 1 >= begun;
}

/* ... for want of a ring: messages keep theirs until they are taken. (Most ranks for which the call
 * is over have taken all: we have not looked since.) */
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

/* @return STRAG_OK, STRAG_PENDING: there is no room, or an error */
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

static int send_pending(struct strag_shm *shm, const struct strag_shm_pending *message)
{
    return send_now(shm, message->peer, message->buffer, message->elements,
                    message->transfer->content);
}

/* ---- Receiving ---- */

/* The next message of this call. @return NULL: it is not there yet; or peer->received was moved on
 * to it, and it must be released */
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

/* The message that receive_now has found. It must be released. */
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

/* As receive_now, of what was drained; STRAG_PENDING: there is nothing of this call. */
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

/* The next message, which must have this many elements. It must be released.
 * @return STRAG_OK, STRAG_PENDING: it is not there yet, or an error */
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
        cell = next_message(shm, peer); /* perhaps it had come between these two looks */
    if (!cell)
        return STRAG_ERR_MISMATCH;
    if (cell->call != (uint32_t)shm->call) { /* a later one: it stays for our next call */
        peer->received--;
        return STRAG_ERR_MISMATCH;
    }
    if (cell->bytes != elements * shm->size) { /* ranks call with other counts */
        strag_shm_release(last_arrival(peer));
        return STRAG_ERR_MISMATCH;
    }
    *values = values_of(peer, cell);
    return STRAG_OK;
}

static int receive_pending(struct strag_shm *shm, const struct strag_shm_pending *message)
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

/* ---- Waiting ---- */

static int append(struct strag_shm_queue *queue, const struct strag_shm_pending *message)
{
    if (queue->length == queue->room) {
        size_t room = queue->room ? 2 * queue->room : 16;
        struct strag_shm_pending *larger = realloc(queue->pending, room * sizeof *larger);
        if (!larger)
            return STRAG_ERR_MEMORY;
        queue->pending = larger;
        queue->room = room;
    }
    queue->pending[queue->length++] = *message;
    return STRAG_OK;
}

/* Must the message stand back, since one before it to or from the same peer is waiting? */
static bool stands_back(const struct strag_shm_queue *queue, size_t end,
                        const struct strag_shm_peer *peer)
{
    for (size_t i = 0; i < end; i++) {
        if (queue->pending[i].peer == peer)
            return true;
    }
    return false;
}

typedef int try_fn(struct strag_shm *shm, const struct strag_shm_pending *message);

static int post(struct strag_shm *shm, struct strag_shm_queue *queue, try_fn *try,
                const struct strag_shm_pending *message)
{
    int status = STRAG_PENDING;
    if (!stands_back(queue, queue->length, message->peer))
        status = try(shm, message);
    if (status == STRAG_PENDING)
        return append(queue, message);
    if (status == STRAG_OK)
        message->transfer->complete(message->transfer, STRAG_OK);
    return status;
}

/* Finish what can be finished, and keep the rest in order. @return whether there was something */
static bool scan(struct strag_shm *shm, struct strag_shm_queue *queue, try_fn *try)
{
    size_t kept = 0, length = queue->length;
    for (size_t i = 0; i < length; i++) {
        const struct strag_shm_pending message = queue->pending[i];
        int status = STRAG_PENDING;
        if (!stands_back(queue, kept, message.peer))
            status = try(shm, &message);
        if (status == STRAG_PENDING)
            queue->pending[kept++] = message;
        else
            message.transfer->complete(message.transfer, status);
    }
    queue->length = kept;
    return kept != length;
}

/* Messages of a call that was given up take the room of others. @return whether more of them may
 * come from the peer: not when the call was over for it before we looked, nor behind a message of
 * this call or of a later one */
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

static void drop_old(struct strag_shm *shm)
{
    shm->has_stale = false;
    for (int i = 0; i < shm->n; i++) {
        if (i != shm->me && drop_old_of(shm, &shm->peers[i]))
            shm->has_stale = true;
    }
}

static int look_further(struct strag_shm *shm)
{
    if (shm->host.failed && *shm->host.failed)
        return STRAG_ERR_TRANSPORT;
    return strag_shm_drain(shm);
}

static int shm_progress(struct strag_transport *base)
{
    struct strag_shm *shm = own(base);
    int status = STRAG_OK;
    if (atomic_load_explicit(&shm->doomed, memory_order_relaxed) == shm->call)
        return STRAG_ERR_MISMATCH;
    if (shm->has_stale)
        drop_old(shm);
    bool found = scan(shm, &shm->receives, receive_pending);
    if (shm->sends.length)
        found |= scan(shm, &shm->sends, send_pending);
    if (found) {
        shm->idle = 0;
        count_move(shm);
    } else if (++shm->in_vain % DRAIN == 0) {
        status = look_further(shm);
    }
    if (!found && (shm->receives.length || shm->sends.length || shm->refused)) {
        if (shm->polls)
            strag_shm_poll(shm);
        else
            strag_shm_wait(shm);
    }
    shm->refused = false;
    return status;
}

/* ---- The interface ---- */

static int shm_send(struct strag_transport *base, struct strag_transfer *transfer, int peer,
                    const void *buffer, size_t elements)
{
    struct strag_shm *shm = own(base);
    const struct strag_shm_pending message = {transfer, shm->peer[peer], (void *)(uintptr_t)buffer,
                                              elements, false};
    return post(shm, &shm->sends, send_pending, &message);
}

static int shm_recv(struct strag_transport *base, struct strag_transfer *transfer, int peer,
                    void *buffer, size_t elements)
{
    struct strag_shm *shm = own(base);
    const struct strag_shm_pending message = {transfer, shm->peer[peer], buffer, elements, false};
    return post(shm, &shm->receives, receive_pending, &message);
}

static int shm_recv_in_place(struct strag_transport *base, struct strag_transfer *transfer,
                             int peer, size_t elements)
{
    struct strag_shm *shm = own(base);
    const struct strag_shm_pending message = {transfer, shm->peer[peer], NULL, elements, true};
    return post(shm, &shm->receives, receive_pending, &message);
}

static void shm_release(struct strag_transport *base, struct strag_transfer *transfer)
{
    (void)base;
    strag_shm_release(transfer->handle);
}

/* Take note of how a try ended. @return status */
static int note(struct strag_shm *shm, int status)
{
    if (status != STRAG_PENDING && shm->published)
        strag_shm_publish_wait(shm, 0);
    if (status == STRAG_OK) {
        shm->idle = 0;
        count_move(shm);
    }
    shm->refused = status == STRAG_PENDING;
    return status;
}

static int shm_try_send(struct strag_transport *base, int peer, const void *buffer, size_t elements,
                        uint64_t content)
{
    struct strag_shm *shm = own(base);
    return note(shm, send_now(shm, shm->peer[peer], buffer, elements, content));
}

static int shm_try_recv(struct strag_transport *base, int peer, size_t elements,
                        const void **arrived)
{
    struct strag_shm *shm = own(base);
    return note(shm, receive_now(shm, shm->peer[peer], elements, arrived));
}

static void shm_release_recv(struct strag_transport *base, int peer)
{
    strag_shm_release(last_arrival(own(base)->peer[peer]));
}

/* All ranks are on this host: they have the same numbers there. */
static void shm_hint_wait(struct strag_transport *base, uint64_t ranks)
{
    strag_shm_publish_wait(own(base), ranks);
}

static bool drop(struct strag_shm_queue *queue, const struct strag_transfer *transfer)
{
    size_t i = 0;
    while (i < queue->length && queue->pending[i].transfer != transfer)
        i++;
    if (i == queue->length)
        return false;
    memmove(queue->pending + i, queue->pending + i + 1,
            (queue->length - i - 1) * sizeof *queue->pending);
    queue->length--;
    return true;
}

/* What waits has not begun. A message that comes all the same is dropped by the next call. */
static int shm_cancel(struct strag_transport *base, struct strag_transfer *transfer)
{
    struct strag_shm *shm = own(base);
    if (!drop(&shm->receives, transfer) && !drop(&shm->sends, transfer))
        return STRAG_ERR_ARGUMENT;
    transfer->complete(transfer, STRAG_ERR_TRANSPORT);
    return STRAG_OK;
}

/* A rank that never waits would never do the host's other work, either. (Where ranks share
 * processors each has to wait at times, and progress would give the processor away.) */
void strag_shm_next_call(struct strag_shm *shm, uint64_t number, bool polls)
{
    shm->polls = polls;
    shm->call = number;
    shm->seen = shm->moves;
    if (++shm->begun % CALLS == 0 && !shm->host.yields && !polls)
        shm->host.progress();
}

bool strag_shm_has_moved(struct strag_shm *shm)
{
    const bool moved = shm->moves != shm->seen;
    shm->seen = shm->moves;
    return moved;
}

unsigned strag_shm_moves(const struct strag_shm *shm)
{
    return __atomic_load_n(&shm->moves, __ATOMIC_RELAXED);
}

void strag_shm_doom(struct strag_shm *shm, uint64_t number)
{
    atomic_store_explicit(&shm->doomed, number, memory_order_relaxed);
}

void strag_shm_abandon(struct strag_shm *shm)
{
    strag_shm_publish_wait(shm, 0);
    shm->has_stale = true;
    atomic_store_explicit(&shm->mailbox.status->given_up, shm->call, memory_order_relaxed);
    strag_shm_publish_call(shm, shm->call + 1);
}

struct strag_transport *strag_shm_begin(struct strag_shm *shm, const void *type, size_t size,
                                        bool contiguous, bool in_place)
{
    if (size > shm->longest)
        return NULL;
    shm->type = type;
    shm->size = size;
    shm->contiguous = contiguous;
    shm->super.recv_in_place = in_place ? shm_recv_in_place : NULL;
    shm->super.try_send = in_place ? shm_try_send : NULL;
    shm->super.try_send_max = shm->longest / size;
    shm->super.hint_wait = NULL;
    shm->refused = false;
    shm->idle = 0;
    shm->drains = 0;
    shm->nshared = 0;
    if (shm->process->threads) {
        strag_shm_enter(shm);
        shm->entered = true;
    }
    shm->last = shm->call;
    return &shm->super;
}

void strag_shm_end(struct strag_shm *shm)
{
    if (shm->starved)
        strag_shm_publish_starved(shm, false);
    if (shm->entered) {
        shm->entered = false;
        strag_shm_leave(shm);
    }
}

int strag_shm_choose_root(struct strag_shm *shm, size_t bytes)
{
    if (!shm->few || bytes > TURNS_MAX || shm->polls)
        return 0;
    if (shm->n >= 2 * shm->processors)
        shm->super.hint_wait = shm_hint_wait;
    return (int)(shm->call % 2);
}

size_t strag_shm_longest(const struct strag_shm *shm)
{
    return shm->longest;
}

size_t strag_shm_window(const struct strag_shm *shm)
{
    return (size_t)shm->process->arena.size.large * shm->longest;
}

int strag_shm_processors(const struct strag_shm *shm)
{
    return shm->processors;
}

bool strag_shm_is_alone(const struct strag_shm *shm)
{
    return shm->n == shm->all;
}

bool strag_shm_init(struct strag_shm *shm)
{
    shm->super = (struct strag_transport){
        .send = shm_send,
        .recv = shm_recv,
        .progress = shm_progress,
        .cancel = shm_cancel,
        .release = shm_release,
        .try_recv = shm_try_recv,
        .release_recv = shm_release_recv,
        .try_send_depth = STRAG_SHM_CELLS,
    };
    shm->writing = strag_shm_writing_begin();
    atomic_init(&shm->doomed, UINT64_MAX);
    shm->peers = aligned_alloc(STRAG_SHM_LINE, (size_t)shm->n * sizeof *shm->peers);
    if (!shm->peers)
        return false;
    memset(shm->peers, 0, (size_t)shm->n * sizeof *shm->peers);
    for (int i = 0; i < shm->n; i++) {
        struct strag_shm_peer *peer = &shm->peers[i];
        peer->drained_end = &peer->drained;
        for (int c = 0; c < STRAG_SHM_CELLS; c++) {
            peer->arrivals[c].peer = peer;
            peer->slots[c] = STRAG_SHM_NO_SLOT;
        }
    }
    return true;
}
