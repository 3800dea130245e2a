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
    int32_t partner;  /* the peer's operation it matches */
    uint8_t progress; /* enum progress */
    uint16_t chain;   /* messages in a row that led to what it leaves, itself among them */
    int32_t *values;  /* ARRIVED: the expressions that came, one per block */
};

/* One rank in the simulated run: it works on the operations begin .. end-1 of its current round. */
struct runner {
    int begin, end;
    int left;    /* operations of the round that are not done */
    bool queued; /* in the list of ranks to look at */
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
}

static bool waits_done_but(const struct strag_proof *proof, int rank, int op, int32_t except)
{
    int length;
    const int32_t *after = strag_plan_after(proof->plans[rank], op, &length);
    for (int i = 0; i < length; i++) {
        if (after[i] != except && proof->events[rank][after[i]].progress != DONE)
            return false;
    }
    return true;
}

static bool waits_done(const struct strag_proof *proof, int rank, int op)
{
    return waits_done_but(proof, rank, op, -1);
}

/* Does it receive into temporary space? */
static bool needs_slot(const struct strag_op *op)
{
    return op->kind == STRAG_RECV_REDUCE || op->kind == STRAG_RECV_JOIN;
}

/* May it be posted? One message to or from one peer has to be done before the next is posted, since
 * an engine may have room for a small part of a message only; likewise one recv_reduce before the
 * next, as if there was temporary space for one only. */
static bool may_post(const struct strag_proof *proof, int rank, int op)
{
    const struct strag_op *ops = proof->plans[rank]->ops;
    const struct event *events = proof->events[rank];
    bool reduces = needs_slot(&ops[op]);
    if (!reduces && !waits_done(proof, rank, op))
        return false;
    for (int i = proof->runners[rank].begin; i < op; i++) {
        bool same_way = (ops[i].kind == STRAG_SEND) == (ops[op].kind == STRAG_SEND);
        bool in_the_way =
            (same_way && ops[i].peer == ops[op].peer) || (reduces && needs_slot(&ops[i]));
        if (in_the_way && events[i].progress != DONE)
            return false;
    }
    return true;
}

/* Messages that led to what an operation needs. */
static uint16_t chain_before(const struct strag_proof *proof, int rank, int op)
{
    int length;
    const int32_t *after = strag_plan_after(proof->plans[rank], op, &length);
    uint16_t longest = 0;
    for (int i = 0; i < length; i++) {
        uint16_t chain = proof->events[rank][after[i]].chain;
        longest = chain > longest ? chain : longest;
    }
    return longest;
}

/* Its message has come by now, which has set the chain. */
static void done(struct strag_proof *proof, int rank, int op)
{
    struct event *event = &proof->events[rank][op];
    const uint16_t before = chain_before(proof, rank, op);
    event->chain = event->chain > before ? event->chain : before;
    proof->chain = event->chain > proof->chain ? event->chain : proof->chain;
    event->progress = DONE;
    proof->operations_done++;
    if (--proof->runners[rank].left == 0)
        next_round(proof, rank);
    look_at(proof, rank);
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
    look_at(proof, rank);
    return pair_up(proof, rank, op, event->values, values, event->values);
}

/* Are two ranks about to swap the same range, each to reduce what comes? Then their messages move
 * piece by piece side by side, although each one reduces only what it has sent. */
static bool swaps(const struct strag_proof *proof, int from, int send, int to, int recv)
{
    const struct strag_op *ops = proof->plans[to]->ops;
    for (int back = proof->runners[to].begin; back < proof->runners[to].end; back++) {
        if (ops[back].kind != STRAG_SEND || ops[back].peer != from ||
            ops[back].first != ops[recv].first || ops[back].count != ops[recv].count ||
            proof->events[to][back].progress != POSTED)
            continue;
        int32_t other = proof->events[to][back].partner;
        return proof->plans[from]->ops[other].kind == STRAG_RECV_REDUCE &&
               proof->events[from][other].progress == POSTED &&
               waits_done_but(proof, to, recv, back) && waits_done_but(proof, from, other, send);
    }
    return false;
}

/* Both sides of a message are posted: its values move, if there is no need to keep them. There may
 * be temporary space for a single element, so a message goes only where it can be reduced. */
static int deliver(struct strag_proof *proof, int from, int send, int to, int recv)
{
    const struct strag_op *op = &proof->plans[to]->ops[recv];
    struct event *event = &proof->events[to][recv];
    size_t blocks = (size_t)proof->blocks, size = (size_t)op->count * sizeof *proof->held;
    const int32_t *values = proof->held + (size_t)from * blocks + op->first;
    const uint16_t before = chain_before(proof, from, send);
    int status = STRAG_OK;
    event->chain = before < UINT16_MAX ? (uint16_t)(before + 1) : before;
    if (op->kind == STRAG_RECV) {
        memcpy(proof->held + (size_t)to * blocks + op->first, values, size);
        done(proof, to, recv);
    } else if (op->kind == STRAG_RECV_HOLD) {
        status = keep(proof, event, values, size);
        done(proof, to, recv);
    } else if (op->kind == STRAG_RECV_JOIN && proof->events[to][recv - 1].progress != DONE) {
        return STRAG_OK;
    } else if (op->kind == STRAG_RECV_JOIN) {
        status = join(proof, to, recv, values);
    } else if (waits_done(proof, to, recv)) {
        status = reduce(proof, to, recv, values);
    } else if (!swaps(proof, from, send, to, recv)) {
        return STRAG_OK;
    } else {
        status = keep(proof, event, values, size);
        event->progress = ARRIVED;
        look_at(proof, to);
    }
    done(proof, from, send);
    return status;
}

static int look_at_op(struct strag_proof *proof, int rank, int op)
{
    struct event *event = &proof->events[rank][op];
    const struct strag_op *ops = proof->plans[rank]->ops;
    if (event->progress == WAITING && may_post(proof, rank, op)) {
        event->progress = POSTED;
        look_at(proof, rank); /* the next one to the same peer may follow */
    }
    int peer = ops[op].peer;
    if (event->progress == POSTED && proof->events[peer][event->partner].progress == POSTED) {
        return ops[op].kind == STRAG_SEND ? deliver(proof, rank, op, peer, event->partner)
                                          : deliver(proof, peer, event->partner, rank, op);
    }
    if (event->progress == ARRIVED && waits_done(proof, rank, op)) {
        int32_t *values = event->values;
        event->values = NULL;
        int status = reduce(proof, rank, op, values);
        free(values);
        return status;
    }
    return STRAG_OK;
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
    for (int rank = 0; rank < proof->n; rank++) {
        next_round(proof, rank);
        look_at(proof, rank);
    }
    while (proof->queue_length) {
        int rank = proof->queue[proof->queue_head];
        struct runner *runner = &proof->runners[rank];
        proof->queue_head = (proof->queue_head + 1) % proof->n;
        proof->queue_length--;
        strag_progress_part(proof->progress, proof->operations_done, proof->operations);
        runner->queued = false;
        int begin = runner->begin;
        for (int op = begin; runner->begin == begin && op < runner->end; op++) {
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
