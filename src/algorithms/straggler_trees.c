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
 */
#include "algorithms/straggler.h"
#include "algorithms/torus.h"
#include "algorithms/tree.h"
#include "algorithms/uplinks.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

enum { NONE = -1 };

/* Counts of segments that are compared: the trees' depth, which is the default, twice that, .. */
enum { CHOICES = 10, BLOCKS_MAX = INT_MAX / 8 };

/* A rank in a tree. */
struct branch {
    int32_t parent, child, sibling; /* ranks: parent, first child, and next child of the parent; or
                                       NONE */
    int32_t depth;                  /* 0 for the root */
    int32_t early;                  /* the depth before the arrival, without the straggler */
};

/* The hosts of a problem, and what all counts of segments share. */
struct forest {
    int n, trees, straggler;
    int before, depth; /* the deepest tree's depth, without and with the straggler */
    int after;         /* rounds from the last segment's hand-in until all ranks have it */
    int crossed;       /* the most segments that a rank gets through a mirror image */
    int mirror;        /* distance from a tree to its mirror image; 0 if there is none */
    int mate;          /* the straggler's child on its host, or NONE if it is alone */
    bool chained;      /* a chain is claimed, as rounds do not need one another */
    int hosts;
    int32_t *first;   /* [host]: its first rank in rank_at; [hosts]: n */
    int32_t *rank_at; /* host after host; in each the rank that the trees reach is first */
    int32_t *order;   /* [place]: hosts as a chain, the straggler's first */
    double *delay;    /* [rank]: -1 if it is in time, INFINITY for the straggler */
    int32_t root[2 * STRAG_DIMS_MAX]; /* [tree] */
    struct branch *branch;            /* [tree * n + rank] */
};

/* ---- Hosts ---- */

static void find_delays(const struct strag_state *state, struct forest *forest)
{
    for (int rank = 0; rank < forest->n; rank++)
        forest->delay[rank] = -1;
    for (int i = 0; i < state->nstragglers; i++) {
        double *delay = &forest->delay[state->straggler[i].rank];
        *delay = fmax(*delay, state->straggler[i].delay);
    }
    forest->delay[forest->straggler] = INFINITY;
}

/* Find the ranks that share a host; if all ranks do, each counts as a host. */
static void find_hosts(const struct strag_topology *topology, struct forest *forest)
{
    const bool single = !topology || topology->hosts == 1;
    const int32_t *ranks = !topology       ? NULL
                           : topology->box ? topology->box->rank_at
                                           : topology->leaf_rank;
    for (int i = 0; i < forest->n; i++) {
        forest->rank_at[i] = ranks ? ranks[i] : i;
        if (i == 0 || single || !strag_topology_same_host(topology, ranks[i], ranks[i - 1]))
            forest->first[forest->hosts++] = i;
    }
    forest->first[forest->hosts] = forest->n;
}

/* Sort late ranks to the front, the last to arrive first; the others keep their order. */
static void sort(int32_t *list, int count, const double *delay)
{
    for (int i = 1; i < count; i++) {
        const int32_t moved = list[i];
        int at = i;
        for (; delay[moved] >= 0 && at > 0 && delay[list[at - 1]] < delay[moved]; at--)
            list[at] = list[at - 1];
        list[at] = moved;
    }
}

/* Trees reach a host at a rank that is in time, if it has one, so that other sums do not wait. They
 * reach the straggler's host at the straggler, since its host-mates need no results earlier. */
static void sort_host(const struct forest *forest, int host)
{
    int32_t *ranks = forest->rank_at + forest->first[host];
    const int last = forest->first[host + 1] - forest->first[host] - 1;
    sort(ranks, last + 1, forest->delay);
    if (forest->delay[ranks[0]] >= 0 && ranks[0] != forest->straggler) {
        const int32_t late = ranks[0];
        ranks[0] = ranks[last];
        ranks[last] = late;
    }
}

/* The straggler's host, other late ranks' hosts, the rest from the straggler's on. @return false
 * when out of memory */
static bool order_hosts(struct forest *forest)
{
    double *latest = malloc((size_t)forest->hosts * sizeof *latest);
    int start = 0;
    for (int h = 0; latest && h < forest->hosts; h++) {
        latest[h] = -1;
        for (int i = forest->first[h]; i < forest->first[h + 1]; i++)
            latest[h] = fmax(latest[h], forest->delay[forest->rank_at[i]]);
        start = latest[h] > latest[start] ? h : start;
    }
    for (int h = 0; latest && h < forest->hosts; h++)
        forest->order[h] = (start + h) % forest->hosts;
    if (latest)
        sort(forest->order, forest->hosts, latest);
    free(latest);
    return latest != NULL;
}

