/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Swing, for bandwidth: pairs swap halves of what is left, as in recursive halving, but with
 * partners that are close on a torus.
 *
 * swing_walk.h tells who meets whom. In a step of the reduce-scatter the ranks of the lower list
 * keep the lower blocks and send the upper ones; the others the opposite. The allgather is the same
 * backwards. A ring of 4, lists (0 1) (2 3), then (0 3) and (1 2); block 0 is rank 0's, block 1
 * rank 3's, block 2 rank 1's, block 3 rank 2's; what each rank sends:
 *
 *     round      rank 0           rank 1           rank 2           rank 3
 *       0     2 3, to rank 1   0 1, to rank 0   0 1, to rank 3   2 3, to rank 2  reduce-scatter
 *       1     1, to rank 3     3, to rank 2     2, to rank 1     0, to rank 0
 *       2     0, to rank 3     2, to rank 2     3, to rank 1     1, to rank 0    allgather
 *       3     0 1, to rank 1   2 3, to rank 0   2 3, to rank 3   0 1, to rank 2
 *
 * Half of the vector goes to a neighbour, a quarter to the other one, an eighth three links far,
 * and in D dimensions the far ones are smaller still: that is why links are hardly shared. On a
 * host of a torus with 2D links, D parts of the vector start in different dimensions, and D others
 * are mirrored, so that all links are used at the same time.
 *
 * Where a list is odd, the rank left over has many short messages in a round; see swing_walk.h.
 *
 *     rounds           2 sum ceil(log2 d_i), and 2 ceil(log2 g) for g ranks on each host
 *     sent by a rank   2(n-1)/n of the vector
 *
 * (De Sensi et al., "Swing: Short-cutting Rings for Higher Bandwidth Allreduce", sections 3 and 4;
 * ALGORITHMS.md section 1.)
 */
#include "algorithms/swing.h"

#include <limits.h>
#include <stdlib.h>

/* ---- The halves ---- */

/* A step of the reduce-scatter, which combines; or of the allgather, the same backwards: what was
 * sent comes, and what came is sent. */
struct step {
    const struct strag_swing_walk *walk;
    int number, round;
    bool combine;
};

static void swap_ranges(const struct step *step, int peer, int away, int kept, int count,
                        struct strag_builder *builder)
{
    if (step->combine) {
        strag_send(builder, step->round, peer, away, count);
        strag_recv_reduce(builder, step->round, peer, kept, count);
    } else {
        strag_send(builder, step->round, peer, kept, count);
        strag_recv(builder, step->round, peer, away, count);
    }
}

/* The one left over swaps one unit with every rank of the lower list. */
static void build_left_over(const struct step *step, const struct strag_swing_meeting *meeting,
                            struct strag_builder *builder)
{
    int unit = meeting->unit, last = meeting->first + 2 * meeting->pairs * unit;
    for (int pair = 0; pair < meeting->pairs; pair++)
        swap_ranges(step, strag_swing_lower(step->walk, step->number, pair),
                    meeting->first + pair * unit, last, unit, builder);
}

static void build_step(const struct step *step, struct strag_builder *builder)
{
    struct strag_swing_meeting meeting = strag_swing_meet(step->walk, step->number);
    int unit = meeting.unit, half = meeting.low;
    int mine = meeting.first + (meeting.upper ? half : 0);
    int theirs = meeting.first + (meeting.upper ? 0 : half);
    if (meeting.pair == meeting.pairs) {
        build_left_over(step, &meeting, builder);
        return;
    }
    swap_ranges(step, meeting.peer, theirs, mine, half, builder);
    if (meeting.left_over >= 0)
        swap_ranges(step, meeting.left_over, theirs + half, mine + meeting.pair * unit, unit,
                    builder);
}

int strag_swing_reduce_scatter(const struct strag_swing *swing,
                               const struct strag_swing_walk *walks, int round,
                               struct strag_builder *builder)
{
    struct strag_rounds wanted = strag_rounds_wanted(builder);
    if (swing->scatter_steps > 0)
        strag_stage(builder, "reduce-scatter");
    for (int step = 0; step < swing->scatter_steps; step++, round++) {
        for (int part = 0; strag_is_wanted(wanted, round) && part < swing->torus.parts; part++)
            build_step(&(struct step){&walks[part], step, round, true}, builder);
    }
    return round;
}

