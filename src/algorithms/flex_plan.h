/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * FlexReduce_plan: which range of the vector every leaf is responsible for after each level.
 *
 * At first every leaf holds the whole vector, that is, its own values of it. Level by level, from
 * the bottom up, the leaves below each node divide the vector again. A leaf's portion is multiplied
 * by the share of its child of the node: 1/degree, or as the uplinks' rates ask. The leaves are
 * sorted by the end of their range, then its start, and get consecutive ranges of their portions'
 * sizes. Hosts of 2 and 3 ranks, a vector of 12 items:
 *
 *     leaf    at first    after level 0    sorted    after level 1    from
 *      0      0 .. 12     0 .. 6           2          2 .. 5          2 at 2..4, 3 at 4..5
 *      1      0 .. 12     6 .. 12          4          7 .. 10         3 at 7..8, 4 at 8..10
 *      2      0 .. 12     0 .. 4           1          0 .. 2          0
 *      3      0 .. 12     4 .. 8           3          5 .. 7          0 at 5..6, 1 at 6..7
 *      4      0 .. 12     8 .. 12          5         10 .. 12         1
 *
 * Below each child of a node the ranges tile the vector, so that every item of a new range has one
 * holder in each child: these take part in one call of reduce. If the set of holders changes, the
 * next call begins. Calls are not stored: a rank finds its own calls by looking for overlaps.
 *
 * A new range ends before the old one does. In most trees of more than two levels it may also begin
 * before the old one: then its owner holds nothing of that part, and the holder in its child hands
 * its values over. These do not cross the node's links, but links further down. The other form,
 * `split`, never hands over: a leaf has to wait for its old range to begin, and gives way to leaves
 * whose old ranges end earlier. (This is earliest deadline first on one machine, with release times
 * and preemption. It always succeeds, since the old ranges within any part of the vector ask for no
 * more than that part.) A leaf may then have several ranges. If the paper's ranges lie within the
 * old ones, both forms are the same. In deep and very uneven trees ranges would be cut to pieces:
 * if a level leaves more than 2500, and four or more for each leaf on average, the many messages
 * cost more than they save, and the paper's form is taken.
 *
 * Ranges are integers out of `whole`: the lowest common denominator of all portions if there is one
 * of up to 2^52, else lcm(1 .. 40), and then cuts are rounded down. Rounding is the same on all
 * ranks: a leaf's part of its child's share is the difference of two roundings, so nothing is lost
 * or given twice. (Lee et al., "FlexReduce", section III.)
 */
#ifndef STRAG_FLEX_PLAN_H
#define STRAG_FLEX_PLAN_H

#include "algorithms/tree.h"

/* A range of a position: the blocks [first, end). */
struct strag_flex_range {
    int32_t first, end;
    int32_t position;
};

/* Ranges in groups of adjacent positions; in a group they ascend and do not overlap. The group of
 * the positions from `first` to `end` has the ranges [at[first], at[end]). */
struct strag_flex_list {
    struct strag_flex_range *ranges;
    int32_t *at; /* n + 1 */
};

struct strag_flex {
    struct strag_tree *tree;
    bool split; /* the form that was taken */
    int64_t whole;
    int blocks;
    int64_t *cuts; /* blocks + 1: where they start, out of `whole` */
    /* List 3l has each position's ranges before level l, so that list 3(l+1) has those after it.
     * Lists 3l + 1 and 3l + 2 have the ranges before and after it, with the positions below a child
     * of a node of the level as groups. On level 0 these are leaves: list 1 is list 0, and list 3
     * is list 2, in the same memory. After the last level there is one more list, with the
     * positions below its nodes as groups. */
    struct strag_flex_list *lists;
};

struct strag_flex_form {
    bool rates; /* share by the uplinks' rates instead of equally */
    bool split; /* ranges within the old ones, instead of one for each leaf */
};

/**
 * Plan for a tree.
 *
 * @param tree    owned and freed by the function, also on failure
 * @param[out] flex  the caller's to free with strag_flex_free; untouched on failure
 * @return STRAG_OK or STRAG_ERR_MEMORY
 */
int strag_flex_create(struct strag_tree *tree, struct strag_flex_form form,
                      struct strag_flex **flex, struct strag_error *err);

/** NULL is allowed. */
void strag_flex_free(struct strag_flex *flex);

/** A position's ranges before a level, or after it. @param[out] count  how many, often one */
static inline const struct strag_flex_range *
strag_flex_own(const struct strag_flex *flex, int level, int position, bool after, int *count)
{
    const struct strag_flex_list *list = &flex->lists[3 * (level + after)];
    *count = list->at[position + 1] - list->at[position];
    return list->ranges + list->at[position];
}

/* A search for the ranges below a child that overlap with a range. */
struct strag_flex_search {
    const struct strag_flex_range *next, *end;
    struct strag_flex_range range;
};

/**
 * Begin a search for the ranges below a child that overlap with `range`.
 *
 * @param child  a node of the tree, whose parent is of `level`
 * @param after  search the ranges after this level, not those before it
 */
struct strag_flex_search strag_flex_search(const struct strag_flex *flex, int level, int child,
                                           bool after, struct strag_flex_range range);

/** The next overlap. @param[out] overlap  its blocks, and the position that has them @return false
 * if there is none */
bool strag_flex_next(struct strag_flex_search *search, struct strag_flex_range *overlap);

/** The length of a range, out of `whole`. */
static inline int64_t strag_flex_length(const struct strag_flex *flex,
                                        struct strag_flex_range range)
{
    return flex->cuts[range.end] - flex->cuts[range.first];
}

#endif
