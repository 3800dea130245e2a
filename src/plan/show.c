/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Plans as text and as JSON.
 *
 * Names of algorithms and stages are written as they are. They have letters, digits and '-'; those
 * of user plans may also have blanks and _.:+ in them.
 */
#include "plan/show.h"

#include "base/c_locale.h"

#include <math.h>
#include <string.h>

/* What is done with each plan. */
struct pass {
    void (*visit)(struct pass *pass, const struct strag_plan *plan);
    FILE *out; /* after an error of the stream, nothing more is done */
    struct widths *widths;
    int first; /* rank */
};

/* Did all writes succeed? */
static int end_of(FILE *out, struct strag_error *err)
{
    return ferror(out) ? strag_fail(err, STRAG_ERR_IO, "the output could not be written")
                       : STRAG_OK;
}

/* The plans one after the other: each is made, visited and freed. */
static int visit_plans(struct pass *pass, const struct strag_instance *instance,
                       struct strag_ranks ranks, const struct strag_progress *progress,
                       struct strag_error *err)
{
    pass->first = ranks.first;
    for (int rank = ranks.first; rank < ranks.end && !ferror(pass->out); rank++) {
        struct strag_plan *plan;
        strag_progress_part(progress, rank - ranks.first, ranks.end - ranks.first);
        int status = strag_instance_plan(instance, rank, &plan, err);
        if (status != STRAG_OK)
            return status;
        pass->visit(pass, plan);
        strag_plan_free(plan);
    }
    return end_of(pass->out, err);
}

/* The columns that a number takes. */
static int digits(int value)
{
    return snprintf(NULL, 0, "%d", value);
}

/* The widths of the columns, for all tables, so that they have the same layout. */
struct widths {
    int round, op, peer, blocks, stage;
};

static int at_least(int width, int needed)
{
    return width > needed ? width : needed;
}

static struct widths least_widths(const struct strag_shape *shape)
{
    return (struct widths){
        .round = at_least(digits(shape->rounds), (int)strlen("round")),
        .op = (int)strlen("op"),
        .peer = at_least(digits(shape->n), (int)strlen("peer")),
        .blocks = at_least(2 * digits(shape->bounds.blocks) + 2, (int)strlen("blocks")),
        .stage = (int)strlen("stage"),
    };
}

/* Widen columns to what one plan needs. */
static void measure(struct pass *pass, const struct strag_plan *plan)
{
    struct widths *widths = pass->widths;
    widths->op = at_least(widths->op, digits(plan->nops));
    for (int s = 0; s < plan->nstages; s++)
        widths->stage = at_least(widths->stage, (int)strlen(plan->stages[s]));
}

static const char *left_operand(const struct strag_op *op)
{
    if (op->kind != STRAG_RECV_REDUCE)
        return "-";
    return op->own_left ? "own" : "peer";
}

/* @return how many there are */
static int write_waits(FILE *out, const struct strag_plan *plan, int index)
{
    int length;
    const int32_t *after = strag_plan_after(plan, index, &length);
    for (int i = 0; i < length; i++)
        fprintf(out, "%s%d", i ? "," : "", after[i]);
    return length;
}

static void text_op(FILE *out, const struct strag_plan *plan, int index,
                    const struct widths *widths)
{
    const struct strag_op *op = &plan->ops[index];
    char blocks[32];
    if (op->count == 1)
        snprintf(blocks, sizeof blocks, "%d", op->first);
    else
        snprintf(blocks, sizeof blocks, "%d..%d", op->first, op->first + op->count - 1);
    fprintf(out, "%*d  %*d  %-11s  %-4s  %*d  %-*s  %-*s  ", widths->round, op->round, widths->op,
            index, strag_kind_name(op->kind), left_operand(op), widths->peer, op->peer,
            widths->blocks, blocks, widths->stage, plan->stages[op->stage]);
    fputs(write_waits(out, plan, index) ? "\n" : "-\n", out);
}

static void text_plan(struct pass *pass, const struct strag_plan *plan)
{
    FILE *out = pass->out;
    const struct widths *widths = pass->widths;
    fprintf(out, "\nrank %d\n", plan->rank);
    for (int c = 0; c < plan->ncopies; c++)
        fprintf(out, "copies blocks %d..%d to the output first\n", plan->copies[c].first,
                plan->copies[c].first + plan->copies[c].count - 1);
    if (plan->nops == 0) {
        fputs("no operations\n", out);
        return;
    }
    fprintf(out, "%*s  %*s  %-11s  %-4s  %*s  %-*s  %-*s  after\n", widths->round, "round",
            widths->op, "op", "kind", "left", widths->peer, "peer", widths->blocks, "blocks",
            widths->stage, "stage");
    for (int i = 0; i < plan->nops; i++)
        text_op(out, plan, i, widths);
}

