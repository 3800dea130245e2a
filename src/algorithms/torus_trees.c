/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Torus trees: an allreduce on all links of a grid of any size, around one host, which may be slow.
 *
 * The k = 2D trees are those of straggler_trees.c, grown around a host: their roots are its
 * neighbours, no two use the same link in the same direction, and none leads through that host.
 * Each works on 1/k of the vector, cut into m segments, and does three things at the same time. E
 * is how deep the trees are without the host in the centre:
 *
 *     round t     sum up     a rank at depth d sends segment t - E + d of its tree to its parent
 *                 hand in    the centre sends its own segment t - E to each root, which adds it
 *                 broadcast  a rank at depth d gets the finished segment t - E - d from its parent
 *
 *     ring of 5, the centre is 0, tree 0 (tree 1 is its mirror image), E = 3, segment by round
 *                            t = 0  1  2  3  4  5  6  7
 *         4 > 3   sum up         0  1  2  3  4  5  6  7
 *         3 > 2                  .  0  1  2  3  4  5  6
 *         2 > 1                  .  .  0  1  2  3  4  5
 *         0 > 1   hand in        .  .  .  0  1  2  3  4
 *         1 > 0   broadcast      .  .  .  .  0  1  2  3
 *         1 > 2                  .  .  .  .  0  1  2  3
 *         2 > 3                  .  .  .  .  .  0  1  2
 *
 * So a link carries 2/k of the vector in each direction, whatever the sizes of the dimensions: that
 * is n/(n-1) of the fewest possible. Rounds m + E + depth.
 *
 * A link of the centre carries 1/k only. So the slowest host is the centre: if it is at most twice
 * slower, that costs nothing. Other algorithms for grids send through a slow host, and take as many
 * times longer as it is slower. (OptCC has the same idea for a ring on one switch, optcc.c.)
 *
 * Within a host the ranks are a chain from the one that the trees reach. Elsewhere than on a grid
 * k = 1, a chain of hosts. If no host is slow, rank 0's is the centre.
 */
#include "algorithms/forest.h"
#include "algorithms/straggler.h"
#include "algorithms/uplinks.h"

#include <stdlib.h>

enum { NONE = -1 };

/* @return the rank whose host is the slowest, the lowest of several; 0 if no host is slow */
static int slowest_rank(const struct strag_problem *problem)
{
    const struct strag_state *state = problem->state;
    const struct strag_slow *slowest = NULL;
    for (int i = 0; state && i < state->nslow; i++) {
        const struct strag_slow *slow = &state->slow[i];
        if (!slowest || slow->factor > slowest->factor ||
            (slow->factor == slowest->factor && slow->rank < slowest->rank))
            slowest = slow;
    }
    return slowest ? slowest->rank : 0;
}

static int check(const struct strag_problem *problem, struct strag_error *err)
{
    const int status = strag_uplinks_check(problem, err);
    return status != STRAG_OK ? status : strag_forest_check(problem, err);
}

/* On a switch or a tree of hosts others take less, or as long. */
static bool on_request(const struct strag_problem *problem)
{
    const struct strag_torus torus = strag_torus_of(problem);
    return !torus.grid || torus.dims == 0;
}

/* If all dimensions of a torus are as long, hosts have one rank each, and none is slow, bucket
 * fills all links, too. */
static bool adds_nothing(const struct strag_problem *problem)
{
    const struct strag_torus torus = strag_torus_of(problem);
    const bool plain = torus.grid && torus.topology->network == STRAG_NETWORK_TORUS;
    int equal = 0;
    while (equal < torus.dims && torus.wrap[equal] && torus.size[equal] == torus.size[0])
        equal++;
    return plain && equal == torus.dims && torus.local == 1 &&
           !(problem->state && problem->state->nslow > 0);
}

static void unshare(void *shared)
{
    strag_forest_clear(shared);
    free(shared);
}

static int share(const struct strag_problem *problem, void **shared, struct strag_error *err)
{
    struct strag_forest *forest = calloc(1, sizeof *forest);
    if (forest && strag_forest_grow(problem, slowest_rank(problem), forest)) {
        *shared = forest;
        return STRAG_OK;
    }
    if (forest)
        unshare(forest);
    return strag_fail(err, STRAG_ERR_MEMORY, "out of memory for the trees of %d ranks", problem->n);
}

static int choices(const struct strag_problem *problem, int *blocks)
{
    return strag_forest_choices(problem->shared, blocks);
}

static int count_rounds(const struct strag_forest *forest, int segments)
{
    return forest->before + segments + forest->depth;
}

static void claim(const struct strag_problem *problem, struct strag_claim *claim)
{
    const struct strag_forest *forest = problem->shared;
    const int segments = strag_forest_segments(forest, problem);
    *claim = (struct strag_claim){
        .rounds = count_rounds(forest, segments),
        .blocks = forest->trees * segments,
        .chain = forest->before + 1 + forest->depth,
    };
}

