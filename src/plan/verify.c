/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The proof, in the order in which verify.h lists it. The form and the hazards of each plan are
 * checked in verify_plan.c; here is what takes all plans together.
 */
#include "plan/verify.h"

#include "plan/expression.h"
#include "plan/verify_plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* How far an operation has come in the simulated run. */
enum progress {
    WAITING, /* not posted */
    POSTED,  /* the peer may meet it */
    ARRIVED, /* recv_reduce: the values are here, the waits are not done */
    DONE
};

/* One operation in the simulated run. */
struct event {
    int32_t partner; /* the peer's operation it matches */
    int32_t chain;   /* messages in a row that led to what it leaves, itself among them */

    /* The operations of the same round that have to be done before it is posted, or NONE: the last
     * one in the same direction with the same peer, and the last one that needs a slot. Those
     * before these were done before these were posted. */
    int32_t before_peer, before_slot;

    int32_t watchers; /* the head of the list of operations to look at when it is done, or NONE */
    int32_t next;     /* in the list it is in: its rank's ready ones, or another one's watchers */
    bool listed;      /* it is in one of these */
    uint8_t progress; /* enum progress */
    int32_t *values;  /* ARRIVED: the expressions that came, one per block */
};

enum { NONE = -1 };

/* One rank in the simulated run: it works on the operations begin .. end-1 of its current round. */
struct runner {
    int begin, end;
    int left;      /* operations of the round that are not done */
    int32_t ready; /* the head of the list of operations to look at, or NONE */
    bool queued;   /* in the list of ranks to look at */
};

struct strag_proof {
    int n, blocks;
    struct strag_plan *const *plans; /* during the proof only */
    struct strag_expression_table *table;
    int32_t *held; /* [rank][block]: the expression it holds */
    struct event **events;
    struct runner *runners;
    int32_t *queue; /* ranks to look at: a ring of n */
    int queue_head, queue_length;
    int32_t *left, *right; /* the expressions, for the caller */
    int64_t operations, operations_done;
    int chain;                             /* the longest one */
    const struct strag_progress *progress; /* during the proof only */
    struct strag_error *err;
};

static int out_of_memory(struct strag_error *err)
{
    return strag_fail(err, STRAG_ERR_MEMORY, "out of memory for the proof");
}

static int wrong(const struct strag_proof *proof, int rank, int op, const char *what)
{
    return strag_fail_op(proof->plans[rank], op, what, proof->err);
}

/* ---- Matching: the i-th send of a to b is the i-th receive of b from a. ---- */

struct send {
    int32_t from, op;
};

/* All sends in the order of (destination, source, program): a counting sort by the destination,
 * stable, over operations visited in the source's order. Those to a rank end at end[rank]. */
static int sort_sends(const struct strag_proof *proof, size_t *end, struct send **sends)
{
    int n = proof->n;
    for (int rank = 0; rank < n; rank++) {
        const struct strag_plan *plan = proof->plans[rank];
        for (int i = 0; i < plan->nops; i++)
            end[plan->ops[i].peer + 1] += plan->ops[i].kind == STRAG_SEND;
    }
    for (int rank = 0; rank < n; rank++)
        end[rank + 1] += end[rank];
    *sends = malloc((end[n] + 1) * sizeof **sends);
    if (!*sends)
        return out_of_memory(proof->err);
    for (int rank = 0; rank < n; rank++) {
        const struct strag_plan *plan = proof->plans[rank];
        for (int i = 0; i < plan->nops; i++) {
            if (plan->ops[i].kind == STRAG_SEND)
                (*sends)[end[plan->ops[i].peer]++] = (struct send){rank, i};
        }
    }
    return STRAG_OK;
}

/* One receive with the send that is its turn; NULL: there is none. */
static int match_receive(struct strag_proof *proof, int rank, int op, const struct send *send)
{
    if (!send)
        return wrong(proof, rank, op, "the peer never sends it");
    const struct strag_op *s = &proof->plans[send->from]->ops[send->op];
    const struct strag_op *r = &proof->plans[rank]->ops[op];
    if (s->first != r->first || s->count != r->count)
        return wrong(proof, rank, op, "the peer's message has another range");
    if (s->round != r->round)
        return wrong(proof, rank, op, "the peer's message has another round");
    proof->events[send->from][send->op].partner = op;
    proof->events[rank][op].partner = send->op;
    return STRAG_OK;
}

