/* SPDX-License-Identifier: BSD-3-Clause */
#include "butterfly.h"

#include "fold.h"

#include <limits.h>

/* The machine as butterflies see it. */
struct field {
    int dims; /* those with more than one host */
    int size[STRAG_DIMS_MAX];
    int stride[STRAG_DIMS_MAX]; /* from a cell to its neighbour */
    struct strag_fold fold[STRAG_DIMS_MAX];
    int folds;  /* dimensions that are folded */
    int steps;  /* of the butterfly */
    int active; /* cells that are left of the folds */
    int parts;  /* 1, or two per dimension */
};

static const struct strag_box *box_of(const struct strag_problem *problem)
{
    return problem->topology ? problem->topology->box : NULL;
}

static void add_dimension(struct field *field, int size, int stride)
{
    struct strag_fold fold = strag_fold(size);
    field->size[field->dims] = size;
    field->stride[field->dims] = stride;
    field->fold[field->dims++] = fold;
    field->folds += fold.extra > 0;
    field->steps += fold.log;
    field->active *= fold.active;
}

static struct field find_field(const struct strag_problem *problem)
{
    struct field field = {.active = 1, .parts = 1};
    const struct strag_box *box = box_of(problem);
    int cells = 1;
    for (int d = 0; box && d < box->dims; d++) {
        if (box->size[d] > 1)
            add_dimension(&field, box->size[d], cells);
        cells *= box->size[d];
    }
    if (!box)
        add_dimension(&field, problem->n, 1);
    bool all_ports = problem->ports ? problem->ports > 1 : box != NULL;
    if (all_ports && field.dims > 0)
        field.parts = 2 * field.dims;
    return field;
}

/* Cells of a grid, or the order of the tree. */
static int cell_of(const struct strag_problem *problem, int rank)
{
    const struct strag_topology *topology = problem->topology;
    if (!topology)
        return rank;
    return topology->box ? topology->box->cell_of[rank]
                         : topology->nodes[topology->leaf_node[rank]].first_leaf;
}

static int rank_at(const struct strag_problem *problem, int cell)
{
    const struct strag_topology *topology = problem->topology;
    if (!topology)
        return cell;
    return topology->box ? topology->box->rank_at[cell] : topology->leaf_rank[cell];
}

int strag_butterfly_check(const struct strag_butterfly *butterfly,
                          const struct strag_problem *problem, struct strag_error *err)
{
    const struct strag_topology *topology = problem->topology;
    const char *name = butterfly->name;
    if (topology && topology->network != STRAG_NETWORK_TREE && !topology->box)
        return strag_fail(err, STRAG_ERR_UNSUPPORTED, "%s needs hosts that fill a box of the %s",
                          name, strag_network_name(topology->network));
    if (topology && topology->box && topology->box->ranks_per_host > 1)
        return strag_fail(err, STRAG_ERR_UNSUPPORTED, "%s needs one rank per host, not %d", name,
                          topology->box->ranks_per_host);
    struct field field = find_field(problem);
    if (problem->ports > 1 && problem->ports != 2 * field.dims)
        return strag_fail(err, STRAG_ERR_UNSUPPORTED,
                          "%s drives 1 port, or 2 for each dimension with more than one host, here "
                          "%d; not %d",
                          name, 2 * field.dims, problem->ports);
    if (field.active > INT_MAX / field.parts)
        return strag_fail(err, STRAG_ERR_UNSUPPORTED,
                          "%s cuts the vector into %d blocks at most, too few for %d ranks", name,
                          INT_MAX, problem->n);
    return STRAG_OK;
}

void strag_butterfly_claim(const struct strag_butterfly *butterfly,
                           const struct strag_problem *problem, struct strag_claim *claim)
{
    struct field field = find_field(problem);
    int p = field.active;
    bool whole = butterfly->whole;
    *claim = (struct strag_claim){
        .rounds = (whole ? 1 : 2) * field.steps + 2 * field.folds,
        .blocks = whole ? field.parts : field.parts * p,
        .sent_max = (whole ? field.steps : 2.0 * (p - 1) / p) + field.folds,
        .one_ported = field.parts == 1,
    };
}

/* ---- One rank ---- */

struct member {
    const struct strag_butterfly *butterfly;
    const struct strag_problem *problem;
    const struct field *field;
    int cell;
    int at[STRAG_DIMS_MAX]; /* coordinates, each among its dimension's active ones; -1: folded */
};

static struct member find_member(const struct strag_butterfly *butterfly,
                                 const struct strag_problem *problem, const struct field *field,
                                 int rank)
{
    struct member member = {butterfly, problem, field, .cell = cell_of(problem, rank)};
    for (int d = 0; d < field->dims; d++) {
        int x = member.cell / field->stride[d] % field->size[d];
        member.at[d] = strag_fold_number(&field->fold[d], x);
    }
    return member;
}