/* ---- Trees ---- */

static int count_trees(const struct strag_torus *torus)
{
    return torus->grid && torus->dims > 0 ? torus->parts : 1;
}

static int reached(const struct forest *forest, int host)
{
    return forest->rank_at[forest->first[host]];
}

static void add_branch(struct forest *forest, int tree, int parent, int child)
{
    struct branch *branch = forest->branch + (size_t)tree * (size_t)forest->n;
    branch[child].parent = parent;
    branch[child].sibling = branch[parent].child;
    branch[parent].child = child;
}

static bool is_level(const struct strag_torus *torus, int a, int b, int dim)
{
    return strag_torus_coordinate(torus, a, dim) == strag_torus_coordinate(torus, b, dim);
}

/* On a grid: the next dimension from this one on, upwards or downwards in a circle, in which the
 * cell is not level with the root. */
static int next_dim(const struct strag_torus *torus, int root, int cell, int dim, int step)
{
    do
        dim = (dim + step + torus->dims) % torus->dims;
    while (is_level(torus, root, cell, dim));
    return dim;
}

/* Is the way from the root upwards to the cell no longer than the way downwards? */
static bool is_above(const struct strag_torus *torus, int root, int cell, int dim)
{
    const int size = torus->size[dim], at = strag_torus_coordinate(torus, cell, dim);
    return (at - strag_torus_coordinate(torus, root, dim) + size) % size <= size / 2;
}

/* On a grid: the cell's parent in a tree. The tree's dimension is tree % D; from tree D on all is
 * mirrored. @param root  the straggler's cell */
static int grid_parent(const struct strag_torus *torus, int tree, int root, int cell)
{
    const int own = tree % torus->dims, up = tree < torus->dims ? 1 : -1;
    int dim = own, step = -up;
    if (is_level(torus, root, cell, own)) {
        step = up;
    } else if (torus->size[own] == 2) {
        dim = next_dim(torus, root, cell, own, -1);
    } else if (is_above(torus, root, cell, own) == (up > 0)) {
        dim = next_dim(torus, root, cell, own, -1);
        step = is_above(torus, root, cell, dim) ? -1 : 1;
    } else {
        for (int d = next_dim(torus, root, cell, own, 1); d != own && torus->size[d] == 2;
             d = next_dim(torus, root, cell, d, 1)) {
            dim = d;
            step = 1;
        }
    }
    const int at = strag_torus_coordinate(torus, cell, dim) + step, size = torus->size[dim];
    return strag_torus_move(torus, cell, dim, (at + size) % size);
}

static void grow_on_grid(struct forest *forest, const struct strag_torus *torus, int tree)
{
    const int home = forest->order[0];
    for (int cell = 0; cell < forest->hosts; cell++) {
        const int parent = cell == home ? NONE : grid_parent(torus, tree, home, cell);
        if (parent == home) {
            forest->root[tree] = reached(forest, cell);
            add_branch(forest, tree, forest->root[tree], forest->straggler);
        } else if (parent != NONE) {
            add_branch(forest, tree, reached(forest, parent), reached(forest, cell));
        }
    }
}

static void grow_chain(struct forest *forest)
{
    forest->root[0] = reached(forest, forest->order[1]);
    for (int i = 2; i <= forest->hosts; i++)
        add_branch(forest, 0, reached(forest, forest->order[i - 1]),
                   reached(forest, forest->order[i % forest->hosts]));
}

/* Grow a chain of the ranks on every host. */
static void grow_on_hosts(struct forest *forest, int tree)
{
    for (int h = 0; h < forest->hosts; h++) {
        for (int i = forest->first[h] + 1; i < forest->first[h + 1]; i++)
            add_branch(forest, tree, forest->rank_at[i - 1], forest->rank_at[i]);
    }
}

