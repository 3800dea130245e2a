/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each exchange is a chain of steps. A step posts messages, and sets the step that follows once all
 * of them are complete.
 */
#include "run/exchange.h"

#include "base/status.h"

#include <stddef.h>
#include <string.h>

/* ---- The tree ---- */

/* The bit of the last child, if there were enough ranks; 0 if there is none. */
static int last_child_bit(const struct strag_exchange *x)
{
    int bit = 1;
    while (x->me ? !(x->me & bit) : bit < x->n)
        bit <<= 1;
    return bit >> 1;
}

static int parent_of(const struct strag_exchange *x)
{
    return x->me & (x->me - 1);
}

/* The number of ranks in a rank's subtree, with itself. */
static int subtree(const struct strag_exchange *x, int rank)
{
    const int most = rank ? rank & -rank : x->n;
    return most < x->n - rank ? most : x->n - rank;
}

/* ---- Messages ---- */

static void complete(struct strag_transfer *transfer, int status)
{
    struct strag_exchange_message *message = (struct strag_exchange_message *)transfer;
    struct strag_exchange *x = message->exchange;
    message->under_way = false;
    x->under_way--;
    if (x->status == STRAG_OK)
        x->status = status;
}

static bool is_full(const struct strag_exchange *x)
{
    return x->under_way == STRAG_EXCHANGE_UNDER_WAY || x->status != STRAG_OK;
}

/* Post a message. There is room for it. */
static void post(struct strag_exchange *x, bool send, int peer, void *buffer, size_t bytes)
{
    struct strag_exchange_message *message = x->messages;
    while (message->under_way)
        message++;
    message->under_way = true;
    x->under_way++;
    const int status =
        send ? x->transport->send(x->transport, &message->transfer, peer, buffer, bytes)
             : x->transport->recv(x->transport, &message->transfer, peer, buffer, bytes);
    if (status != STRAG_OK)
        complete(&message->transfer, status);
}

int strag_exchange_progress(struct strag_exchange *x)
{
    if (x->status == STRAG_OK && x->under_way > 0) {
        const int status = x->transport->progress(x->transport);
        if (x->status == STRAG_OK)
            x->status = status;
    }
    while (x->status == STRAG_OK && x->under_way == 0 && x->step)
        x->step(x);
    if (x->status != STRAG_OK)
        return x->status;
    return x->under_way > 0 ? STRAG_PENDING : STRAG_OK;
}

int strag_exchange_stop(struct strag_exchange *x)
{
    int status = STRAG_OK;
    x->step = NULL;
    for (int i = 0; i < STRAG_EXCHANGE_UNDER_WAY; i++)
        if (x->messages[i].under_way &&
            x->transport->cancel(x->transport, &x->messages[i].transfer) != STRAG_OK)
            status = STRAG_PENDING;
    return status;
}

