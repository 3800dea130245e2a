/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The engine's messages through memory that the ranks of a host share (shm/arena.h describes it).
 *
 * A message is copied once, by its sender, into a cell or a slot, where the receiver reads it; a
 * reduction reads it directly from there. Elements with gaps are packed when they are copied in,
 * and unpacked when they are copied out: a slot's content does not depend on a rank's layout of
 * elements.
 *
 * Sends complete when they are copied; those that find no room wait in a queue, and so do receives.
 *
 * A call that fails, or that ranks made with different counts, leaves messages behind, and waits
 * for others that will never come. Every message has its call's number: those of earlier calls are
 * dropped. And a rank that has waited for long, or has given a call up, publishes the call that it
 * is in: no rank waits for a message, or for room, in a call that the other side has ended.
 * (Ranks that have different plans for different counts may still wait in a circle.)
 */
#include "shm/layout.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>

enum {
    DRAIN = 64,       /* progresses in which no message moves, between two checks for starved peers
                         and for a failed communicator */
    CALLS = 32,       /* between two calls of the host's progress, if a rank never has to wait */
    TURNS_MAX = 4096, /* bytes; the root of longer vectors stays, with its vector in the cache */
};

/* ---- Waiting ---- */

static int append(struct strag_shm_queue *queue, const struct strag_shm_pending *message)
{
    if (!strag_array_grow(&queue->pending, &queue->room, (int)queue->length + 1,
                          sizeof *queue->pending))
        return STRAG_ERR_MEMORY;
    queue->pending[queue->length++] = *message;
    return STRAG_OK;
}

/* Must the message wait because an earlier one to or from the same peer is waiting? */
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

/* Finish messages if possible, and keep the rest in order. @return whether one was finished */
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

static int look_further(struct strag_shm *shm)
{
    if (shm->host.failed && *shm->host.failed)
        return STRAG_ERR_TRANSPORT;
    return strag_shm_drain(shm);
}

static int shm_progress(struct strag_transport *base)
{
    struct strag_shm *shm = strag_shm_of(base);
    int status = STRAG_OK;
    if (atomic_load_explicit(&shm->doomed, memory_order_relaxed) == shm->call)
        return STRAG_ERR_MISMATCH;
    if (shm->has_stale)
        strag_shm_drop_old(shm);
    bool found = scan(shm, &shm->receives, strag_shm_receive_pending);
    if (shm->sends.length)
        found |= scan(shm, &shm->sends, strag_shm_send_pending);
    if (found) {
        shm->idle = 0;
        strag_shm_count_move(shm);
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
    struct strag_shm *shm = strag_shm_of(base);
    const struct strag_shm_pending message = {transfer, shm->peer[peer], (void *)(uintptr_t)buffer,
                                              elements, false};
    return post(shm, &shm->sends, strag_shm_send_pending, &message);
}

static int shm_recv(struct strag_transport *base, struct strag_transfer *transfer, int peer,
                    void *buffer, size_t elements)
{
    struct strag_shm *shm = strag_shm_of(base);
    const struct strag_shm_pending message = {transfer, shm->peer[peer], buffer, elements, false};
    return post(shm, &shm->receives, strag_shm_receive_pending, &message);
}

static int shm_recv_in_place(struct strag_transport *base, struct strag_transfer *transfer,
                             int peer, size_t elements)
{
    struct strag_shm *shm = strag_shm_of(base);
    const struct strag_shm_pending message = {transfer, shm->peer[peer], NULL, elements, true};
    return post(shm, &shm->receives, strag_shm_receive_pending, &message);
}

static void shm_release(struct strag_transport *base, struct strag_transfer *transfer)
{
    (void)base;
    strag_shm_release(transfer->handle);
}

/* All ranks are on this host, so a rank is its index on the host. */
static void shm_hint_wait(struct strag_transport *base, uint64_t ranks)
{
    strag_shm_publish_wait(strag_shm_of(base), ranks);
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

/* A message in a queue has not begun. If it comes after this, the next call drops it. */
static int shm_cancel(struct strag_transport *base, struct strag_transfer *transfer)
{
    struct strag_shm *shm = strag_shm_of(base);
    if (!drop(&shm->receives, transfer) && !drop(&shm->sends, transfer))
        return STRAG_ERR_ARGUMENT;
    transfer->complete(transfer, STRAG_ERR_TRANSPORT);
    return STRAG_OK;
}

/* A rank that never waits would never do the host's other work, so call its progress from time to
 * time. (If ranks share processors, each has to wait at times, and progress would give the
 * processor away.) */
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
    shm->super.try_send = in_place ? strag_shm_try_send : NULL;
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
        .try_recv = strag_shm_try_recv,
        .release_recv = strag_shm_release_recv,
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
