/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bucket: on a torus, one ring after the other, a dimension at a time.
 *
 * In the first dimension, of size d, every line of ranks does a reduce-scatter by ring: each rank
 * ends with one d-th of the vector, summed over its line. In the second dimension the lines do the
 * same with these parts, and so on; then the allgathers follow in the opposite order.
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
 * way round (the other D), so that on a whole torus no two parts use a link at the same time. If
 * the dimensions are not equally long, the parts wait for the longest at the end of each dimension.
 *
 *     ports   rounds                  sent by a rank
 *     1       2 sum(d_i - 1)          2(n-1)/n of the vector
 *     2D      2 D (max(d_i) - 1)      2(n-1)/n, on all links together
 *
 * There is one rank per host. Without a torus there is one dimension of n. (Sack and Gropp,
 * "Collective algorithms for multiported torus networks".)
 */
#include "algorithms/bucket.h"

#include "algorithms/torus.h"

#include <stdlib.h>

/* ---- Rings in dimensions ---- */

int strag_rings_create(int n, int parts, int dims, const int32_t *size, struct strag_rings **rings,
                       struct strag_error *err)
{
    struct strag_rings *made = malloc(sizeof *made);
    if (!made)
        return strag_fail(err, STRAG_ERR_MEMORY, "out of memory for the rings of %d ranks", n);
    *made = (struct strag_rings){.n = n, .parts = parts, .dims = dims};
    for (int d = 0, stride = 1; d < dims; stride *= size[d++]) {
        made->size[d] = size[d];
        made->stride[d] = stride;
    }
    *rings = made;
    return STRAG_OK;
}

void strag_rings_release(void *prepared)
{
    struct strag_rings *rings = prepared;
    strag_tree_free(rings->tree);
    free(rings);
}

/* The dimension that a part works on in a phase of the reduce-scatter. */
static int dimension(const struct strag_rings *rings, int part, int phase)
{
    return (part + phase) % rings->dims;
}

/* The rounds of a phase: those of the longest dimension that a part works on. */
static int phase_rounds(const struct strag_rings *rings, int phase)
{
    int longest = 0;
    for (int part = 0; part < rings->parts && part < rings->dims; part++) {
        const int size = rings->size[dimension(rings, part, phase)];
        longest = size > longest ? size : longest;
    }
    return longest - 1;
}

/* Phases s = 0 .. dims - 1 are the reduce-scatter, and the others are the same phases backwards. */
static int mirrored(const struct strag_rings *rings, int s)
{
    return s < rings->dims ? s : 2 * rings->dims - 1 - s;
}

void strag_rings_claim(const struct strag_problem *problem, struct strag_claim *claim)
{
    const struct strag_rings *rings = problem->prepared;
    int n = problem->n, parts = rings ? rings->parts : 1;
    *claim = (struct strag_claim){
        .blocks = n * parts,
        .sent_max = 2.0 * (n - 1) / n,
        .ports = parts,
    };
    for (int phase = 0; rings && phase < rings->dims; phase++)
        claim->rounds += 2 * phase_rounds(rings, phase);
}

/* A cell in one phase of one part: its ring, and the range of blocks that the ring shares. */
static struct strag_ring_place find_place(const struct strag_rings *rings, int cell, int part,
                                          int phase)
{
    struct strag_ring_place place = {.first = part * rings->n, .chunk = rings->n};
    bool forward = part < rings->dims;
    for (int p = 0; p <= phase; p++) {
        int d = dimension(rings, part, p);
        int size = rings->size[d], x = cell / rings->stride[d] % size;
        place.at = forward ? x : (size - x) % size;
        place.size = size;
        place.chunk /= size;
        if (p < phase)
            place.first += (place.at + 1) % size * place.chunk; /* the chunk left by phase p */
        int above = cell + ((x + 1) % size - x) * rings->stride[d];
        int below = cell + ((x + size - 1) % size - x) * rings->stride[d];
        place.next = forward ? above : below;
        place.previous = forward ? below : above;
    }
    if (rings->rank_at) {
        place.next = rings->rank_at[place.next];
        place.previous = rings->rank_at[place.previous];
    }
    return place;
}