/* Ranks below the straggler are closer to the root before the arrival. @param queue  room for n */
static void find_depths(struct forest *forest, int tree, int32_t *queue)
{
    struct branch *branch = forest->branch + (size_t)tree * (size_t)forest->n;
    int count = 0;
    queue[count++] = forest->root[tree];
    for (int i = 0; i < count; i++) {
        const int rank = queue[i];
        for (int child = branch[rank].child; child != NONE; child = branch[child].sibling) {
            branch[child].depth = branch[rank].depth + 1;
            branch[child].early = rank == forest->straggler ? 1 : branch[rank].early + 1;
            queue[count++] = child;
            if (child != forest->straggler && branch[child].early > forest->before)
                forest->before = branch[child].early;
        }
        if (branch[rank].depth > forest->depth)
            forest->depth = branch[rank].depth;
    }
}

/* @return NONE if not all ports are used, or if the tree is a chain */
static int mirror_of(const struct forest *forest, int tree)
{
    const int mirror = tree < forest->mirror ? tree + forest->mirror : tree - forest->mirror;
    return mirror >= 0 && mirror < forest->trees && mirror != tree ? mirror : NONE;
}

/* How many of a tree's last segments a rank gets through the mirror image; if negative, how many of
 * the mirror image's it gets through the tree. */
static int crossed(const struct forest *forest, int tree, int rank)
{
    const int mirror = mirror_of(forest, tree);
    const size_t n = (size_t)forest->n, at = (size_t)rank;
    return mirror == NONE ? 0
                          : (forest->branch[(size_t)tree * n + at].depth -
                             forest->branch[(size_t)mirror * n + at].depth) /
                                2;
}

/* @return the mirror image's root if it gets segments of the tree, else NONE */
static int passed_on_to(const struct forest *forest, int tree)
{
    const int mirror = mirror_of(forest, tree);
    const int root = mirror == NONE ? NONE : forest->root[mirror];
    return root != NONE && crossed(forest, tree, root) > 0 ? root : NONE;
}

static void find_last(struct forest *forest)
{
    for (int tree = 0; tree < forest->trees; tree++) {
        for (int rank = 0; rank < forest->n; rank++) {
            const int fewer = crossed(forest, tree, rank);
            const int last = forest->branch[(size_t)tree * (size_t)forest->n + (size_t)rank].depth;
            if (fewer > forest->crossed)
                forest->crossed = fewer;
            if (last - fewer > forest->after)
                forest->after = last - fewer;
        }
    }
}

/* @return false when out of memory */
static bool grow(struct forest *forest, const struct strag_torus *torus)
{
    const size_t branches = (size_t)forest->trees * (size_t)forest->n;
    int32_t *queue = malloc((size_t)forest->n * sizeof *queue);
    forest->branch = malloc(branches * sizeof *forest->branch);
    for (size_t i = 0; forest->branch && i < branches; i++)
        forest->branch[i] = (struct branch){NONE, NONE, NONE, 0, 0};
    for (int tree = 0; queue && forest->branch && tree < forest->trees; tree++) {
        grow_on_hosts(forest, tree);
        if (torus->grid && torus->dims > 0)
            grow_on_grid(forest, torus, tree);
        else
            grow_chain(forest);
        find_depths(forest, tree, queue);
    }
    if (queue && forest->branch) {
        find_last(forest);
        forest->mate = forest->branch[forest->straggler].child;
    }
    free(queue);
    return queue && forest->branch;
}

static void unshare(void *shared)
{
    struct forest *forest = shared;
    free(forest->first);
    free(forest->rank_at);
    free(forest->order);
    free(forest->delay);
    free(forest->branch);
    free(forest);
}

static bool fill(const struct strag_problem *problem, struct forest *forest)
{
    const struct strag_torus torus = strag_torus_of(problem);
    const size_t n = (size_t)problem->n;
    forest->n = problem->n;
    forest->trees = count_trees(&torus);
    forest->mirror = torus.dims;
    forest->straggler = strag_awaited_straggler(problem);
    forest->chained = !strag_tree_is_one_switch(problem) || !strag_uplinks_equal(problem) ||
                      problem->state->nstragglers > 1;
    forest->first = malloc((n + 1) * sizeof *forest->first);
    forest->rank_at = malloc(n * sizeof *forest->rank_at);
    forest->order = malloc(n * sizeof *forest->order);
    forest->delay = malloc(n * sizeof *forest->delay);
    if (!forest->first || !forest->rank_at || !forest->order || !forest->delay)
        return false;
    find_delays(problem->state, forest);
    find_hosts(problem->topology, forest);
    for (int h = 0; h < forest->hosts; h++)
        sort_host(forest, h);
    return order_hosts(forest) && grow(forest, &torus);
}

