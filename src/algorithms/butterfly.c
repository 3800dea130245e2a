/* SPDX-License-Identifier: BSD-3-Clause */
#include "algorithms/butterfly.h"

#include "algorithms/fold.h"
#include "algorithms/torus.h"

/* The machine as butterflies see it. */
struct field {
    struct strag_torus torus;
    struct strag_fold fold[STRAG_DIMS_MAX];
    int folds;  /* dimensions that are folded */
    int steps;  /* of the butterfly */
    int active; /* cells that are not folded away */
};

static struct field find_field(const struct strag_problem *problem)
{
    const struct strag_butterfly *butterfly = problem->algorithm->form;
    const struct strag_problem line = {.n = problem->n};
    struct field field = {.torus = strag_torus_of_ranks(butterfly->line ? &line : problem),
                          .active = 1};
    const struct strag_torus *torus = &field.torus;
    for (int d = 0; d < torus->dims; d++) {
        struct strag_fold fold = strag_fold(torus->size[d]);
        field.fold[d] = fold;
        field.folds += fold.extra > 0;
        field.steps += fold.log;
        field.active *= fold.active;
    }
    strag_torus_set_ports(problem, butterfly->whole ? 1 : field.active, &field.torus);
    return field;
}

int strag_butterfly_check(const struct strag_problem *problem, struct strag_error *err)
{
    return strag_torus_check_ranks(problem, find_field(problem).active, err);
}

int strag_butterfly_choices(const struct strag_problem *problem, int *blocks)
{
    const struct strag_butterfly *butterfly = problem->algorithm->form;
    const struct field field = find_field(problem);
    return strag_torus_choices(problem, &field.torus, butterfly->whole ? 1 : field.active, blocks);
}

void strag_butterfly_claim(const struct strag_problem *problem, struct strag_claim *claim)
{
    struct field field = find_field(problem);
    const struct strag_butterfly *butterfly = problem->algorithm->form;
    int p = field.active, parts = field.torus.parts;
    bool whole = butterfly->whole;
    *claim = (struct strag_claim){
        .rounds = (whole ? 1 : 2) * field.steps + 2 * field.folds,
        .blocks = whole ? parts : parts * p,
        .sent_max = (whole ? field.steps : 2.0 * (p - 1) / p) + field.folds,
        .ports = parts,
        .in_step = !whole && field.folds == 0, /* measured: folded ranks lose more */
    };
}

/* ---- One rank ---- */

struct member {
    const struct strag_butterfly *butterfly;
    const struct field *field;
    int cell;
    int at[STRAG_DIMS_MAX]; /* coordinates among the dimension's active ones, or -1 if folded */
};

static struct member find_member(const struct strag_butterfly *butterfly, const struct field *field,
                                 int rank)
{
    int local;
    struct member member = {butterfly, field,
                            .cell = strag_torus_cell(&field->torus, rank, &local)};
    for (int d = 0; d < field->torus.dims; d++) {
        int x = strag_torus_coordinate(&field->torus, member.cell, d);
        member.at[d] = strag_fold_number(&field->fold[d], x);
    }
    return member;
}

/* Append a round of a dimension's fold: a cell lets the neighbour above take part in its place, or
 * takes part for the one below. A cell that one dimension has folded away is in no later fold. */
static void build_fold(const struct member *member, int d, bool out, int round, int blocks,
                       struct strag_builder *builder)
{
    const struct field *field = member->field;
    for (int e = 0; e < d; e++) {
        if (member->at[e] < 0)
            return;
    }
    int x = strag_torus_coordinate(&field->torus, member->cell, d);
    if (x >= 2 * field->fold[d].extra)
        return;
    int to = strag_torus_move(&field->torus, member->cell, d, x ^ 1);
    strag_fold_round(x, out, round, strag_torus_rank(&field->torus, to, 0), blocks, builder);
}

/* A part's pair in one of its steps. */
struct meeting {
    int peer; /* rank */
    int half; /* that the rank keeps */
};

/* The pair of one step, along dimension d for the t-th time. */
static struct meeting find_meeting(const struct member *member, bool mirrored, int d, int t)
{
    const struct field *field = member->field;
    const struct strag_fold *fold = &field->fold[d];
    int x = member->at[d];
    int y = mirrored ? (fold->active - x) % fold->active : x;
    int other = member->butterfly->peer(y, t, fold->log);
    int z = mirrored ? (fold->active - other) % fold->active : other;
    int to = strag_torus_move(&field->torus, member->cell, d, strag_fold_rank(fold, z));
    return (struct meeting){
        .peer = strag_torus_rank(&field->torus, to, 0),
        .half = member->butterfly->half(y, t, fold->log),
    };
}

