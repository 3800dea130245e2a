/* SPDX-License-Identifier: BSD-3-Clause */
#include "executor.h"

/* What a rank holds of a block: who is in it, and a number that says in which order. */
struct value {
    uint64_t set, order;
    bool garbage; /* never written, or overwritten at the wrong time, or somebody twice */
};

enum stage { NOT_POSTED, POSTED, ARRIVED, FINISHED };

struct item {
    enum stage stage;
    int partner;          /* the operation on the other side, or -1 */
    struct value *values; /* sends: taken when it completed by itself; recv_reduce: what came */
};

struct run {
    struct strag_plan *const *plans;
    int n, blocks;
    enum schedule schedule;
    bool in_place;
    struct value *input, *output; /* [rank][block] */
    struct item **items;
    enum outcome outcome;
};

static const struct value garbage = {0, 0, true};

static struct value *values_of(const struct run *run, int rank, bool input)
{
    struct value *values = input || run->in_place ? run->input : run->output;
    return values + (size_t)rank * (size_t)run->blocks;
}

static struct value reduced(struct value left, struct value right)
{
    return (struct value){
        .set = left.set | right.set,
        .order = scramble(left.order * 5 + scramble(right.order + 99)),
        .garbage = left.garbage || right.garbage || (left.set & right.set),
    };
}

/* ---- Form ---- */

static bool op_is_well_formed(const struct strag_plan *plan, int index)
{
    const struct strag_op *op = &plan->ops[index];
    int64_t end = (int64_t)op->first + op->count;
    if (op->kind > STRAG_RECV_REDUCE || op->first < 0 || op->count < 1 ||
        end > plan->bounds.blocks || op->peer < 0 || op->peer >= plan->n || op->peer == plan->rank)
        return false;
    if (op->round < (index ? op[-1].round : 0) || op->after > op[1].after)
        return false;
    int length;
    const int32_t *after = strag_plan_after(plan, index, &length);
    for (int w = 0; w < length; w++) {
        if (after[w] < 0 || after[w] >= index)
            return false;
    }
    return true;
}

static bool plan_is_well_formed(const struct strag_plan *plan, int n, int rank, int blocks)
{
    if (plan->n != n || plan->rank != rank || plan->bounds.blocks != blocks)
        return false;
    for (int c = 0; c < plan->ncopies; c++) {
        const struct strag_range *range = &plan->copies[c];
        if (range->first < 0 || range->count < 1 || range->first > blocks - range->count)
            return false;
    }
    for (int i = 0; i < plan->nops; i++) {
        if (!op_is_well_formed(plan, i))
            return false;
    }
    return true;
}

/* The i-th operation of `rank` to or from `peer`, or -1. */
static int ith(const struct strag_plan *plan, bool sends, int peer, int i)
{
    for (int op = 0; op < plan->nops; op++) {
        if ((plan->ops[op].kind == STRAG_SEND) == sends && plan->ops[op].peer == peer && i-- == 0)
            return op;
    }
    return -1;
}

/* Find the partners. @return whether all have one with the same range and round */
static bool match(struct run *run)
{
    for (int rank = 0; rank < run->n; rank++) {
        int to[EXECUTOR_RANKS_MAX] = {0}, from[EXECUTOR_RANKS_MAX] = {0};
        const struct strag_plan *plan = run->plans[rank];
        for (int i = 0; i < plan->nops; i++) {
            const struct strag_op *op = &plan->ops[i];
            bool send = op->kind == STRAG_SEND;
            int *seen = send ? &to[op->peer] : &from[op->peer];
            int partner = ith(run->plans[op->peer], !send, rank, (*seen)++);
            if (partner < 0)
                return false;
            const struct strag_op *other = &run->plans[op->peer]->ops[partner];
            if (other->first != op->first || other->count != op->count || other->round != op->round)
                return false;
            run->items[rank][i].partner = partner;
        }
    }
    return true;
}

/* ---- One step ---- */

static bool overlap(const struct strag_op *a, const struct strag_op *b)
{
    return a->first < b->first + b->count && b->first < a->first + a->count;
}