static int share(const struct strag_problem *problem, void **shared, struct strag_error *err)
{
    struct forest *forest = calloc(1, sizeof *forest);
    if (forest && fill(problem, forest)) {
        *shared = forest;
        return STRAG_OK;
    }
    if (forest)
        unshare(forest);
    return strag_fail(err, STRAG_ERR_MEMORY, "out of memory for the trees of %d ranks", problem->n);
}

/* ---- The algorithm ---- */

static int check(const struct strag_problem *problem, struct strag_error *err)
{
    const struct strag_torus torus = strag_torus_of(problem);
    return strag_straggler_check_blocks(problem, count_trees(&torus), BLOCKS_MAX, err);
}

static int choices(const struct strag_problem *problem, int *blocks)
{
    const struct forest *forest = problem->shared;
    int count = 0;
    for (int64_t all = (int64_t)forest->trees * forest->depth; count < CHOICES; all *= 2) {
        if (count > 0 && all > BLOCKS_MAX)
            break;
        blocks[count++] = (int)all;
    }
    return count;
}

static int segments_of(const struct strag_problem *problem)
{
    const struct forest *forest = problem->shared;
    return problem->blocks ? problem->blocks / forest->trees : forest->depth;
}

/* Rounds before the arrival. In the last one, roots pass sums on to the mirror images' roots. */
static int count_before(const struct forest *forest, int segments)
{
    return forest->before ? segments + forest->before - (forest->crossed == 0) : 0;
}

static void claim(const struct strag_problem *problem, struct strag_claim *claim)
{
    const struct forest *forest = problem->shared;
    const int segments = segments_of(problem), before = count_before(forest, segments);
    *claim = (struct strag_claim){
        .rounds = before + segments + forest->after,
        .blocks = forest->trees * segments,
        .chain = forest->chained ? (forest->before ? forest->before : 1) + forest->depth : 0,
        .waits = true,
        .straggler = forest->straggler,
        .before = before,
    };
}

/* How many segments, one per message, a rank gets through a tree after the arrival. */
static int count_received(const struct forest *forest, int segments, int tree, int rank)
{
    const int count = segments - crossed(forest, tree, rank);
    return count < 0 ? 0 : count < 2 * segments ? count : 2 * segments;
}

static double sent_max(const struct strag_problem *problem)
{
    const struct forest *forest = problem->shared;
    const int segments = segments_of(problem);
    double most = 0;
    for (int rank = 0; rank < forest->n; rank++) {
        double sends = 0;
        for (int tree = 0; tree < forest->trees; tree++) {
            const struct branch *branch = forest->branch + (size_t)tree * (size_t)forest->n;
            const int root = forest->root[tree];
            if (rank == forest->straggler)
                sends += count_received(forest, segments, tree, root);
            else if (rank != root)
                sends += segments;
            else
                sends += passed_on_to(forest, tree) != NONE;
            for (int child = branch[rank].child; child != NONE; child = branch[child].sibling)
                sends += count_received(forest, segments, tree, child);
        }
        most = fmax(most, sends);
    }
    return most / forest->trees / segments;
}

/* A rank in a tree, in a round before or after the arrival. */
struct turn {
    const struct forest *forest;
    const struct branch *branch; /* of the tree's ranks */
    int segments, tree, rank;
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
    if (at >= turn->segments - crossed(turn->forest, turn->tree, rank))
        return NONE;
    return at < turn->segments
               ? block_of(turn, turn->tree, at)
               : block_of(turn, mirror_of(turn->forest, turn->tree), 2 * turn->segments - 1 - at);
}

static void send(const struct turn *turn, int peer, int block)
{
    strag_send(turn->builder, turn->round, peer, block, block == NONE ? 0 : 1);
}

/* Append the message of the others' sum of the last segment to the mirror image's root. */
static void pass_on(const struct turn *turn)
{
    const struct forest *forest = turn->forest;
    const int last = block_of(turn, turn->tree, turn->segments - 1);
    const int root = forest->root[turn->tree], other = passed_on_to(forest, turn->tree);
    if (turn->t < turn->segments + forest->before - 1)
        return;
    if (turn->rank == root && other != NONE)
        send(turn, other, last);
    if (turn->rank == other)
        strag_recv(turn->builder, turn->round, root, last, 1);
}

