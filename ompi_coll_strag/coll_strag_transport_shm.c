/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The engine's messages through memory that the ranks of a host share (coll_strag_shm.h says what
 * is in it).
 *
 * A message is copied once, by its sender, into a cell or a slot. There the receiver reads it: what
 * it combines it takes straight from there. Elements are packed on the way in, and unpacked on the
 * way out where they are not contiguous on that side: what is in the slots does not depend on how a
 * rank lays its elements out.
 *
 * Sends complete when they are copied; those that find no room wait in a list, and so do receives.
 *
 * A call that fails, or that ranks made with different counts, leaves messages behind, and waits
 * for some that will never come. Every message carries its call's number: those of earlier calls
 * are dropped. And a rank that has waited for long, or has given a call up, tells all others in
 * which call it is: nobody waits for a message, or for room, in a call that is over for the other
 * side. (Ranks that have different plans for different counts may still wait in a circle.)
 */
#include "coll_strag_shm.h"

#include "base/status.h"

#include <stdlib.h>
#include <string.h>

enum {
    CALLS = 32, /* between two calls of opal_progress, if a rank never has to wait */
};

static struct coll_strag_shm *own(struct strag_transport *transport)
{
    return (struct coll_strag_shm *)transport;
}

static int failed(struct coll_strag_shm *shm, int mpi_error)
{
    if (shm->mpi_error == MPI_SUCCESS)
        shm->mpi_error = mpi_error;
    return STRAG_ERR_TRANSPORT;
}

/* Of calls, whose numbers may wrap. */
static bool is_before(uint32_t a, uint32_t b)
{
    return a != b && b - a <= UINT32_MAX / 2;
}

/* ---- Values in and out ---- */

static int convert(const struct coll_strag_shm *shm, bool in, void *slot, const void *buffer,
                   size_t elements)
{
    struct iovec piece = {.iov_base = slot, .iov_len = elements * shm->size};
    uint32_t pieces = 1;
    size_t length = piece.iov_len;
    opal_convertor_t convertor;
    OBJ_CONSTRUCT(&convertor, opal_convertor_t);
    if (in) {
        opal_convertor_copy_and_prepare_for_send(ompi_mpi_local_convertor, &shm->dtype->super,
                                                 elements, buffer, 0, &convertor);
        opal_convertor_pack(&convertor, &piece, &pieces, &length);
    } else {
        opal_convertor_copy_and_prepare_for_recv(ompi_mpi_local_convertor, &shm->dtype->super,
                                                 elements, buffer, 0, &convertor);
        opal_convertor_unpack(&convertor, &piece, &pieces, &length);
    }
    OBJ_DESTRUCT(&convertor);
    return length == elements * shm->size ? STRAG_OK : STRAG_ERR_TRANSPORT;
}

static int put_in(const struct coll_strag_shm *shm, void *slot, const void *buffer, size_t elements)
{
    if (!shm->packed)
        return convert(shm, true, slot, buffer, elements);
    memcpy(slot, buffer, elements * shm->size);
    return STRAG_OK;
}

static int take_out(const struct coll_strag_shm *shm, const void *slot, void *buffer,
                    size_t elements)
{
    if (!shm->packed)
        return convert(shm, false, (void *)(uintptr_t)slot, buffer, elements);
    memcpy(buffer, slot, elements * shm->size);
    return STRAG_OK;
}

/* ---- Sending ---- */

/* Has the peer taken this message of ours? */
static bool is_taken(struct coll_strag_shm_peer *peer, int64_t number)
{
    if (peer->taken >= number)
        return true;
    uint32_t taken = atomic_load_explicit(&peer->out->taken, memory_order_acquire);
    peer->taken = peer->sent - (uint32_t)((uint32_t)peer->sent - taken);
    return peer->taken >= number;
}

/* Is this call over for the peer, so that it sends and receives nothing more in it? */
static bool is_over(const struct coll_strag_shm *shm, const struct coll_strag_shm_peer *peer)
{
    return atomic_load_explicit(&peer->word->begun, memory_order_acquire) > shm->call;
}

/* Announce the next message to a peer, when all but its number is written. */
static void announce(const struct coll_strag_shm *shm, struct coll_strag_shm_peer *peer,
                     struct coll_strag_cell *cell, size_t elements, int slot)
{
    cell->call = (uint32_t)shm->call;
    cell->bytes = (uint32_t)(elements * shm->size);
    cell->slot = slot;
    atomic_store_explicit(&cell->number, (uint32_t)++peer->sent, memory_order_release);
}