/* A part's pairs in all steps. */
static void find_meetings(const struct member *member, int part, struct meeting *meetings)
{
    const struct field *field = member->field;
    struct strag_torus_step steps[STRAG_TORUS_STEPS_MAX];
    int dims = field->torus.dims, count = strag_torus_steps(&field->torus, part % dims, steps);
    for (int i = 0; i < count; i++) {
        if (steps[i].level < field->fold[steps[i].dim].log)
            *meetings++ = find_meeting(member, part >= dims, steps[i].dim, steps[i].level);
    }
}

/* Of a pair, one rank has half 0 and the other half 1, so both put the same value left. */
static void build_whole(const struct member *member, int round, struct strag_builder *builder)
{
    const struct field *field = member->field;
    struct meeting meetings[2 * STRAG_DIMS_MAX][STRAG_TORUS_STEPS_MAX];
    for (int part = 0; part < field->torus.parts; part++)
        find_meetings(member, part, meetings[part]);
    strag_stage(builder, member->butterfly->line ? "doubling" : "butterfly");
    for (int i = 0; i < field->steps; i++, round++) {
        int step = member->butterfly->far_first ? field->steps - 1 - i : i;
        for (int part = 0; part < field->torus.parts; part++) {
            struct meeting meeting = meetings[part][step];
            strag_send(builder, round, meeting.peer, part, 1);
            if (meeting.half)
                strag_recv_reduce(builder, round, meeting.peer, part, 1);
            else
                strag_recv_reduce_right(builder, round, meeting.peer, part, 1);
        }
    }
}

/* A part's way: its pairs, and the first of the blocks that are left before each step. */
struct way {
    struct meeting meetings[STRAG_TORUS_STEPS_MAX];
    int first[STRAG_TORUS_STEPS_MAX];
};

static void find_way(const struct member *member, int part, struct way *way)
{
    const struct field *field = member->field;
    int first = part * field->active;
    find_meetings(member, part, way->meetings);
    for (int step = 0; step < field->steps; step++) {
        way->first[step] = first;
        first += way->meetings[step].half * (field->active >> (step + 1));
    }
}

static void build_halves(const struct member *member, int round, struct strag_builder *builder)
{
    const struct field *field = member->field;
    struct strag_rounds wanted = strag_rounds_wanted(builder);
    struct way ways[2 * STRAG_DIMS_MAX];
    for (int part = 0; part < field->torus.parts; part++)
        find_way(member, part, &ways[part]);
    for (int i = 0; i < 2 * field->steps; i++, round++) {
        bool gather = i >= field->steps;
        int step = gather ? 2 * field->steps - 1 - i : i;
        int count = field->active >> (step + 1);
        strag_stage(builder, gather ? "allgather" : "reduce-scatter");
        for (int part = 0; strag_is_wanted(wanted, round) && part < field->torus.parts; part++) {
            const struct meeting meeting = ways[part].meetings[step];
            int first = ways[part].first[step];
            int mine = first + meeting.half * count, theirs = first + !meeting.half * count;
            strag_send(builder, round, meeting.peer, gather ? mine : theirs, count);
            if (gather)
                strag_recv(builder, round, meeting.peer, theirs, count);
            else
                strag_recv_reduce(builder, round, meeting.peer, mine, count);
        }
    }
}

void strag_butterfly_build(const struct strag_problem *problem, int rank,
                           struct strag_builder *builder)
{
    const struct strag_butterfly *butterfly = problem->algorithm->form;
    struct field field = find_field(problem);
    struct member member = find_member(butterfly, &field, rank);
    int blocks = butterfly->whole ? field.torus.parts : field.torus.parts * field.active;
    int round = 0;
    bool active = true;

    for (int d = 0; d < field.torus.dims; d++) {
        active = active && member.at[d] >= 0;
        if (field.fold[d].extra)
            build_fold(&member, d, false, round++, blocks, builder);
    }
    if (active && butterfly->whole)
        build_whole(&member, round, builder);
    else if (active)
        build_halves(&member, round, builder);
    round += (butterfly->whole ? 1 : 2) * field.steps;
    for (int d = field.torus.dims - 1; d >= 0; d--) {
        if (field.fold[d].extra)
            build_fold(&member, d, true, round++, blocks, builder);
    }
}
