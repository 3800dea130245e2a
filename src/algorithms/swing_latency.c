/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Swing, for latency: in every round pairs of ranks swap all they have, and both combine it.
 *
 * The pairs are those of swing_walk.h, in the opposite order: the farthest first. So the ranks of a
 * list have all combined the same values in the same way when they meet the other list, and all
 * ranks end with identical bits; in the paper's order they would not. A ring of 8:
 *
 *     round    pairs                               each rank holds the sum of
 *       0      (0 3) (7 4) (1 6) (2 5)             a pair
 *       1      (0 7) (4 3) (1 2) (5 6)             0 3 7 4, or 1 6 2 5
 *       2      (0 1) (2 3) (4 5) (6 7)             all
 *
 * The lower list's sum is the left operand, on both sides. In a list of odd size the one that
 * is left over gets the lower list's sum from the list's first rank; it sends nothing.
 *
 * On hosts with g ranks each, these first share the vector by a reduce-scatter among them; then the
 * shares are swapped between hosts, all at the same time; then the ranks of a host gather. On a
 * torus the vector is cut into 2D parts as for bandwidth (swing.c).
 *
 *     rounds           sum ceil(log2 d_i), and 2 ceil(log2 g)
 *     sent by a rank   sum ceil(log2 d_i) / g + 2(g-1)/g vectors
 *
 * (De Sensi et al., "Swing", section 3.1.2; ALGORITHMS.md section 1.)
 */
#include "algorithms/swing.h"

#include <stdlib.h>

/* Sends come first: they carry what was there before the round. */
static void swap(const struct strag_swing_walk *walk, int step, int round,
                 struct strag_builder *builder)
{
    struct strag_swing_meeting meeting = strag_swing_meet(walk, step);
    int first = walk->first, count = walk->count;
    if (meeting.pairs == 0)
        return;
    if (meeting.peer < 0) {
        strag_recv_reduce(builder, round, strag_swing_lower(walk, step, 0), first, count);
        return;
    }
    strag_send(builder, round, meeting.peer, first, count);
    if (meeting.left_over >= 0 && meeting.pair == 0)
        strag_send(builder, round, meeting.left_over, first, count);
    if (meeting.upper)
        strag_recv_reduce(builder, round, meeting.peer, first, count);
    else
        strag_recv_reduce_right(builder, round, meeting.peer, first, count);
}

int strag_swing_swap(const struct strag_swing *swing, const struct strag_swing_walk *walks,
                     int round, struct strag_builder *builder)
{
    struct strag_rounds wanted = strag_rounds_wanted(builder);
    if (swing->scatter_steps < swing->steps)
        strag_stage(builder, "swap");
    for (int step = swing->steps - 1; step >= swing->scatter_steps; step--, round++) {
        for (int part = 0; strag_is_wanted(wanted, round) && part < swing->torus.parts; part++)
            swap(&walks[part], step, round, builder);
    }
    return round;
}

static int check(const struct strag_problem *problem, struct strag_error *err)
{
    return strag_torus_check(problem, "swing-latency", strag_torus_of(problem).local, err);
}

static int prepare(const struct strag_problem *problem, void **prepared, struct strag_error *err)
{
    return strag_swing_prepare(problem, 0, prepared, err);
}

const struct strag_algorithm strag_swing_latency = {
    .name = "swing-latency",
    .summary = "pairs close on a torus swap whole vectors; fewest rounds for any n",
    .rounds = "sum ceil(log2 d_i)",
    .sent = "sum ceil(log2 d_i)",
    .check = check,
    .prepare = prepare,
    .release = free,
    .claim = strag_swing_claim,
    .build = strag_swing_build,
    .like = strag_swing_like,
};