/* Have all readers of a shared slot taken it? */
static bool is_free(struct coll_strag_shared *shared)
{
    while (shared->nreaders > 0) {
        const struct coll_strag_reader *last = &shared->readers[shared->nreaders - 1];
        if (!is_taken(last->peer, last->number))
            return false;
        shared->nreaders--;
    }
    return true;
}

static struct coll_strag_shared *find_shared(struct coll_strag_shm *shm, const void *buffer,
                                             size_t elements, uint64_t content)
{
    for (int s = 0; s < COLL_STRAG_SHARED; s++) {
        struct coll_strag_shared *shared = &shm->shared[s];
        if (shared->content == content && shared->buffer == buffer && shared->elements == elements)
            return shared;
    }
    return NULL;
}

/* @return NULL: none is free, or the values cannot be packed */
static struct coll_strag_shared *fill_shared(struct coll_strag_shm *shm, const void *buffer,
                                             size_t elements, uint64_t content)
{
    struct coll_strag_shared *shared = &shm->shared[shm->next_shared];
    int slot = shm->n * COLL_STRAG_SLOTS + shm->next_shared;
    if (!is_free(shared))
        return NULL;
    shared->content = 0;
    if (put_in(shm, shm->slots + (size_t)slot * shm->longest, buffer, elements) != STRAG_OK)
        return NULL;
    shm->next_shared = (shm->next_shared + 1) % COLL_STRAG_SHARED;
    shared->content = content;
    shared->buffer = buffer;
    shared->elements = elements;
    return shared;
}

/* @return COLL_STRAG_NO_SLOT: not in a shared slot */
static int put_shared(struct coll_strag_shm *shm, struct coll_strag_shm_peer *peer,
                      const void *buffer, size_t elements, uint64_t content)
{
    struct coll_strag_shared *shared = find_shared(shm, buffer, elements, content);
    if (!shared)
        shared = fill_shared(shm, buffer, elements, content);
    if (!shared || (shared->nreaders >= shm->n && !is_free(shared)))
        return COLL_STRAG_NO_SLOT;
    shared->readers[shared->nreaders++] = (struct coll_strag_reader){peer, peer->sent + 1};
    return shm->n * COLL_STRAG_SLOTS + (int)(shared - shm->shared);
}

/* The message is too long for its cell. @param content  as in struct strag_transfer
 * @param[out] slot  where the values are, unless STRAG_PENDING is returned: there is no room */
static int put_in_slot(struct coll_strag_shm *shm, struct coll_strag_shm_peer *peer,
                       const void *buffer, size_t elements, uint64_t content, int *slot)
{
    if (content) {
        *slot = put_shared(shm, peer, buffer, elements, content);
        if (*slot != COLL_STRAG_NO_SLOT)
            return STRAG_OK;
    }
    if (!is_taken(peer, peer->used[peer->next_slot]))
        return STRAG_PENDING;
    *slot = peer->first_slot + peer->next_slot;
    peer->used[peer->next_slot] = peer->sent + 1;
    peer->next_slot = (peer->next_slot + 1) % COLL_STRAG_SLOTS;
    return put_in(shm, shm->slots + (size_t)*slot * shm->longest, buffer, elements);
}

/* There is no room for a message. */
static int stand_by(struct coll_strag_shm *shm, const struct coll_strag_shm_peer *peer)
{
    return is_over(shm, peer) ? failed(shm, MPI_ERR_TRUNCATE) : STRAG_PENDING;
}

/* @return STRAG_OK, STRAG_PENDING: there is no room, or an error */
static int try_put(struct coll_strag_shm *shm, struct coll_strag_shm_peer *peer, const void *buffer,
                   size_t elements, uint64_t content)
{
    int64_t number = peer->sent + 1;
    if (!is_taken(peer, number - COLL_STRAG_CELLS))
        return stand_by(shm, peer);
    struct coll_strag_cell *cell = &peer->out->cells[number % COLL_STRAG_CELLS];
    int slot = COLL_STRAG_NO_SLOT;
    int status = elements * shm->size <= COLL_STRAG_INLINE
                     ? put_in(shm, cell->data, buffer, elements)
                     : put_in_slot(shm, peer, buffer, elements, content, &slot);
    if (status == STRAG_PENDING)
        return stand_by(shm, peer);
    if (status != STRAG_OK)
        return failed(shm, MPI_ERR_OTHER);
    announce(shm, peer, cell, elements, slot);
    return STRAG_OK;
}

