/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What can be proved of one plan by itself: form, hazards, counts.
 *
 * The builder's waits are not trusted: the writers and readers of each block are followed here once
 * more, and each wait that is needed must be in the plan's list.
 */
#include "plan/verify_plan.h"

#include "base/units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int strag_fail_op(const struct strag_plan *plan, int op, const char *what, struct strag_error *err)
{
    const struct strag_op *o = &plan->ops[op];
    return strag_fail(err, STRAG_ERR_FALSE,
                      "rank %d, operation %d (%s %s %d, blocks %d..%d, round %d): %s", plan->rank,
                      op, strag_kind_name((enum strag_kind)o->kind),
                      o->kind == STRAG_SEND ? "to" : "from", o->peer, o->first,
                      (int)((int64_t)o->first + o->count - 1), o->round, what);
}

static bool same_bounds(const struct strag_bounds *a, const struct strag_bounds *b)
{
    if (a->blocks != b->blocks || !a->numerator != !b->numerator)
        return false;
    if (!a->numerator)
        return true;
    return a->denominator == b->denominator &&
           memcmp(a->numerator, b->numerator, ((size_t)a->blocks + 1) * sizeof *a->numerator) == 0;
}

static int check_bounds(const struct strag_plan *plan, struct strag_error *err)
{
    const struct strag_bounds *bounds = &plan->bounds;
    if (bounds->blocks < 1)
        return strag_fail(err, STRAG_ERR_FALSE, "rank %d: no blocks", plan->rank);
    if (!bounds->numerator)
        return STRAG_OK;
    if (bounds->denominator < 1 || bounds->denominator > INT64_C(1) << 62)
        return strag_fail(err, STRAG_ERR_FALSE, "rank %d: the bounds' denominator is out of range",
                          plan->rank);
    if (bounds->numerator[0] != 0 || bounds->numerator[bounds->blocks] != bounds->denominator)
        return strag_fail(err, STRAG_ERR_FALSE, "rank %d: the bounds do not span the vector",
                          plan->rank);
    for (int b = 0; b < bounds->blocks; b++) {
        if (bounds->numerator[b] > bounds->numerator[b + 1])
            return strag_fail(err, STRAG_ERR_FALSE, "rank %d: block %d ends before it begins",
                              plan->rank, b);
    }
    return STRAG_OK;
}

static int check_op(const struct strag_plan *plan, int index, struct strag_error *err)
{
    const struct strag_op *op = &plan->ops[index];
    if (op->kind > STRAG_RECV_REDUCE)
        return strag_fail_op(plan, index, "no such kind", err);
    if (op->peer < 0 || op->peer >= plan->n || op->peer == plan->rank)
        return strag_fail_op(plan, index, "the peer is no other rank", err);
    if (op->first < 0 || op->count < 1 || op->first > plan->bounds.blocks - op->count)
        return strag_fail_op(plan, index, "the range is outside the vector", err);
    if (op->round < (index ? op[-1].round : 0) || op->round >= plan->rounds)
        return strag_fail_op(plan, index, "the round is out of order", err);
    if (op->stage >= plan->nstages && plan->nstages > 0)
        return strag_fail_op(plan, index, "no such stage", err);
    if (op->after > op[1].after)
        return strag_fail_op(plan, index, "its list of waits is broken", err);
    int length;
    const int32_t *after = strag_plan_after(plan, index, &length);
    for (int i = 0; i < length; i++) {
        if (after[i] < 0 || after[i] >= index)
            return strag_fail_op(plan, index, "it waits for no earlier operation", err);
    }
    return STRAG_OK;
}

static int check_copy(const struct strag_plan *plan, int index, struct strag_error *err)
{
    const struct strag_range *copy = &plan->copies[index];
    if (copy->first < 0 || copy->count < 1 || copy->first > plan->bounds.blocks - copy->count)
        return strag_fail(err, STRAG_ERR_FALSE, "rank %d: copy %d is outside the vector",
                          plan->rank, index);
    return STRAG_OK;
}

int strag_verify_form(struct strag_plan *const *plans, int n, int rank, struct strag_error *err)
{
    const struct strag_plan *plan = plans[rank];
    if (plan->n != n || plan->rank != rank)
        return strag_fail(err, STRAG_ERR_FALSE, "plan %d of %d is for rank %d of %d", rank, n,
                          plan->rank, plan->n);
    if (plan->rounds != plans[0]->rounds || !same_bounds(&plan->bounds, &plans[0]->bounds))
        return strag_fail(err, STRAG_ERR_FALSE,
                          "rank %d has other rounds or other blocks than rank 0", rank);
    int status = check_bounds(plan, err);
    for (int i = 0; status == STRAG_OK && i < plan->nops; i++)
        status = check_op(plan, i, err);
    for (int c = 0; status == STRAG_OK && c < plan->ncopies; c++)
        status = check_copy(plan, c, err);
    return status;
}

