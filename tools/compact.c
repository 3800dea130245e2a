/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finding repetitions. First within one rank: operations that come again, with peer, range and
 * round moved on by constant steps. Then among ranks: a rank's program that is another's with
 * peers, ranges and rounds moved on. All is found by trying: the best loop that begins at an
 * operation, the longest series of ranks that begins with a rank. Blocks and peers are compared
 * modulo their numbers, so that a ring's wrap is no exception.
 */
#include "compact.h"

#include "base/text.h"
#include "plan/show.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The most operations in a loop, and the largest step from one rank of a group to the next, that
 * are tried; larger steps are powers of two. */
enum { PERIOD_MAX = 64, STEP_MAX = 64 };

/* One rank's operations, in loops. */
struct program {
    struct strag_given_op *op;
    struct strag_given_loop *loop;
    int ops, ops_room, loops, loops_room;
    bool taken; /* the rank is in a group */
};

struct compacting {
    struct strag_given *given;
    struct strag_given_head *head;
    struct program *program; /* [rank] */
    struct strag_given_op *list;
    int list_room;
};

/* The distance between two values, the short way round. @param modulus  0 if there is none */
static int32_t distance(int64_t from, int64_t to, int32_t modulus)
{
    int64_t d = to - from;
    if (modulus) {
        d = (d % modulus + modulus) % modulus;
        if (2 * d > modulus)
            d -= modulus;
    }
    return (int32_t)d;
}

/* ---- One rank ---- */

/* Does an operation go on at block 0 where the one before ends? Then both are one range. */
static bool continues(const struct strag_given_op *last, const struct strag_op *op, int stage,
                      int blocks)
{
    return op->first == 0 && last->first.start > 0 && last->first.start + last->count == blocks &&
           last->kind == op->kind && last->stage == stage && last->own_left == op->own_left &&
           last->peer.start == op->peer && last->round.start == op->round &&
           op->count <= blocks - last->count;
}

/* List a plan's operations. @return how many, -1 for too many stages, -2 when out of memory */
static int list_ops(struct compacting *compacting, const struct strag_plan *plan)
{
    int count = 0;
    for (int i = 0; i < plan->nops; i++) {
        const struct strag_op *op = &plan->ops[i];
        const int stage = strag_given_stage(compacting->given, plan->stages[op->stage]);
        struct strag_given_op *last = count ? &compacting->list[count - 1] : NULL;
        if (stage < 0)
            return -1;
        if (last && continues(last, op, stage, plan->bounds.blocks)) {
            last->count += op->count;
            continue;
        }
        if (!strag_array_grow(&compacting->list, &compacting->list_room, count + 1,
                              sizeof *compacting->list))
            return -2;
        compacting->list[count] = (struct strag_given_op){
            .kind = op->kind,
            .stage = (uint8_t)stage,
            .own_left = op->own_left,
            .count = op->count,
            .peer = {op->peer, 0, 0},
            .first = {op->first, 0, 0},
            .round = {op->round, 0, 0},
        };
        count++;
    }
    return count;
}

static bool same_kind(const struct strag_given_op *a, const struct strag_given_op *b)
{
    return a->kind == b->kind && a->stage == b->stage && a->own_left == b->own_left &&
           a->count == b->count;
}

/* Is `c` to `b` what `b` is to `a`? */
static bool goes_on(const struct strag_given_head *head, const struct strag_given_op *a,
                    const struct strag_given_op *b, const struct strag_given_op *c)
{
    return same_kind(b, c) &&
           distance(a->peer.start, b->peer.start, head->n) ==
               distance(b->peer.start, c->peer.start, head->n) &&
           distance(a->first.start, b->first.start, head->blocks) ==
               distance(b->first.start, c->first.start, head->blocks) &&
           distance(a->round.start, b->round.start, 0) ==
               distance(b->round.start, c->round.start, 0);
}

/* How often, at least once, do the first `period` operations come, moved on each time? */
static int count_times(const struct strag_given_head *head, const struct strag_given_op *op,
                       int count, int period)
{
    int same = 0, at = 2 * period;
    while (same < period && same_kind(&op[same], &op[same + period]))
        same++;
    if (same < period)
        return 1;
    while (at < count && goes_on(head, &op[at - 2 * period], &op[at - period], &op[at]))
        at++;
    return at / period;
}

