/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Planning takes O(levels * r log r) for r ranges. Ranges are fractions of `whole` while they are
 * made; at the end all their ends become the cuts between blocks, and they are counted in blocks.
 */
#include "algorithms/flex_plan.h"

#include <math.h>
#include <stdlib.h>

__extension__ typedef unsigned __int128 wide;

enum { NONE = -1 };

/* lcm(1 .. 40), about 2^52.2: what is divided by up to 40 once stays exact. Times 512 segments it
 * is below the 2^62 that strag_bounds allows. */
static const int64_t many_divisors = INT64_C(5342931457063200);

/* So many ranges are never too many; see flex_plan.h. */
static const int many_ranges = 2500;

/* Someone who waits for a new range: a leaf with one of its old ones. */
struct claimant {
    struct strag_flex_range range; /* the old one */
    int64_t wanted;                /* what is still to be given */
    int32_t number;
};

struct planner {
    struct strag_flex *flex;
    struct strag_flex_form form;
    int64_t *shares; /* of a node's children */
    struct claimant *claimants;
    int32_t *heap;                  /* numbers of claimants, the one to be served first on top */
    struct strag_flex_range *given; /* all ranges after a level, node after node */
    int ngiven;
    int32_t *group; /* [position]: the first position of its group */
    bool failed;    /* out of memory */
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
    rates.alike = rates.alike || !isfinite(rates.sum); /* beyond what numbers can tell apart */
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

/* ---- Who gets the next part of the vector ---- */

/* The one whose old range ends first; of these the one whose begins first. */
static bool is_before(const struct planner *planner, int32_t a, int32_t b)
{
    const struct claimant *x = &planner->claimants[a], *y = &planner->claimants[b];
    if (x->range.end != y->range.end)
        return x->range.end < y->range.end;
    if (x->range.first != y->range.first)
        return x->range.first < y->range.first;
    return x->number < y->number;
}

static void push(struct planner *planner, int *size, int32_t number)
{
    int32_t *heap = planner->heap;
    int i = (*size)++;
    for (; i > 0 && is_before(planner, number, heap[(i - 1) / 2]); i = (i - 1) / 2)
        heap[i] = heap[(i - 1) / 2];
    heap[i] = number;
}

static int32_t pop(struct planner *planner, int *size)
{
    int32_t *heap = planner->heap, top = heap[0], last = heap[--*size];
    int i = 0;
    for (int child = 1; child < *size; child = 2 * i + 1) {
        if (child + 1 < *size && is_before(planner, heap[child + 1], heap[child]))
            child++;
        if (!is_before(planner, heap[child], last))
            break;
        heap[i] = heap[child];
        i = child;
    }
    heap[i] = last;
    return top;
}

/* Give [first, end) to a position; `start` is where the node's ranges begin. */
static void give(struct planner *planner, int start, int64_t first, int64_t end, int32_t position)
{
    struct strag_flex_range *last = planner->given + planner->ngiven - 1;
    if (first == end)
        return;
    if (planner->ngiven > start && last->position == position)
        last->end = end;
    else
        planner->given[planner->ngiven++] = (struct strag_flex_range){first, end, position};
}

/* Share the vector among claimants, who are sorted by the start of their old ranges. */
static void share_out(struct planner *planner, int count)
{
    struct claimant *claimants = planner->claimants;
    int waiting = 0, released = 0, start = planner->ngiven;
    int64_t progress = 0;
    while (released < count || waiting > 0) {
        while (released < count && (!planner->form.split || waiting == 0 ||
                                    claimants[released].range.first <= progress)) {
            push(planner, &waiting, released);
            released++;
        }
        int32_t number = pop(planner, &waiting);
        struct claimant *first = &claimants[number];
        int64_t end = progress + first->wanted;
        if (released < count && claimants[released].range.first < end)
            end = claimants[released].range.first; /* someone more urgent may come */
        give(planner, start, progress, end, first->range.position);
        first->wanted -= end - progress;
        progress = end;
        if (first->wanted > 0)
            push(planner, &waiting, number);
    }
}

/* ---- Levels ---- */

static int by_start(const void *a, const void *b)
{
    const struct claimant *x = a, *y = b;
    if (x->range.first != y->range.first)
        return x->range.first < y->range.first ? -1 : 1;
    return x->number < y->number ? -1 : 1;
}

/* A range's part of its child's share: what lies before the range is given to those before it. */
static int64_t portion(const struct planner *planner, const struct strag_flex_range *range,
                       int64_t share)
{
    wide whole = (wide)planner->flex->whole;
    return (int64_t)((wide)range->end * (wide)share / whole -
                     (wide)range->first * (wide)share / whole);
}

/* Hand out the ranges below one node. */
static void plan_node(struct planner *planner, int level, int index)
{
    const struct strag_tree *tree = planner->flex->tree;
    const struct strag_tree_node *node = &tree->nodes[index];
    const struct strag_flex_list *held = &planner->flex->levels[level].held;
    int count = 0;
    strag_flex_shares(tree, index, planner->form.rates, planner->flex->whole, planner->shares);
    for (int c = 0; c < node->children; c++) {
        const struct strag_tree_node *child = &tree->nodes[node->first_child + c];
        for (int i = held->at[child->first_leaf]; i < held->at[child->first_leaf + child->leaves];
             i++) {
            int64_t wanted = portion(planner, &held->ranges[i], planner->shares[c]);
            if (wanted > 0)
                planner->claimants[count++] = (struct claimant){held->ranges[i], wanted, i};
        }
    }
    qsort(planner->claimants, (size_t)count, sizeof *planner->claimants, by_start);
    share_out(planner, count);
}

/* Put the ranges that were given in the groups that planner->group says. */
static void arrange(struct planner *planner, struct strag_flex_list *list)
{
    int n = planner->flex->tree->n;
    list->at = calloc((size_t)n + 1, sizeof *list->at);
    list->ranges = malloc(((size_t)planner->ngiven + 1) * sizeof *list->ranges);
    if (!list->at || !list->ranges) {
        planner->failed = true;
        return;
    }
    for (int i = 0; i < planner->ngiven; i++)
        list->at[planner->group[planner->given[i].position]]++;
    for (int p = 0, before = 0; p <= n; p++) {
        int ranges = list->at[p];
        list->at[p] = before;
        before += ranges;
    }
    for (int i = 0; i < planner->ngiven; i++)
        list->ranges[list->at[planner->group[planner->given[i].position]]++] = planner->given[i];
    /* Every `at` of a group's first position is now where the next group begins. */
    for (int p = n; p > 0; p--)
        list->at[p] = list->at[p - 1];
    list->at[0] = 0;
}

/* The groups are what is below the children of a level's nodes. */
static void group_by_child(struct planner *planner, int level)
{
    const struct strag_tree *tree = planner->flex->tree;
    for (int p = 0; p < tree->n; p++) {
        int child = level > 0 ? strag_tree_ancestor(tree, level - 1, p) : NONE;
        planner->group[p] = child == NONE ? p : tree->nodes[child].first_leaf;
    }
}

static void group_by_position(struct planner *planner)
{
    for (int p = 0; p < planner->flex->tree->n; p++)
        planner->group[p] = p;
}

static bool resize(void **items, size_t count, size_t size)
{
    void *moved = realloc(*items, count * size);
    if (!moved)
        return false;
    *items = moved;
    return true;
}

/* Room for what a level gives: a range is cut at most where another one begins. */
static bool make_room(struct planner *planner)
{
    size_t count = (size_t)planner->ngiven + 1;
    return count < INT32_MAX / 2 &&
           resize((void **)&planner->claimants, count, sizeof *planner->claimants) &&
           resize((void **)&planner->heap, count, sizeof *planner->heap) &&
           resize((void **)&planner->given, 2 * count, sizeof *planner->given);
}

/* One level of the tree. Leaves that are below none of its nodes keep their ranges. */
static bool plan_level(struct planner *planner, int level)
{
    const struct strag_tree *tree = planner->flex->tree;
    struct strag_flex_level *lists = &planner->flex->levels[level];
    group_by_child(planner, level);
    arrange(planner, &lists->held);
    group_by_position(planner);
    arrange(planner, &lists->held_own);
    if (planner->failed || !make_room(planner))
        return false;
    planner->ngiven = 0;
    for (int i = 0; i < tree->nnodes; i++) {
        if (tree->nodes[i].children && tree->nodes[i].level == level)
            plan_node(planner, level, i);
    }
    for (int p = 0; p < tree->n; p++) {
        int count;
        const struct strag_flex_range *own = strag_flex_own(planner->flex, level, p, false, &count);
        for (int i = 0; i < count && strag_tree_ancestor(tree, level, p) == NONE; i++)
            planner->given[planner->ngiven++] = own[i];
    }
    arrange(planner, &lists->made_own);
    group_by_child(planner, level);
    arrange(planner, &lists->made);
    return !planner->failed;
}

/* ---- Blocks ---- */

static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static size_t ranges_of(const struct strag_flex *flex, const struct strag_flex_list *list)
{
    return (size_t)list->at[flex->tree->n];
}

/* All ends of ranges, sorted, each once. @return false when out of memory */
static bool find_cuts(struct strag_flex *flex)
{
    size_t ends = 0, kept = 0;
    for (int level = 0; level < flex->tree->levels; level++)
        ends += ranges_of(flex, &flex->levels[level].made_own);
    flex->cuts = malloc((ends + 1) * sizeof *flex->cuts);
    if (!flex->cuts || ends >= INT32_MAX)
        return false;
    flex->cuts[0] = 0;
    ends = 0;
    for (int level = 0; level < flex->tree->levels; level++) {
        const struct strag_flex_list *list = &flex->levels[level].made_own;
        for (size_t i = 0; i < ranges_of(flex, list); i++)
            flex->cuts[++ends] = list->ranges[i].end;
    }
    qsort(flex->cuts, ends + 1, sizeof *flex->cuts, by_size);
    for (size_t i = 1; i <= ends; i++) {
        if (flex->cuts[i] != flex->cuts[kept])
            flex->cuts[++kept] = flex->cuts[i];
    }
    flex->blocks = (int)kept;
    return true;
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

static void count_in_blocks(const struct strag_flex *flex, struct strag_flex_list *list)
{
    for (size_t i = 0; i < ranges_of(flex, list); i++) {
        list->ranges[i].first = block_at(flex, list->ranges[i].first);
        list->ranges[i].end = block_at(flex, list->ranges[i].end);
    }
}

/* ---- Planning ---- */

static void free_list(struct strag_flex_list *list)
{
    free(list->ranges);
    free(list->at);
}

static void free_levels(struct strag_flex *flex)
{
    for (int level = 0; flex->levels && level < flex->tree->levels; level++) {
        free_list(&flex->levels[level].held);
        free_list(&flex->levels[level].held_own);
        free_list(&flex->levels[level].made);
        free_list(&flex->levels[level].made_own);
    }
    free(flex->levels);
    flex->levels = NULL;
}

/* All levels, or those until there are too many ranges. */
static int plan_levels(struct planner *planner)
{
    struct strag_flex *flex = planner->flex;
    int n = flex->tree->n;
    flex->split = planner->form.split;
    flex->levels = calloc((size_t)flex->tree->levels, sizeof *flex->levels);
    if (!flex->levels)
        return STRAG_ERR_MEMORY;
    planner->ngiven = 0;
    for (int p = 0; p < n; p++)
        planner->given[planner->ngiven++] = (struct strag_flex_range){0, flex->whole, p};
    for (int level = 0; level < flex->tree->levels; level++) {
        if (!plan_level(planner, level))
            return STRAG_ERR_MEMORY;
        if (flex->split && planner->ngiven > many_ranges && planner->ngiven / 4 >= n) {
            free_levels(flex);
            planner->form.split = false;
            return plan_levels(planner);
        }
    }
    return STRAG_OK;
}

static int plan(struct planner *planner)
{
    struct strag_flex *flex = planner->flex;
    size_t n = (size_t)flex->tree->n;
    planner->shares = malloc(n * sizeof *planner->shares);
    planner->group = malloc(n * sizeof *planner->group);
    planner->given = malloc(n * sizeof *planner->given);
    if (!planner->shares || !planner->group || !planner->given)
        return STRAG_ERR_MEMORY;
    bool exact = !planner->form.rates || all_alike(flex->tree);
    flex->whole = exact ? find_whole(flex->tree) : many_divisors;
    if (plan_levels(planner) != STRAG_OK || !find_cuts(flex))
        return STRAG_ERR_MEMORY;
    for (int level = 0; level < flex->tree->levels; level++) {
        struct strag_flex_level *lists = &flex->levels[level];
        count_in_blocks(flex, &lists->held);
        count_in_blocks(flex, &lists->held_own);
        count_in_blocks(flex, &lists->made);
        count_in_blocks(flex, &lists->made_own);
    }
    return STRAG_OK;
}

int strag_flex_create(struct strag_tree *tree, struct strag_flex_form form,
                      struct strag_flex **flex, struct strag_error *err)
{
    struct planner planner = {.flex = calloc(1, sizeof *planner.flex), .form = form};
    int status = STRAG_ERR_MEMORY;
    if (planner.flex) {
        planner.flex->tree = tree;
        status = plan(&planner);
    } else {
        strag_tree_free(tree);
    }
    free(planner.shares);
    free(planner.claimants);
    free(planner.heap);
    free(planner.given);
    free(planner.group);
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
    free_levels(flex);
    free(flex->cuts);
    strag_tree_free(flex->tree);
    free(flex);
}

/* ---- Looking for overlaps ---- */

struct strag_flex_search strag_flex_search(const struct strag_flex *flex, int level, int child,
                                           bool after, struct strag_flex_range range)
{
    const struct strag_tree_node *node = &flex->tree->nodes[child];
    const struct strag_flex_level *lists = &flex->levels[level];
    const struct strag_flex_list *list = after ? &lists->made : &lists->held;
    int low = list->at[node->first_leaf], high = list->at[node->first_leaf + node->leaves];
    struct strag_flex_search search = {.end = list->ranges + high, .range = range};
    while (low < high) { /* skip those that end before the range begins */
        int middle = low + (high - low) / 2;
        if (list->ranges[middle].end <= range.first)
            low = middle + 1;
        else
            high = middle;
    }
    search.next = list->ranges + low;
    return search;
}

bool strag_flex_next(struct strag_flex_search *search, struct strag_flex_range *overlap)
{
    const struct strag_flex_range *range = &search->range, *found = search->next;
    if (found == search->end || found->first >= range->end)
        return false;
    search->next++;
    overlap->first = found->first > range->first ? found->first : range->first;
    overlap->end = found->end < range->end ? found->end : range->end;
    overlap->position = found->position;
    return true;
}
