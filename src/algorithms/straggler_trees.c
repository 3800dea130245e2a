/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Straggler trees: an allreduce around a straggler on tori, trees of hosts, and with slow links.
 *
 * Each of k trees has a root, works on 1/k of the vector, and cuts that into m segments. All trees
 * reach all ranks, and no two of them use the same link in the same direction.
 *
 *     before      every segment is summed up towards its tree's root, without the straggler
 *     round t     after the arrival: the straggler hands its own segment t to the root, which adds
 *                 it; finished segments t - 1 and older ones go down the tree to all ranks
 *
 * A node at depth d of the tree gets segment t in round t + d after the arrival. This takes m
 * rounds, and as many more as the deepest tree is deep, on a grid about half of that. The root
 * reduces, not the straggler, which would have to reduce for all trees.
 *
 * On a grid (a box of hosts, torus.h) the roots are the straggler's neighbours: there is a tree for
 * each port, k = 2D. The tree upwards in dimension i takes links upwards in it, and the shorter way
 * in all others; its mirror image takes links downwards. A host x (with coordinates relative to the
 * straggler) is near if it is up to the middle of dimension i, or beyond for the mirror image. Its
 * parent:
 *
 *     x_i = 0    its neighbour above in dimension i
 *     near       the one towards the straggler in the last of the dimensions i, i + 1, .., i - 1
 *                (in a circle) in which x is not 0
 *     else       the one below in dimension i
 *
 * 3 x 3, straggler 0, upwards:
 *
 *     6 7 8     tree 0     1 > 2    1 > 4 > 5    1 > 7 > 8    4 > 3    7 > 6
 *     3 4 5     tree 1     3 > 6    3 > 4 > 7    3 > 5 > 8    4 > 1    5 > 2
 *     0 1 2
 *
 * No two trees use the same link into x. If x_i = 0, the two trees of dimension i use its two
 * links. Each of the other dimensions has a tree for which x is near. Its link towards the
 * straggler is used by the near tree of the next such dimension, and its other link by its own tree
 * for which x is not near. So every directed link carries at most 1/k of the vector; on a mesh
 * twice that, since the way from the last host to the first one goes back. The deepest tree has
 * size - 2 hops in its own dimension, and half the size in each of the others.
 *
 * A host that is deep in a tree is near the root of the mirror image, whose links into the host are
 * idle early. So the straggler goes on: from round m on, it hands each root the mirror image's last
 * segments, backwards, and they go down the tree to the hosts that they reach earlier than through
 * the mirror image. A host at depths a > b gets the last (a - b) / 2 segments that way:
 *
 *     ring of 8, straggler 0, host 6: depth 5 in tree 0, 1 in tree 1
 *         round               m-1  m    m+1  m+2
 *         from 5, segments    m-6  m-5  m-4  m-3     of tree 0
 *         from 7              m-2  m-1  m-1  m-2     of tree 1, then of tree 0
 *
 * No host waits for longer than half the way round its tree's own dimension, and none waits for a
 * parent, as (a - b) / 2 grows by no more than the depth. For the last segment, a root needs the
 * others' sum, which the mirror image's root passes on before the arrival. Earlier segments have
 * come back to the straggler as results when it is their turn.
 *
 * If a dimension has two hosts, x is near for both of its trees. They take both links of the
 * dimension before, one up, one down, all the way round. The tree that would take one of those
 * links takes the one that is left, the second link between the two hosts.
 *
 * Elsewhere k = 1: a chain of hosts in the order of the network's tree, from the one behind the
 * straggler's host and back to that, in which the vector crosses every uplink once each way. Other
 * stragglers' hosts come first, the last to arrive in front.
 *
 * Within a host the ranks are a chain from the one that the tree reaches. The ranks on the
 * straggler's host get their results from it; before, their sum goes straight to the root.
 *
 * Other late ranks on the straggler's host and on the root's are not in that sum. They hand in with
 * the straggler, a segment from each to the next, so that it still crosses each uplink once:
 *
 *     hosts 0 1 2 3 | 4 5 6 7 | 8 9 10; ranks 3 (the last), 2 and 7 late, root 4
 *         round t    2 > 3 segment t    3 > 7 segment t-1    7 > 4 segment t-2
 *
 * If all ranks of the root's host are late, it gets the others' sum when it comes.
 */
#include "algorithms/forest.h"
#include "algorithms/straggler.h"
#include "algorithms/tree.h"
#include "algorithms/uplinks.h"

#include <math.h>
#include <stdlib.h>

enum { NONE = -1 };

