/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hierarchical doubling: for short vectors on any tree. A level's rounds are a logarithm of its
 * degree, and an uplink has one message at a time.
 *
 * Level by level, from the bottom up, the leaves that lead the children of a node reduce onto the
 * first of them, which then leads the node (binomial.h). The leaders of the root's children do
 * recursive doubling (fold.h if they are not a power of two), and the result goes down again as it
 * came up. Three hosts of 2, 3 and 3 ranks on one switch:
 *
 *     round 0   1->0   3->2   6->5        reduce within hosts
 *     round 1          4->2   7->5
 *     round 2   0->2                      among hosts: fold,
 *     round 3          2<->5              doubling,
 *     round 4   2->0                      unfold
 *     round 5          2->4   5->7        broadcast within hosts
 *     round 6   0->1   2->3   5->6
 *
 * With degrees d_0 (the largest of the lowest level), d_1, ..., d_top:
 *
 *     rounds  2 sum over levels below the top of ceil(log2 d_l), + floor(log2 d_top) (+ 2: fold)
 *
 * All messages are whole vectors. With one rank per host on one switch, it is recursive doubling.
 */
#include "algorithms/binomial.h"
#include "algorithms/fold.h"
#include "algorithms/tree.h"

#include <stdlib.h>

struct prepared {
    struct strag_tree *tree;
    int32_t top[]; /* the ranks that lead the root's children, ascending: the lower rank of a pair,
                      whose value stands left, must have the lower number in the doubling */
};

static void release(void *what)
{
    struct prepared *prepared = what;
    strag_tree_free(prepared->tree);
    free(prepared);
}

static int leader(const struct strag_tree *tree, int node)
{
    return tree->nodes[node].first_leaf;
}