static int try_send(struct coll_strag_shm *shm, const struct coll_strag_waiting *message)
{
    return try_put(shm, message->peer, message->buffer, message->elements,
                   message->transfer->content);
}

/* ---- Receiving ---- */

/* The receiver needs a message no more. The sender learns it when it needs none before it, either.
 */
static void give_back(struct coll_strag_arrival *arrival)
{
    struct coll_strag_shm_peer *peer = arrival->peer;
    uint32_t before = peer->released;
    arrival->released = true;
    while (peer->released != peer->received) {
        struct coll_strag_arrival *next = &peer->arrivals[(peer->released + 1) % COLL_STRAG_CELLS];
        if (!next->released)
            break;
        next->released = false;
        peer->released++;
    }
    if (peer->released != before)
        atomic_store_explicit(&peer->in->taken, peer->released, memory_order_release);
}

/* The next message of this call. @return NULL: it is not there yet; or peer->received was moved on
 * to it, and it must be given back */
static const struct coll_strag_cell *next_message(const struct coll_strag_shm *shm,
                                                  struct coll_strag_shm_peer *peer)
{
    for (;;) {
        uint32_t number = peer->received + 1;
        struct coll_strag_cell *cell = &peer->in->cells[number % COLL_STRAG_CELLS];
        if (atomic_load_explicit(&cell->number, memory_order_acquire) != number)
            return NULL;
        peer->received = number;
        if (!is_before(cell->call, (uint32_t)shm->call))
            return cell;
        give_back(&peer->arrivals[number % COLL_STRAG_CELLS]); /* left from a call that failed */
    }
}

static struct coll_strag_arrival *last_arrival(struct coll_strag_shm_peer *peer)
{
    return &peer->arrivals[peer->received % COLL_STRAG_CELLS];
}

static const void *values_of(const struct coll_strag_shm *shm,
                             const struct coll_strag_shm_peer *peer,
                             const struct coll_strag_cell *cell)
{
    return cell->slot == COLL_STRAG_NO_SLOT ? (const void *)cell->data
                                            : peer->slots + (size_t)cell->slot * shm->longest;
}

/* The next message, which is to have so many elements. It must be given back.
 * @return STRAG_OK, STRAG_PENDING: it is not there yet, or an error */
static int try_get(struct coll_strag_shm *shm, struct coll_strag_shm_peer *peer, size_t elements,
                   const void **values)
{
    const struct coll_strag_cell *cell = next_message(shm, peer);
    if (!cell && !is_over(shm, peer))
        return STRAG_PENDING;
    if (!cell)
        cell = next_message(shm, peer); /* perhaps it had come between these two looks */
    if (!cell)
        return failed(shm, MPI_ERR_TRUNCATE);
    if (cell->call != (uint32_t)shm->call) { /* a later one: it stays for our next call */
        peer->received--;
        return failed(shm, MPI_ERR_TRUNCATE);
    }
    if (cell->bytes != elements * shm->size) { /* the ranks called it with other counts */
        give_back(last_arrival(peer));
        return failed(shm, MPI_ERR_TRUNCATE);
    }
    *values = values_of(shm, peer, cell);
    return STRAG_OK;
}

static int try_receive(struct coll_strag_shm *shm, const struct coll_strag_waiting *message)
{
    struct coll_strag_shm_peer *peer = message->peer;
    const void *values;
    int status = try_get(shm, peer, message->elements, &values);
    if (status != STRAG_OK)
        return status;
    if (message->in_place) {
        message->transfer->arrived = values;
        message->transfer->handle = last_arrival(peer);
        return STRAG_OK;
    }
    if (take_out(shm, values, message->buffer, message->elements) != STRAG_OK)
        status = failed(shm, MPI_ERR_OTHER);
    give_back(last_arrival(peer));
    return status;
}

/* ---- Waiting ---- */

static int append(struct coll_strag_queue *queue, const struct coll_strag_waiting *message)
{
    if (queue->length == queue->room) {
        size_t room = queue->room ? 2 * queue->room : 16;
        struct coll_strag_waiting *larger = realloc(queue->waiting, room * sizeof *larger);
        if (NULL == larger)
            return STRAG_ERR_MEMORY;
        queue->waiting = larger;
        queue->room = room;
    }
    queue->waiting[queue->length++] = *message;
    return STRAG_OK;
}