/* Append a phase's wanted rounds, for all parts. */
static void build_phase(const struct strag_rings *rings, int cell, int phase, bool gather,
                        int start, struct strag_builder *builder)
{
    struct strag_rounds wanted = strag_rounds_wanted(builder);
    struct strag_ring_place places[2 * STRAG_DIMS_MAX];
    int end = start + phase_rounds(rings, phase);
    if (wanted.first >= end || wanted.end <= start)
        return;
    for (int part = 0; part < rings->parts; part++)
        places[part] = find_place(rings, cell, part, phase);
    for (int round = start > wanted.first ? start : wanted.first; round < end && round < wanted.end;
         round++) {
        int t = round - start;
        for (int part = 0; part < rings->parts; part++) {
            if (t < places[part].size - 1)
                strag_ring_step(&places[part], t, gather, round, builder);
        }
    }
}

void strag_rings_build(const struct strag_problem *problem, int rank, struct strag_builder *builder)
{
    const struct strag_rings *rings = problem->prepared;
    int cell = rings->cell_of ? rings->cell_of[rank] : rank;
    for (int s = 0, round = 0; s < 2 * rings->dims; s++) {
        int phase = mirrored(rings, s);
        build_phase(rings, cell, phase, s >= rings->dims, round, builder);
        round += phase_rounds(rings, phase);
    }
}

/* Rounds are identical until the phase ends, or until a shorter dimension is done. */
int strag_rings_same_rounds(const struct strag_problem *problem, int round, int *period)
{
    (void)period;
    const struct strag_rings *rings = problem->prepared;
    int s = 0, t = round;
    for (; t >= phase_rounds(rings, mirrored(rings, s)); s++)
        t -= phase_rounds(rings, mirrored(rings, s));
    int rounds = phase_rounds(rings, mirrored(rings, s)) - t;
    for (int d = 0; rings->parts > 1 && d < rings->dims; d++) {
        int left = rings->size[d] - 1 - t;
        rounds = left > 0 && left < rounds ? left : rounds;
    }
    return rounds;
}

/* ---- The algorithm ---- */

static int check(const struct strag_problem *problem, struct strag_error *err)
{
    return strag_torus_check_ranks(problem, problem->n, err);
}

static int prepare(const struct strag_problem *problem, void **prepared, struct strag_error *err)
{
    const struct strag_box *box = problem->topology ? problem->topology->box : NULL;
    struct strag_torus torus = strag_torus_of_ranks(problem);
    struct strag_rings *rings;
    strag_torus_set_ports(problem, problem->n, &torus);
    int status = strag_rings_create(problem->n, torus.parts, torus.dims, torus.size, &rings, err);
    if (status != STRAG_OK)
        return status;
    rings->rank_at = box ? box->rank_at : NULL;
    rings->cell_of = box ? box->cell_of : NULL;
    *prepared = rings;
    return STRAG_OK;
}

static int choices(const struct strag_problem *problem, int *blocks)
{
    const struct strag_torus torus = strag_torus_of_ranks(problem);
    return strag_torus_choices(problem, &torus, problem->n, blocks);
}

const struct strag_algorithm strag_bucket = {
    .name = "bucket",
    .summary = "rings, one dimension of a torus after the other; least traffic, to neighbours",
    .rounds = "2 sum(d_i - 1)",
    .sent = "2(n-1)/n",
    .check = check,
    .adds_nothing = strag_tree_is_one_switch,
    .choices = choices,
    .prepare = prepare,
    .release = strag_rings_release,
    .claim = strag_rings_claim,
    .build = strag_rings_build,
    .same_rounds = strag_rings_same_rounds,
};