/* A rank's receives, with sends[begin .. end) to it.
 * @param next  [rank]: the first of that rank's sends that is not matched; no need to set it */
static int match_rank(struct strag_proof *proof, int rank, const struct send *sends, size_t begin,
                      size_t end, size_t *next)
{
    const struct strag_plan *plan = proof->plans[rank];
    int status = STRAG_OK;
    for (int i = 0; i < plan->nops; i++)
        next[plan->ops[i].peer] = end;
    for (size_t s = end; s > begin; s--)
        next[sends[s - 1].from] = s - 1;
    for (int i = 0; status == STRAG_OK && i < plan->nops; i++) {
        int peer = plan->ops[i].peer;
        if (plan->ops[i].kind == STRAG_SEND)
            continue;
        bool sent = next[peer] < end && sends[next[peer]].from == peer;
        status = match_receive(proof, rank, i, sent ? &sends[next[peer]++] : NULL);
    }
    for (size_t s = begin; status == STRAG_OK && s < end; s++) {
        if (s >= next[sends[s].from])
            status = wrong(proof, sends[s].from, sends[s].op, "the peer never receives it");
    }
    return status;
}

static int match(struct strag_proof *proof)
{
    size_t n = (size_t)proof->n;
    struct send *sends = NULL;
    size_t *end = calloc(n + 1, sizeof *end), *next = malloc(n * sizeof *next);
    int status = end && next ? sort_sends(proof, end, &sends) : out_of_memory(proof->err);
    for (int rank = 0; status == STRAG_OK && rank < proof->n; rank++) {
        strag_progress_part(proof->progress, rank, proof->n);
        status = match_rank(proof, rank, sends, rank ? end[rank - 1] : 0, end[rank], next);
    }
    free(sends);
    free(end);
    free(next);
    return status;
}

/* ---- Progress and sums: a run with ranks in lock step with their own rounds. ---- */

static void look_at(struct strag_proof *proof, int rank)
{
    if (proof->runners[rank].queued)
        return;
    proof->runners[rank].queued = true;
    proof->queue[(proof->queue_head + proof->queue_length++) % proof->n] = rank;
}

/* Something that it may go on with has happened. An operation that watches another one is left to
 * that. */
static void wake(struct strag_proof *proof, int rank, int op)
{
    struct event *event = &proof->events[rank][op];
    if (event->listed)
        return;
    event->listed = true;
    event->next = proof->runners[rank].ready;
    proof->runners[rank].ready = op;
    look_at(proof, rank);
}

/* Look at it again when `blocker`, which is not done, is; or before, if that is already noted. */
static void watch(const struct strag_proof *proof, int rank, int op, int blocker)
{
    struct event *event = &proof->events[rank][op];
    if (event->listed)
        return;
    event->listed = true;
    event->next = proof->events[rank][blocker].watchers;
    proof->events[rank][blocker].watchers = op;
}