/* Must the message stand back, since one before it to or from the same peer is waiting? */
static bool stands_back(const struct coll_strag_queue *queue, size_t end,
                        const struct coll_strag_shm_peer *peer)
{
    for (size_t i = 0; i < end; i++) {
        if (queue->waiting[i].peer == peer)
            return true;
    }
    return false;
}

typedef int try_fn(struct coll_strag_shm *shm, const struct coll_strag_waiting *message);

static int post(struct coll_strag_shm *shm, struct coll_strag_queue *queue, try_fn *try,
                const struct coll_strag_waiting *message)
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
static bool scan(struct coll_strag_shm *shm, struct coll_strag_queue *queue, try_fn *try)
{
    size_t kept = 0, length = queue->length;
    for (size_t i = 0; i < length; i++) {
        const struct coll_strag_waiting message = queue->waiting[i];
        int status = STRAG_PENDING;
        if (!stands_back(queue, kept, message.peer))
            status = try(shm, &message);
        if (status == STRAG_PENDING)
            queue->waiting[kept++] = message;
        else
            message.transfer->complete(message.transfer, status);
    }
    queue->length = kept;
    return kept != length;
}

/* Messages of calls that were given up take the room of others. */
static void drop_old(struct coll_strag_shm *shm)
{
    for (int i = 0; i < shm->n; i++) {
        if (next_message(shm, &shm->peers[i]))
            shm->peers[i].received--;
    }
}

static int shm_progress(struct strag_transport *base)
{
    struct coll_strag_shm *shm = own(base);
    if (shm->untidy)
        drop_old(shm);
    bool found = scan(shm, &shm->receives, try_receive);
    if (shm->sends.length)
        found |= scan(shm, &shm->sends, try_send);
    if (found)
        shm->idle = 0;
    else if (shm->receives.length || shm->sends.length || shm->refused)
        coll_strag_shm_wait(shm);
    shm->refused = false;
    return STRAG_OK;
}

/* ---- The interface ---- */

static int shm_send(struct strag_transport *base, struct strag_transfer *transfer, int peer,
                    const void *buffer, size_t elements)
{
    struct coll_strag_shm *shm = own(base);
    const struct coll_strag_waiting message = {transfer, shm->peer[peer], (void *)(uintptr_t)buffer,
                                               elements, false};
    return post(shm, &shm->sends, try_send, &message);
}

static int shm_recv(struct strag_transport *base, struct strag_transfer *transfer, int peer,
                    void *buffer, size_t elements)
{
    struct coll_strag_shm *shm = own(base);
    const struct coll_strag_waiting message = {transfer, shm->peer[peer], buffer, elements, false};
    return post(shm, &shm->receives, try_receive, &message);
}

static int shm_recv_in_place(struct strag_transport *base, struct strag_transfer *transfer,
                             int peer, size_t elements)
{
    struct coll_strag_shm *shm = own(base);
    const struct coll_strag_waiting message = {transfer, shm->peer[peer], NULL, elements, true};
    return post(shm, &shm->receives, try_receive, &message);
}

static void shm_release(struct strag_transport *base, struct strag_transfer *transfer)
{
    (void)base;
    give_back(transfer->handle);
}

/* Something was asked for. @return status */
static int asked(struct coll_strag_shm *shm, int status)
{
    if (status != STRAG_PENDING && shm->told)
        coll_strag_shm_tell_wait(shm, 0);
    if (status == STRAG_OK)
        shm->idle = 0;
    shm->refused = status == STRAG_PENDING;
    return status;
}

static int shm_put(struct strag_transport *base, int peer, const void *buffer, size_t elements,
                   uint64_t content)
{
    struct coll_strag_shm *shm = own(base);
    return asked(shm, try_put(shm, shm->peer[peer], buffer, elements, content));
}

static int shm_get(struct strag_transport *base, int peer, size_t elements, const void **arrived)
{
    struct coll_strag_shm *shm = own(base);
    return asked(shm, try_get(shm, shm->peer[peer], elements, arrived));
}

static void shm_got(struct strag_transport *base, int peer)
{
    give_back(last_arrival(own(base)->peer[peer]));
}

/* All ranks are on this host: they have the same numbers there. */
static void shm_expect(struct strag_transport *base, uint64_t ranks)
{
    coll_strag_shm_tell_wait(own(base), ranks);
}