/* A root sends nothing up; what the centre sends to a root, it hands in. */
static double sent_max(const struct strag_problem *problem)
{
    const struct strag_forest *forest = problem->shared;
    int most = 0;
    for (int rank = 0; rank < forest->n; rank++) {
        int sends = 0;
        for (int tree = 0; tree < forest->trees; tree++) {
            const struct strag_branch *branch = strag_forest_tree(forest, tree);
            sends += rank != forest->root[tree];
            for (int child = branch[rank].child; child != NONE; child = branch[child].sibling)
                sends++;
        }
        most = sends > most ? sends : most;
    }
    return (double)most / forest->trees;
}

/* A rank in a round, in one of the trees. */
struct turn {
    const struct strag_forest *forest;
    const struct strag_branch *branch; /* of the tree's ranks */
    int segments, tree, rank, round;
    struct strag_builder *builder;
};

/* @param[out] count  1, or 0 if there is no such segment @return its block */
static int block_of(const struct turn *turn, int segment, int *count)
{
    *count = segment >= 0 && segment < turn->segments;
    return *count ? turn->tree * turn->segments + segment : 0;
}

static void sum_up(const struct turn *turn)
{
    const struct strag_forest *forest = turn->forest;
    const struct strag_branch *branch = turn->branch, *own = &branch[turn->rank];
    const int up = turn->round - forest->before;
    int count, block = block_of(turn, up + own->early, &count);
    if (turn->rank != forest->root[turn->tree] && turn->rank != forest->centre)
        strag_send(turn->builder, turn->round, own->parent, block, count);
    for (int child = own->child; child != NONE; child = branch[child].sibling) {
        block = block_of(turn, up + branch[child].early, &count);
        if (child != forest->centre)
            strag_recv_reduce(turn->builder, turn->round, child, block, count);
    }
}

static void hand_in(const struct turn *turn)
{
    const struct strag_forest *forest = turn->forest;
    const int root = forest->root[turn->tree];
    int count;
    const int block = block_of(turn, turn->round - forest->before, &count);
    if (turn->rank == forest->centre)
        strag_send(turn->builder, turn->round, root, block, count);
    if (turn->rank == root)
        strag_recv_reduce(turn->builder, turn->round, forest->centre, block, count);
}

static void broadcast(const struct turn *turn)
{
    const struct strag_forest *forest = turn->forest;
    const struct strag_branch *branch = turn->branch, *own = &branch[turn->rank];
    const int down = turn->round - forest->before;
    int count, block = block_of(turn, down - own->depth, &count);
    if (turn->rank != forest->root[turn->tree])
        strag_recv(turn->builder, turn->round, own->parent, block, count);
    for (int child = own->child; child != NONE; child = branch[child].sibling) {
        block = block_of(turn, down - branch[child].depth, &count);
        strag_send(turn->builder, turn->round, child, block, count);
    }
}

/* What goes up in one tree may have the way of what comes down in another: all ranks do one thing
 * after the other, so that messages between two of them are in the same order on both. */
static void build(const struct strag_problem *problem, int rank, struct strag_builder *builder)
{
    static void (*const parts[])(const struct turn *) = {sum_up, hand_in, broadcast};
    static const char *const names[] = {"sum up", "hand in", "broadcast"};
    const struct strag_forest *forest = problem->shared;
    const struct strag_rounds wanted = strag_rounds_wanted(builder);
    const int segments = strag_forest_segments(forest, problem);
    const int rounds = count_rounds(forest, segments);
    struct turn turn = {.forest = forest, .segments = segments, .rank = rank, .builder = builder};
    for (turn.round = wanted.first; turn.round < wanted.end && turn.round < rounds; turn.round++) {
        for (int part = 0; part < 3; part++) {
            strag_stage(builder, names[part]);
            for (turn.tree = 0; turn.tree < forest->trees; turn.tree++) {
                turn.branch = strag_forest_tree(forest, turn.tree);
                parts[part](&turn);
            }
        }
    }
}

/* From when the first segment has reached the deepest rank until the last one sets out. */
static int same_rounds(const struct strag_problem *problem, int round, int *period)
{
    (void)period;
    const struct strag_forest *forest = problem->shared;
    const int segments = strag_forest_segments(forest, problem);
    return round >= forest->before + forest->depth && round < segments ? segments - round : 1;
}

const struct strag_algorithm strag_torus_trees = {
    .name = "torus-trees",
    .summary = "long vectors on tori of any size, or around a slow host: trees",
    .rounds = "m + 2 depth",
    .sent = "about 2",
    .check = check,
    .adds_nothing = adds_nothing,
    .on_request = on_request,
    .share = share,
    .unshare = unshare,
    .choices = choices,
    .claim = claim,
    .sent_max = sent_max,
    .build = build,
    .same_rounds = same_rounds,
};
