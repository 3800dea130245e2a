/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Planning takes O(levels * n log n). Ranges are fractions of `whole` while they are made; at the
 * end all their ends become the cuts between blocks, and ranges are counted in blocks.
 */
#include "flex_plan.h"

#include <stdlib.h>
#include <string.h>

__extension__ typedef unsigned __int128 wide;

enum { NONE = -1 };

/* lcm(1 .. 40), about 2^52.2: what is divided by up to 40 once stays exact. Times 512 segments it
 * is below the 2^62 that strag_bounds allows. */
static const int64_t many_divisors = INT64_C(5342931457063200);

/* A range as a fraction of `whole`. */
struct span {
    int64_t begin, end;
};

/* A leaf that waits for its new range. */
struct claimant {
    struct span span;
    int32_t slot, position;
};

struct planner {
    struct strag_flex *flex;
    bool rates;
    struct span *spans;         /* as flex->ranges */
    int64_t *shares;            /* of a node's children */
    struct claimant *claimants; /* of a node's leaves */
};

/* ---- Shares ---- */

static double rate_of(const struct strag_tree_node *child, bool said)
{
    return (said ? child->uplink : 1) / child->slowed;
}

/* By how much the rates ask for unequal shares. Uplinks count as alike where not all are said. */
struct rates {
    bool said, alike;
    double time; /* T: all a child's traffic, sent one vector per unit of time and rate */
    double sum;  /* of what the children ask for */
};

/* What a child asks for: with this share its uplink is busy during all of the time. */
static double wish(const struct rates *rates, const struct strag_tree_node *child)
{
    double more = rates->time * rate_of(child, rates->said) - 1;
    return more > 0 ? more : 0;
}

static struct rates find_rates(const struct strag_tree *tree, const struct strag_tree_node *node)
{
    const struct strag_tree_node *children = &tree->nodes[node->first_child];
    struct rates rates = {.said = true, .alike = true};
    for (int c = 0; c < node->children; c++)
        rates.said = rates.said && children[c].uplink > 0;
    double least = rate_of(&children[0], rates.said), most = least, sum = 0;
    for (int c = 0; c < node->children; c++) {
        double rate = rate_of(&children[c], rates.said);
        least = rate < least ? rate : least;
        most = rate > most ? rate : most;
        sum += rate;
    }
    rates.alike = !(most > least);
    rates.time = 2 * (node->children - 1) / sum;
    if (rates.time < 1 / least)
        rates.time = 1 / least;
    for (int c = 0; c < node->children; c++)
        rates.sum += wish(&rates, &children[c]);
    return rates;
}

void strag_flex_shares(const struct strag_tree *tree, int node, bool rates, int64_t whole,
                       int64_t *shares)
{
    const struct strag_tree_node *above = &tree->nodes[node];
    int degree = above->children;
    struct rates found = {.alike = true};
    if (rates && degree > 2)
        found = find_rates(tree, above);
    double asked = 0;
    int64_t given = 0;
    for (int c = 0; c < degree; c++) {
        int64_t until = (int64_t)((wide)whole * (unsigned)(c + 1) / (unsigned)degree);
        if (!found.alike && c + 1 < degree) {
            asked += wish(&found, &tree->nodes[above->first_child + c]);
            until = (int64_t)((double)whole * (asked / found.sum));
            until = until > whole ? whole : until;
        }
        shares[c] = until - given;
        given = until;
    }
}

/* ---- The denominator ---- */

