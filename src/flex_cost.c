/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The formulas of flex_cost.h, with level 0 as the lowest.
 */
#include "flex_cost.h"

enum { NONE = -1 };

/* T_r of a node's links while its ancestor's level is at work. */
static double level_seconds(const struct strag_tree *tree, int node, int level, double bytes,
                            double alpha, double bandwidth)
{
    for (; tree->nodes[node].level < level; node = tree->nodes[node].parent)
        bytes /= tree->nodes[node].children;
    int degree = tree->nodes[node].children;
    return (degree - 1) * (alpha + bytes / (degree * bandwidth));
}

double strag_flex_seconds(const struct strag_tree *tree, double bytes, double alpha,
                          const double *bandwidth)
{
    double seconds = 0;
    for (int level = 0; level < tree->levels; level++) {
        double longest = 0;
        for (int i = 0; i < tree->nnodes; i++) {
            if (tree->nodes[i].children == 0 || tree->nodes[i].level > level)
                continue;
            double time = level_seconds(tree, i, level, bytes, alpha, bandwidth[i]);
            longest = time > longest ? time : longest;
        }
        seconds += 2 * longest;
    }
    return seconds;
}

/* A call begins where the range does, and wherever a holder's range ends within it. Ends of
 * different children may fall together, so the next one is looked for in all of them. */
int strag_flex_calls(const struct strag_flex *flex, int level, int position)
{
    const struct strag_tree *tree = flex->tree;
    int index = strag_tree_ancestor(tree, level, position);
    struct strag_flex_range mine = strag_flex_range(flex, level + 1, position), part;
    if (index == NONE || mine.first == mine.end)
        return 0;
    const struct strag_tree_node *node = &tree->nodes[index];
    int calls = 0;
    for (int at = mine.first; at < mine.end; calls++) {
        int next = mine.end;
        for (int c = 0; c < node->children; c++) {
            struct strag_flex_search search = strag_flex_search(
                flex, level, node->first_child + c, false, (struct strag_flex_range){at, mine.end});
            if (strag_flex_next(&search, &part) != NONE && part.end < next)
                next = part.end;
        }
        at = next;
    }
    return calls;
}

/* The shortest range below a child that is not empty. */
static int64_t least_portion(const struct strag_flex *flex, int level, int child)
{
    const struct strag_tree_node *node = &flex->tree->nodes[child];
    int64_t least = flex->whole;
    for (int p = node->first_leaf; p < node->first_leaf + node->leaves; p++) {
        int64_t portion = strag_flex_length(flex, strag_flex_range(flex, level, p));
        if (portion && portion < least)
            least = portion;
    }
    return least;
}

int64_t strag_flex_call_bound(const struct strag_flex *flex, int level, int position)
{
    const struct strag_tree *tree = flex->tree;
    int index = strag_tree_ancestor(tree, level, position);
    int64_t mine = strag_flex_length(flex, strag_flex_range(flex, level + 1, position));
    if (index == NONE || mine == 0)
        return 0;
    const struct strag_tree_node *node = &tree->nodes[index];
    int64_t bound = 1;
    for (int c = node->first_child; c < node->first_child + node->children; c++) {
        int64_t least = least_portion(flex, level, c);
        bound += mine / least + (mine % least != 0);
    }
    return bound;
}
