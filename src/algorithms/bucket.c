/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bucket: on a torus, one ring after the other, a dimension at a time.
 *
 * In the first dimension, of size d, every line of ranks does a reduce-scatter by ring: each rank
 * ends with one d-th of the vector, summed over its line. In the second dimension the lines do the
 * same with what their ranks have left, and so on; then the allgathers in the opposite order.
 * A torus of 3 x 2, rank r at (r % 3, r / 3), 6 blocks; what rank 0 sends and receives:
 *
 *     round   dimension   sends to          receives from
 *       0         0       blocks 0 1, r1    blocks 4 5 of r2, reduced      reduce-scatter
 *       1         0       blocks 4 5, r1    blocks 2 3 of r2, reduced
 *       2         1       block 2, r3       block 3 of r3, reduced
 *       3         1       block 3, r3       block 2 of r3, replaced        allgather
 *       4         0       blocks 2 3, r1    blocks 0 1 of r2, replaced
 *       5         0       blocks 0 1, r1    blocks 4 5 of r2, replaced
 *
 * A host of a torus of D dimensions has 2D links. With as many ports the vector is cut into 2D
 * parts, each of which does the above, starting in another dimension (D of them) or going the other
 * way round (the other D), so that on a whole torus at no time two parts use a link. Where the
 * dimensions are not equally long, the parts wait for the longest at the end of each dimension.
 *
 *     ports   rounds                  sent by a rank
 *     1       2 sum(d_i - 1)          2(n-1)/n of the vector
 *     2D      2 D (max(d_i) - 1)      2(n-1)/n, on all links together
 *
 * One rank per host. Without a torus: one dimension of n. (Sack and Gropp,
 * "Collective algorithms for multiported torus networks".)
 */
#include "algorithms/ring.h"
#include "algorithms/torus.h"
#include "algorithms/tree.h"

/* The rings of a problem. */
struct rings {
    struct strag_torus torus;
    int longest; /* of the sizes */
};

static struct rings find_rings(const struct strag_problem *problem)
{
    struct rings rings = {.torus = strag_torus_of_ranks(problem)};
    for (int d = 0; d < rings.torus.dims; d++)
        rings.longest = rings.torus.size[d] > rings.longest ? rings.torus.size[d] : rings.longest;
    return rings;
}

static int check(const struct strag_problem *problem, struct strag_error *err)
{
    return strag_torus_check_ranks(problem, "bucket", problem->n, err);
}

/* The dimension in which a part is in a phase of the reduce-scatter. */
static int dimension(const struct rings *rings, int part, int phase)
{
    return (part + phase) % rings->torus.dims;
}

/* Rounds of a phase: with all ports, of the longest dimension. */
static int phase_rounds(const struct rings *rings, int phase)
{
    return (rings->torus.parts > 1 ? rings->longest
                                   : rings->torus.size[dimension(rings, 0, phase)]) -
           1;
}

static int half_rounds(const struct rings *rings)
{
    int rounds = 0;
    for (int phase = 0; phase < rings->torus.dims; phase++)
        rounds += phase_rounds(rings, phase);
    return rounds;
}

static void claim(const struct strag_problem *problem, struct strag_claim *claim)
{
    struct rings rings = find_rings(problem);
    *claim = (struct strag_claim){
        .rounds = 2 * half_rounds(&rings),
        .blocks = problem->n * rings.torus.parts,
        .sent_max = 2.0 * (problem->n - 1) / problem->n,
        .one_ported = rings.torus.parts == 1,
    };
}

/* A rank in one phase of one part: its ring, and the range of blocks that the ring shares. */
static struct strag_ring_place find_place(const struct strag_problem *problem,
                                          const struct rings *rings, int rank, int part, int phase)
{
    struct strag_ring_place place = {.first = part * problem->n, .chunk = problem->n};
    const struct strag_box *box = problem->topology ? problem->topology->box : NULL;
    int cell = box ? box->cell_of[rank] : rank;
    bool forward = part < rings->torus.dims;
    for (int p = 0; p <= phase; p++) {
        int d = dimension(rings, part, p);
        int size = rings->torus.size[d], x = cell / rings->torus.stride[d] % size;
        place.at = forward ? x : (size - x) % size;
        place.size = size;
        place.chunk /= size;
        if (p < phase)
            place.first += (place.at + 1) % size * place.chunk; /* what it has left */
        int above = cell + ((x + 1) % size - x) * rings->torus.stride[d];
        int below = cell + ((x + size - 1) % size - x) * rings->torus.stride[d];
        place.next = forward ? above : below;
        place.previous = forward ? below : above;
    }
    if (box) {
        place.next = box->rank_at[place.next];
        place.previous = box->rank_at[place.previous];
    }
    return place;
}

/* A phase's wanted rounds, for all parts. */
static void build_phase(const struct strag_problem *problem, const struct rings *rings, int rank,
                        int phase, bool gather, int start, struct strag_builder *builder)
{
    struct strag_rounds wanted = strag_rounds_wanted(builder);
    struct strag_ring_place places[2 * STRAG_DIMS_MAX];
    int end = start + phase_rounds(rings, phase);
    if (wanted.first >= end || wanted.end <= start)
        return;
    for (int part = 0; part < rings->torus.parts; part++)
        places[part] = find_place(problem, rings, rank, part, phase);
    for (int round = start > wanted.first ? start : wanted.first; round < end && round < wanted.end;
         round++) {
        int t = round - start;
        for (int part = 0; part < rings->torus.parts; part++) {
            if (t < places[part].size - 1)
                strag_ring_step(&places[part], t, gather, round, builder);
        }
    }
}

static void build(const struct strag_problem *problem, int rank, struct strag_builder *builder)
{
    struct rings rings = find_rings(problem);
    int round = 0;
    for (int phase = 0; phase < rings.torus.dims; phase++) {
        build_phase(problem, &rings, rank, phase, false, round, builder);
        round += phase_rounds(&rings, phase);
    }
    for (int phase = rings.torus.dims - 1; phase >= 0; phase--) {
        build_phase(problem, &rings, rank, phase, true, round, builder);
        round += phase_rounds(&rings, phase);
    }
}

/* Until the phase ends, or one of the shorter dimensions has done. */
static int alike(const struct strag_problem *problem, int round)
{
    struct rings rings = find_rings(problem);
    int half = half_rounds(&rings), phase = 0;
    bool gather = round >= half;
    int t = gather ? round - half : round;
    for (; phase < rings.torus.dims; phase++) {
        int length = phase_rounds(&rings, gather ? rings.torus.dims - 1 - phase : phase);
        if (t < length)
            break;
        t -= length;
    }
    int rounds = phase_rounds(&rings, gather ? rings.torus.dims - 1 - phase : phase) - t;
    for (int d = 0; rings.torus.parts > 1 && d < rings.torus.dims; d++) {
        int left = rings.torus.size[d] - 1 - t;
        rounds = left > 0 && left < rounds ? left : rounds;
    }
    return rounds;
}

/* All rings move on by one. */
static int like(const struct strag_problem *problem, enum strag_machine machine, int rank)
{
    return machine == STRAG_MACHINE_TORUS ? problem->topology->box->rank_at[0] : rank;
}

const struct strag_algorithm strag_bucket = {
    .name = "bucket",
    .summary = "rings in one dimension of a torus after the other; least traffic, links to "
               "neighbours only",
    .rounds = "2 sum(d_i - 1)",
    .sent = "2(n-1)/n",
    .check = check,
    .adds_nothing = strag_tree_is_one_switch,
    .claim = claim,
    .build = build,
    .alike = alike,
    .like = like,
};