/* Who lets the neighbour below take part in its place, or takes part for the one above. A cell that
 * one dimension has folded away is in no fold of a later one. */
static void build_fold(const struct member *member, int d, bool out, int round, int blocks,
                       struct strag_builder *builder)
{
    const struct field *field = member->field;
    for (int e = 0; e < d; e++) {
        if (member->at[e] < 0)
            return;
    }
    if (member->cell / field->stride[d] % field->size[d] >= 2 * field->fold[d].extra)
        return;
    bool gives = member->at[d] < 0;
    int peer = rank_at(member->problem, member->cell + (gives ? 1 : -1) * field->stride[d]);
    if (out && gives)
        strag_recv(builder, round, peer, 0, blocks);
    else if (gives || out)
        strag_send(builder, round, peer, 0, blocks);
    else
        strag_recv_reduce(builder, round, peer, 0, blocks);
}

/* A part's pair in one of its steps. */
struct meeting {
    int peer; /* rank */
    int half; /* that is kept */
};

static struct meeting find_meeting(const struct member *member, int part, int step)
{
    const struct field *field = member->field;
    int d = part % field->dims, t = 0;
    /* The dimensions in turn, each with its next step, as long as it has one. */
    for (int before = step; t >= field->fold[d].log || before-- > 0;) {
        d = (d + 1) % field->dims;
        t += d == part % field->dims;
    }
    const struct strag_fold *fold = &field->fold[d];
    bool mirrored = part >= field->dims;
    int x = member->at[d];
    int y = mirrored ? (fold->active - x) % fold->active : x;
    int other = member->butterfly->peer(y, t, fold->log);
    int z = mirrored ? (fold->active - other) % fold->active : other;
    int cells = strag_fold_rank(fold, z) - strag_fold_rank(fold, x);
    return (struct meeting){
        .peer = rank_at(member->problem, member->cell + cells * field->stride[d]),
        .half = member->butterfly->half(y, t, fold->log),
    };
}

/* Both have the same value of the other's side, so both put the same one left. */
static void build_whole(const struct member *member, int round, struct strag_builder *builder)
{
    const struct field *field = member->field;
    strag_stage(builder, "butterfly");
    for (int step = 0; step < field->steps; step++, round++) {
        for (int part = 0; part < field->parts; part++) {
            struct meeting meeting = find_meeting(
                member, part, member->butterfly->far_first ? field->steps - 1 - step : step);
            strag_send(builder, round, meeting.peer, part, 1);
            if (meeting.half)
                strag_recv_reduce(builder, round, meeting.peer, part, 1);
            else
                strag_recv_reduce_right(builder, round, meeting.peer, part, 1);
        }
    }
}

/* The first block of what a part has left before a step. */
static int range_first(const struct member *member, int part, int step)
{
    int first = part * member->field->active;
    for (int s = 0; s < step; s++)
        first += find_meeting(member, part, s).half * (member->field->active >> (s + 1));
    return first;
}

static void build_halves(const struct member *member, int round, struct strag_builder *builder)
{
    const struct field *field = member->field;
    struct strag_rounds wanted = strag_rounds_wanted(builder);
    for (int i = 0; i < 2 * field->steps; i++, round++) {
        bool gather = i >= field->steps;
        int step = gather ? 2 * field->steps - 1 - i : i;
        int count = field->active >> (step + 1);
        strag_stage(builder, gather ? "allgather" : "reduce-scatter");
        for (int part = 0; strag_is_wanted(wanted, round) && part < field->parts; part++) {
            struct meeting meeting = find_meeting(member, part, step);
            int first = range_first(member, part, step);
            int mine = first + meeting.half * count, theirs = first + !meeting.half * count;
            strag_send(builder, round, meeting.peer, gather ? mine : theirs, count);
            if (gather)
                strag_recv(builder, round, meeting.peer, theirs, count);
            else
                strag_recv_reduce(builder, round, meeting.peer, mine, count);
        }
    }
}

void strag_butterfly_build(const struct strag_butterfly *butterfly,
                           const struct strag_problem *problem, int rank,
                           struct strag_builder *builder)
{
    struct field field = find_field(problem);
    struct member member = find_member(butterfly, problem, &field, rank);
    int blocks = butterfly->whole ? field.parts : field.parts * field.active;
    int round = 0;
    bool active = true;

    strag_stage(builder, "fold");
    for (int d = 0; d < field.dims; d++) {
        active = active && member.at[d] >= 0;
        if (field.fold[d].extra)
            build_fold(&member, d, false, round++, blocks, builder);
    }
    if (active && butterfly->whole)
        build_whole(&member, round, builder);
    else if (active)
        build_halves(&member, round, builder);
    round += (butterfly->whole ? 1 : 2) * field.steps;
    strag_stage(builder, "unfold");
    for (int d = field.dims - 1; d >= 0; d--) {
        if (field.fold[d].extra)
            build_fold(&member, d, true, round++, blocks, builder);
    }
}
