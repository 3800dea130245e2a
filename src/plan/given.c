/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * User plans: making one, using it as an algorithm, and sending it to another process.
 */
#include "plan/given.h"

#include "base/text.h"
#include "base/units.h"

#include <stdlib.h>
#include <string.h>

/* ---- What ranks do ---- */

static int64_t value_at(const struct strag_given_value *value, int64_t place, int64_t turn)
{
    return value->start + value->rank * place + value->turn * turn;
}

static int32_t modulo(int64_t value, int32_t modulus)
{
    const int64_t rest = value % modulus;
    return (int32_t)(rest < 0 ? rest + modulus : rest);
}

/* A round that is out of range becomes one that is refused. */
static int32_t round_of(int64_t value)
{
    return value < 0 || value >= STRAG_GIVEN_ROUNDS_MAX ? -1 : (int32_t)value;
}

/* How many operations of a loop are before a round. Rounds never decrease within a loop. */
static int64_t count_before(const struct strag_given *given, int loop, int place, int round)
{
    const int begin = strag_given_ops_begin(given, loop), ops = given->loop[loop].end - begin;
    int64_t low = 0, high = (int64_t)ops * given->loop[loop].times;
    while (low < high && round > 0) {
        const int64_t middle = low + (high - low) / 2;
        const struct strag_given_op *op = &given->op[begin + middle % ops];
        if (value_at(&op->round, place, middle / ops) < round)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool visit_loop(const struct strag_given *given, int loop, int place, int round,
                       strag_given_visitor *visit, void *context)
{
    const int begin = strag_given_ops_begin(given, loop), end = given->loop[loop].end;
    const int64_t before = count_before(given, loop, place, round);
    int o = begin + (int)(before % (end - begin));
    for (int turn = (int)(before / (end - begin)); turn < given->loop[loop].times; turn++) {
        for (; o < end; o++) {
            const struct strag_given_op *from = &given->op[o];
            const struct strag_op op = {
                .kind = from->kind,
                .stage = from->stage,
                .own_left = from->own_left,
                .peer = modulo(value_at(&from->peer, place, turn), given->head.n),
                .first = modulo(value_at(&from->first, place, turn), given->head.blocks),
                .count = from->count,
                .round = round_of(value_at(&from->round, place, turn)),
            };
            if (!visit(context, &op))
                return false;
        }
        o = begin;
    }
    return true;
}

void strag_given_visit(const struct strag_given *given, int rank, int round,
                       strag_given_visitor *visit, void *context)
{
    const int g = given->group_of[rank];
    if (g < 0)
        return;
    const struct strag_given_group *group = &given->group[g];
    const int place = (rank - group->first) / group->step;
    bool more = true;
    for (int l = strag_given_loops_begin(given, g); more && l < group->end; l++)
        more = visit_loop(given, l, place, round, visit, context);
}

/* ---- The algorithm ---- */

static const struct strag_given *given_of(const struct strag_problem *problem)
{
    return problem->algorithm->form;
}

static int check(const struct strag_problem *problem, struct strag_error *err)
{
    const struct strag_given_head *head = &given_of(problem)->head;
    if (problem->n != head->n)
        return strag_fail(err, STRAG_ERR_UNSUPPORTED, "the plan is for %s, not for %d",
                          strag_units_count(head->n, "rank").text, problem->n);
    return STRAG_OK;
}

static void claim(const struct strag_problem *problem, struct strag_claim *claim)
{
    const struct strag_given_head *head = &given_of(problem)->head;
    *claim = (struct strag_claim){
        .rounds = head->rounds,
        .blocks = head->blocks,
        .ports = head->ports,
        .chain = head->chain,
        .in_step = head->in_step,
        .waits = head->waits,
        .straggler = head->straggler,
        .before = head->before,
    };
}

static void bounds(const struct strag_problem *problem, struct strag_bounds *bounds)
{
    const struct strag_given *given = given_of(problem);
    bounds->denominator = given->numerator ? given->head.denominator : given->head.blocks;
    for (int b = 0; b <= given->head.blocks; b++)
        bounds->numerator[b] = given->numerator ? given->numerator[b] : b;
}

struct sum {
    struct strag_bounds bounds;
    double sent;
};

/* The blocks of an operation before the end of the vector; the others are at its beginning. */
static int head_count(int blocks, const struct strag_op *op)
{
    return op->count < blocks - op->first ? op->count : blocks - op->first;
}

/* ---- Ranks that do the same, turned ---- */

static int64_t common_divisor(int64_t a, int64_t b)
{
    while (b) {
        const int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a < 0 ? -a : a;
}

/* An operation's values in the turns of a loop, modulo `modulus`, differ by multiples of this
 * number. Not every multiple need occur. */
static int64_t distance_in(const struct strag_given_loop *loop,
                           const struct strag_given_value *value, int64_t modulus)
{
    return common_divisor(loop->times > 1 ? value->turn : 0, modulus);
}

/* Does a loop's operation do on every rank what it does on rank 0, turned? See `turns` in struct
 * strag_algorithm. */
static bool op_turns(const struct strag_given *given, const struct strag_given_loop *loop,
                     const struct strag_given_op *op, int shift)
{
    const struct strag_given_head *head = &given->head;
    const int64_t half = head->n % 2 ? head->n : head->n / 2;
    const int64_t blocks_apart = common_divisor(shift, head->blocks);
    const int64_t first_apart = distance_in(loop, &op->first, blocks_apart);
    if (modulo(op->peer.rank, head->n) != 1 || op->round.rank != 0 ||
        modulo(op->first.rank, head->blocks) != shift)
        return false;
    if (op->peer.start % distance_in(loop, &op->peer, half) == 0)
        return false; /* it may reach the rank that is n/2 away */
    return modulo(op->first.start, (int32_t)first_apart) + (op->count - 1) < first_apart;
}

static bool turns(const struct strag_problem *problem, int *shift)
{
    const struct strag_given *given = given_of(problem);
    const struct strag_given_head *head = &given->head;
    bool all = head->n > 2 && !given->numerator && head->ops > 0 && head->groups == 1 &&
               given->group[0].count == head->n;
    *shift = all ? modulo(given->op[0].first.rank, head->blocks) : 0;
    all = all && (int64_t)head->n * *shift % head->blocks == 0;
    for (int l = 0; all && l < head->loops; l++)
        for (int o = strag_given_ops_begin(given, l); all && o < given->loop[l].end; o++)
            all = op_turns(given, &given->loop[l], &given->op[o], *shift);
    return all;
}

int strag_given_kinds(const struct strag_given *given)
{
    int shift;
    const struct strag_problem problem = {.algorithm = &given->row};
    return turns(&problem, &shift) ? 1 : given->head.n;
}

/* ---- What it sends ---- */

static bool add_sent(void *context, const struct strag_op *op)
{
    struct sum *sum = context;
    const int head = head_count(sum->bounds.blocks, op);
    if (op->kind == STRAG_SEND)
        sum->sent += strag_block_fraction(&sum->bounds, op->first, head) +
                     strag_block_fraction(&sum->bounds, 0, op->count - head);
    return true;
}

static double sent_max(const struct strag_problem *problem)
{
    const struct strag_given *given = given_of(problem);
    const int kinds = strag_given_kinds(given);
    double most = 0;
    for (int rank = 0; rank < kinds; rank++) {
        struct sum sum = {{given->head.blocks, given->head.denominator, given->numerator}, 0};
        strag_given_visit(given, rank, 0, add_sent, &sum);
        most = sum.sent > most ? sum.sent : most;
    }
    return most;
}

struct building {
    const struct strag_given *given;
    struct strag_builder *builder;
};

static void append(struct strag_builder *builder, const struct strag_op *op, int first, int count)
{
    switch (op->kind) {
    case STRAG_SEND:
        strag_send(builder, op->round, op->peer, first, count);
        break;
    case STRAG_RECV:
        strag_recv(builder, op->round, op->peer, first, count);
        break;
    default:
        if (op->own_left)
            strag_recv_reduce_right(builder, op->round, op->peer, first, count);
        else
            strag_recv_reduce(builder, op->round, op->peer, first, count);
    }
}

static bool append_op(void *context, const struct strag_op *op)
{
    const struct building *building = context;
    if (op->round >= strag_rounds_wanted(building->builder).end)
        return false; /* the operations behind it are of later rounds, too */
    const int head = head_count(building->given->head.blocks, op);
    strag_stage(building->builder, building->given->head.stage[op->stage]);
    append(building->builder, op, op->first, head);
    append(building->builder, op, 0, op->count - head);
    return true;
}

static void build(const struct strag_problem *problem, int rank, struct strag_builder *builder)
{
    struct building building = {given_of(problem), builder};
    strag_given_visit(building.given, rank, strag_rounds_wanted(builder).first, append_op,
                      &building);
}

/* ---- Making one ---- */

struct strag_given *strag_given_create(void)
{
    struct strag_given *given = calloc(1, sizeof *given);
    if (!given)
        return NULL;
    given->row = (struct strag_algorithm){
        .name = given->head.name,
        .summary = "from a file",
        .rounds = "as given",
        .sent = "as given",
        .form = given,
        .check = check,
        .claim = claim,
        .sent_max = sent_max,
        .build = build,
        .turns = turns,
    };
    return given;
}

void strag_given_free(struct strag_given *given)
{
    if (!given)
        return;
    free(given->numerator);
    free(given->group);
    free(given->loop);
    free(given->op);
    free(given->group_of);
    free(given);
}

int64_t *strag_given_numerators(struct strag_given *given, int64_t denominator)
{
    free(given->numerator);
    given->numerator = calloc((size_t)given->head.blocks + 1, sizeof *given->numerator);
    given->head.denominator = denominator;
    given->row.bounds = bounds;
    return given->numerator;
}

int strag_given_stage(struct strag_given *given, const char *name)
{
    struct strag_given_head *head = &given->head;
    int s = 0;
    while (s < head->nstages && strcmp(head->stage[s], name) != 0)
        s++;
    if (s == STRAG_STAGES_MAX || strlen(name) >= sizeof head->stage[0])
        return -1;
    if (s == head->nstages)
        strcpy(head->stage[head->nstages++], name);
    return s;
}

bool strag_given_add_group(struct strag_given *given, int first, int count, int step)
{
    struct strag_given_head *head = &given->head;
    if (!strag_array_grow(&given->group, &given->groups_room, head->groups + 1,
                          sizeof *given->group))
        return false;
    given->group[head->groups++] = (struct strag_given_group){first, count, step, head->loops};
    return true;
}

bool strag_given_add_loop(struct strag_given *given, int times)
{
    struct strag_given_head *head = &given->head;
    if (!strag_array_grow(&given->loop, &given->loops_room, head->loops + 1, sizeof *given->loop))
        return false;
    given->loop[head->loops++] = (struct strag_given_loop){times, head->ops};
    given->group[head->groups - 1].end = head->loops;
    return true;
}

bool strag_given_add_op(struct strag_given *given, const struct strag_given_op *op)
{
    struct strag_given_head *head = &given->head;
    if (!strag_array_grow(&given->op, &given->ops_room, head->ops + 1, sizeof *given->op))
        return false;
    given->op[head->ops++] = *op;
    given->loop[head->loops - 1].end = head->ops;
    return true;
}

int strag_given_ranks(const struct strag_given *given)
{
    return given->head.n;
}

/* ---- Sending ---- */

/* The strictest alignment of all members. A packed plan may follow other packed data. */
enum { ALIGNMENT = 8 };

static size_t put(char *bytes, size_t used, const void *from, int count, size_t size)
{
    if (bytes && count)
        memcpy(bytes + used, from, (size_t)count * size);
    return used + (size_t)count * size;
}

/* @param bytes  NULL to count them only @return how many */
static size_t pack(const struct strag_given *given, char *bytes)
{
    const struct strag_given_head *head = &given->head;
    size_t used = put(bytes, 0, head, 1, sizeof *head);
    used = put(bytes, used, given->numerator, given->numerator ? head->blocks + 1 : 0,
               sizeof *given->numerator);
    used = put(bytes, used, given->group, head->groups, sizeof *given->group);
    used = put(bytes, used, given->loop, head->loops, sizeof *given->loop);
    return put(bytes, used, given->op, head->ops, sizeof *given->op);
}

int strag_given_pack(const struct strag_given *given, void **bytes, size_t *size)
{
    *size = (pack(given, NULL) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    char *packed = calloc(1, *size);
    if (!packed)
        return STRAG_ERR_MEMORY;
    pack(given, packed);
    *bytes = packed;
    return STRAG_OK;
}

/* The next `count` items. @return NULL if fewer bytes are left */
static const void *take(const char **bytes, size_t *left, int count, size_t size)
{
    const char *taken = *bytes;
    if (count < 0 || *left / size < (size_t)count)
        return NULL;
    *bytes += (size_t)count * size;
    *left -= (size_t)count * size;
    return taken;
}

/* Copy a group with its loops and operations. */
static bool copy_group(struct strag_given *given, const struct strag_given *from, int g)
{
    const struct strag_given_group *group = &from->group[g];
    bool good = strag_given_add_group(given, group->first, group->count, group->step);
    for (int l = strag_given_loops_begin(from, g); good && l < group->end; l++) {
        good = strag_given_add_loop(given, from->loop[l].times);
        for (int o = strag_given_ops_begin(from, l); good && o < from->loop[l].end; o++)
            good = strag_given_add_op(given, &from->op[o]);
    }
    return good;
}

static bool has_rank(const struct strag_given_group *group, int rank)
{
    const int beyond = rank - group->first;
    return beyond >= 0 && beyond % group->step == 0 && beyond / group->step < group->count;
}

/* Copy all, or the part that one rank needs. @param from  only the members copied here are set */
static bool copy(struct strag_given *given, const struct strag_given *from, int rank)
{
    const struct strag_given_head *head = &from->head;
    int64_t *numerator = NULL;
    bool good = true;
    given->head = *head;
    given->head.groups = given->head.loops = given->head.ops = 0;
    given->group_of = malloc((size_t)head->n * sizeof *given->group_of);
    if (from->numerator && (numerator = strag_given_numerators(given, head->denominator)))
        memcpy(numerator, from->numerator, ((size_t)head->blocks + 1) * sizeof *numerator);
    if (!given->group_of || (from->numerator && !numerator))
        return false;
    for (int r = 0; r < head->n; r++)
        given->group_of[r] = -1;
    for (int g = 0; good && g < head->groups; g++) {
        const struct strag_given_group *group = &from->group[g];
        if (rank >= 0 && !has_rank(group, rank))
            continue;
        good = copy_group(given, from, g);
        for (int j = 0; j < group->count; j++)
            given->group_of[group->first + j * group->step] = given->head.groups - 1;
    }
    return good;
}

int strag_given_unpack(const void *bytes, size_t size, int rank, struct strag_given **given,
                       struct strag_error *err)
{
    struct strag_given from = {.groups_room = 0};
    const char *next = bytes;
    struct strag_given_head *head = &from.head;
    const void *packed = take(&next, &size, 1, sizeof *head);
    if (packed)
        memcpy(head, packed, sizeof *head);
    if (packed && head->denominator)
        packed = from.numerator =
            (int64_t *)take(&next, &size, head->blocks + 1, sizeof *from.numerator);
    if (packed)
        packed = from.group =
            (struct strag_given_group *)take(&next, &size, head->groups, sizeof *from.group);
    if (packed)
        packed = from.loop =
            (struct strag_given_loop *)take(&next, &size, head->loops, sizeof *from.loop);
    if (packed)
        packed = from.op = (struct strag_given_op *)take(&next, &size, head->ops, sizeof *from.op);
    if (!packed || size >= ALIGNMENT)
        return strag_fail(err, STRAG_ERR_ARGUMENT, "a plan of another length than it says");
    struct strag_given *made = strag_given_create();
    if (!made || !copy(made, &from, rank)) {
        strag_given_free(made);
        return strag_fail(err, STRAG_ERR_MEMORY, "out of memory for a plan");
    }
    *given = made;
    return STRAG_OK;
}
