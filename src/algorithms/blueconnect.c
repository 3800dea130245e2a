/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * BlueConnect: rings level by level, on trees that are symmetric.
 *
 * In a symmetric tree the leaves are numbered like a box: with degrees d_0 (of the lowest level),
 * d_1, ... position p is x_0 = p % d_0, x_1 = p / d_0 % d_1, ... At level l the d_l leaves that
 * differ in x_l only form a ring, and there are n / d_l rings at the same time. Each ring does a
 * reduce-scatter of the part that the levels below have left to its leaves; then the allgathers
 * follow in the opposite order. Three hosts of 2 ranks, 6 blocks; what rank 0 sends and receives:
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
 * For comparison with flexreduce, which costs the same on symmetric trees. (Cho, Finkler, Kung,
 * "BlueConnect: Novel hierarchical all-reduce on multi-tired network for deep learning".)
 */
#include "algorithms/bucket.h"

static int check(const struct strag_problem *problem, struct strag_error *err)
{
    int status = strag_tree_check(problem, err);
    return status == STRAG_OK ? strag_ring.check(problem, err) : status;
}

static int prepare(const struct strag_problem *problem, void **prepared, struct strag_error *err)
{
    struct strag_rings *rings;
    struct strag_tree *tree;
    int status = strag_tree_create(problem, &tree, err);
    if (status != STRAG_OK)
        return status;
    bool symmetric = strag_tree_symmetric(tree);
    status = symmetric ? strag_rings_create(tree->n, 1, tree->levels, tree->degree, &rings, err)
                       : strag_rings_create(tree->n, 1, 1, &tree->n, &rings, err);
    if (status == STRAG_OK && symmetric) {
        rings->rank_at = tree->rank_at;
        rings->cell_of = tree->position_of;
        rings->tree = tree;
    } else {
        strag_tree_free(tree);
    }
    if (status == STRAG_OK)
        *prepared = rings;
    return status;
}

const struct strag_algorithm strag_blueconnect = {
    .name = "blueconnect",
    .summary = "rings level by level on symmetric trees, else one ring; for comparison",
    .rounds = "2 sum(d_l - 1)",
    .sent = "2(n-1)/n",
    .check = check,
    .adds_nothing = strag_tree_is_flat,
    .prepare = prepare,
    .release = strag_rings_release,
    .claim = strag_rings_claim,
    .build = strag_rings_build,
    .same_rounds = strag_rings_same_rounds,
};