/* What all counts of segments share: the trees around the straggler, and their mirror images. */
struct trees {
    struct strag_forest forest;
    int mate;      /* a rank on the straggler's host, whose sum it sends to the root, or NONE */
    int handing;   /* how many late ranks hand in, .. */
    int32_t *late; /* .. one to the next, the last one to the root; in room for n */
    int after;     /* rounds from the last segment's hand-in until all ranks have it */
    int crossed;   /* the most segments that a rank gets through a mirror image */
    int mirror;    /* distance from a tree to its mirror image; 0 if there is none */
    bool chained;  /* a chain is claimed, as rounds do not need one another */
};

/* @return NONE if not all ports are used, or if the tree is a chain */
static int mirror_of(const struct trees *trees, int tree)
{
    const int mirror = tree < trees->mirror ? tree + trees->mirror : tree - trees->mirror;
    return mirror >= 0 && mirror < trees->forest.trees && mirror != tree ? mirror : NONE;
}

/* How many of a tree's last segments a rank gets through the mirror image; if negative, how many of
 * the mirror image's it gets through the tree. */
static int crossed(const struct trees *trees, int tree, int rank)
{
    const struct strag_forest *forest = &trees->forest;
    const int mirror = mirror_of(trees, tree);
    return mirror == NONE ? 0
                          : (strag_forest_tree(forest, tree)[rank].depth -
                             strag_forest_tree(forest, mirror)[rank].depth) /
                                2;
}

/* @return the mirror image's root if it gets segments of the tree, else NONE */
static int passed_on_to(const struct trees *trees, int tree)
{
    const int mirror = mirror_of(trees, tree);
    const int root = mirror == NONE ? NONE : trees->forest.root[mirror];
    return root != NONE && crossed(trees, tree, root) > 0 ? root : NONE;
}

static void find_last(struct trees *trees)
{
    const struct strag_forest *forest = &trees->forest;
    for (int tree = 0; tree < forest->trees; tree++) {
        for (int rank = 0; rank < forest->n; rank++) {
            const int fewer = crossed(trees, tree, rank);
            const int last = strag_forest_tree(forest, tree)[rank].depth;
            if (fewer > trees->crossed)
                trees->crossed = fewer;
            if (last - fewer > trees->after)
                trees->after = last - fewer;
        }
    }
    trees->after += trees->handing - 1;
}

static bool is_late(const struct strag_forest *forest, int rank)
{
    return forest->delay[rank] >= 0;
}

static void add_late(struct trees *trees, int host)
{
    const struct strag_forest *forest = &trees->forest;
    for (int i = forest->first[host]; i < forest->first[host + 1]; i++) {
        const int rank = forest->rank_at[i];
        if (is_late(forest, rank) && rank != forest->centre)
            trees->late[trees->handing++] = rank;
    }
}

/* @return the rank's place in the chain of late ranks, or NONE */
static int place_of(const struct trees *trees, int rank)
{
    int place = trees->handing - 1;
    while (place >= 0 && trees->late[place] != rank)
        place--;
    return place;
}

/* Find who hands in: late ranks of the straggler's host, the straggler, and late ranks of the
 * root's host if the root is in time; on a grid the straggler alone. */
static void find_late(struct trees *trees, bool grid)
{
    const struct strag_forest *forest = &trees->forest;
    if (!grid)
        add_late(trees, forest->order[0]);
    trees->late[trees->handing++] = forest->centre;
    if (!grid && !is_late(forest, forest->root[0]))
        add_late(trees, forest->order[1]);
    trees->mate = forest->branch[forest->centre].child;
    if (place_of(trees, trees->mate) != NONE)
        trees->mate = NONE;
}

static void unshare(void *shared)
{
    struct trees *trees = shared;
    strag_forest_clear(&trees->forest);
    free(trees->late);
    free(trees);
}

static int share(const struct strag_problem *problem, void **shared, struct strag_error *err)
{
    struct trees *trees = calloc(1, sizeof *trees);
    if (trees)
        trees->late = malloc((size_t)problem->n * sizeof *trees->late);
    if (!trees || !strag_forest_grow(problem, strag_awaited_straggler(problem), &trees->forest) ||
        !trees->late) {
        if (trees)
            unshare(trees);
        return strag_fail(err, STRAG_ERR_MEMORY, "out of memory for the trees of %d ranks",
                          problem->n);
    }
    const struct strag_torus torus = strag_torus_of(problem);
    trees->mirror = torus.dims;
    trees->chained = !strag_tree_is_one_switch(problem) || !strag_uplinks_equal(problem) ||
                     problem->state->nstragglers > 1;
    find_late(trees, torus.grid && torus.dims > 0);
    find_last(trees);
    *shared = trees;
    return STRAG_OK;
}

/* ---- The algorithm ---- */

static int choices(const struct strag_problem *problem, int *blocks)
{
    const struct trees *trees = problem->shared;
    return strag_forest_choices(&trees->forest, blocks);
}