static bool waits_over(const struct run *run, int rank, int index)
{
    const struct strag_plan *plan = run->plans[rank];
    int length;
    const int32_t *after = strag_plan_after(plan, index, &length);
    for (int w = 0; w < length; w++) {
        /* A wait for an operation elsewhere protects nothing; it can only bring a circle about. */
        bool counts = run->schedule == STRICT || overlap(&plan->ops[index], &plan->ops[after[w]]);
        if (counts && run->items[rank][after[w]].stage != FINISHED)
            return false;
    }
    return true;
}

static bool may_post(const struct run *run, int rank, int index)
{
    const struct strag_op *ops = run->plans[rank]->ops, *op = &ops[index];
    for (int i = 0; i < index; i++) {
        enum stage stage = run->items[rank][i].stage;
        bool same_way = (ops[i].kind == STRAG_SEND) == (op->kind == STRAG_SEND);
        if (same_way && ops[i].peer == op->peer && stage == NOT_POSTED)
            return false;
        bool both_reduce = op->kind == STRAG_RECV_REDUCE && ops[i].kind == STRAG_RECV_REDUCE;
        if (run->schedule == STRICT && stage != FINISHED &&
            (ops[i].round < op->round || both_reduce))
            return false;
    }
    return op->kind == STRAG_RECV_REDUCE || waits_over(run, rank, index);
}

static struct value *copy_of(const struct value *values, int count)
{
    struct value *copy = malloc((size_t)count * sizeof *copy);
    assert_non_null(copy);
    memcpy(copy, values, (size_t)count * sizeof *copy);
    return copy;
}

/* The values that a send reads now. */
static const struct value *source(const struct run *run, int rank, int index)
{
    const struct strag_op *op = &run->plans[rank]->ops[index];
    return values_of(run, rank, op->from_input) + op->first;
}

static void reduce(struct run *run, int rank, int index)
{
    const struct strag_op *op = &run->plans[rank]->ops[index];
    struct item *item = &run->items[rank][index];
    const struct value *own = values_of(run, rank, op->from_input) + op->first;
    struct value *out = values_of(run, rank, false) + op->first;
    for (int b = 0; b < op->count; b++)
        out[b] = op->own_left ? reduced(own[b], item->values[b]) : reduced(item->values[b], own[b]);
    item->stage = FINISHED;
}

/* The receive, whose send was posted or has completed, gets its values. */
static void deliver(struct run *run, int rank, int index)
{
    const struct strag_op *op = &run->plans[rank]->ops[index];
    struct item *recv = &run->items[rank][index];
    struct item *send = &run->items[op->peer][recv->partner];
    const struct value *values = send->values ? send->values : source(run, op->peer, recv->partner);
    send->stage = FINISHED;
    if (op->kind == STRAG_RECV) {
        memcpy(values_of(run, rank, false) + op->first, values, (size_t)op->count * sizeof *values);
        recv->stage = FINISHED;
    } else {
        recv->values = copy_of(values, op->count);
        recv->stage = ARRIVED;
    }
}

static void post(struct run *run, int rank, int index)
{
    const struct strag_op *op = &run->plans[rank]->ops[index];
    run->items[rank][index].stage = POSTED;
    for (int b = 0; op->kind == STRAG_RECV && b < op->count; b++)
        values_of(run, rank, false)[op->first + b] = garbage;
}

/* Do one thing with an operation if there is one to do. @return whether there was */
static bool move(struct run *run, int rank, int index)
{
    const struct strag_op *op = &run->plans[rank]->ops[index];
    struct item *item = &run->items[rank][index];
    const struct item *partner = &run->items[op->peer][item->partner];
    if (item->stage == NOT_POSTED && may_post(run, rank, index)) {
        post(run, rank, index);
        return true;
    }
    if (item->stage == POSTED && op->kind != STRAG_SEND &&
        (partner->stage == POSTED || partner->stage == FINISHED)) {
        deliver(run, rank, index);
        return true;
    }
    if (item->stage == POSTED && op->kind == STRAG_SEND && run->schedule == EAGER) {
        item->values = copy_of(source(run, rank, index), op->count);
        item->stage = FINISHED;
        return true;
    }
    if (item->stage == ARRIVED && waits_over(run, rank, index)) {
        reduce(run, rank, index);
        return true;
    }
    return false;
}

/* ---- A run ---- */

