/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Swing between its two forms, for middle sizes: the first steps halve what is sent, the last ones
 * swap.
 *
 * The last steps of the reduce-scatter lead the farthest, with the shortest messages, and the
 * allgather goes all that way again. Where the latency of these steps costs more than their bytes,
 * it is better to stop dividing the blocks: the ranks of a list, which share a range of blocks
 * then, swap it, once, as swing_latency.c does with whole vectors. A ring of 8 where the first two
 * of three steps divide; what rank 0 does:
 *
 *     round    partner    sends           receives
 *       0         1       blocks 2 3      0 1           combined     reduce-scatter
 *       1         7       block 1         0             combined
 *       2         3       block 0         0             combined     swap: both have the sum
 *       3         7       block 0         1             replaced     allgather
 *       4         1       blocks 0 1      2 3           replaced
 *
 * Five rounds instead of six, and if only the last step swaps no byte more. With the first k of q
 * steps dividing, B = 2^k blocks:
 *
 *     rounds           q + k
 *     sent by a rank   2(B-1)/B + (q-k)/B vectors
 *
 * Three such: a quarter, half and three quarters of the steps divide, but none from the first list
 * of odd size on, so that all ranges are equally long. This is not in the paper.
 */
#include "algorithms/swing.h"

#include <stdlib.h>

/* So many quarters of the steps among hosts, rounded. */
static int dividing_steps(const struct strag_torus *torus, int quarters)
{
    int steps = 0;
    for (int d = 0; d < torus->dims; d++)
        steps += strag_log2_ceil(torus->size[d]);
    return (steps * quarters + 2) / 4;
}

static int prepare_partial(const struct strag_problem *problem, int quarters, void **prepared,
                           struct strag_error *err)
{
    struct strag_torus torus = strag_torus_of(problem);
    return strag_swing_prepare(problem, dividing_steps(&torus, quarters), prepared, err);
}

static int check_quarter(const struct strag_problem *problem, struct strag_error *err)
{
    return strag_torus_check(problem, "swing-quarter", problem->n, err);
}

static int check_half(const struct strag_problem *problem, struct strag_error *err)
{
    return strag_torus_check(problem, "swing-half", problem->n, err);
}

static int check_most(const struct strag_problem *problem, struct strag_error *err)
{
    return strag_torus_check(problem, "swing-most", problem->n, err);
}

static int prepare_quarter(const struct strag_problem *problem, void **prepared,
                           struct strag_error *err)
{
    return prepare_partial(problem, 1, prepared, err);
}

static int prepare_half(const struct strag_problem *problem, void **prepared,
                        struct strag_error *err)
{
    return prepare_partial(problem, 2, prepared, err);
}

static int prepare_most(const struct strag_problem *problem, void **prepared,
                        struct strag_error *err)
{
    return prepare_partial(problem, 3, prepared, err);
}

const struct strag_algorithm strag_swing_quarter = {
    .name = "swing-quarter",
    .summary = "a quarter of Swing's steps halve, the others swap",
    .rounds = "5/4 sum log2 d_i",
    .sent = "2(B-1)/B + 3/4 sum log2 d_i / B, B = n^(1/4)",
    .check = check_quarter,
    .prepare = prepare_quarter,
    .release = free,
    .claim = strag_swing_claim,
    .build = strag_swing_build,
    .like = strag_swing_like,
};

const struct strag_algorithm strag_swing_half = {
    .name = "swing-half",
    .summary = "half of Swing's steps halve, the others swap",
    .rounds = "3/2 sum log2 d_i",
    .sent = "2(B-1)/B + 1/2 sum log2 d_i / B, B = n^(1/2)",
    .check = check_half,
    .prepare = prepare_half,
    .release = free,
    .claim = strag_swing_claim,
    .build = strag_swing_build,
    .like = strag_swing_like,
};

const struct strag_algorithm strag_swing_most = {
    .name = "swing-most",
    .summary = "three quarters of Swing's steps halve, the others swap",
    .rounds = "7/4 sum log2 d_i",
    .sent = "2(B-1)/B + 1/4 sum log2 d_i / B, B = n^(3/4)",
    .check = check_most,
    .prepare = prepare_most,
    .release = free,
    .claim = strag_swing_claim,
    .build = strag_swing_build,
    .like = strag_swing_like,
};
