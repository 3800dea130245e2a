/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * FlexReduce_plan: which range of the vector every leaf is responsible for after each level.
 *
 * At first every leaf holds the whole vector, that is, its own values of it. Level by level, from
 * the bottom up, the leaves below each node divide the vector again. A leaf's portion is multiplied
 * by what its child of the node gets: 1/degree, or by the uplinks' rates. The leaves are sorted by
 * the end of their range, then its start, and get consecutive ranges of their portions' sizes.
 * Hosts of 2 and 3 ranks, a vector of 12 items:
 *
 *     leaf    at first    after level 0    sorted    after level 1    from
 *      0      0 .. 12     0 .. 6           2          2 .. 5          2 at 2..4, 3 at 4..5
 *      1      0 .. 12     6 .. 12          4          7 .. 10         3 at 7..8, 4 at 8..10
 *      2      0 .. 12     0 .. 4           1          0 .. 2          0
 *      3      0 .. 12     4 .. 8           3          5 .. 7          0 at 5..6, 1 at 6..7
 *      4      0 .. 12     8 .. 12          5         10 .. 12         1
 *
 * Below each child of a node the ranges tile the vector, so that every item of a new range has one
 * holder in each child: these take part in one call of reduce. If the set of holders changes,
 * the next call begins. Nothing of that is stored: a rank finds its own calls by looking for
 * overlaps.
 *
 * A new range ends before the old one does, but may begin before it, in most trees of more than two
 * levels: then its owner holds nothing of that part, and its child's holder hands over what it has.
 * That does not cross the node's links, but those further down. The other form, `split`, never
 * needs it: a leaf has to wait for its old range to begin, and gives way to those whose old ranges
 * end earlier (which is earliest deadline first on one machine, with release times and preemption:
 * there is always a way, since what lies within any part of the vector asks for that much at most).
 * A leaf may then have several ranges; where the paper's lie within the old ones both are the same.
 * In deep and very uneven trees ranges would be cut to pieces: if a level leaves more than
 * 2500, and four or more for each leaf on average, more is lost by the many messages than won,
 * and the paper's form is taken.
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

/* Ranges in groups of positions that are side by side; in a group they ascend and do not overlap.
 * The group of the positions from `first` to `end` has the ranges [at[first], at[end]). */
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
    /* Each position's ranges before level l: 3l, and so 3(l+1) after it; in groups of what is below
     * a child of a node of the level: 3l + 1 before it, 3l + 2 after it. On level 0, on which these
     * are leaves, list 1 is list 0, and list 3 is list 2: the same memory. After the last level
     * there is one more, in groups of what is below its nodes. */
    struct strag_flex_list *lists;
};

struct strag_flex_form {
    bool rates; /* share by the uplinks' rates instead of equally */
    bool split; /* ranges within the old ones, instead of one for each leaf */
};

/**
 * Plan for a tree.
 *
 * @param tree    taken over, also on failure
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

/* The ranges below a child that overlap with one. */
struct strag_flex_search {
    const struct strag_flex_range *next, *end;
    struct strag_flex_range range;
};

/**
 * Look for ranges below a child that overlap with one.
 *
 * @param child  a node of the tree, whose parent is of `level`
 * @param after  look at the ranges after this level, not before it
 */
struct strag_flex_search strag_flex_search(const struct strag_flex *flex, int level, int child,
                                           bool after, struct strag_flex_range range);

/** The next one. @param[out] overlap  what they have in common, and whose it is @return is there
 * one? */
bool strag_flex_next(struct strag_flex_search *search, struct strag_flex_range *overlap);

/** What a range is of the vector, out of `whole`. */
static inline int64_t strag_flex_length(const struct strag_flex *flex,
                                        struct strag_flex_range range)
{
    return flex->cuts[range.end] - flex->cuts[range.first];
}

#endif