/* The loop that saves the most. */
static struct strag_given_loop find_loop(const struct strag_given_head *head,
                                         const struct strag_given_op *op, int count)
{
    struct strag_given_loop best = {1, 1};
    int saved = 0;
    for (int period = 1; period <= PERIOD_MAX && 2 * period <= count; period++) {
        const int times = count_times(head, op, count, period);
        if ((times - 1) * period > saved) {
            saved = (times - 1) * period;
            best = (struct strag_given_loop){times, period};
        }
        if (saved >= count / 4)
            break;
    }
    return best;
}

static bool add_to_program(struct program *program, const struct strag_given_op *op, int times,
                           int period, const struct strag_given_head *head)
{
    const bool joins = times == 1 && program->loops && program->loop[program->loops - 1].times == 1;
    if (!strag_array_grow(&program->op, &program->ops_room, program->ops + period,
                          sizeof *program->op) ||
        (!joins && !strag_array_grow(&program->loop, &program->loops_room, program->loops + 1,
                                     sizeof *program->loop)))
        return false;
    for (int i = 0; i < period; i++) {
        struct strag_given_op *made = &program->op[program->ops++];
        *made = op[i];
        if (times == 1)
            continue;
        const struct strag_given_op *next = &op[i + period];
        made->peer.turn = distance(op[i].peer.start, next->peer.start, head->n);
        made->first.turn = distance(op[i].first.start, next->first.start, head->blocks);
        made->round.turn = distance(op[i].round.start, next->round.start, 0);
    }
    if (!joins)
        program->loops++;
    program->loop[program->loops - 1] = (struct strag_given_loop){times, program->ops};
    return true;
}

static int make_program(struct compacting *compacting, const struct strag_plan *plan,
                        struct strag_error *err)
{
    struct program *program = &compacting->program[plan->rank];
    const int count = list_ops(compacting, plan);
    if (count == -1)
        return strag_fail(err, STRAG_ERR_UNSUPPORTED,
                          "all ranks' stages together are more than %d, or have names of more than "
                          "%d letters",
                          STRAG_STAGES_MAX, STRAG_GIVEN_NAME_MAX - 1);
    bool good = count >= 0;
    for (int at = 0; good && at < count;) {
        const struct strag_given_op *op = &compacting->list[at];
        const struct strag_given_loop loop = find_loop(compacting->head, op, count - at);
        good = add_to_program(program, op, loop.times, loop.end, compacting->head);
        at += loop.times * loop.end;
    }
    return good ? STRAG_OK
                : strag_fail(err, STRAG_ERR_MEMORY, "out of memory for the plan of rank %d",
                             plan->rank);
}

/* ---- Equivalent ranks ---- */

/* Are two programs equal except for the values that they start with? */
static bool same_shape(const struct program *a, const struct program *b)
{
    if (a->ops != b->ops || a->loops != b->loops)
        return false;
    for (int l = 0; l < a->loops; l++)
        if (a->loop[l].times != b->loop[l].times || a->loop[l].end != b->loop[l].end)
            return false;
    for (int o = 0; o < a->ops; o++) {
        const struct strag_given_op *x = &a->op[o], *y = &b->op[o];
        if (!same_kind(x, y) || x->peer.turn != y->peer.turn || x->first.turn != y->first.turn ||
            x->round.turn != y->round.turn)
            return false;
    }
    return true;
}

/* Is `c` to `b` what `b` is to `a`? */
static bool series(const struct strag_given_head *head, const struct program *a,
                   const struct program *b, const struct program *c)
{
    if (!same_shape(b, c))
        return false;
    int o = 0;
    while (o < a->ops && goes_on(head, &a->op[o], &b->op[o], &c->op[o]))
        o++;
    return o == a->ops;
}

/* How many ranks, at least 1, from this one on, in steps, are equivalent? */
static int count_ranks(const struct compacting *compacting, int rank, int step)
{
    const struct program *program = compacting->program;
    const int n = compacting->head->n;
    int next = rank + step;
    if (next >= n || program[next].taken || !same_shape(&program[rank], &program[next]))
        return 1;
    for (next += step;
         next < n && !program[next].taken &&
         series(compacting->head, &program[next - 2 * step], &program[next - step], &program[next]);
         next += step)
        ;
    return (next - rank) / step;
}