/* ---- Hazards ---- */

enum { NONE = -1 };

/* What has happened to a block so far. */
struct past {
    int32_t writer;  /* the last operation that wrote it, or NONE */
    int32_t readers; /* the head of the list of operations that have read it since, or NONE */
    bool copied;     /* from the input at the start */
};

struct history {
    struct past *past; /* [block] */
    int32_t *waits;    /* [operation]: the last operation that waits for it, or NONE */
    struct reader {
        int32_t op, next;
    } * list; /* of all readers */
    int32_t length;
};

static void history_free(struct history *history)
{
    free(history->past);
    free(history->waits);
    free(history->list);
}

static int history_create(const struct strag_plan *plan, struct history *history)
{
    size_t blocks = (size_t)plan->bounds.blocks, reads = 0;
    for (int i = 0; i < plan->nops; i++)
        reads += plan->ops[i].kind == STRAG_SEND ? (size_t)plan->ops[i].count : 0;
    *history = (struct history){
        .past = malloc(blocks * sizeof *history->past),
        .waits = malloc(((size_t)plan->nops + 1) * sizeof *history->waits),
        .list = malloc((reads + 1) * sizeof *history->list),
    };
    if (!history->past || !history->waits || !history->list) {
        history_free(history);
        return STRAG_ERR_MEMORY;
    }
    for (size_t b = 0; b < blocks; b++)
        history->past[b] = (struct past){NONE, NONE, false};
    for (int i = 0; i < plan->nops; i++)
        history->waits[i] = NONE;
    return STRAG_OK;
}

/* Does an operation wait for all that it must in one block? If so, record its access to it. */
static const char *check_block(struct history *history, const struct strag_op *op, int index,
                               int block)
{
    struct past *past = &history->past[block];
    int32_t writer = past->writer, reader = past->readers;
    bool writes = op->kind != STRAG_SEND;
    if (writer != NONE && (!writes || reader == NONE) && history->waits[writer] != index)
        return "it does not wait for the operation that wrote its range";
    if (!writes) {
        history->list[history->length] = (struct reader){index, reader};
        past->readers = history->length++;
        return NULL;
    }
    for (; reader != NONE; reader = history->list[reader].next) {
        if (history->waits[history->list[reader].op] != index)
            return "it does not wait for an operation that still reads its range";
    }
    past->writer = index;
    past->readers = NONE;
    return NULL;
}

/* A range is read either from the input or from the output, never from both. */
static const char *check_source(const struct history *history, const struct strag_op *op)
{
    if (op->kind == STRAG_RECV)
        return NULL;
    for (int b = op->first; b < op->first + op->count; b++) {
        bool written = history->past[b].writer != NONE;
        if (op->from_input ? written : !written && !history->past[b].copied)
            return "it reads the input where it needs the output, or the other way round";
    }
    return NULL;
}

int strag_verify_hazards(const struct strag_plan *plan, struct strag_error *err)
{
    struct history history;
    const char *what = NULL;
    if (history_create(plan, &history) != STRAG_OK)
        return strag_fail(err, STRAG_ERR_MEMORY, "out of memory for the proof");
    for (int c = 0; c < plan->ncopies; c++) {
        const struct strag_range *range = &plan->copies[c];
        for (int b = 0; b < range->count; b++)
            history.past[range->first + b].copied = true;
    }
    int i = 0;
    for (; !what && i < plan->nops; i++) {
        const struct strag_op *op = &plan->ops[i];
        int length;
        const int32_t *after = strag_plan_after(plan, i, &length);
        for (int w = 0; w < length; w++)
            history.waits[after[w]] = i;
        what = check_source(&history, op);
        for (int b = op->first; !what && b < op->first + op->count; b++)
            what = check_block(&history, op, i, b);
    }
    int missing = 0;
    while (missing < plan->bounds.blocks &&
           (history.past[missing].writer != NONE || history.past[missing].copied))
        missing++;
    history_free(&history);
    if (what)
        return strag_fail_op(plan, i - 1, what, err);
    if (missing < plan->bounds.blocks)
        return strag_fail(err, STRAG_ERR_FALSE, "rank %d: nothing puts block %d into the output",
                          plan->rank, missing);
    return STRAG_OK;
}

/* ---- Counts and claims ---- */

/* The size of a range, in blocks if they are of equal size, so that sums are exact. */
static double part(const struct strag_bounds *bounds, const struct strag_op *op)
{
    if (!bounds->numerator)
        return op->count;
    return (double)(bounds->numerator[op->first + op->count] - bounds->numerator[op->first]);
}