static void set_up(struct run *run)
{
    if (run->n <= 0 || run->blocks <= 0)
        fail_msg("%d ranks, %d blocks", run->n, run->blocks);
    size_t cells = (size_t)run->n * (size_t)run->blocks;
    run->input = calloc(cells, sizeof *run->input);
    run->output = calloc(cells, sizeof *run->output);
    run->items = calloc((size_t)run->n, sizeof *run->items);
    assert_true(run->input && run->output && run->items);
    for (int rank = 0; rank < run->n; rank++) {
        const struct strag_plan *plan = run->plans[rank];
        run->items[rank] = calloc((size_t)plan->nops + 1, sizeof **run->items);
        assert_non_null(run->items[rank]);
        for (int b = 0; b < run->blocks; b++) {
            size_t cell = (size_t)rank * (size_t)run->blocks + (size_t)b;
            run->input[cell] =
                (struct value){UINT64_C(1) << rank, scramble((uint64_t)rank + 1), false};
            run->output[cell] = garbage;
        }
        for (int c = 0; c < plan->ncopies; c++) {
            const struct strag_range *range = &plan->copies[c];
            for (int b = range->first; b < range->first + range->count; b++)
                values_of(run, rank, false)[b] = values_of(run, rank, true)[b];
        }
    }
}

static void tear_down(struct run *run)
{
    for (int rank = 0; rank < run->n; rank++) {
        for (int i = 0; i < run->plans[rank]->nops; i++)
            free(run->items[rank][i].values);
        free(run->items[rank]);
    }
    free(run->items);
    free(run->input);
    free(run->output);
}

/* Every rank and operation once, from a random place on; only a part of the possible work is done
 * in each turn. @return whether something could be done */
static bool turn(struct run *run, struct rng *rng)
{
    bool possible = false;
    int first = (int)rng_below(rng, (unsigned)run->n);
    unsigned hurry = 1 + rng_below(rng, 4);
    for (int r = 0; r < run->n; r++) {
        int rank = (first + r) % run->n, nops = run->plans[rank]->nops;
        int start = nops ? (int)rng_below(rng, (unsigned)nops) : 0;
        for (int i = 0; i < nops; i++) {
            if (rng_below(rng, hurry) == 0)
                possible |= move(run, rank, (start + i) % nops);
            else
                possible = true; /* left for another turn */
        }
    }
    return possible || hurry > 1;
}

static enum outcome look(const struct run *run)
{
    uint64_t all = run->n == 64 ? UINT64_MAX : (UINT64_C(1) << run->n) - 1;
    for (int rank = 0; rank < run->n; rank++) {
        for (int i = 0; i < run->plans[rank]->nops; i++) {
            if (run->items[rank][i].stage != FINISHED)
                return OUTCOME_HANG;
        }
        const struct value *mine = values_of(run, rank, false), *first = values_of(run, 0, false);
        for (int b = 0; b < run->blocks; b++) {
            if (mine[b].garbage || mine[b].set != all || mine[b].order != first[b].order)
                return OUTCOME_WRONG;
        }
    }
    return OUTCOME_SUM;
}

enum outcome execute(struct strag_plan *const *plans, int n, enum schedule schedule, bool in_place,
                     struct rng *rng)
{
    struct run run = {
        .plans = plans,
        .n = n,
        .blocks = plans[0]->bounds.blocks,
        .schedule = schedule,
        .in_place = in_place,
    };
    if (n > EXECUTOR_RANKS_MAX || run.blocks < 1)
        return OUTCOME_MALFORMED;
    for (int rank = 0; rank < n; rank++) {
        if (!plan_is_well_formed(plans[rank], n, rank, run.blocks))
            return OUTCOME_MALFORMED;
    }
    set_up(&run);
    enum outcome outcome = OUTCOME_MALFORMED;
    if (match(&run)) {
        while (turn(&run, rng))
            ;
        outcome = look(&run);
    }
    tear_down(&run);
    return outcome;
}

enum outcome execute_often(struct strag_plan *const *plans, int n, int times, struct rng *rng)
{
    for (int i = 0; i < times; i++) {
        enum schedule schedule = i % 2 ? STRICT : EAGER;
        enum outcome outcome = execute(plans, n, schedule, i / 2 % 2 == 0, rng);
        if (outcome != OUTCOME_SUM)
            return outcome;
    }
    return OUTCOME_SUM;
}
