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
static int calls_of(const struct strag_flex *flex, int level, const struct strag_tree_node *node,
                    struct strag_flex_range range)
{
    int calls = 0;
    for (; range.first < range.end; calls++) {
        int64_t next = range.end;
        for (int c = 0; c < node->children; c++) {
            struct strag_flex_range part;
            struct strag_flex_search search =
                strag_flex_search(flex, level, node->first_child + c, false, range);
            if (strag_flex_next(&search, &part) && part.end < next)
                next = part.end;
        }
        range.first = next;
    }
    return calls;
}

int strag_flex_calls(const struct strag_flex *flex, int level, int position)
{
    int index = strag_tree_ancestor(flex->tree, level, position), calls = 0, count;
    const struct strag_flex_range *made = strag_flex_own(flex, level, position, true, &count);
    for (int i = 0; index != NONE && i < count; i++)
        calls += calls_of(flex, level, &flex->tree->nodes[index], made[i]);
    return calls;
}

/* The shortest range below a child. */
static int64_t least_portion(const struct strag_flex *flex, int level, int child)
{
    struct strag_flex_range range = {.end = flex->blocks};
    struct strag_flex_search search = strag_flex_search(flex, level, child, false, range);
    int64_t least = flex->whole;
    while (strag_flex_next(&search, &range)) {
        int64_t portion = strag_flex_length(flex, range);
        least = portion < least ? portion : least;
    }
    return least;
}

int64_t strag_flex_call_bound(const struct strag_flex *flex, int level, int position)
{
    const struct strag_tree *tree = flex->tree;
    int index = strag_tree_ancestor(tree, level, position), count;
    const struct strag_flex_range *made = strag_flex_own(flex, level, position, true, &count);
    if (index == NONE)
        return 0;
    const struct strag_tree_node *node = &tree->nodes[index];
    int64_t bound = count;
    for (int c = node->first_child; c < node->first_child + node->children; c++) {
        int64_t least = least_portion(flex, level, c);
        for (int i = 0; i < count; i++) {
            int64_t mine = strag_flex_length(flex, made[i]);
            bound += mine / least + (mine % least != 0);
        }
    }
    return bound;
}