int strag_measure_plans(struct strag_plan *const *plans, int ranks, int n,
                        struct strag_measure *measure, struct strag_error *err)
{
    const struct strag_bounds *bounds = &plans[0]->bounds;
    double whole = bounds->numerator ? (double)bounds->denominator : bounds->blocks;
    int rounds = 0;
    *measure = (struct strag_measure){.n = n, .blocks = bounds->blocks};
    double sent = 0, reduced = 0;
    for (int rank = 0; rank < ranks; rank++) {
        const struct strag_plan *plan = plans[rank];
        sent = reduced = 0;
        for (int i = 0; i < plan->nops; i++) {
            const struct strag_op *op = &plan->ops[i];
            if (op->kind == STRAG_SEND)
                sent += part(bounds, op);
            else if (op->kind == STRAG_RECV_REDUCE)
                reduced += part(bounds, op);
            if (op->round >= rounds)
                rounds = op->round + 1;
        }
        measure->sent_total += sent / whole;
        measure->sent_max = fmax(measure->sent_max, sent / whole);
        measure->reduce_max = fmax(measure->reduce_max, reduced / whole);
    }
    for (int rank = ranks; rank < n; rank++)
        measure->sent_total += sent / whole;
    measure->rounds = rounds;
    if (rounds != plans[0]->rounds)
        return strag_fail(err, STRAG_ERR_FALSE, "the plans have %d rounds, but only %d are used",
                          plans[0]->rounds, rounds);
    return STRAG_OK;
}

/* The ranks to which a round's messages go, or from which they come. */
struct peers {
    int count, rank[STRAG_PORTS_MAX];
};

/* @return false if this is one more peer than `most` */
static bool add_peer(struct peers *peers, int rank, int most)
{
    for (int i = 0; i < peers->count; i++) {
        if (peers->rank[i] == rank)
            return true;
    }
    if (peers->count == most)
        return false;
    peers->rank[peers->count++] = rank;
    return true;
}

/* In one round a rank sends to `ports` ranks at most, and receives from as many at most. */
static int check_ports(const struct strag_plan *plan, int ports, struct strag_error *err)
{
    char why[80];
    struct peers to = {.count = 0}, from = {.count = 0};
    int round = NONE;
    for (int i = 0; i < plan->nops; i++) {
        const struct strag_op *op = &plan->ops[i];
        if (op->round != round) {
            round = op->round;
            to.count = from.count = 0;
        }
        if (!add_peer(op->kind == STRAG_SEND ? &to : &from, op->peer, ports)) {
            snprintf(why, sizeof why, "more than %s in the same round",
                     strag_units_count(ports, "peer").text);
            return strag_fail_op(plan, i, why, err);
        }
    }
    return STRAG_OK;
}

/* Is the straggler's first round the one that the algorithm claims? @param plan  the straggler's */
static int check_waiting(const struct strag_plan *plan, struct strag_measure *measure,
                         const struct strag_claim *claim, struct strag_error *err)
{
    if (!claim->waits)
        return STRAG_OK;
    int first = plan->nops ? plan->ops[0].round : plan->rounds;
    if (first != claim->before)
        return strag_fail(err, STRAG_ERR_FALSE,
                          "%s n=%d: rank %d, which is late, takes part from round %d on; it claims "
                          "%d",
                          plan->algorithm, measure->n, claim->straggler, first, claim->before);
    measure->waits = true;
    measure->before = first;
    return STRAG_OK;
}

int strag_check_claim(struct strag_plan *const *plans, int ranks, struct strag_measure *measure,
                      const struct strag_claim *claim, struct strag_error *err)
{
    const char *name = plans[0]->algorithm;
    if (measure->rounds != claim->rounds)
        return strag_fail(err, STRAG_ERR_FALSE, "%s n=%d: %s; it claims %d", name, measure->n,
                          strag_units_count(measure->rounds, "round").text, claim->rounds);
    if (measure->blocks != claim->blocks)
        return strag_fail(err, STRAG_ERR_FALSE, "%s n=%d: %s; it claims %d", name, measure->n,
                          strag_units_count(measure->blocks, "block").text, claim->blocks);
    if (claim->chain > 0 && measure->chain > claim->chain)
        return strag_fail(err, STRAG_ERR_FALSE,
                          "%s n=%d: %d messages need one another in a row; it claims %d", name,
                          measure->n, measure->chain, claim->chain);
    if (fabs(measure->sent_max - claim->sent_max) > 1e-9 * (1 + claim->sent_max))
        return strag_fail(err, STRAG_ERR_FALSE,
                          "%s n=%d: a rank sends %.9g vectors; it claims %.9g", name, measure->n,
                          measure->sent_max, claim->sent_max);
    int status =
        check_waiting(plans[claim->waits && ranks > 1 ? claim->straggler : 0], measure, claim, err);
    for (int rank = 0; claim->ports && status == STRAG_OK && rank < ranks; rank++)
        status = check_ports(plans[rank], claim->ports, err);
    return status;
}