int strag_show_text(FILE *out, const struct strag_instance *instance, struct strag_ranks ranks,
                    const struct strag_progress *progress, struct strag_error *err)
{
    const struct strag_shape *shape = &instance->shape;
    struct widths widths = least_widths(shape);
    struct pass measuring = {.visit = measure, .out = out, .widths = &widths};
    struct pass writing = {.visit = text_plan, .out = out, .widths = &widths};
    strag_progress_step(progress, "planning", 0, 2);
    int status = visit_plans(&measuring, instance, ranks, progress, err);
    if (status != STRAG_OK)
        return status;
    strag_progress_step(progress, "writing", 1, 2);
    fprintf(out, "%s n=%d blocks=%d rounds=%d\n", shape->algorithm, shape->n, shape->bounds.blocks,
            shape->rounds);
    return visit_plans(&writing, instance, ranks, progress, err);
}

/* The smallest double that is not below numerator / denominator: floor(double * count) is then the
 * exact first element for every count below 2^50 / denominator. */
static double bound_above(uint64_t numerator, uint64_t denominator)
{
    const uint64_t smallest = UINT64_C(1) << 52; /* a double's significand is 2^52 to 2^53 - 1 */
    if (numerator == 0)
        return 0;
    /* The fraction is (significand + rest / denominator) / 2^shift, and the rest is below the
     * denominator. The fraction is at least 2^-62, so that at most 114 steps are taken. */
    uint64_t significand = numerator / denominator, rest = numerator % denominator;
    int shift = 0;
    while (significand < smallest) {
        rest *= 2;
        significand = 2 * significand + rest / denominator;
        rest %= denominator;
        shift++;
    }
    return ldexp((double)(significand + (rest > 0)), -shift);
}

static void json_bounds(FILE *out, const struct strag_bounds *bounds)
{
    uint64_t denominator = (uint64_t)(bounds->numerator ? bounds->denominator : bounds->blocks);
    const locale_t before = strag_c_locale_enter();
    fputs("\"bounds\":[", out);
    for (int b = 0; b <= bounds->blocks; b++) {
        uint64_t numerator = (uint64_t)(bounds->numerator ? bounds->numerator[b] : b);
        fprintf(out, "%s%.17g", b ? "," : "", bound_above(numerator, denominator));
    }
    fputs("]", out);
    strag_c_locale_leave(before);
}

/* The algorithm's promises that operations do not show. A reader of the file checks them. */
static void json_claim(FILE *out, const struct strag_claim *claim)
{
    fprintf(out, "\"claim\":{\"rounds\":%d", claim->rounds);
    if (claim->chain)
        fprintf(out, ",\"chain\":%d", claim->chain);
    if (claim->waits)
        fprintf(out, ",\"straggler\":%d,\"before\":%d", claim->straggler, claim->before);
    if (claim->ports)
        fprintf(out, ",\"ports\":%d", claim->ports);
    fprintf(out, "%s},", claim->in_step ? ",\"in_step\":true" : "");
}

/* Where blocks begin, exactly, unless they are of equal size. */
static void json_numerators(FILE *out, const struct strag_bounds *bounds)
{
    if (!bounds->numerator)
        return;
    fprintf(out, "\"denominator\":%lld,\"numerators\":[", (long long)bounds->denominator);
    for (int b = 0; b <= bounds->blocks; b++)
        fprintf(out, "%s%lld", b ? "," : "", (long long)bounds->numerator[b]);
    fputs("],", out);
}

void strag_show_json_head(FILE *out, const struct strag_instance *instance)
{
    const struct strag_shape *shape = &instance->shape;
    fprintf(out, "{\"strag-plan\":%d,", STRAG_PLAN_VERSION);
    json_claim(out, &instance->claim);
    json_numerators(out, &shape->bounds);
    fprintf(out, "\"algorithm\":\"%s\",\"n\":%d,\"blocks\":%d,", shape->algorithm, shape->n,
            shape->bounds.blocks);
}

static void json_op(FILE *out, const struct strag_plan *plan, int index)
{
    const struct strag_op *op = &plan->ops[index];
    fprintf(out,
            "{\"id\":%d,\"kind\":\"%s\",\"peer\":%d,\"first\":%d,\"count\":%d,\"round\":%d,"
            "\"stage\":\"%s\",%s\"after\":[",
            index, strag_kind_name(op->kind), op->peer, op->first, op->count, op->round,
            plan->stages[op->stage], op->own_left ? "\"own_left\":true," : "");
    write_waits(out, plan, index);
    fputs("]}", out);
}

static void json_plan(struct pass *pass, const struct strag_plan *plan)
{
    FILE *out = pass->out;
    fprintf(out, "%s{\"rank\":%d,\"ops\":[", plan->rank == pass->first ? "\n" : ",\n", plan->rank);
    for (int i = 0; i < plan->nops; i++) {
        fputs(i ? ",\n" : "\n", out);
        json_op(out, plan, i);
    }
    fputs("]}", out);
}

int strag_show_json(FILE *out, const struct strag_instance *instance, struct strag_ranks ranks,
                    const struct strag_progress *progress, struct strag_error *err)
{
    const struct strag_shape *shape = &instance->shape;
    struct pass writing = {.visit = json_plan, .out = out};
    strag_progress_step(progress, "writing", 0, 1);
    strag_show_json_head(out, instance);
    json_bounds(out, &shape->bounds);
    fputs(",\"ranks\":[", out);
    int status = visit_plans(&writing, instance, ranks, progress, err);
    if (status != STRAG_OK)
        return status;
    fputs("]}\n", out);
    return end_of(out, err);
}
