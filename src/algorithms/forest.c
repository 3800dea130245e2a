/* SPDX-License-Identifier: BSD-3-Clause */
#include "algorithms/forest.h"

#include "algorithms/straggler.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NONE = -1, CHOICES = 10 };

/* ---- Hosts ---- */

static void find_delays(const struct strag_state *state, struct strag_forest *forest)
{
    for (int rank = 0; rank < forest->n; rank++)
        forest->delay[rank] = -1;
    for (int i = 0; state && i < state->nstragglers; i++) {
        double *delay = &forest->delay[state->straggler[i].rank];
        *delay = fmax(*delay, state->straggler[i].delay);
    }
    forest->delay[forest->centre] = INFINITY;
}

/* Find the ranks that share a host; if all ranks do, each counts as a host. */
static void find_hosts(const struct strag_topology *topology, struct strag_forest *forest)
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

/* Sort by key, ascending; those with equal keys keep their order. */
static void sort(int32_t *list, int count, const double *key)
{
    for (int i = 1; i < count; i++) {
        const int32_t moved = list[i];
        int at = i;
        for (; at > 0 && key[list[at - 1]] > key[moved]; at--)
            list[at] = list[at - 1];
        list[at] = moved;
    }
}

/* Trees reach a host at a rank that is in time, if it has one, and late ranks are the last ones, so
 * that other sums do not wait. They reach the centre's host at the centre, since its host-mates
 * need no results earlier. */
static void sort_host(const struct strag_forest *forest, int host)
{
    int32_t *ranks = forest->rank_at + forest->first[host];
    const int count = forest->first[host + 1] - forest->first[host];
    int at = 0;
    sort(ranks, count, forest->delay);
    while (at < count && ranks[at] != forest->centre)
        at++;
    if (at < count) {
        memmove(ranks + 1, ranks, (size_t)at * sizeof *ranks);
        ranks[0] = forest->centre;
    }
}

/* The centre's host, other late ranks' hosts, the last to arrive first, the rest from the centre's
 * on. @return false when out of memory */
static bool order_hosts(struct strag_forest *forest)
{
    double *early = malloc((size_t)forest->hosts * sizeof *early);
    int start = 0;
    if (!early)
        return false;
    for (int h = 0; h < forest->hosts; h++) {
        early[h] = INFINITY;
        for (int i = forest->first[h]; i < forest->first[h + 1]; i++)
            early[h] = fmin(early[h], -forest->delay[forest->rank_at[i]]);
        start = early[h] < early[start] ? h : start;
    }
    for (int h = 0; h < forest->hosts; h++)
        forest->order[h] = (start + h) % forest->hosts;
    sort(forest->order, forest->hosts, early);
    free(early);
    return true;
}

/* ---- Trees ---- */

static bool is_grid(const struct strag_torus *torus)
{
    return torus->grid && torus->dims > 0;
}

int strag_forest_trees(const struct strag_problem *problem)
{
    const struct strag_torus torus = strag_torus_of(problem);
    return is_grid(&torus) ? torus.parts : 1;
}

int strag_forest_check(const struct strag_problem *problem, struct strag_error *err)
{
    int status = STRAG_OK;
    if (strag_torus_of(problem).grid)
        status = strag_torus_check(problem, 1, err);
    return status != STRAG_OK ? status
                              : strag_straggler_check_blocks(problem, strag_forest_trees(problem),
                                                             STRAG_FOREST_BLOCKS_MAX, err);
}

static int reached(const struct strag_forest *forest, int host)
{
    return forest->rank_at[forest->first[host]];
}

static void add_branch(struct strag_forest *forest, int tree, int parent, int child)
{
    struct strag_branch *branch = forest->branch + (size_t)tree * (size_t)forest->n;
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
 * mirrored. @param root  the centre's cell */
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

static void grow_on_grid(struct strag_forest *forest, const struct strag_torus *torus, int tree)
{
    const int home = forest->order[0];
    for (int cell = 0; cell < forest->hosts; cell++) {
        const int parent = cell == home ? NONE : grid_parent(torus, tree, home, cell);
        if (parent == home) {
            forest->root[tree] = reached(forest, cell);
            add_branch(forest, tree, forest->root[tree], forest->centre);
        } else if (parent != NONE) {
            add_branch(forest, tree, reached(forest, parent), reached(forest, cell));
        }
    }
}

static void grow_chain(struct strag_forest *forest)
{
    forest->root[0] = reached(forest, forest->order[1]);
    for (int i = 2; i <= forest->hosts; i++)
        add_branch(forest, 0, reached(forest, forest->order[i - 1]),
                   reached(forest, forest->order[i % forest->hosts]));
}

/* Grow a chain of the ranks on every host. */
static void grow_on_hosts(struct strag_forest *forest, int tree)
{
    for (int h = 0; h < forest->hosts; h++) {
        for (int i = forest->first[h] + 1; i < forest->first[h + 1]; i++)
            add_branch(forest, tree, forest->rank_at[i - 1], forest->rank_at[i]);
    }
}

/* Without the centre, the ranks below it are closer to the root. @param queue  room for n */
static void find_depths(struct strag_forest *forest, int tree, int32_t *queue)
{
    struct strag_branch *branch = forest->branch + (size_t)tree * (size_t)forest->n;
    int count = 0;
    queue[count++] = forest->root[tree];
    for (int i = 0; i < count; i++) {
        const int rank = queue[i];
        for (int child = branch[rank].child; child != NONE; child = branch[child].sibling) {
            branch[child].depth = branch[rank].depth + 1;
            branch[child].early = rank == forest->centre ? 1 : branch[rank].early + 1;
            queue[count++] = child;
            if (child != forest->centre && branch[child].early > forest->before)
                forest->before = branch[child].early;
        }
        if (branch[rank].depth > forest->depth)
            forest->depth = branch[rank].depth;
    }
}

/* @return false when out of memory */
static bool grow(struct strag_forest *forest, const struct strag_torus *torus)
{
    const size_t branches = (size_t)forest->trees * (size_t)forest->n;
    int32_t *queue = malloc((size_t)forest->n * sizeof *queue);
    forest->branch = malloc(branches * sizeof *forest->branch);
    for (size_t i = 0; forest->branch && i < branches; i++)
        forest->branch[i] = (struct strag_branch){NONE, NONE, NONE, 0, 0};
    for (int tree = 0; queue && forest->branch && tree < forest->trees; tree++) {
        grow_on_hosts(forest, tree);
        if (is_grid(torus))
            grow_on_grid(forest, torus, tree);
        else
            grow_chain(forest);
        find_depths(forest, tree, queue);
    }
    free(queue);
    return queue && forest->branch;
}

bool strag_forest_grow(const struct strag_problem *problem, int centre, struct strag_forest *forest)
{
    const struct strag_torus torus = strag_torus_of(problem);
    const size_t n = (size_t)problem->n;
    *forest = (struct strag_forest){
        .n = problem->n, .trees = strag_forest_trees(problem), .centre = centre};
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

void strag_forest_clear(struct strag_forest *forest)
{
    free(forest->first);
    free(forest->rank_at);
    free(forest->order);
    free(forest->delay);
    free(forest->branch);
}

int strag_forest_choices(const struct strag_forest *forest, int *blocks)
{
    int count = 0;
    for (int64_t all = (int64_t)forest->trees * forest->depth; count < CHOICES; all *= 2) {
        if (count > 0 && all > STRAG_FOREST_BLOCKS_MAX)
            break;
        blocks[count++] = (int)all;
    }
    return count;
}