static void wake_watchers(struct strag_proof *proof, int rank, int op)
{
    struct event *events = proof->events[rank];
    int32_t next = events[op].watchers;
    events[op].watchers = NONE;
    while (next != NONE) {
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
    struct runner *runner = &proof->runners[rank];
    runner->begin = runner->end;
    while (runner->end < plan->nops &&
           plan->ops[runner->end].round == plan->ops[runner->begin].round)
        runner->end++;
    runner->left = runner->end - runner->begin;
    for (int op = runner->end - 1; op >= runner->begin; op--) /* the first one is taken first */
        wake(proof, rank, op);
}

static bool is_done(const struct strag_proof *proof, int rank, int op)
{
    return op == NONE || proof->events[rank][op].progress == DONE;
}

static bool same_message(const struct strag_op *send, const struct strag_op *recv)
{
    return send->kind == STRAG_SEND && send->peer == recv->peer && send->first == recv->first &&
           send->count == recv->count;
}

/*
 * The waits of an operation that are not done: the last one, or NONE. A send back to the peer of
 * the same range is named only if there is nothing else, and then the last but one of those, if
 * there are several (they are done in order): the last one may be swapped with what comes.
 *
 * @param[out] alone  it is the only one
 */
static int blocking_wait(const struct strag_proof *proof, int rank, int op, bool *alone)
{
    const struct strag_op *ops = proof->plans[rank]->ops;
    int length, undone = 0;
    int32_t other = NONE, back = NONE, back_before = NONE;
    const int32_t *after = strag_plan_after(proof->plans[rank], op, &length);
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
    if (other != NONE)
        return other;
    return back_before != NONE ? back_before : back;
}

static bool waits_done(const struct strag_proof *proof, int rank, int op)
{
    bool alone;
    return blocking_wait(proof, rank, op, &alone) == NONE;
}

/* Does it receive into temporary space? */
static bool needs_slot(const struct strag_op *op)
{
    return op->kind == STRAG_RECV_REDUCE || op->kind == STRAG_RECV_JOIN;
}

/* What keeps it from being posted, or NONE. One message to or from one peer has to be done before
 * the next is posted, since an engine may have room for a small part of a message only; likewise
 * one recv_reduce before the next, as if there was temporary space for one only. */
static int posting_blocker(const struct strag_proof *proof, int rank, int op)
{
    const struct event *event = &proof->events[rank][op];
    bool alone;
    if (!is_done(proof, rank, event->before_peer))
        return event->before_peer;
    if (!needs_slot(&proof->plans[rank]->ops[op]))
        return blocking_wait(proof, rank, op, &alone);
    return is_done(proof, rank, event->before_slot) ? NONE : event->before_slot;
}

/* Note what goes before each operation of a rank.
 * @param last  [2 * peer + direction]: room, all NONE, also afterwards */
static void order_rank(const struct strag_proof *proof, int rank, int32_t *last)
{
    const struct strag_plan *plan = proof->plans[rank];
    int32_t slot = NONE;
    for (int i = 0; i < plan->nops; i++) {
        const struct strag_op *op = &plan->ops[i];
        struct event *event = &proof->events[rank][i];
        int32_t *peer = &last[2 * (size_t)op->peer + (op->kind == STRAG_SEND)];
        event->before_peer = *peer != NONE && plan->ops[*peer].round == op->round ? *peer : NONE;
        event->before_slot = slot != NONE && plan->ops[slot].round == op->round ? slot : NONE;
        *peer = i;
        if (needs_slot(op))
            slot = i;
    }
    for (int i = 0; i < plan->nops; i++)
        last[2 * (size_t)plan->ops[i].peer + (plan->ops[i].kind == STRAG_SEND)] = NONE;
}

static int order(const struct strag_proof *proof)
{
    const size_t room = 2 * (size_t)proof->n;
    int32_t *last = malloc(room * sizeof *last);
    if (!last)
        return out_of_memory(proof->err);
    for (size_t i = 0; i < room; i++)
        last[i] = NONE;
    for (int rank = 0; rank < proof->n; rank++)
        order_rank(proof, rank, last);
    free(last);
    return STRAG_OK;
}

/* Messages that led to what an operation needs. */
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

/* Its message has come by now, which has set the chain. */
static void done(struct strag_proof *proof, int rank, int op)
{
    struct event *event = &proof->events[rank][op];
    const int32_t before = chain_before(proof, rank, op);
    event->chain = event->chain > before ? event->chain : before;
    proof->chain = event->chain > proof->chain ? event->chain : proof->chain;
    event->progress = DONE;
    proof->operations_done++;
    wake_watchers(proof, rank, op);
    if (--proof->runners[rank].left == 0)
        next_round(proof, rank);
}

/* An operation's expressions, one per block: left (op) right. */
static int pair_up(struct strag_proof *proof, int rank, int op_index, const int32_t *left,
                   const int32_t *right, int32_t *out)
{
    const struct strag_op *op = &proof->plans[rank]->ops[op_index];
    int32_t last_left = -1, last_right = -1, last = -1;
    for (int b = 0; b < op->count; b++) {
        int32_t l = left[b], r = right[b];
        if (l != last_left || r != last_right) {
            last = strag_expression_pair(proof->table, l, r);
            last_left = l;
            last_right = r;
        }
        if (last == STRAG_EXPRESSION_MEMORY)
            return out_of_memory(proof->err);
        if (last == STRAG_EXPRESSION_TWICE)
            return strag_fail(proof->err, STRAG_ERR_FALSE,
                              "rank %d, round %d, block %d: rank %d's contribution comes twice",
                              rank, op->round, op->first + b,
                              strag_expression_common(proof->table, l, r));
        out[b] = last;
    }
    return STRAG_OK;
}

/* Reduce the values that came into what the rank holds. */
static int reduce(struct strag_proof *proof, int rank, int op_index, const int32_t *values)
{
    const struct strag_op *op = &proof->plans[rank]->ops[op_index];
    int32_t *mine = proof->held + (size_t)rank * (size_t)proof->blocks + op->first;
    int status = op->own_left ? pair_up(proof, rank, op_index, mine, values, mine)
                              : pair_up(proof, rank, op_index, values, mine, mine);
    if (status == STRAG_OK)
        done(proof, rank, op_index);
    return status;
}

/* Keep the values of a message. */
static int keep(struct strag_proof *proof, struct event *event, const int32_t *values, size_t size)
{
    event->values = malloc(size);
    if (!event->values)
        return out_of_memory(proof->err);
    memcpy(event->values, values, size);
    return STRAG_OK;
}

/* What was kept aside takes in what comes, and there it may stay: there is space for all of it. */
static int join(struct strag_proof *proof, int rank, int op, const int32_t *values)
{
    struct event *held = &proof->events[rank][op - 1], *event = &proof->events[rank][op];
    event->values = held->values;
    held->values = NULL;
    event->progress = ARRIVED;
    wake(proof, rank, op);
    return pair_up(proof, rank, op, event->values, values, event->values);
}

/* Are two ranks about to swap the same range, each to reduce what comes? Then their messages move
 * piece by piece side by side, although each one reduces only what it has sent. */
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
    return wait == NONE || (alone && wait == send);
}