int strag_swing_allgather(const struct strag_swing *swing, const struct strag_swing_walk *walks,
                          int round, struct strag_builder *builder)
{
    struct strag_rounds wanted = strag_rounds_wanted(builder);
    if (swing->scatter_steps > 0)
        strag_stage(builder, "allgather");
    for (int step = swing->scatter_steps - 1; step >= 0; step--, round++) {
        for (int part = 0; strag_is_wanted(wanted, round) && part < swing->torus.parts; part++)
            build_step(&(struct step){&walks[part], step, round, false}, builder);
    }
    return round;
}

/* ---- What all forms share ---- */

int strag_swing_prepare(const struct strag_problem *problem, int scatter, void **prepared,
                        struct strag_error *err)
{
    struct strag_swing *swing = calloc(1, sizeof *swing);
    if (!swing)
        return strag_fail(err, STRAG_ERR_MEMORY, "out of memory for the steps of %d ranks",
                          problem->n);
    strag_swing_lay_out(problem, scatter, swing);
    *prepared = swing;
    return STRAG_OK;
}

/* The blocks that a rank ends with are one of swing->blocks, or of n, in each part. */
void strag_swing_claim(const struct strag_problem *problem, struct strag_claim *claim)
{
    const struct strag_swing *swing = problem->prepared;
    int blocks = swing->blocks;
    double swaps = 0;
    for (int d = 0; swing->scatter_steps < swing->steps && d < swing->torus.dims; d++)
        swaps += strag_swing_messages(swing, d);
    *claim = (struct strag_claim){
        .rounds = swing->steps + swing->scatter_steps,
        .blocks = swing->torus.parts * blocks,
        .sent_max = (2.0 * (blocks - 1) + swaps) / blocks,
        .one_ported = swing->torus.parts == 1 && strag_swing_is_even(swing),
    };
}

void strag_swing_build(const struct strag_problem *problem, int rank, struct strag_builder *builder)
{
    const struct strag_swing *swing = problem->prepared;
    struct strag_swing_walk walks[STRAG_SWING_PARTS_MAX];
    for (int part = 0; part < swing->torus.parts; part++)
        strag_swing_walk(swing, part, rank, &walks[part]);
    int round = strag_swing_reduce_scatter(swing, walks, 0, builder);
    round = strag_swing_swap(swing, walks, round, builder);
    strag_swing_allgather(swing, walks, round, builder);
}

/* In a list of 2^k an even rank meets those at the distances 1, -1, 3, -5, .. and an odd one at the
 * opposites of these: all can move on by two. */
int strag_swing_like(const struct strag_problem *problem, enum strag_machine machine, int rank)
{
    const struct strag_swing *swing = problem->prepared;
    const struct strag_torus *torus = &swing->torus;
    int local, cell = strag_torus_cell(torus, rank, &local);
    if (machine == STRAG_MACHINE_TREE || !strag_swing_is_even(swing))
        return rank;
    for (int d = 0; d < torus->dims; d++)
        cell = strag_torus_move(torus, cell, d, strag_torus_coordinate(torus, cell, d) % 2);
    return strag_torus_rank(torus, cell, local % 2);
}

/* ---- The algorithm ---- */

static int check(const struct strag_problem *problem, struct strag_error *err)
{
    return strag_torus_check(problem, "swing", problem->n, err);
}

static int prepare(const struct strag_problem *problem, void **prepared, struct strag_error *err)
{
    return strag_swing_prepare(problem, INT_MAX, prepared, err);
}

const struct strag_algorithm strag_swing = {
    .name = "swing",
    .summary = "pairs swap halves with partners close on a torus; least traffic in few rounds for "
               "any n",
    .rounds = "2 sum ceil(log2 d_i)",
    .sent = "2(n-1)/n",
    .check = check,
    .prepare = prepare,
    .release = free,
    .claim = strag_swing_claim,
    .build = strag_swing_build,
    .like = strag_swing_like,
};
