/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The engine's messages through memory that the ranks of a host share (shared_memory_layout.h says
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
#include "run/shared_memory_layout.h"

#include "base/status.h"

#include <stdlib.h>
#include <string.h>

enum {
    CALLS = 32,       /* between two calls of the host's progress, if a rank never has to wait */
    TURNS_MAX = 4096, /* bytes; the root of longer vectors had better have its own in the cache */
};

static struct strag_shm *own(struct strag_transport *transport)
{
    return (struct strag_shm *)transport;
}

/* Of calls, whose numbers may wrap. */
static bool is_before(uint32_t a, uint32_t b)
{
    return a != b && b - a <= UINT32_MAX / 2;
}

/* ---- Values in and out ---- */

static int copy_in(const struct strag_shm *shm, void *slot, const void *buffer, size_t elements)
{
    if (!shm->contiguous)
        return shm->host.pack(shm->type, slot, buffer, elements);
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

/* Has the peer taken this message of ours? */
static bool is_taken(struct strag_shm_peer *peer, int64_t number)
{
    if (peer->taken >= number)
        return true;
    uint32_t taken = atomic_load_explicit(&peer->out->taken, memory_order_acquire);
    peer->taken = peer->sent - (uint32_t)((uint32_t)peer->sent - taken);
    return peer->taken >= number;
}

/* Is this call over for the peer, so that it sends and receives nothing more in it? */
static bool is_over(const struct strag_shm *shm, const struct strag_shm_peer *peer)
{
    return atomic_load_explicit(&peer->status->begun, memory_order_acquire) > shm->call;
}

/* Announce the next message to a peer, when all but its number is written. */
static void announce(const struct strag_shm *shm, struct strag_shm_peer *peer,
                     struct strag_shm_cell *cell, size_t elements, int slot)
{
    cell->call = (uint32_t)shm->call;
    cell->bytes = (uint32_t)(elements * shm->size);
    cell->slot = slot;
    atomic_store_explicit(&cell->number, (uint32_t)++peer->sent, memory_order_release);
}

/* Have all readers of a shared slot taken it? */
static bool is_free(struct strag_shm_shared *shared)
{
    while (shared->nreaders > 0) {
        const struct strag_shm_reader *last = &shared->readers[shared->nreaders - 1];
        if (!is_taken(last->peer, last->number))
            return false;
        shared->nreaders--;
    }
    return true;
}

static struct strag_shm_shared *find_shared(struct strag_shm *shm, const void *buffer,
                                            size_t elements, uint64_t content)
{
    for (int s = 0; s < STRAG_SHM_SHARED; s++) {
        struct strag_shm_shared *shared = &shm->shared[s];
        if (shared->content == content && shared->buffer == buffer && shared->elements == elements)
            return shared;
    }
    return NULL;
}

/* @return NULL: none is free, or the values cannot be packed */
static struct strag_shm_shared *fill_shared(struct strag_shm *shm, const void *buffer,
                                            size_t elements, uint64_t content)
{
    struct strag_shm_shared *shared = &shm->shared[shm->next_shared];
    int slot = shm->n * STRAG_SHM_SLOTS + shm->next_shared;
    if (!is_free(shared))
        return NULL;
    shared->content = 0;
    if (copy_in(shm, shm->slots + (size_t)slot * shm->longest, buffer, elements) != STRAG_OK)
        return NULL;
    shm->next_shared = (shm->next_shared + 1) % STRAG_SHM_SHARED;
    shared->content = content;
    shared->buffer = buffer;
    shared->elements = elements;
    return shared;
}

/* @return STRAG_SHM_NO_SLOT: not in a shared slot */
static int copy_to_shared(struct strag_shm *shm, struct strag_shm_peer *peer, const void *buffer,
                          size_t elements, uint64_t content)
{
    struct strag_shm_shared *shared = find_shared(shm, buffer, elements, content);
    if (!shared)
        shared = fill_shared(shm, buffer, elements, content);
    if (!shared || (shared->nreaders >= shm->n && !is_free(shared)))
        return STRAG_SHM_NO_SLOT;
    shared->readers[shared->nreaders++] = (struct strag_shm_reader){peer, peer->sent + 1};
    return shm->n * STRAG_SHM_SLOTS + (int)(shared - shm->shared);
}

/* The message is too long for its cell. @param content  as in struct strag_transfer
 * @param[out] slot  where the values are, unless STRAG_PENDING is returned: there is no room */
static int copy_to_slot(struct strag_shm *shm, struct strag_shm_peer *peer, const void *buffer,
                        size_t elements, uint64_t content, int *slot)
{
    if (content) {
        *slot = copy_to_shared(shm, peer, buffer, elements, content);
        if (*slot != STRAG_SHM_NO_SLOT)
            return STRAG_OK;
    }
    if (!is_taken(peer, peer->used[peer->next_slot]))
        return STRAG_PENDING;
    *slot = peer->first_slot + peer->next_slot;
    peer->used[peer->next_slot] = peer->sent + 1;
    peer->next_slot = (peer->next_slot + 1) % STRAG_SHM_SLOTS;
    return copy_in(shm, shm->slots + (size_t)*slot * shm->longest, buffer, elements);
}

/* There is no room for a message. */
static int stand_by(struct strag_shm *shm, const struct strag_shm_peer *peer)
{
    return is_over(shm, peer) ? STRAG_ERR_MISMATCH : STRAG_PENDING;
}

/* @return STRAG_OK, STRAG_PENDING: there is no room, or an error */
static int send_now(struct strag_shm *shm, struct strag_shm_peer *peer, const void *buffer,
                    size_t elements, uint64_t content)
{
    int64_t number = peer->sent + 1;
    if (!is_taken(peer, number - STRAG_SHM_CELLS))
        return stand_by(shm, peer);
    struct strag_shm_cell *cell = &peer->out->cells[number % STRAG_SHM_CELLS];
    int slot = STRAG_SHM_NO_SLOT;
    int status = elements * shm->size <= STRAG_SHM_INLINE
                     ? copy_in(shm, cell->data, buffer, elements)
                     : copy_to_slot(shm, peer, buffer, elements, content, &slot);
    if (status == STRAG_PENDING)
        return stand_by(shm, peer);
    if (status == STRAG_OK)
        announce(shm, peer, cell, elements, slot);
    return status;
}

static int send_pending(struct strag_shm *shm, const struct strag_shm_pending *message)
{
    return send_now(shm, message->peer, message->buffer, message->elements,
                    message->transfer->content);
}

/* ---- Receiving ---- */

/* The receiver is done with a message. The sender learns it once it is done with all before it. */
static void release(struct strag_shm_arrival *arrival)
{
    struct strag_shm_peer *peer = arrival->peer;
    uint32_t before = peer->released;
    arrival->released = true;
    while (peer->released != peer->received) {
        struct strag_shm_arrival *next = &peer->arrivals[(peer->released + 1) % STRAG_SHM_CELLS];
        if (!next->released)
            break;
        next->released = false;
        peer->released++;
    }
    if (peer->released != before)
        atomic_store_explicit(&peer->in->taken, peer->released, memory_order_release);
}

/* The next message of this call. @return NULL: it is not there yet; or peer->received was moved on
 * to it, and it must be released */
static const struct strag_shm_cell *next_message(const struct strag_shm *shm,
                                                 struct strag_shm_peer *peer)
{
    for (;;) {
        uint32_t number = peer->received + 1;
        struct strag_shm_cell *cell = &peer->in->cells[number % STRAG_SHM_CELLS];
        if (atomic_load_explicit(&cell->number, memory_order_acquire) != number)
            return NULL;
        peer->received = number;
        if (!is_before(cell->call, (uint32_t)shm->call))
            return cell;
        release(&peer->arrivals[number % STRAG_SHM_CELLS]); /* left from a call that failed */
    }
}

static struct strag_shm_arrival *last_arrival(struct strag_shm_peer *peer)
{
    return &peer->arrivals[peer->received % STRAG_SHM_CELLS];
}

static const void *values_of(const struct strag_shm *shm, const struct strag_shm_peer *peer,
                             const struct strag_shm_cell *cell)
{
    return cell->slot == STRAG_SHM_NO_SLOT ? (const void *)cell->data
                                           : peer->slots + (size_t)cell->slot * shm->longest;
}

/* The next message, which is to have so many elements. It must be released.
 * @return STRAG_OK, STRAG_PENDING: it is not there yet, or an error */
static int receive_now(struct strag_shm *shm, struct strag_shm_peer *peer, size_t elements,
                       const void **values)
{
    const struct strag_shm_cell *cell = next_message(shm, peer);
    if (!cell && !is_over(shm, peer))
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
        release(last_arrival(peer));
        return STRAG_ERR_MISMATCH;
    }
    *values = values_of(shm, peer, cell);
    return STRAG_OK;
}