/* Both sides of a message are posted: its values move, if there is no need to keep them. There may
 * be temporary space for a single element, so a message goes only where it can be reduced. */
static int deliver(struct strag_proof *proof, int from, int send, int to, int recv)
{
    const struct strag_op *op = &proof->plans[to]->ops[recv];
    struct event *event = &proof->events[to][recv];
    bool alone;
    size_t blocks = (size_t)proof->blocks, size = (size_t)op->count * sizeof *proof->held;
    const int32_t *values = proof->held + (size_t)from * blocks + op->first;
    const int32_t before = chain_before(proof, from, send);
    int status = STRAG_OK;
    event->chain = before + 1;
    if (op->kind == STRAG_RECV) {
        memcpy(proof->held + (size_t)to * blocks + op->first, values, size);
        done(proof, to, recv);
    } else if (op->kind == STRAG_RECV_HOLD) {
        status = keep(proof, event, values, size);
        done(proof, to, recv);
    } else if (op->kind == STRAG_RECV_JOIN && !is_done(proof, to, recv - 1)) {
        watch(proof, to, recv, recv - 1);
        return STRAG_OK;
    } else if (op->kind == STRAG_RECV_JOIN) {
        status = join(proof, to, recv, values);
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
    struct event *event = &proof->events[rank][op];
    const struct strag_op *ops = proof->plans[rank]->ops;
    bool alone;
    if (event->progress == WAITING) {
        const int blocker = posting_blocker(proof, rank, op);
        if (blocker == NONE)
            event->progress = POSTED;
        else
            watch(proof, rank, op, blocker);
    }
    int peer = ops[op].peer;
    if (event->progress == POSTED && proof->events[peer][event->partner].progress == POSTED) {
        return ops[op].kind == STRAG_SEND ? deliver(proof, rank, op, peer, event->partner)
                                          : deliver(proof, peer, event->partner, rank, op);
    }
    if (event->progress != ARRIVED)
        return STRAG_OK;
    const int blocker = blocking_wait(proof, rank, op, &alone);
    if (blocker != NONE) {
        watch(proof, rank, op, blocker);
        return STRAG_OK;
    }
    int32_t *values = event->values;
    event->values = NULL;
    int status = reduce(proof, rank, op, values);
    free(values);
    return status;
}

static int stuck(struct strag_proof *proof)
{
    for (int rank = 0; rank < proof->n; rank++) {
        const struct runner *runner = &proof->runners[rank];
        for (int op = runner->begin; op < runner->end; op++) {
            if (proof->events[rank][op].progress != DONE)
                return wrong(proof, rank, op, "deadlock: it waits in a circle");
        }
    }
    return STRAG_OK;
}

static int run(struct strag_proof *proof)
{
    for (int rank = 0; rank < proof->n; rank++)
        next_round(proof, rank);
    while (proof->queue_length) {
        int rank = proof->queue[proof->queue_head];
        struct runner *runner = &proof->runners[rank];
        proof->queue_head = (proof->queue_head + 1) % proof->n;
        proof->queue_length--;
        strag_progress_part(proof->progress, proof->operations_done, proof->operations);
        runner->queued = false;
        while (runner->ready != NONE) {
            const int op = runner->ready;
            runner->ready = proof->events[rank][op].next;
            proof->events[rank][op].listed = false;
            int status = look_at_op(proof, rank, op);
            if (status != STRAG_OK)
                return status;
        }
    }
    return stuck(proof);
}

static int check_result(struct strag_proof *proof)
{
    size_t blocks = (size_t)proof->blocks;
    for (int b = 0; b < proof->blocks; b++) {
        int32_t result = proof->held[b];
        int ranks = strag_expression_ranks(proof->table, result);
        if (ranks != proof->n)
            return strag_fail(proof->err, STRAG_ERR_FALSE,
                              "rank 0 ends with %d of %d contributions in block %d", ranks,
                              proof->n, b);
        for (int rank = 1; rank < proof->n; rank++) {
            int32_t other = proof->held[(size_t)rank * blocks + (size_t)b];
            if (other == result)
                continue;
            ranks = strag_expression_ranks(proof->table, other);
            if (ranks != proof->n)
                return strag_fail(proof->err, STRAG_ERR_FALSE,
                                  "rank %d ends with %d of %d contributions in block %d", rank,
                                  ranks, proof->n, b);
            return strag_fail(proof->err, STRAG_ERR_FALSE,
                              "rank %d sums up block %d in another order than rank 0, so its bits "
                              "may differ",
                              rank, b);
        }
    }
    return STRAG_OK;
}

/* ---- The proof as a whole. ---- */

void strag_proof_free(struct strag_proof *proof)
{
    if (!proof)
        return;
    strag_expressions_free(proof->table);
    free(proof->held);
    free(proof->left);
    free(proof->right);
    free(proof);
}

/* What only the run needs. */
static void free_run(struct strag_proof *proof)
{
    for (int rank = 0; proof->events && rank < proof->n; rank++) {
        for (int op = 0; proof->events[rank] && op < proof->plans[rank]->nops; op++)
            free(proof->events[rank][op].values);
        free(proof->events[rank]);
    }
    free(proof->events);
    free(proof->runners);
    free(proof->queue);
    proof->events = NULL;
    proof->runners = NULL;
    proof->queue = NULL;
    proof->plans = NULL;
    proof->progress = NULL;
    proof->err = NULL;
}

static int allocate_run(struct strag_proof *proof)
{
    size_t n = (size_t)proof->n, blocks = (size_t)proof->blocks;
    proof->table = strag_expressions_create(proof->n);
    proof->held = malloc(n * blocks * sizeof *proof->held);
    proof->events = calloc(n, sizeof *proof->events);
    proof->runners = calloc(n, sizeof *proof->runners);
    proof->queue = malloc(n * sizeof *proof->queue);
    if (!proof->table || !proof->held || !proof->events || !proof->runners || !proof->queue)
        return out_of_memory(proof->err);
    for (size_t rank = 0; rank < n; rank++) {
        proof->events[rank] = calloc((size_t)proof->plans[rank]->nops + 1, sizeof **proof->events);
        if (!proof->events[rank])
            return out_of_memory(proof->err);
        for (int op = 0; op < proof->plans[rank]->nops; op++)
            proof->events[rank][op].watchers = NONE;
        proof->runners[rank].ready = NONE;
        for (size_t b = 0; b < blocks; b++)
            proof->held[rank * blocks + b] = (int32_t)rank;
    }
    return STRAG_OK;
}

/* Lay the operands out in arrays for the caller. */
static int export_expressions(struct strag_proof *proof)
{
    int32_t count = strag_expression_count(proof->table) - proof->n;
    proof->left = malloc(((size_t)count + 1) * sizeof *proof->left);
    proof->right = malloc(((size_t)count + 1) * sizeof *proof->right);
    if (!proof->left || !proof->right)
        return out_of_memory(proof->err);
    for (int32_t i = 0; i < count; i++)
        strag_expression_operands(proof->table, proof->n + i, &proof->left[i], &proof->right[i]);
    return STRAG_OK;
}

/* What a watched proof does, one after the other. */
enum { PLANNING, CHECKING, MATCHING, RUNNING, STEPS };

static int check_plans(struct strag_proof *proof)
{
    int status = STRAG_OK;
    for (int rank = 0; status == STRAG_OK && rank < proof->n; rank++)
        status = strag_verify_form(proof->plans, proof->n, rank, proof->err);
    for (int rank = 0; status == STRAG_OK && rank < proof->n; rank++) {
        strag_progress_part(proof->progress, rank, proof->n);
        status = strag_verify_hazards(proof->plans[rank], proof->err);
        proof->operations += proof->plans[rank]->nops;
    }
    return status;
}

static int prove(struct strag_proof *proof)
{
    strag_progress_step(proof->progress, "checking", CHECKING, STEPS);
    int status = check_plans(proof);
    if (status == STRAG_OK)
        status = allocate_run(proof);
    strag_progress_step(proof->progress, "matching", MATCHING, STEPS);
    if (status == STRAG_OK)
        status = match(proof);
    if (status == STRAG_OK)
        status = order(proof);
    strag_progress_step(proof->progress, "running", RUNNING, STEPS);
    if (status == STRAG_OK)
        status = run(proof);
    if (status == STRAG_OK)
        status = check_result(proof);
    return status;
}

static int prove_plans(struct strag_plan *const *plans, int n, const struct strag_claim *claim,
                       const struct strag_progress *progress, struct strag_measure *measure,
                       struct strag_proof **proof_out, struct strag_error *err)
{
    struct strag_measure mine = {0};
    struct strag_proof *proof = calloc(1, sizeof *proof);
    if (!proof)
        return out_of_memory(err);
    proof->n = n;
    proof->blocks = plans[0]->bounds.blocks;
    proof->plans = plans;
    proof->progress = progress;
    proof->err = err;
    int status = prove(proof);
    if (status == STRAG_OK)
        status = strag_measure_plans(plans, n, &mine, err);
    mine.chain = proof->chain;
    if (status == STRAG_OK && claim)
        status = strag_check_claim(plans, &mine, claim, err);
    if (status == STRAG_OK && proof_out)
        status = export_expressions(proof);
    free_run(proof);
    if (status == STRAG_OK && measure)
        *measure = mine;
    if (status == STRAG_OK && proof_out)
        *proof_out = proof;
    else
        strag_proof_free(proof);
    return status;
}

int strag_verify_plans(struct strag_plan *const *plans, int n, const struct strag_claim *claim,
                       struct strag_measure *measure, struct strag_proof **proof,
                       struct strag_error *err)
{
    return prove_plans(plans, n, claim, NULL, measure, proof, err);
}

static int verify(const struct strag_algorithm *algorithm, const struct strag_problem *problem,
                  const struct strag_progress *progress, struct strag_measure *measure,
                  struct strag_proof **proof, struct strag_error *err)
{
    struct strag_instance instance;
    strag_progress_step(progress, "planning", PLANNING, STEPS);
    int status = strag_instance_open(&instance, algorithm, problem, err);
    if (status != STRAG_OK)
        return status;
    struct strag_claim claim;
    struct strag_plan **plans = calloc((size_t)problem->n, sizeof *plans);
    const struct strag_ranks all = {0, problem->n};
    status = plans ? strag_instance_claim(&instance, &claim, err) : out_of_memory(err);
    if (status == STRAG_OK)
        status = strag_instance_plans(&instance, all, progress, plans, err);
    if (status == STRAG_OK) {
        status = prove_plans(plans, problem->n, &claim, progress, measure, proof, err);
        strag_plan_free_all(plans, problem->n);
    }
    free(plans);
    strag_instance_close(&instance);
    return status;
}

int strag_verify(const struct strag_algorithm *algorithm, const struct strag_problem *problem,
                 struct strag_measure *measure, struct strag_proof **proof, struct strag_error *err)
{
    return verify(algorithm, problem, NULL, measure, proof, err);
}

int strag_verify_watched(const struct strag_algorithm *algorithm,
                         const struct strag_problem *problem, const struct strag_progress *progress,
                         struct strag_measure *measure, struct strag_error *err)
{
    return verify(algorithm, problem, progress, measure, NULL, err);
}

void strag_proof_expressions(const struct strag_proof *proof, struct strag_expressions *expressions)
{
    *expressions = (struct strag_expressions){
        .n = proof->n,
        .nodes = strag_expression_count(proof->table),
        .left = proof->left,
        .right = proof->right,
        .result = proof->held, /* rank 0's; the others end with the same */
    };
}
