/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The proof's second part, progress and sums: a run in which each rank runs its rounds strictly one
 * after another, and values are expressions.
 */
#include "plan/verify_proof.h"

#include <stdlib.h>
#include <string.h>

/* How far an operation has come in the simulated run. */
enum progress {
    WAITING, /* not posted */
    POSTED,  /* the peer's operation may match it */
    ARRIVED, /* recv_reduce: the values have come, but its waits are not done */
    DONE
};

static void look_at(struct strag_proof *proof, int rank)
{
    if (proof->runners[rank].queued)
        return;
    proof->runners[rank].queued = true;
    proof->queue[(proof->queue_head + proof->queue_length++) % proof->ranks] = rank;
}

/* Examine an operation again. One that is in a list already stays there, and is woken later. */
static void wake(struct strag_proof *proof, int rank, int op)
{
    struct strag_proof_event *event = &proof->events[rank][op];
    if (event->listed)
        return;
    event->listed = true;
    event->next = proof->runners[rank].ready;
    proof->runners[rank].ready = op;
    look_at(proof, rank);
}

/* Examine an operation again when `blocker` is done, or earlier if it is in a list already. */
static void watch(const struct strag_proof *proof, int rank, int op, int blocker)
{
    struct strag_proof_event *event = &proof->events[rank][op];
    if (event->listed)
        return;
    event->listed = true;
    event->next = proof->events[rank][blocker].watchers;
    proof->events[rank][blocker].watchers = op;
}

static void wake_watchers(struct strag_proof *proof, int rank, int op)
{
    struct strag_proof_event *events = proof->events[rank];
    int32_t next = events[op].watchers;
    events[op].watchers = STRAG_PROOF_NONE;
    while (next != STRAG_PROOF_NONE) {
        const int32_t watcher = next;
        next = events[watcher].next;
        events[watcher].listed = false;
        wake(proof, rank, watcher);
    }
}

/* Move on to the rank's next round that has operations. */
static void next_round(struct strag_proof *proof, int rank)
{
    const struct strag_plan *plan = proof->plans[rank];
    struct strag_proof_runner *runner = &proof->runners[rank];
    runner->begin = runner->end;
    while (runner->end < plan->nops &&
           plan->ops[runner->end].round == plan->ops[runner->begin].round)
        runner->end++;
    runner->left = runner->end - runner->begin;
    for (int op = runner->end - 1; op >= runner->begin; op--) /* so the first is taken first */
        wake(proof, rank, op);
}

static bool is_done(const struct strag_proof *proof, int rank, int op)
{
    return op == STRAG_PROOF_NONE || proof->events[rank][op].progress == DONE;
}

static bool same_message(const struct strag_op *send, const struct strag_op *recv)
{
    return send->kind == STRAG_SEND && send->peer == recv->peer && send->first == recv->first &&
           send->count == recv->count;
}

/*
 * The last of the waits of an operation that are not done, or STRAG_PROOF_NONE if all are. A send
 * of the same range back to the peer is returned only if there is no other wait. If there are
 * several such sends, which are done in order, the last but one is returned: the last one may be
 * swapped with the values that come.
 *
 * @param[out] alone  only one wait is not done
 */
static int blocking_wait(const struct strag_proof *proof, int rank, int op, bool *alone)
{
    const struct strag_op *ops = proof->plans[rank]->ops;
    int length, undone = 0;
    int32_t other = STRAG_PROOF_NONE, back = STRAG_PROOF_NONE, back_before = STRAG_PROOF_NONE;
    const int32_t *after = strag_plan_after(proof->plans[rank], op, &length);
    strag_effort_take(proof->effort, length, 0); /* strag_proof_run checks what is left */
    for (int i = 0; i < length; i++) {
        const int32_t wait = after[i];
        if (is_done(proof, rank, wait))
            continue;
        undone++;
        if (!same_message(&ops[wait], &ops[op])) {
            other = wait > other ? wait : other;
        } else if (wait > back) {
            back_before = back;
            back = wait;
        } else if (wait > back_before) {
            back_before = wait;
        }
    }
    *alone = undone == 1;
    if (other != STRAG_PROOF_NONE)
        return other;
    return back_before != STRAG_PROOF_NONE ? back_before : back;
}

static bool waits_done(const struct strag_proof *proof, int rank, int op)
{
    bool alone;
    return blocking_wait(proof, rank, op, &alone) == STRAG_PROOF_NONE;
}

/* The operation that keeps one from being posted, or STRAG_PROOF_NONE. Of the messages to or from
 * one peer, one has to be done before the next is posted, since an engine may have room for a small
 * part of a message only. So it is with recv_reduces, which may share temporary space. */
static int posting_blocker(const struct strag_proof *proof, int rank, int op)
{
    const struct strag_proof_event *event = &proof->events[rank][op];
    bool alone;
    if (!is_done(proof, rank, event->before_peer))
        return event->before_peer;
    if (proof->plans[rank]->ops[op].kind != STRAG_RECV_REDUCE)
        return blocking_wait(proof, rank, op, &alone);
    return is_done(proof, rank, event->before_slot) ? STRAG_PROOF_NONE : event->before_slot;
}