/* Rounds before the arrival. In the last one, roots pass sums on to the mirror images' roots. */
static int count_before(const struct trees *trees, int segments)
{
    const int before = trees->forest.before;
    return before ? segments + before - (trees->crossed == 0) : 0;
}

static void claim(const struct strag_problem *problem, struct strag_claim *claim)
{
    const struct trees *trees = problem->shared;
    const struct strag_forest *forest = &trees->forest;
    const int segments = strag_forest_segments(forest, problem);
    const int before = count_before(trees, segments), place = place_of(trees, forest->centre);
    *claim = (struct strag_claim){
        .rounds = before + segments + trees->after,
        .blocks = forest->trees * segments,
        .chain = trees->chained
                     ? (forest->before ? forest->before : 1) + forest->depth + trees->handing - 1
                     : 0,
        .waits = true,
        .straggler = forest->centre,
        .before = before + (place > 1 ? place - 1 : 0), /* others hand in to it first */
    };
}

/* How many segments, one per message, a rank gets through a tree after the arrival. */
static int count_received(const struct trees *trees, int segments, int tree, int rank)
{
    const int count = segments - crossed(trees, tree, rank);
    return count < 0 ? 0 : count < 2 * segments ? count : 2 * segments;
}

static double sent_max(const struct strag_problem *problem)
{
    const struct trees *trees = problem->shared;
    const struct strag_forest *forest = &trees->forest;
    const int segments = strag_forest_segments(forest, problem);
    double most = 0;
    for (int rank = 0; rank < forest->n; rank++) {
        double sends = 0;
        for (int tree = 0; tree < forest->trees; tree++) {
            const struct strag_branch *branch = strag_forest_tree(forest, tree);
            const int root = forest->root[tree];
            if (rank == forest->centre)
                sends += count_received(trees, segments, tree, root);
            else if (rank != root)
                sends += segments;
            else
                sends += passed_on_to(trees, tree) != NONE;
            for (int child = branch[rank].child; child != NONE; child = branch[child].sibling)
                sends += count_received(trees, segments, tree, child);
        }
        most = fmax(most, sends);
    }
    return most / forest->trees / segments;
}

/* A rank in a tree, in a round before or after the arrival. */
struct turn {
    const struct trees *trees;
    const struct strag_forest *forest;
    const struct strag_branch *branch; /* of the tree's ranks */
    int segments, tree, rank;
    int place;    /* in the chain of late ranks, or NONE */
    int round, t; /* t: counted from round 0, or from the arrival */
    struct strag_builder *builder;
};

/* @return the block, or NONE if there is no such segment */
static int block_of(const struct turn *turn, int tree, int segment)
{
    return segment >= 0 && segment < turn->segments ? tree * turn->segments + segment : NONE;
}

/* Block number `at` that a rank gets through the tree after the arrival: first the tree's segments,
 * then the mirror image's from the last one back. */
static int block_at(const struct turn *turn, int rank, int at)
{
    if (at >= turn->segments - crossed(turn->trees, turn->tree, rank))
        return NONE;
    return at < turn->segments
               ? block_of(turn, turn->tree, at)
               : block_of(turn, mirror_of(turn->trees, turn->tree), 2 * turn->segments - 1 - at);
}

static void send(const struct turn *turn, int peer, int block)
{
    strag_send(turn->builder, turn->round, peer, block, block == NONE ? 0 : 1);
}

/* Append the message of the others' sum of the last segment to the mirror image's root. */
static void pass_on(const struct turn *turn)
{
    const struct strag_forest *forest = turn->forest;
    const int last = block_of(turn, turn->tree, turn->segments - 1);
    const int root = forest->root[turn->tree], other = passed_on_to(turn->trees, turn->tree);
    if (turn->t < turn->segments + forest->before - 1)
        return;
    if (turn->rank == root && other != NONE)
        send(turn, other, last);
    if (turn->rank == other)
        strag_recv(turn->builder, turn->round, root, last, 1);
}

static void build_before(const struct turn *turn)
{
    const struct strag_forest *forest = turn->forest;
    const int root = forest->root[turn->tree], rank = turn->rank;
    const int up = turn->t - forest->before + turn->branch[rank].early;
    const int block = block_of(turn, turn->tree, up + 1), mate = turn->trees->mate;
    if (rank != root)
        send(turn, rank == mate ? root : turn->branch[rank].parent, block_of(turn, turn->tree, up));
    for (int child = turn->branch[rank].child; child != NONE; child = turn->branch[child].sibling) {
        if (place_of(turn->trees, child) == NONE)
            strag_recv_reduce(turn->builder, turn->round, child, block, block != NONE);
    }
    if (rank == root && mate != NONE)
        strag_recv_reduce(turn->builder, turn->round, mate, block, block != NONE);
    pass_on(turn);
}