static bool add_group(struct compacting *compacting, int rank, int count, int step)
{
    const struct strag_given_head *head = compacting->head;
    const struct program *program = &compacting->program[rank];
    const struct program *next = count > 1 ? &compacting->program[rank + step] : program;
    bool good = strag_given_add_group(compacting->given, rank, count, step);
    for (int l = 0; good && l < program->loops; l++) {
        good = strag_given_add_loop(compacting->given, program->loop[l].times);
        for (int o = l ? program->loop[l - 1].end : 0; good && o < program->loop[l].end; o++) {
            struct strag_given_op op = program->op[o];
            const struct strag_given_op *other = &next->op[o];
            op.peer.rank = distance(op.peer.start, other->peer.start, head->n);
            op.first.rank = distance(op.first.start, other->first.start, head->blocks);
            op.round.rank = distance(op.round.start, other->round.start, 0);
            good = strag_given_add_op(compacting->given, &op);
        }
    }
    for (int j = 0; j < count; j++)
        compacting->program[rank + j * step].taken = true;
    return good;
}

static int make_groups(struct compacting *compacting, struct strag_error *err)
{
    const int n = compacting->head->n;
    for (int rank = 0; rank < n; rank++) {
        int count = 1, step = 1;
        if (compacting->program[rank].taken)
            continue;
        for (int s = 1; s < n - rank && count * s < n - rank; s = s < STEP_MAX ? s + 1 : 2 * s) {
            const int same = count_ranks(compacting, rank, s);
            if (same > count) {
                count = same;
                step = s;
            }
        }
        if (!add_group(compacting, rank, count, step))
            return strag_fail(err, STRAG_ERR_MEMORY, "out of memory for a plan of %d ranks", n);
    }
    return STRAG_OK;
}

/* ---- All ---- */

static int set_head(struct compacting *compacting, const struct strag_instance *instance,
                    struct strag_error *err)
{
    const struct strag_claim *claim = &instance->claim;
    const struct strag_bounds *bounds = &instance->shape.bounds;
    struct strag_given_head *head = compacting->head;
    *head = (struct strag_given_head){
        .n = instance->problem.n,
        .blocks = bounds->blocks,
        .chain = claim->chain,
        .ports = claim->ports,
        .straggler = claim->waits ? claim->straggler : 0,
        .before = claim->waits ? claim->before : 0,
        .in_step = claim->in_step,
        .waits = claim->waits,
    };
    if (head->n > STRAG_GIVEN_RANKS_MAX || head->blocks > STRAG_GIVEN_BLOCKS_MAX)
        return strag_fail(err, STRAG_ERR_UNSUPPORTED,
                          "%d ranks and %d blocks; a file has up to %d and %d", head->n,
                          head->blocks, STRAG_GIVEN_RANKS_MAX, STRAG_GIVEN_BLOCKS_MAX);
    snprintf(head->name, sizeof head->name, "%s", instance->shape.algorithm);
    if (!bounds->numerator)
        return STRAG_OK;
    int64_t *numerator = strag_given_numerators(compacting->given, bounds->denominator);
    if (!numerator)
        return strag_fail(err, STRAG_ERR_MEMORY, "out of memory for %d blocks", bounds->blocks);
    memcpy(numerator, bounds->numerator, ((size_t)bounds->blocks + 1) * sizeof *numerator);
    return STRAG_OK;
}

static int make_programs(struct compacting *compacting, const struct strag_instance *instance,
                         const struct strag_progress *progress, struct strag_error *err)
{
    const int n = instance->problem.n;
    int64_t operations = 0;
    int status = STRAG_OK;
    compacting->program = calloc((size_t)n, sizeof *compacting->program);
    if (!compacting->program)
        return strag_fail(err, STRAG_ERR_MEMORY, "out of memory for a plan of %d ranks", n);
    for (int rank = 0; status == STRAG_OK && rank < n; rank++) {
        struct strag_plan *plan;
        strag_progress_part(progress, rank, n);
        status = strag_instance_plan(instance, rank, &plan, err);
        if (status != STRAG_OK)
            break;
        operations += plan->nops;
        status =
            operations > STRAG_GIVEN_OPERATIONS_MAX
                ? strag_fail(err, STRAG_ERR_UNSUPPORTED, "more than %d operations of all ranks",
                             STRAG_GIVEN_OPERATIONS_MAX)
                : make_program(compacting, plan, err);
        strag_plan_free(plan);
    }
    return status;
}

