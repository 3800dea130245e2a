/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ring: every rank sends to the next and receives from the one before.
 *
 * The vector has n blocks. In the first n - 1 rounds a block travels once around and collects every
 * rank's contribution; in the other n - 1 the finished block travels around once more. Rank r:
 *
 *     round t             sends to r+1      receives from r-1
 *     t = 0 .. n-2        block r-t         block r-t-1, reduced      reduce-scatter
 *     t = n-1 .. 2n-3     block r-t         block r-t-1, replaced     allgather
 *
 * with ranks and block numbers modulo n. The blocks sent for n = 4:
 *
 *     round     0  1  2 | 3  4  5
 *     rank 0    0  3  2 | 1  0  3
 *     rank 1    1  0  3 | 2  1  0
 *     rank 2    2  1  0 | 3  2  1
 *     rank 3    3  2  1 | 0  3  2
 *
 * Rounds 2(n-1), each rank sends 2(n-1)/n of the vector, any n. (P. Patarasuk and X. Yuan,
 * "Bandwidth optimal all-reduce algorithms for clusters of workstations".)
 */
#include "algorithms/ring.h"

#include <limits.h>

void strag_ring_step(const struct strag_ring_place *place, int t, bool gather, int round,
                     struct strag_builder *builder)
{
    int sent = strag_ring_chunk(place, place->at + gather - t);
    int received = strag_ring_chunk(place, place->at + gather - t - 1);
    strag_stage(builder, gather ? "allgather" : "reduce-scatter");
    strag_send(builder, round, place->next, sent, place->chunk);
    if (gather)
        strag_recv(builder, round, place->previous, received, place->chunk);
    else
        strag_recv_reduce(builder, round, place->previous, received, place->chunk);
}

int strag_ring_same_rounds(int size, int round)
{
    int half = size - 1;
    return round < half ? half - round : 2 * half - round;
}

/* ---- The algorithm ---- */

static int check(const struct strag_problem *problem, struct strag_error *err)
{
    if (problem->n > INT_MAX / 2)
        return strag_fail(err, STRAG_ERR_UNSUPPORTED, "ring counts rounds up to %d ranks, not %d",
                          INT_MAX / 2, problem->n);
    return STRAG_OK;
}

static void claim(const struct strag_problem *problem, struct strag_claim *claim)
{
    int n = problem->n;
    *claim = (struct strag_claim){
        .rounds = 2 * (n - 1),
        .blocks = n,
        .sent_max = 2.0 * (n - 1) / n,
        .ports = 1,
    };
}

static void build(const struct strag_problem *problem, int r, struct strag_builder *builder)
{
    int n = problem->n;
    const struct strag_ring_place place = {r, n, (r + 1) % n, (r + n - 1) % n, 0, 1};
    struct strag_rounds wanted = strag_rounds_wanted(builder);
    for (int t = wanted.first; t < 2 * (n - 1) && t < wanted.end; t++)
        strag_ring_step(&place, t % (n - 1), t >= n - 1, t, builder);
}

static int same_rounds(const struct strag_problem *problem, int round, int *period)
{
    (void)period;
    return strag_ring_same_rounds(problem->n, round);
}

/* All ranks do the same, turned, unless the next rank is also the one before. */
static bool turns(const struct strag_problem *problem, int *shift)
{
    *shift = 1;
    return problem->n > 2;
}

const struct strag_algorithm strag_ring = {
    .name = "ring",
    .summary = "neighbours only; least traffic, most rounds",
    .rounds = "2(n-1)",
    .sent = "2(n-1)/n",
    .stock = true,
    .straggler_tolerant = true,
    .check = check,
    .claim = claim,
    .build = build,
    .same_rounds = same_rounds,
    .turns = turns,
};
