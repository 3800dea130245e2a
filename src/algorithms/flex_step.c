/* SPDX-License-Identifier: BSD-3-Clause */
#include "algorithms/flex_step.h"

enum { NONE = -1 };

/* Plans with more messages than this, all ranks together, are refused: every rank sends to one
 * below each other child, which is unsuitable for thousands of hosts on one switch. */
static const int64_t messages_max = INT64_C(1) << 22;

static const int64_t messages_few = INT64_C(1) << 16;

/* The least number: every leaf sends to each other child, on every level. */
static int64_t count_messages(const struct strag_problem *problem)
{
    const struct strag_topology *topology = problem->topology;
    int64_t messages = 0;
    for (int i = 0; topology && i < topology->nnodes; i++) {
        const struct strag_node *node = &topology->nodes[i];
        if (node->children)
            messages += 2 * (int64_t)node->leaves * (node->children - 1);
    }
    return topology ? messages : 2 * (int64_t)problem->n * (problem->n - 1);
}

int strag_flex_check_messages(const struct strag_problem *problem, int segments,
                              struct strag_error *err)
{
    int64_t messages = count_messages(problem) * segments;
    if (messages > messages_max)
        return strag_fail(
            err, STRAG_ERR_UNSUPPORTED,
            "%s would send %lld messages or more, all ranks together; the limit is %lld",
            problem->algorithm->name, (long long)messages, (long long)messages_max);
    return STRAG_OK;
}

bool strag_flex_has_few_messages(const struct strag_problem *problem)
{
    return count_messages(problem) <= messages_few;
}

/* The child, of a node of the level, that a position is below. */
static int child_above(const struct strag_tree *tree, int level, int position)
{
    int child = level > 0 ? strag_tree_ancestor(tree, level - 1, position) : NONE;
    return child == NONE ? tree->leaf_at[position] : child;
}

/* In the reduce-scatter a leaf sends what it holds and does not keep. In the allgather it sends
 * what it has summed up to one holder below every child, except itself. */
static int64_t sent_at_level(const struct strag_flex *flex, int level, int position)
{
    int node = strag_tree_ancestor(flex->tree, level, position);
    if (node == NONE)
        return 0;
    int count, child = child_above(flex->tree, level, position);
    int64_t sent = 0;
    const struct strag_flex_range *held = strag_flex_own(flex, level, position, false, &count);
    for (int h = 0; h < count; h++)
        sent += strag_flex_length(flex, held[h]);
    const struct strag_flex_range *made = strag_flex_own(flex, level, position, true, &count);
    for (int m = 0; m < count; m++) {
        struct strag_flex_range overlap;
        struct strag_flex_search search = strag_flex_search(flex, level, child, false, made[m]);
        sent += flex->tree->nodes[node].children * strag_flex_length(flex, made[m]);
        while (strag_flex_next(&search, &overlap)) {
            if (overlap.position == position)
                sent -= 2 * strag_flex_length(flex, overlap); /* kept */
        }
    }
    return sent;
}

double strag_flex_sent_max(const struct strag_flex *flex)
{
    int64_t sent = 0;
    for (int p = 0; p < flex->tree->n; p++) {
        int64_t by_this = 0;
        for (int level = 0; level < flex->tree->levels; level++)
            by_this += sent_at_level(flex, level, p);
        sent = by_this > sent ? by_this : sent;
    }
    return (double)sent / (double)flex->whole;
}

/* Append messages with ranks below a child: with the holders of what the rank sums up, or with the
 * owners of what it holds. Both sides go through the vector from its start. */
static void add_all(const struct strag_flex_step *step, enum strag_kind kind, int child, bool made)
{
    int count;
    const struct strag_flex_range *own =
        strag_flex_own(step->flex, step->level, step->position, made, &count);
    for (int i = 0; i < count; i++) {
        struct strag_flex_range overlap;
        struct strag_flex_search search =
            strag_flex_search(step->flex, step->level, child, !made, own[i]);
        while (strag_flex_next(&search, &overlap)) {
            if (overlap.position != step->position)
                strag_cyclic(step->builder, kind, step->round,
                             step->flex->tree->rank_at[overlap.position],
                             step->shift + (int)overlap.first, (int)(overlap.end - overlap.first));
        }
    }
}

/* Append messages as an owner with holders below a child, as a holder with owners below another. */
static void add_messages(const struct strag_flex_step *step, int holders, int owners,
                         bool hand_over)
{
    if (step->gather) {
        add_all(step, STRAG_SEND, holders, true);
        add_all(step, STRAG_RECV, owners, false);
    } else {
        add_all(step, STRAG_SEND, owners, false);
        add_all(step, hand_over ? STRAG_RECV : STRAG_RECV_REDUCE, holders, true);
    }
}

void strag_flex_step_build(const struct strag_flex_step *step, int distance)
{
    const struct strag_tree *tree = step->flex->tree;
    int index = strag_tree_ancestor(tree, step->level, step->position);
    if (index == NONE || distance >= tree->nodes[index].children)
        return;
    const struct strag_tree_node *node = &tree->nodes[index];
    int mine = child_above(tree, step->level, step->position);
    int number = mine - node->first_child, degree = node->children;
    int owners = node->first_child + (number + distance) % degree;
    int holders = node->first_child + (number + degree - distance) % degree;
    if (distance == 1 && !step->gather)
        add_messages(step, mine, mine, true);
    add_messages(step, holders, owners, false);
    if (distance == 1 && step->gather)
        add_messages(step, mine, mine, true);
}