/* Set before_peer and before_slot of a rank's operations.
 * @param last  [2 * peer + direction]: room, all STRAG_PROOF_NONE, also afterwards */
static void order_rank(const struct strag_proof *proof, int rank, int32_t *last)
{
    const struct strag_plan *plan = proof->plans[rank];
    int32_t slot = STRAG_PROOF_NONE;
    for (int i = 0; i < plan->nops; i++) {
        const struct strag_op *op = &plan->ops[i];
        struct strag_proof_event *event = &proof->events[rank][i];
        int32_t *peer = &last[2 * (size_t)op->peer + (op->kind == STRAG_SEND)];
        event->before_peer = *peer != STRAG_PROOF_NONE && plan->ops[*peer].round == op->round
                                 ? *peer
                                 : STRAG_PROOF_NONE;
        event->before_slot = slot != STRAG_PROOF_NONE && plan->ops[slot].round == op->round
                                 ? slot
                                 : STRAG_PROOF_NONE;
        *peer = i;
        if (op->kind == STRAG_RECV_REDUCE)
            slot = i;
    }
    for (int i = 0; i < plan->nops; i++)
        last[2 * (size_t)plan->ops[i].peer + (plan->ops[i].kind == STRAG_SEND)] = STRAG_PROOF_NONE;
}

static int order(const struct strag_proof *proof)
{
    const size_t room = 2 * (size_t)proof->n;
    int32_t *last = malloc(room * sizeof *last);
    if (!last)
        return strag_proof_stopped(proof->effort, proof->err);
    for (size_t i = 0; i < room; i++)
        last[i] = STRAG_PROOF_NONE;
    for (int rank = 0; rank < proof->ranks; rank++)
        order_rank(proof, rank, last);
    free(last);
    return STRAG_OK;
}

/* The longest chain of messages that led to what an operation needs. */
static int32_t chain_before(const struct strag_proof *proof, int rank, int op)
{
    int length;
    const int32_t *after = strag_plan_after(proof->plans[rank], op, &length);
    int32_t longest = 0;
    for (int i = 0; i < length; i++) {
        int32_t chain = proof->events[rank][after[i]].chain;
        longest = chain > longest ? chain : longest;
    }
    return longest;
}

/* An operation is done. If it is a receive, `deliver` has set its chain. */
static void done(struct strag_proof *proof, int rank, int op)
{
    struct strag_proof_event *event = &proof->events[rank][op];
    const int32_t before = chain_before(proof, rank, op);
    event->chain = event->chain > before ? event->chain : before;
    proof->chain = event->chain > proof->chain ? event->chain : proof->chain;
    event->progress = DONE;
    proof->operations_done++;
    wake_watchers(proof, rank, op);
    if (--proof->runners[rank].left == 0)
        next_round(proof, rank);
}

/* Reduce the values of a message into what the rank holds. */
static int reduce(struct strag_proof *proof, int rank, int op_index, const int32_t *values)
{
    const struct strag_op *op = &proof->plans[rank]->ops[op_index];
    int32_t *mine = proof->held + (size_t)rank * (size_t)proof->blocks + op->first;
    int32_t last_own = -1, last_in = -1, last = -1;
    for (int b = 0; b < op->count; b++) {
        const int32_t own = mine[b], in = values[b];
        if (own != last_own || in != last_in) {
            last = op->own_left ? strag_expression_pair(proof->table, own, in)
                                : strag_expression_pair(proof->table, in, own);
            last_own = own;
            last_in = in;
        }
        if (last == STRAG_EXPRESSION_MEMORY)
            return strag_proof_stopped(proof->effort, proof->err);
        if (last == STRAG_EXPRESSION_TWICE)
            return strag_fail(proof->err, STRAG_ERR_FALSE,
                              "rank %d, round %d, block %d: rank %d's contribution comes twice",
                              rank, op->round, op->first + b,
                              strag_expression_common(proof->table, own, in));
        mine[b] = last;
    }
    done(proof, rank, op_index);
    return STRAG_OK;
}

/* Keep the values of a message aside. */
static int keep(struct strag_proof *proof, struct strag_proof_event *event, const int32_t *values,
                size_t size)
{
    if (strag_effort_take(proof->effort, 0, (int64_t)size))
        event->values = malloc(size);
    if (!event->values)
        return strag_proof_stopped(proof->effort, proof->err);
    memcpy(event->values, values, size);
    return STRAG_OK;
}

/* Are two ranks about to swap the same range, to reduce the values of each other? Then both
 * messages move piece by piece at the same time, and each rank reduces a piece only after it has
 * sent its own. */
static bool swaps(const struct strag_proof *proof, int from, int send, int to, int recv)
{
    bool alone;
    const int back = blocking_wait(proof, to, recv, &alone);
    if (!alone || proof->events[to][back].progress != POSTED ||
        !same_message(&proof->plans[to]->ops[back], &proof->plans[to]->ops[recv]))
        return false;
    const int other = proof->events[to][back].partner;
    if (proof->plans[from]->ops[other].kind != STRAG_RECV_REDUCE ||
        proof->events[from][other].progress != POSTED)
        return false;
    const int wait = blocking_wait(proof, from, other, &alone);
    return wait == STRAG_PROOF_NONE || (alone && wait == send);
}

