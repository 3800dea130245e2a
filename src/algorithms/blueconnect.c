/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * BlueConnect: rings level by level, on trees that are symmetric.
 *
 * In a symmetric tree the leaves are numbered like a box: with degrees d_0 (of the lowest level),
 * d_1, ... position p is x_0 = p % d_0, x_1 = p / d_0 % d_1, ... At level l the d_l leaves that
 * differ in x_l only form a ring, and there are n / d_l rings at the same time. Each does a
 * reduce-scatter of what the levels below have left to its leaves; then the allgathers in the
 * opposite order. Hosts of 2 ranks, three of them, 6 blocks; what rank 0 sends and receives:
 *
 *     round   level   sends to         receives from
 *       0       0     0 1 2, r1        3 4 5 of r1, reduced         reduce-scatter
 *       1       1     3, r2            5 of r4, reduced
 *       2       1     5, r2            4 of r4, reduced
 *       3       1     4, r2            3 of r4, replaced            allgather
 *       4       1     3, r2            5 of r4, replaced
 *       5       0     3 4 5, r1        0 1 2 of r1, replaced
 *
 * On any other tree it is a ring of all ranks, as published.
 *
 *     rounds  2 sum(d_l - 1)           sent by a rank  2(n-1)/n
 *
 * A yardstick for flexreduce, which costs the same on symmetric trees. (Cho, Finkler, Kung,
 * "BlueConnect: Novel hierarchical all-reduce on multi-tired network for deep learning".)
 */
#include "algorithms/ring.h"
#include "algorithms/tree.h"

static int check(const struct strag_problem *problem, struct strag_error *err)
{
    int status = strag_tree_check(problem, "blueconnect", err);
    return status == STRAG_OK ? strag_ring.check(problem, err) : status;
}

static int prepare(const struct strag_problem *problem, void **out, struct strag_error *err)
{
    struct strag_tree *tree;
    int status = strag_tree_create(problem, &tree, err);
    if (status != STRAG_OK)
        return status;
    if (strag_tree_symmetric(tree))
        *out = tree;
    else
        strag_tree_free(tree); /* for a ring nothing is prepared */
    return STRAG_OK;
}

static void release(void *prepared)
{
    strag_tree_free(prepared);
}

static void claim(const struct strag_problem *problem, struct strag_claim *claim)
{
    const struct strag_tree *tree = problem->prepared;
    strag_ring.claim(problem, claim);
    if (tree)
        claim->rounds = 0;
    for (int level = 0; tree && level < tree->levels; level++)
        claim->rounds += 2 * (tree->degree[level] - 1);
}

/* A rank at one level: its ring, and the range of blocks that the ring shares. */
static struct strag_ring_place find_place(const struct strag_tree *tree, int position, int level)
{
    struct strag_ring_place place = {.chunk = tree->n};
    int stride = 1;
    for (int l = 0; l <= level; l++) {
        stride *= l ? place.size : 1;
        place.size = tree->degree[l];
        place.at = position / stride % place.size;
        place.chunk /= place.size;
        if (l < level)
            place.first += (place.at + 1) % place.size * place.chunk; /* what it has left */
    }
    int above = position + ((place.at + 1) % place.size - place.at) * stride;
    int below = position + ((place.at + place.size - 1) % place.size - place.at) * stride;
    place.next = tree->rank_at[above];
    place.previous = tree->rank_at[below];
    return place;
}

/* A level's wanted rounds. @return the round behind them */
static int build_level(const struct strag_tree *tree, int position, int level, bool gather,
                       int start, struct strag_builder *builder)
{
    struct strag_rounds wanted = strag_rounds_wanted(builder);
    int steps = tree->degree[level] - 1;
    if (wanted.first >= start + steps || wanted.end <= start)
        return start + steps;
    struct strag_ring_place place = find_place(tree, position, level);
    for (int t = 0; t < steps; t++) {
        if (strag_is_wanted(wanted, start + t))
            strag_ring_step(&place, t, gather, start + t, builder);
    }
    return start + steps;
}

static void build(const struct strag_problem *problem, int rank, struct strag_builder *builder)
{
    const struct strag_tree *tree = problem->prepared;
    if (!tree) {
        strag_ring.build(problem, rank, builder);
        return;
    }
    int position = tree->position_of[rank], round = 0;
    for (int level = 0; level < tree->levels; level++)
        round = build_level(tree, position, level, false, round, builder);
    for (int level = tree->levels - 1; level >= 0; level--)
        round = build_level(tree, position, level, true, round, builder);
}

/* Until the level's end. */
static int alike(const struct strag_problem *problem, int round)
{
    const struct strag_tree *tree = problem->prepared;
    if (!tree)
        return strag_ring.alike(problem, round);
    int end = 0;
    for (int s = 0; end <= round; s++) {
        int level = s < tree->levels ? s : 2 * tree->levels - 1 - s;
        end += tree->degree[level] - 1;
    }
    return end - round;
}

const struct strag_algorithm strag_blueconnect = {
    .name = "blueconnect",
    .summary = "rings level by level on symmetric trees, else one ring; a yardstick",
    .rounds = "2 sum(d_l - 1)",
    .sent = "2(n-1)/n",
    .check = check,
    .adds_nothing = strag_tree_is_flat,
    .prepare = prepare,
    .release = release,
    .claim = claim,
    .build = build,
    .alike = alike,
};