/* Append the hand-in. It stands before the round's results, which a mirror image may need. */
static void hand_in(const struct turn *turn)
{
    const struct trees *trees = turn->trees;
    const int root = turn->forest->root[turn->tree], at = turn->t - turn->place;
    const bool last = turn->place + 1 == trees->handing;
    strag_stage(turn->builder, "hand in");
    send(turn, last ? root : trees->late[turn->place + 1], block_at(turn, root, at));
    if (turn->place == 0)
        return;
    const int block = block_of(turn, turn->tree, at + 1);
    strag_recv_reduce(turn->builder, turn->round, trees->late[turn->place - 1], block,
                      block != NONE);
}

static void build_after(const struct turn *turn)
{
    const struct strag_forest *forest = turn->forest;
    const int root = forest->root[turn->tree], rank = turn->rank;
    const int last = turn->trees->handing - 1, since = turn->t - last;
    const int down = since - turn->branch[rank].depth, block = block_at(turn, rank, down);
    strag_stage(turn->builder, "broadcast");
    for (int child = turn->branch[rank].child; child != NONE; child = turn->branch[child].sibling)
        send(turn, child, block_at(turn, child, down - 1));
    if (rank != root) {
        strag_recv(turn->builder, turn->round, turn->branch[rank].parent, block, block != NONE);
    } else if (since > turn->segments) { /* the straggler has the result by then */
        strag_recv(turn->builder, turn->round, forest->centre, block, block != NONE);
    } else {
        strag_stage(turn->builder, "hand in");
        strag_recv_reduce(turn->builder, turn->round, turn->trees->late[last], block,
                          block != NONE);
    }
}

static void build(const struct strag_problem *problem, int rank, struct strag_builder *builder)
{
    const struct trees *trees = problem->shared;
    const struct strag_forest *forest = &trees->forest;
    const struct strag_rounds wanted = strag_rounds_wanted(builder);
    const int segments = strag_forest_segments(forest, problem);
    const int before = count_before(trees, segments);
    const int rounds = before + segments + trees->after;
    struct turn turn = {
        .trees = trees, .forest = forest, .segments = segments, .rank = rank, .builder = builder};
    turn.place = place_of(trees, rank);
    strag_stage(builder, "sum up");
    for (turn.round = wanted.first; turn.round < wanted.end && turn.round < rounds; turn.round++) {
        const bool early = turn.round < before;
        turn.t = turn.round - (early ? 0 : before);
        for (turn.tree = 0; !early && turn.place != NONE && turn.tree < forest->trees; turn.tree++)
            hand_in(&turn);
        for (turn.tree = 0; turn.tree < forest->trees; turn.tree++) {
            turn.branch = strag_forest_tree(forest, turn.tree);
            if (!early)
                build_after(&turn);
            else if (turn.place == NONE)
                build_before(&turn);
        }
    }
}

/* Rounds are identical once all nodes are busy, until all segments have set out. */
static int same_rounds(const struct strag_problem *problem, int round, int *period)
{
    (void)period;
    const struct trees *trees = problem->shared;
    const struct strag_forest *forest = &trees->forest;
    const int segments = strag_forest_segments(forest, problem);
    const int before = count_before(trees, segments);
    const bool early = round < before;
    const int t = round - (early ? 0 : before);
    const int full = early ? forest->before - 1 : forest->depth + trees->handing - 1;
    return t >= full && t < segments ? segments - t : 1;
}

/* The blocks of one segment of every tree. */
static int unit(const struct strag_problem *problem)
{
    const struct trees *trees = problem->shared;
    return trees->forest.trees;
}

/* One form: counts with identical rounds both before and after the arrival, unless a chain is
 * claimed, since the count then decides in what share of the rounds a latency shows. */
static int form_of(const struct strag_problem *problem, int blocks)
{
    const struct trees *trees = problem->shared;
    const struct strag_forest *forest = &trees->forest;
    return trees->chained || blocks / forest->trees < forest->depth + trees->handing + 1 ? NONE : 0;
}

const struct strag_algorithm strag_straggler_trees = {
    .name = "straggler-trees",
    .summary = "a straggler on tori and trees: others go ahead, then k trees over all links",
    .rounds = "m + about depth/2",
    .sent = "about 2",
    .needs_straggler = true,
    .check = strag_forest_check,
    .share = share,
    .unshare = unshare,
    .choices = choices,
    .claim = claim,
    .sent_max = sent_max,
    .build = build,
    .same_rounds = same_rounds,
    .unit = unit,
    .form_of = form_of,
};