static int by_number(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* The rounds of the levels below the top, in one direction. */
static int climbing_rounds(const struct strag_tree *tree)
{
    int rounds = 0;
    for (int level = 0; level < tree->levels - 1; level++)
        rounds += strag_log2_ceil(tree->degree[level]);
    return rounds;
}

/* The child of a level's node that a position leads, or -1 if it leads none. */
static int led_child(const struct strag_tree *tree, int level, int position)
{
    if (strag_tree_ancestor(tree, level, position) < 0)
        return -1;
    int below = level > 0 ? strag_tree_ancestor(tree, level - 1, position) : -1;
    if (below < 0)
        return tree->leaf_at[position];
    return leader(tree, below) == position ? below : -1;
}

/* A position's number in the doubling, or -1 if it leads no child of the root. */
static int top_member(const struct prepared *prepared, int position)
{
    if (led_child(prepared->tree, prepared->tree->levels - 1, position) < 0)
        return -1;
    const int32_t *rank = &prepared->tree->rank_at[position];
    const int32_t *found = bsearch(rank, prepared->top, (size_t)prepared->tree->nodes[0].children,
                                   sizeof *prepared->top, by_number);
    return found ? (int)(found - prepared->top) : -1;
}

/* How many vectors the leader of a child of the root sends at the top. */
static int sent_at_top(const struct prepared *prepared, int child)
{
    struct strag_fold fold = strag_fold(prepared->tree->nodes[0].children);
    int member = top_member(prepared, leader(prepared->tree, child));
    return strag_fold_number(&fold, member) < 0 ? 1 : fold.log + (member < 2 * fold.extra);
}

/* A leader sends on all levels up to the node where it is not the first one, or to the top. */
static double sent_max(const struct strag_problem *problem)
{
    const struct prepared *prepared = problem->prepared;
    const struct strag_tree *tree = prepared->tree;
    int32_t *sent =
        calloc((size_t)tree->nnodes, sizeof *sent); /* [node]: by its leader, below it */
    int most = 0;
    if (!sent)
        return -1;
    for (int i = tree->nnodes - 1; i >= 0; i--) {
        const struct strag_tree_node *node = &tree->nodes[i];
        int steps = strag_log2_ceil(node->children);
        for (int member = 0; member < node->children; member++) {
            int child = node->first_child + member, total = sent[child];
            if (i > 0 && member > 0 && total + steps <= most)
                continue; /* only the first one may send in every step */
            total += i == 0 ? sent_at_top(prepared, child)
                            : strag_binomial_children(node->children, member) + (member > 0);
            most = total > most ? total : most;
            if (member == 0)
                sent[i] = total;
        }
    }
    free(sent);
    return most;
}

static int prepare(const struct strag_problem *problem, void **out, struct strag_error *err)
{
    struct strag_tree *tree;
    int status = strag_tree_create(problem, &tree, err);
    if (status != STRAG_OK)
        return status;
    size_t children = (size_t)tree->nodes[0].children;
    struct prepared *prepared = malloc(sizeof *prepared + children * sizeof *prepared->top);
    if (!prepared) {
        strag_tree_free(tree);
        return strag_fail(err, STRAG_ERR_MEMORY, "out of memory for %zu leaders", children);
    }
    prepared->tree = tree;
    for (size_t c = 0; c < children; c++)
        prepared->top[c] = tree->rank_at[leader(tree, tree->nodes[0].first_child + (int)c)];
    qsort(prepared->top, children, sizeof *prepared->top, by_number);
    *out = prepared;
    return STRAG_OK;
}

static void claim(const struct strag_problem *problem, struct strag_claim *claim)
{
    const struct prepared *prepared = problem->prepared;
    const struct strag_tree *tree = prepared->tree;
    struct strag_fold fold = strag_fold(tree->nodes[0].children);
    *claim = (struct strag_claim){
        .rounds = 2 * climbing_rounds(tree) + fold.log + (fold.extra ? 2 : 0),
        .blocks = 1,
        .ports = 1,
    };
}

/* Append a level below the top, up or down. @return the round behind it */
static int build_level(const struct strag_tree *tree, int position, int level, bool broadcast,
                       int round, struct strag_builder *builder)
{
    int steps = strag_log2_ceil(tree->degree[level]);
    int child = led_child(tree, level, position);
    if (child < 0)
        return round + steps;
    const struct strag_tree_node *node = &tree->nodes[tree->nodes[child].parent];
    for (int t = 0; t < steps; t++) {
        bool sends;
        int partner = strag_binomial_partner(node->children, child - node->first_child,
                                             broadcast ? steps - 1 - t : t, &sends);
        if (partner < 0)
            continue;
        int peer = tree->rank_at[leader(tree, node->first_child + partner)];
        strag_binomial_round(sends, broadcast, round + t, peer, 1, builder);
    }
    return round + steps;
}

/* Append the doubling at the top. @return the round behind it */
static int build_top(const struct prepared *prepared, int position, int round,
                     struct strag_builder *builder)
{
    struct strag_fold fold = strag_fold(prepared->tree->nodes[0].children);
    int end = round + fold.log + (fold.extra ? 2 : 0);
    int member = top_member(prepared, position);
    if (member < 0)
        return end;
    int number = strag_fold_number(&fold, member);
    bool folds = member < 2 * fold.extra;
    if (folds)
        strag_fold_round(member, false, round, prepared->top[member ^ 1], 1, builder);
    round += fold.extra > 0;
    strag_stage(builder, "doubling");
    for (int distance = 1; number >= 0 && distance < fold.active; distance *= 2, round++) {
        int peer = prepared->top[strag_fold_rank(&fold, number ^ distance)];
        strag_send(builder, round, peer, 0, 1);
        strag_exchange_reduce(builder, round, peer, 0, 1);
    }
    if (folds)
        strag_fold_round(member, true, end - 1, prepared->top[member ^ 1], 1, builder);
    return end;
}

/* There are few rounds, so all are appended, wanted or not. */
static void build(const struct strag_problem *problem, int rank, struct strag_builder *builder)
{
    const struct prepared *prepared = problem->prepared;
    const struct strag_tree *tree = prepared->tree;
    int position = tree->position_of[rank], round = 0;
    for (int level = 0; level < tree->levels - 1; level++)
        round = build_level(tree, position, level, false, round, builder);
    round = build_top(prepared, position, round, builder);
    for (int level = tree->levels - 2; level >= 0; level--)
        round = build_level(tree, position, level, true, round, builder);
}

const struct strag_algorithm strag_hierarchical_doubling = {
    .name = "hierarchical-doubling",
    .summary = "recursive doubling among leaders, trees below; for short vectors on any tree",
    .rounds = "2 sum(log2 d_l) + log2 d_top",
    .sent = "about log2 n",
    .prepare = prepare,
    .release = release,
    .adds_nothing = strag_tree_is_flat,
    .claim = claim,
    .sent_max = sent_max,
    .build = build,
};