static int receive_pending(struct strag_shm *shm, const struct strag_shm_pending *message)
{
    struct strag_shm_peer *peer = message->peer;
    const void *values;
    int status = receive_now(shm, peer, message->elements, &values);
    if (status != STRAG_OK)
        return status;
    if (message->in_place) {
        message->transfer->arrived = values;
        message->transfer->handle = last_arrival(peer);
        return STRAG_OK;
    }
    status = copy_out(shm, values, message->buffer, message->elements);
    release(last_arrival(peer));
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

/* Messages of calls that were given up take the room of others. */
static void drop_old(struct strag_shm *shm)
{
    for (int i = 0; i < shm->n; i++) {
        if (next_message(shm, &shm->peers[i]))
            shm->peers[i].received--;
    }
}

static int shm_progress(struct strag_transport *base)
{
    struct strag_shm *shm = own(base);
    if (shm->has_stale)
        drop_old(shm);
    bool found = scan(shm, &shm->receives, receive_pending);
    if (shm->sends.length)
        found |= scan(shm, &shm->sends, send_pending);
    if (found)
        shm->idle = 0;
    else if (shm->receives.length || shm->sends.length || shm->refused)
        strag_shm_wait(shm);
    shm->refused = false;
    return STRAG_OK;
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
    release(transfer->handle);
}

/* Take note of how a try ended. @return status */
static int note(struct strag_shm *shm, int status)
{
    if (status != STRAG_PENDING && shm->published)
        strag_shm_publish_wait(shm, 0);
    if (status == STRAG_OK)
        shm->idle = 0;
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
    release(last_arrival(own(base)->peer[peer]));
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
void strag_shm_next_call(struct strag_shm *shm)
{
    if (++shm->call % CALLS == 0 && !shm->host.yields)
        shm->host.progress();
}

void strag_shm_abandon(struct strag_shm *shm)
{
    if (!shm->segment)
        return;
    strag_shm_publish_wait(shm, 0);
    strag_shm_publish_call(shm, shm->call + 1);
    shm->has_stale = true;
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
    for (int s = 0; s < STRAG_SHM_SHARED; s++)
        shm->shared[s].content = 0;
    return &shm->super;
}

int strag_shm_choose_root(struct strag_shm *shm, size_t bytes)
{
    if (!shm->few || bytes > TURNS_MAX)
        return 0;
    shm->super.hint_wait = shm_hint_wait;
    return (int)(shm->call % 2);
}

size_t strag_shm_longest(const struct strag_shm *shm)
{
    return shm->longest;
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
    shm->peers = calloc((size_t)shm->n, sizeof *shm->peers);
    shm->readers = calloc((size_t)shm->n * STRAG_SHM_SHARED, sizeof *shm->readers);
    if (!shm->peers || !shm->readers)
        return false;
    for (int s = 0; s < STRAG_SHM_SHARED; s++)
        shm->shared[s].readers = shm->readers + (size_t)s * (size_t)shm->n;
    for (int i = 0; i < shm->n; i++) {
        struct strag_shm_peer *peer = &shm->peers[i];
        peer->first_slot = i * STRAG_SHM_SLOTS;
        for (int a = 0; a < STRAG_SHM_CELLS; a++)
            peer->arrivals[a].peer = peer;
    }
    return true;
}

void strag_shm_clear(struct strag_shm *shm)
{
    free(shm->peers);
    free(shm->readers);
    free(shm->sends.pending);
    free(shm->receives.pending);
}