static void compacting_free(struct compacting *compacting, int n)
{
    for (int rank = 0; compacting->program && rank < n; rank++) {
        free(compacting->program[rank].op);
        free(compacting->program[rank].loop);
    }
    free(compacting->program);
    free(compacting->list);
    strag_given_free(compacting->given);
}

int compact_plans(const struct strag_instance *instance, const struct strag_progress *progress,
                  struct strag_given **given, struct strag_error *err)
{
    struct compacting compacting = {.given = strag_given_create()};
    if (!compacting.given)
        return strag_fail(err, STRAG_ERR_MEMORY, "out of memory for a plan");
    compacting.head = &compacting.given->head;
    int status = set_head(&compacting, instance, err);
    if (status == STRAG_OK)
        status = make_programs(&compacting, instance, progress, err);
    if (status == STRAG_OK)
        status = make_groups(&compacting, err);
    if (status == STRAG_OK && (status = strag_given_close(compacting.given, NULL, err)) != STRAG_OK)
        status = status == STRAG_ERR_MEMORY ? status : STRAG_ERR_UNSUPPORTED;
    if (status == STRAG_OK) {
        *given = compacting.given;
        compacting.given = NULL;
    }
    compacting_free(&compacting, instance->problem.n);
    return status;
}

/* ---- Writing ---- */

/* Write "peer":[1,1]; zeros at the end are left out. @param modulus  0 if there is none */
static void compact_value(FILE *out, const char *name, const struct strag_given_value *value,
                          int modulus)
{
    int start = value->start;
    fprintf(out, ",\"%s\":", name);
    if (!value->rank && !value->turn) {
        fprintf(out, "%d", start);
        return;
    }
    if (modulus && start > modulus / 2)
        start -= modulus;
    fprintf(out, "[%d,%d", start, value->rank);
    if (value->turn)
        fprintf(out, ",%d", value->turn);
    fputc(']', out);
}

static void compact_op(FILE *out, const struct strag_given_head *head,
                       const struct strag_given_op *op)
{
    fprintf(out, "{\"kind\":\"%s\"", strag_kind_name((enum strag_kind)op->kind));
    compact_value(out, "peer", &op->peer, head->n);
    compact_value(out, "first", &op->first, head->blocks);
    fprintf(out, ",\"count\":%d", op->count);
    compact_value(out, "round", &op->round, 0);
    fprintf(out, ",\"stage\":\"%s\"%s}", head->stage[op->stage],
            op->own_left ? ",\"own_left\":true" : "");
}

static void compact_loop(FILE *out, const struct strag_given *given, int l)
{
    const struct strag_given_loop *loop = &given->loop[l];
    const int first = strag_given_ops_begin(given, l);
    if (loop->times > 1)
        fprintf(out, "{\"repeat\":%d,\"ops\":[\n", loop->times);
    for (int o = first; o < loop->end; o++) {
        fputs(o == first ? "" : ",\n", out);
        compact_op(out, &given->head, &given->op[o]);
    }
    if (loop->times > 1)
        fputs("]}", out);
}

static void compact_groups(FILE *out, const struct strag_given *given)
{
    for (int g = 0; g < given->head.groups; g++) {
        const struct strag_given_group *group = &given->group[g];
        const int first = strag_given_loops_begin(given, g);
        fprintf(out, "%s\n{\"ranks\":[%d,%d,%d],\"ops\":[", g ? "," : "", group->first,
                group->count, group->step);
        for (int l = first; l < group->end; l++) {
            fputs(l == first ? "\n" : ",\n", out);
            compact_loop(out, given, l);
        }
        fputs("]}", out);
    }
}

int write_compact(FILE *out, const struct strag_instance *instance,
                  const struct strag_progress *progress, struct strag_error *err)
{
    struct strag_given *given;
    strag_progress_step(progress, "planning", 0, 1);
    int status = compact_plans(instance, progress, &given, err);
    if (status != STRAG_OK)
        return status;
    strag_show_json_head(out, instance);
    fputs("\"groups\":[", out);
    compact_groups(out, given);
    fputs("]}\n", out);
    strag_given_free(given);
    return ferror(out) ? strag_fail(err, STRAG_ERR_IO, "the output could not be written")
                       : STRAG_OK;
}