/* The values of a message, one per block, or NULL when out of memory or effort. */
static const int32_t *values_of(const struct strag_proof *proof, int from, int send)
{
    const struct strag_op *op = &proof->plans[from]->ops[send];
    const int32_t *values = proof->held + (size_t)from * (size_t)proof->blocks + op->first;
    if (proof->ranks == proof->n)
        return values;
    for (int b = 0; b < op->count; b++) {
        proof->moved[b] = strag_expression_turn(proof->table, values[b], proof->n - op->peer);
        if (proof->moved[b] < 0)
            return NULL;
    }
    return proof->moved;
}

/* Both sides of a message are posted: its values move if they can be reduced at once, since there
 * may be temporary space for a single element only, or if two ranks swap a range. Otherwise the
 * receive is examined again later. */
static int deliver(struct strag_proof *proof, int from, int send, int to, int recv)
{
    const struct strag_op *op = &proof->plans[to]->ops[recv];
    struct strag_proof_event *event = &proof->events[to][recv];
    bool alone;
    size_t blocks = (size_t)proof->blocks, size = (size_t)op->count * sizeof *proof->held;
    const int32_t *values = values_of(proof, from, send);
    const int32_t before = chain_before(proof, from, send);
    int status = STRAG_OK;
    if (!values)
        return strag_proof_stopped(proof->effort, proof->err);
    event->chain = before + 1;
    if (op->kind == STRAG_RECV) {
        memcpy(proof->held + (size_t)to * blocks + op->first, values, size);
        done(proof, to, recv);
    } else if (waits_done(proof, to, recv)) {
        status = reduce(proof, to, recv, values);
    } else if (!swaps(proof, from, send, to, recv)) {
        watch(proof, to, recv, blocking_wait(proof, to, recv, &alone));
        return STRAG_OK;
    } else {
        status = keep(proof, event, values, size);
        event->progress = ARRIVED;
        watch(proof, to, recv, blocking_wait(proof, to, recv, &alone));
    }
    done(proof, from, send);
    return status;
}

static int look_at_op(struct strag_proof *proof, int rank, int op)
{
    struct strag_proof_event *event = &proof->events[rank][op];
    const struct strag_op *ops = proof->plans[rank]->ops;
    bool alone;
    if (event->progress == WAITING) {
        const int blocker = posting_blocker(proof, rank, op);
        if (blocker == STRAG_PROOF_NONE)
            event->progress = POSTED;
        else
            watch(proof, rank, op, blocker);
    }
    const int peer = strag_proof_rank(proof, ops[op].peer);
    if (event->progress == POSTED && proof->events[peer][event->partner].progress == POSTED) {
        return ops[op].kind == STRAG_SEND ? deliver(proof, rank, op, peer, event->partner)
                                          : deliver(proof, peer, event->partner, rank, op);
    }
    if (event->progress != ARRIVED)
        return STRAG_OK;
    const int blocker = blocking_wait(proof, rank, op, &alone);
    if (blocker != STRAG_PROOF_NONE) {
        watch(proof, rank, op, blocker);
        return STRAG_OK;
    }
    int32_t *values = event->values;
    event->values = NULL;
    int status = reduce(proof, rank, op, values);
    free(values);
    strag_effort_take(proof->effort, 0, -(int64_t)((size_t)ops[op].count * sizeof *values));
    return status;
}

static int stuck(struct strag_proof *proof)
{
    for (int rank = 0; rank < proof->ranks; rank++) {
        const struct strag_proof_runner *runner = &proof->runners[rank];
        for (int op = runner->begin; op < runner->end; op++) {
            if (proof->events[rank][op].progress != DONE)
                return strag_proof_wrong(proof, rank, op, "deadlock: it waits in a circle");
        }
    }
    return STRAG_OK;
}

int strag_proof_run(struct strag_proof *proof)
{
    int status = order(proof);
    if (status != STRAG_OK)
        return status;
    for (int rank = 0; rank < proof->ranks; rank++)
        next_round(proof, rank);
    while (proof->queue_length) {
        int rank = proof->queue[proof->queue_head];
        struct strag_proof_runner *runner = &proof->runners[rank];
        proof->queue_head = (proof->queue_head + 1) % proof->ranks;
        proof->queue_length--;
        strag_progress_part(proof->progress, proof->operations_done, proof->operations);
        runner->queued = false;
        while (runner->ready != STRAG_PROOF_NONE) {
            const int op = runner->ready;
            runner->ready = proof->events[rank][op].next;
            proof->events[rank][op].listed = false;
            status = look_at_op(proof, rank, op);
            if (status == STRAG_OK && !strag_effort_is_left(proof->effort))
                status = strag_proof_stopped(proof->effort, proof->err);
            if (status != STRAG_OK)
                return status;
        }
    }
    return stuck(proof);
}
