/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bine: butterflies whose pairs are found in base -2, a third nearer than those of recursive
 * doubling. In a ring of 2^k ranks, with rho(t) = 1 - 2 + 4 - ... + (-2)^t = 1, -1, 3, -5, 11, ...,
 * in step t an even rank x meets x + rho(t), an odd one x - rho(t), modulo 2^k:
 *
 *     k = 3     x              0   1   2   3   4   5   6   7
 *     t = 0     meets          1   0   3   2   5   4   7   6     1 apart
 *     t = 1                    7   2   1   4   3   6   5   0     1 apart
 *     t = 2                    3   6   5   0   7   2   1   4     3 apart
 *
 * bine, for long vectors, halves the rest in each step and sends most to neighbours: t = 0, 1, ...
 * in the reduce-scatter, and backwards in the allgather. bine-latency, for short vectors, swaps
 * whole vectors and begins with the farthest pairs: then all ranks that hold the same partial sum
 * got it from the same two halves, and all ranks end with identical bits. (With the nearest first,
 * ranks 1 and 0 above would reduce their 0+1 with 2+3 and with 6+7, and no two results be
 * identical.)
 *
 * Which half x keeps. Write u = x for even x and u = -x for odd ones: a step takes u to -u -
 * rho(t). All later rho are the same modulo 2^(t+2), so later steps only lead from u to -u -
 * rho(t+1) and back, modulo 2^(t+2). One of these two is even: e(t). The peer's is e(t) + 2^(t+1),
 * so bit t+1 of e(t) tells the two apart, and ranks that they meet later have the same bit. In the
 * last step the half depends on whether x is odd.
 *
 * On a torus whose dimensions are powers of two this is Swing; elsewhere ranks are a ring in the
 * order of the tree, so that neighbours in the ring are under the same switch. Other sizes are
 * folded. butterfly.h has the blocks, the ports, the folds, and the numbers.
 *
 * (De Sensi et al., "Bine Trees: Enhancing Collective Operations by Optimizing Communication
 * Locality", SC'25: the distance-doubling and the distance-halving butterfly.)
 */
#include "algorithms/butterfly.h"

#include <stdint.h>

/* 1 - 2 + 4 - ... + (-2)^t; t is 31 at most. */
static int64_t rho(int t)
{
    int64_t power = (int64_t)1 << (t + 1);
    return (1 - (t % 2 ? power : -power)) / 3;
}

static int peer(int x, int t, int log)
{
    int64_t mask = ((int64_t)1 << log) - 1;
    return (int)((x % 2 ? x - rho(t) : x + rho(t)) & mask);
}

static int half(int x, int t, int log)
{
    if (t == log - 1)
        return x % 2;
    return (int)((uint64_t)(x % 2 ? x - rho(t + 1) : x) >> (t + 1) & 1);
}

static const struct strag_butterfly near_first = {.peer = peer, .half = half},
                                    far_first = {.whole = true,
                                                 .far_first = true,
                                                 .peer = peer,
                                                 .half = half};

const struct strag_algorithm strag_bine = {
    .name = "bine",
    .summary = "butterflies in base -2, near ranks first; least traffic in few rounds, n = 2^k",
    .rounds = "2 sum(log2 d_i) (+2 per d_i != 2^k)",
    .sent = "2(p-1)/p (+1 per d_i != 2^k)",
    .form = &near_first,
    .check = strag_butterfly_check,
    .choices = strag_butterfly_choices,
    .claim = strag_butterfly_claim,
    .build = strag_butterfly_build,
};

const struct strag_algorithm strag_bine_latency = {
    .name = "bine-latency",
    .summary = "butterflies in base -2 that swap whole vectors; for short vectors",
    .rounds = "sum(log2 d_i) (+2 per d_i != 2^k)",
    .sent = "sum(log2 d_i) (+1 per d_i != 2^k)",
    .form = &far_first,
    .check = strag_butterfly_check,
    .choices = strag_butterfly_choices,
    .claim = strag_butterfly_claim,
    .build = strag_butterfly_build,
};