static void build_before(const struct turn *turn)
{
    const struct forest *forest = turn->forest;
    const int root = forest->root[turn->tree], rank = turn->rank;
    const int up = turn->t - forest->before + turn->branch[rank].early;
    const int block = block_of(turn, turn->tree, up + 1), mate = forest->mate;
    if (rank != root)
        send(turn, rank == mate ? root : turn->branch[rank].parent, block_of(turn, turn->tree, up));
    for (int child = turn->branch[rank].child; child != NONE; child = turn->branch[child].sibling) {
        if (child != forest->straggler)
            strag_recv_reduce(turn->builder, turn->round, child, block, block != NONE);
    }
    if (rank == root && mate != NONE)
        strag_recv_reduce(turn->builder, turn->round, mate, block, block != NONE);
    pass_on(turn);
}

/* Append the hand-in. It stands before the round's results, which a mirror image may need. */
static void hand_in(const struct turn *turn)
{
    const int root = turn->forest->root[turn->tree];
    strag_stage(turn->builder, "hand in");
    send(turn, root, block_at(turn, root, turn->t));
}

static void build_after(const struct turn *turn)
{
    const struct forest *forest = turn->forest;
    const int root = forest->root[turn->tree], rank = turn->rank;
    const int down = turn->t - turn->branch[rank].depth, block = block_at(turn, rank, down);
    strag_stage(turn->builder, "broadcast");
    for (int child = turn->branch[rank].child; child != NONE; child = turn->branch[child].sibling)
        send(turn, child, block_at(turn, child, down - 1));
    if (rank != root) {
        strag_recv(turn->builder, turn->round, turn->branch[rank].parent, block, block != NONE);
    } else if (turn->t > turn->segments) { /* the straggler has the result by then */
        strag_recv(turn->builder, turn->round, forest->straggler, block, block != NONE);
    } else {
        strag_stage(turn->builder, "hand in");
        strag_recv_reduce(turn->builder, turn->round, forest->straggler, block, block != NONE);
    }
}

static void build(const struct strag_problem *problem, int rank, struct strag_builder *builder)
{
    const struct forest *forest = problem->shared;
    const struct strag_rounds wanted = strag_rounds_wanted(builder);
    const int segments = segments_of(problem), before = count_before(forest, segments);
    const int rounds = before + segments + forest->after;
    struct turn turn = {.forest = forest, .segments = segments, .rank = rank, .builder = builder};
    strag_stage(builder, "sum up");
    for (turn.round = wanted.first; turn.round < wanted.end && turn.round < rounds; turn.round++) {
        const bool early = turn.round < before;
        turn.t = turn.round - (early ? 0 : before);
        for (turn.tree = 0; !early && rank == forest->straggler && turn.tree < forest->trees;
             turn.tree++)
            hand_in(&turn);
        for (turn.tree = 0; turn.tree < forest->trees; turn.tree++) {
            turn.branch = forest->branch + (size_t)turn.tree * (size_t)forest->n;
            if (!early)
                build_after(&turn);
            else if (rank != forest->straggler)
                build_before(&turn);
        }
    }
}

/* Rounds are identical once all nodes are busy, until all segments have set out. */
static int same_rounds(const struct strag_problem *problem, int round, int *period)
{
    (void)period;
    const struct forest *forest = problem->shared;
    const int segments = segments_of(problem), before = count_before(forest, segments);
    const bool early = round < before;
    const int t = round - (early ? 0 : before);
    const int full = early ? forest->before - 1 : forest->depth;
    return t >= full && t < segments ? segments - t : 1;
}

/* The blocks of one segment of every tree. */
static int unit(const struct strag_problem *problem)
{
    const struct forest *forest = problem->shared;
    return forest->trees;
}

/* One form: counts with identical rounds both before and after the arrival, unless a chain is
 * claimed, since the count then decides in what share of the rounds a latency shows. */
static int form_of(const struct strag_problem *problem, int blocks)
{
    const struct forest *forest = problem->shared;
    return forest->chained || blocks / forest->trees < forest->depth + 2 ? NONE : 0;
}

const struct strag_algorithm strag_straggler_trees = {
    .name = "straggler-trees",
    .summary = "a straggler on tori and trees: others go ahead, then k trees over all links",
    .rounds = "m + depth",
    .sent = "about 2",
    .needs_straggler = true,
    .check = check,
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