static int64_t greatest_divisor(int64_t a, int64_t b)
{
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* The product of the degrees above a node, or 0 if it is above `limit`. */
static int64_t product_above(const struct strag_tree *tree, int node, int64_t limit)
{
    int64_t product = 1;
    for (int i = tree->nodes[node].parent; i != NONE; i = tree->nodes[i].parent) {
        if (product > limit / tree->nodes[i].children)
            return 0;
        product *= tree->nodes[i].children;
    }
    return product;
}

/* The least common denominator of all portions, or many_divisors. */
static int64_t find_whole(const struct strag_tree *tree)
{
    int64_t whole = 1;
    for (int i = 0; i < tree->nnodes; i++) {
        if (tree->nodes[i].children)
            continue;
        int64_t product = product_above(tree, i, many_divisors);
        if (product == 0)
            return many_divisors;
        int64_t times = product / greatest_divisor(whole, product);
        if (whole > many_divisors / times)
            return many_divisors;
        whole *= times;
    }
    return whole;
}

static bool all_alike(const struct strag_tree *tree)
{
    for (int i = 0; i < tree->nnodes; i++) {
        if (tree->nodes[i].children > 2 && !find_rates(tree, &tree->nodes[i]).alike)
            return false;
    }
    return true;
}

/* ---- Ranges ---- */

static struct span *spans_of(const struct planner *planner, int level)
{
    return planner->spans + (size_t)level * (size_t)planner->flex->tree->n;
}

static int32_t *order_of(const struct strag_flex *flex, int level)
{
    return flex->order + (size_t)level * (size_t)flex->tree->n;
}

/* By the end of the range, then its start. Two leaves of one child that have equal ranges have
 * empty ones; they keep their order, and so do those of different children. */
static int by_range(const void *a, const void *b)
{
    const struct claimant *x = a, *y = b;
    if (x->span.end != y->span.end)
        return x->span.end < y->span.end ? -1 : 1;
    if (x->span.begin != y->span.begin)
        return x->span.begin < y->span.begin ? -1 : 1;
    return x->slot < y->slot ? -1 : 1;
}

/* A leaf's part of its child's share: what lies before its range is given to those before it. */
static int64_t portion(const struct planner *planner, const struct span *span, int64_t share)
{
    wide whole = (wide)planner->flex->whole;
    return (int64_t)((wide)span->end * (wide)share / whole -
                     (wide)span->begin * (wide)share / whole);
}

/* Hand out the ranges below one node. */
static void assign_ranges(struct planner *planner, int level, int index)
{
    const struct strag_tree *tree = planner->flex->tree;
    const struct strag_tree_node *node = &tree->nodes[index];
    const struct span *before = spans_of(planner, level);
    struct span *next = spans_of(planner, level + 1);
    const int32_t *order = order_of(planner->flex, level) + node->first_leaf;
    int32_t *sorted = order_of(planner->flex, level + 1) + node->first_leaf;
    strag_flex_shares(tree, index, planner->rates, planner->flex->whole, planner->shares);
    for (int c = 0; c < node->children; c++) {
        const struct strag_tree_node *child = &tree->nodes[node->first_child + c];
        for (int l = child->first_leaf; l < child->first_leaf + child->leaves; l++) {
            int slot = l - node->first_leaf, position = order[slot];
            planner->claimants[slot] = (struct claimant){before[position], slot, position};
            next[position].end = portion(planner, &before[position], planner->shares[c]);
        }
    }
    qsort(planner->claimants, (size_t)node->leaves, sizeof *planner->claimants, by_range);
    int64_t progress = 0;
    for (int i = 0; i < node->leaves; i++) {
        int position = planner->claimants[i].position;
        int64_t end = progress + next[position].end;
        next[position] = (struct span){progress, end};
        sorted[i] = position;
        progress = end;
    }
}

/* One level of the tree. Leaves that are below none of its nodes stay as they are. */
static void plan_level(struct planner *planner, int level)
{
    const struct strag_tree *tree = planner->flex->tree;
    size_t n = (size_t)tree->n;
    memcpy(spans_of(planner, level + 1), spans_of(planner, level), n * sizeof *planner->spans);
    memcpy(order_of(planner->flex, level + 1), order_of(planner->flex, level),
           n * sizeof *planner->flex->order);
    for (int i = 0; i < tree->nnodes; i++) {
        if (tree->nodes[i].children && tree->nodes[i].level == level)
            assign_ranges(planner, level, i);
    }
}

/* ---- Blocks ---- */

static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* All ends of ranges, sorted, each once. */
static void find_cuts(struct planner *planner)
{
    struct strag_flex *flex = planner->flex;
    size_t nspans = ((size_t)flex->tree->levels + 1) * (size_t)flex->tree->n, kept = 0;
    for (size_t i = 0; i < nspans; i++)
        flex->cuts[i + 1] = planner->spans[i].end;
    flex->cuts[0] = 0;
    qsort(flex->cuts, nspans + 1, sizeof *flex->cuts, by_size);
    for (size_t i = 1; i <= nspans; i++) {
        if (flex->cuts[i] != flex->cuts[kept])
            flex->cuts[++kept] = flex->cuts[i];
    }
    flex->blocks = (int)kept;
}

static int block_at(const struct strag_flex *flex, int64_t cut)
{
    int low = 0, high = flex->blocks;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (flex->cuts[middle] < cut)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void count_in_blocks(struct planner *planner)
{
    struct strag_flex *flex = planner->flex;
    size_t nspans = ((size_t)flex->tree->levels + 1) * (size_t)flex->tree->n;
    find_cuts(planner);
    for (size_t i = 0; i < nspans; i++)
        flex->ranges[i] = (struct strag_flex_range){block_at(flex, planner->spans[i].begin),
                                                    block_at(flex, planner->spans[i].end)};
}

/* ---- Planning ---- */

static int allocate(struct planner *planner)
{
    struct strag_flex *flex = planner->flex;
    size_t n = (size_t)flex->tree->n, levels = (size_t)flex->tree->levels;
    size_t size = (levels + 1) * n;
    flex->ranges = malloc(size * sizeof *flex->ranges);
    flex->order = malloc(size * sizeof *flex->order);
    flex->cuts = malloc((size + 1) * sizeof *flex->cuts);
    planner->spans = malloc(size * sizeof *planner->spans);
    planner->shares = malloc(n * sizeof *planner->shares);
    planner->claimants = malloc(n * sizeof *planner->claimants);
    return flex->ranges && flex->order && flex->cuts && planner->spans && planner->shares &&
                   planner->claimants
               ? STRAG_OK
               : STRAG_ERR_MEMORY;
}

static void plan(struct planner *planner)
{
    struct strag_flex *flex = planner->flex;
    bool exact = !planner->rates || all_alike(flex->tree);
    flex->whole = exact ? find_whole(flex->tree) : many_divisors;
    for (int p = 0; p < flex->tree->n; p++) {
        planner->spans[p] = (struct span){0, flex->whole};
        flex->order[p] = p;
    }
    for (int level = 0; level < flex->tree->levels; level++)
        plan_level(planner, level);
    count_in_blocks(planner);
}

int strag_flex_create(struct strag_tree *tree, bool rates, struct strag_flex **flex,
                      struct strag_error *err)
{
    struct planner planner = {.flex = calloc(1, sizeof *planner.flex), .rates = rates};
    int status = STRAG_ERR_MEMORY;
    if (planner.flex) {
        planner.flex->tree = tree;
        status = allocate(&planner);
    } else {
        strag_tree_free(tree);
    }
    if (status == STRAG_OK)
        plan(&planner);
    free(planner.spans);
    free(planner.shares);
    free(planner.claimants);
    if (status == STRAG_OK) {
        *flex = planner.flex;
        return STRAG_OK;
    }
    strag_flex_free(planner.flex);
    return strag_fail(err, status, "out of memory for the ranges of a tree");
}

void strag_flex_free(struct strag_flex *flex)
{
    if (!flex)
        return;
    strag_tree_free(flex->tree);
    free(flex->cuts);
    free(flex->ranges);
    free(flex->order);
    free(flex);
}

/* ---- Looking for overlaps ---- */

struct strag_flex_search strag_flex_search(const struct strag_flex *flex, int level, int child,
                                           bool after, struct strag_flex_range range)
{
    const struct strag_tree_node *node = &flex->tree->nodes[child];
    struct strag_flex_search search = {
        .flex = flex,
        .order = order_of(flex, level) + node->first_leaf,
        .level = level + after,
        .leaves = node->leaves,
        .range = range,
    };
    /* Skip those that end before the range begins. */
    int high = node->leaves;
    while (search.at < high) {
        int middle = search.at + (high - search.at) / 2;
        if (strag_flex_range(flex, search.level, search.order[middle]).end <= range.first)
            search.at = middle + 1;
        else
            high = middle;
    }
    return search;
}

int strag_flex_next(struct strag_flex_search *search, struct strag_flex_range *overlap)
{
    while (search->at < search->leaves) {
        int position = search->order[search->at];
        struct strag_flex_range range = strag_flex_range(search->flex, search->level, position);
        if (range.first >= search->range.end)
            return NONE;
        search->at++;
        overlap->first = range.first > search->range.first ? range.first : search->range.first;
        overlap->end = range.end < search->range.end ? range.end : search->range.end;
        if (overlap->first < overlap->end)
            return position;
    }
    return NONE;
}