void strag_exchange_init(struct strag_exchange *x, struct strag_transport *transport, int n, int me)
{
    memset(x, 0, offsetof(struct strag_exchange, outgoing));
    x->transport = transport;
    x->n = n;
    x->me = me;
    for (int i = 0; i < STRAG_EXCHANGE_UNDER_WAY; i++) {
        x->messages[i].transfer.complete = complete;
        x->messages[i].exchange = x;
    }
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* ---- Broadcast ---- */

static size_t piece_of(const struct strag_exchange *x)
{
    return least(x->bytes - x->done, STRAG_EXCHANGE_PIECE);
}

static char *place_of(struct strag_exchange *x)
{
    return x->data ? x->data + x->done : x->incoming;
}

static void take_piece(struct strag_exchange *x);

/* Send a piece to the children, the one with the largest subtree first. */
static void pass_piece(struct strag_exchange *x)
{
    for (; x->bit > 0 && !is_full(x); x->bit >>= 1)
        if ((x->me | x->bit) < x->n)
            post(x, true, x->me | x->bit, place_of(x), piece_of(x));
    if (x->bit == 0)
        x->step = take_piece;
}

static void take_piece(struct strag_exchange *x)
{
    if (x->step == take_piece)
        x->done += piece_of(x);
    x->bit = last_child_bit(x);
    x->step = x->done < x->bytes ? pass_piece : NULL;
    if (x->step && x->me != 0)
        post(x, false, parent_of(x), place_of(x), piece_of(x));
}

void strag_exchange_broadcast(struct strag_exchange *x, void *data, size_t bytes)
{
    x->data = data;
    x->bytes = bytes;
    x->done = 0;
    x->step = NULL;
    take_piece(x);
}

/* ---- Gather ---- */

/* A subtree's entries are one stream of bytes: those of me, me + 1, me + 2 and so on. The stream is
 * sent in pieces that do not begin or end with an entry. */

/* The next piece from a child. @param[out] child  its sender @return its bytes */
static size_t next_piece(const struct strag_exchange *x, int *child)
{
    const size_t offset = x->next / x->bytes; /* ranks */
    int bit = 1;
    while (2 * (size_t)bit <= offset)
        bit <<= 1;
    *child = x->me + bit;
    const int below = bit < x->n - *child ? bit : x->n - *child;
    const size_t left = (size_t)(bit + below) * x->bytes - x->next;
    return least(left, STRAG_EXCHANGE_PIECE);
}

/* Rank 0: receive each message where its entries belong. */
static void collect(struct strag_exchange *x)
{
    const size_t all = (size_t)x->n * x->bytes;
    while (x->next < all && !is_full(x)) {
        int child;
        const size_t bytes = next_piece(x, &child);
        post(x, false, child, x->data + x->next, bytes);
        x->next += bytes;
    }
    if (x->next == all)
        x->step = NULL;
}

static size_t fill(struct strag_exchange *x, const char *from, size_t bytes)
{
    const size_t moved = least(bytes, STRAG_EXCHANGE_PIECE - x->held);
    memcpy(x->outgoing + x->held, from, moved);
    x->held += moved;
    return moved;
}

/* Other ranks: fill a piece, send it, and so on. */
static void relay(struct strag_exchange *x)
{
    const size_t all = (size_t)subtree(x, x->me) * x->bytes;
    x->taken += fill(x, x->own + x->taken, x->bytes - x->taken);
    x->used += fill(x, x->incoming + x->used, x->arrived - x->used);
    if (x->held == STRAG_EXCHANGE_PIECE || x->sent + x->held == all) {
        post(x, true, parent_of(x), x->outgoing, x->held);
        x->sent += x->held;
        x->held = 0;
        if (x->sent == all)
            x->step = NULL;
        return;
    }
    int child;
    x->arrived = next_piece(x, &child);
    x->used = 0;
    x->next += x->arrived;
    post(x, false, child, x->incoming, x->arrived);
}

void strag_exchange_gather(struct strag_exchange *x, const void *own, size_t bytes, void *all)
{
    x->own = own;
    x->bytes = bytes;
    x->data = all;
    x->next = bytes;
    x->taken = x->sent = x->held = x->arrived = x->used = 0;
    if (x->me == 0)
        memmove(all, own, bytes);
    x->step = x->me == 0 ? collect : relay;
}

/* ---- Allgather ---- */

/* Post the entries of `count` ranks from `first` on, cyclically: in two messages if they reach
 * beyond the last rank. */
static void post_entries(struct strag_exchange *x, bool send, int peer, int first, int count)
{
    first %= x->n;
    const int here = count < x->n - first ? count : x->n - first;
    post(x, send, peer, x->data + (size_t)first * x->bytes, (size_t)here * x->bytes);
    if (here < count && x->bytes > 0)
        post(x, send, peer, x->data, (size_t)(count - here) * x->bytes);
}

/* This rank has the entries of `bit` ranks from itself on. */
static void double_entries(struct strag_exchange *x)
{
    if (x->bit >= x->n) {
        x->step = NULL;
        return;
    }
    const int count = x->bit < x->n - x->bit ? x->bit : x->n - x->bit;
    post_entries(x, false, (x->me + x->bit) % x->n, x->me + x->bit, count);
    post_entries(x, true, (x->me - x->bit + x->n) % x->n, x->me, count);
    x->bit <<= 1;
}

void strag_exchange_allgather(struct strag_exchange *x, void *all, size_t bytes)
{
    x->data = all;
    x->bytes = bytes;
    x->bit = 1;
    x->step = double_entries;
}

/* An allgather of nothing. */
void strag_exchange_barrier(struct strag_exchange *x)
{
    strag_exchange_allgather(x, x->incoming, 0);
}

/* ---- Agreement ---- */

/* Children's values arrive in `incoming`, which has room for all that may be in flight. */
_Static_assert(STRAG_EXCHANGE_VALUE *STRAG_EXCHANGE_UNDER_WAY <= STRAG_EXCHANGE_PIECE &&
                   STRAG_EXCHANGE_VALUE % _Alignof(max_align_t) == 0,
               "values from below do not fit into a piece");

static size_t slot_size(const struct strag_exchange *x)
{
    const size_t unit = _Alignof(max_align_t);
    return (x->bytes + unit - 1) / unit * unit;
}

static char *slot(struct strag_exchange *x, int i)
{
    return x->incoming + (size_t)i * slot_size(x);
}

static bool takes_part(struct strag_exchange *x, int neighbour)
{
    const struct strag_agreement *agreement = &x->agreement;
    return !agreement->takes_part || agreement->takes_part(agreement->context, x->value, neighbour);
}

/* Send the data to the children. */
static void tell_children(struct strag_exchange *x)
{
    for (; x->bit > 0 && !is_full(x); x->bit >>= 1)
        if (x->children & (uint32_t)x->bit)
            post(x, true, x->me | x->bit, x->data, x->bytes);
    if (x->bit == 0)
        x->step = NULL;
}

static void hear_parent(struct strag_exchange *x)
{
    x->bit = last_child_bit(x);
    x->step = tell_children;
    if (x->has_parent)
        post(x, false, parent_of(x), x->data, x->bytes);
}

static void tell_parent(struct strag_exchange *x)
{
    x->has_parent = x->me != 0 && takes_part(x, parent_of(x));
    x->step = x->merges ? NULL : hear_parent;
    if (x->has_parent)
        post(x, true, parent_of(x), x->value, x->bytes);
}

/* Receive the children's values, and add them. */
static void hear_children(struct strag_exchange *x)
{
    for (int i = 0; i < x->values; i++)
        x->agreement.add(x->agreement.context, x->data, slot(x, i));
    x->values = 0;
    const int room = (int)(STRAG_EXCHANGE_PIECE / slot_size(x));
    for (; x->bit <= last_child_bit(x) && !is_full(x) && x->values < room; x->bit <<= 1) {
        const int child = x->me | x->bit;
        if (child >= x->n || !takes_part(x, child))
            continue;
        x->children |= (uint32_t)x->bit;
        post(x, false, child, slot(x, x->values++), x->bytes);
    }
    if (x->values == 0)
        x->step = tell_parent;
}

void strag_exchange_agree(struct strag_exchange *x, void *value, size_t bytes,
                          const struct strag_agreement *agreement)
{
    x->data = x->value = value;
    x->bytes = bytes;
    x->agreement = *agreement;
    x->merges = false;
    x->children = 0;
    x->values = 0;
    x->bit = 1;
    x->step = hear_children;
}

void strag_exchange_merge(struct strag_exchange *x, void *value, size_t bytes,
                          const struct strag_agreement *agreement)
{
    strag_exchange_agree(x, value, bytes, agreement);
    x->merges = true;
}

static void keep_least(void *context, void *value, const void *other)
{
    const struct strag_exchange *x = context;
    for (size_t at = 0; at < x->bytes; at += sizeof(int32_t)) {
        int32_t own, theirs;
        memcpy(&own, (char *)value + at, sizeof own);
        memcpy(&theirs, (const char *)other + at, sizeof theirs);
        if (theirs < own)
            memcpy((char *)value + at, &theirs, sizeof theirs);
    }
}

void strag_exchange_minimum(struct strag_exchange *x, int32_t *numbers, int count)
{
    const struct strag_agreement least = {.add = keep_least, .context = x};
    strag_exchange_agree(x, numbers, (size_t)count * sizeof *numbers, &least);
}

/* ---- Collection ---- */

static void pass_entries(struct strag_exchange *x)
{
    x->has_parent = x->me != 0 && takes_part(x, parent_of(x));
    x->step = NULL;
    if (x->has_parent)
        post(x, true, parent_of(x), x->value, (size_t)subtree(x, x->me) * x->bytes);
}

static void collect_entries(struct strag_exchange *x)
{
    for (; x->bit <= last_child_bit(x) && !is_full(x); x->bit <<= 1) {
        const int child = x->me | x->bit;
        if (child >= x->n || !takes_part(x, child))
            continue;
        x->children |= (uint32_t)x->bit;
        post(x, false, child, x->data + (size_t)child * x->bytes,
             (size_t)subtree(x, child) * x->bytes);
    }
    if (x->bit > last_child_bit(x))
        x->step = pass_entries;
}

void strag_exchange_collect(struct strag_exchange *x, void *entries, size_t bytes,
                            bool (*part)(void *context, void *value, int neighbour), void *context)
{
    x->data = entries;
    x->value = x->data + (size_t)x->me * bytes;
    x->bytes = bytes;
    x->agreement = (struct strag_agreement){.takes_part = part, .context = context};
    x->children = 0;
    x->bit = 1;
    x->step = collect_entries;
}

int strag_exchange_collected(const struct strag_exchange *x)
{
    return subtree(x, x->me);
}

void strag_exchange_spread(struct strag_exchange *x, void *data, size_t bytes)
{
    x->data = data;
    x->bytes = bytes;
    x->step = hear_parent;
}