static bool drop(struct coll_strag_queue *queue, const struct strag_transfer *transfer)
{
    size_t i = 0;
    while (i < queue->length && queue->waiting[i].transfer != transfer)
        i++;
    if (i == queue->length)
        return false;
    memmove(queue->waiting + i, queue->waiting + i + 1,
            (queue->length - i - 1) * sizeof *queue->waiting);
    queue->length--;
    return true;
}

/* What waits has not begun. A message that comes all the same is dropped by the next call. */
static int shm_cancel(struct strag_transport *base, struct strag_transfer *transfer)
{
    struct coll_strag_shm *shm = own(base);
    if (!drop(&shm->receives, transfer) && !drop(&shm->sends, transfer))
        return STRAG_ERR_ARGUMENT;
    transfer->complete(transfer, STRAG_ERR_TRANSPORT);
    return STRAG_OK;
}

/* A rank that never waits would never look after Open MPI's own messages, either. (Where ranks
 * share processors each has to wait at times, and opal_progress would give the processor away.) */
void coll_strag_shm_next_call(struct coll_strag_shm *shm)
{
    shm->mpi_error = MPI_SUCCESS;
    if (++shm->call % CALLS == 0 && !opal_progress_yield_when_idle)
        opal_progress();
}

void coll_strag_shm_give_up(struct coll_strag_shm *shm)
{
    if (NULL == shm->segment)
        return;
    coll_strag_shm_tell_wait(shm, 0);
    coll_strag_shm_tell_call(shm, shm->call + 1);
    shm->untidy = true;
}

struct strag_transport *coll_strag_shm_begin(struct coll_strag_shm *shm, ompi_datatype_t *dtype,
                                             const struct coll_strag_reducer *reducer, size_t size)
{
    if (size > shm->longest)
        return NULL;
    shm->dtype = dtype;
    shm->size = size;
    shm->packed = reducer->true_lb == 0 && reducer->extent == (ptrdiff_t)size &&
                  reducer->true_extent == reducer->extent &&
                  ompi_datatype_is_contiguous_memory_layout(dtype, 2);
    const bool in_place = shm->packed && size <= COLL_STRAG_REDUCE_PIECE;
    shm->super.recv_in_place = in_place ? shm_recv_in_place : NULL;
    shm->super.try_send = in_place ? shm_put : NULL;
    shm->super.try_send_max = shm->longest / size;
    shm->super.hint_wait = NULL;
    shm->refused = false;
    shm->idle = 0;
    for (int s = 0; s < COLL_STRAG_SHARED; s++)
        shm->shared[s].content = 0;
    return &shm->super;
}

bool coll_strag_shm_take_turns(struct coll_strag_shm *shm)
{
    if (shm->few)
        shm->super.hint_wait = shm_expect;
    return shm->few;
}

int coll_strag_shm_root(const struct coll_strag_shm *shm)
{
    return (int)(shm->call % 2);
}

size_t coll_strag_shm_longest(const struct coll_strag_shm *shm)
{
    return shm->longest;
}

bool coll_strag_shm_is_alone(const struct coll_strag_shm *shm)
{
    return shm->alone;
}

int coll_strag_shm_error(const struct coll_strag_shm *shm)
{
    return shm->mpi_error;
}

bool coll_strag_shm_init(struct coll_strag_shm *shm)
{
    shm->super = (struct strag_transport){
        .send = shm_send,
        .recv = shm_recv,
        .progress = shm_progress,
        .cancel = shm_cancel,
        .release = shm_release,
        .try_recv = shm_get,
        .release_recv = shm_got,
        .try_send_depth = COLL_STRAG_CELLS,
    };
    shm->peers = calloc((size_t)shm->n, sizeof *shm->peers);
    shm->readers = calloc((size_t)shm->n * COLL_STRAG_SHARED, sizeof *shm->readers);
    if (NULL == shm->peers || NULL == shm->readers)
        return false;
    for (int s = 0; s < COLL_STRAG_SHARED; s++)
        shm->shared[s].readers = shm->readers + (size_t)s * (size_t)shm->n;
    for (int i = 0; i < shm->n; i++) {
        struct coll_strag_shm_peer *peer = &shm->peers[i];
        peer->first_slot = i * COLL_STRAG_SLOTS;
        for (int a = 0; a < COLL_STRAG_CELLS; a++)
            peer->arrivals[a].peer = peer;
    }
    return true;
}

void coll_strag_shm_clear(struct coll_strag_shm *shm)
{
    free(shm->peers);
    free(shm->readers);
    free(shm->sends.waiting);
    free(shm->receives.waiting);
}
