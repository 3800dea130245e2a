/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Planning takes O(levels * r log r) for r ranges. Ranges are fractions of `whole` while they are
 * made; at the end all their ends become the cuts between blocks, and they are counted in blocks.
 */
#include "algorithms/flex_plan.h"

#include "algorithms/flex_cuts.h"
#include "algorithms/skips.h"

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
    int32_t *group;  /* [position]: of the level at hand */
    struct claimant *claimants, *spare;
    int32_t *heap;                  /* numbers of claimants, the one to be served first on top */
    struct strag_flex_range *given; /* all ranges after a level, node after node */
    int ngiven;
    size_t room; /* of all four, but of `given` twice as much */
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
    for (int i = 0, parent = NONE; i < tree->nnodes; i++) {
        if (tree->nodes[i].children || tree->nodes[i].parent == parent)
            continue;
        parent = tree->nodes[i].parent;
        int64_t product = product_above(tree, i, many_divisors);
        if (product == 0)
            return many_divisors;
        int64_t times = product / strag_gcd(whole, product);
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
static void share_out_split(struct planner *planner, int count)
{
    struct claimant *claimants = planner->claimants;
    int waiting = 0, released = 0, start = planner->ngiven;
    int64_t progress = 0;
    while (released < count || waiting > 0) {
        while (released < count && (waiting == 0 || claimants[released].range.first <= progress)) {
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

/* Likewise where each gets one range: in the order in which they are to be served. */
static void share_out_whole(struct planner *planner, int count)
{
    int start = planner->ngiven;
    int64_t progress = 0;
    for (int c = 0; c < count; c++) {
        const struct claimant *claimant = &planner->claimants[c];
        give(planner, start, progress, progress + claimant->wanted, claimant->range.position);
        progress += claimant->wanted;
    }
}

/* ---- Levels ---- */

/* In which order claimants are sorted: by the start of their old ranges, or as they are served. */
static bool is_behind(const struct claimant *x, const struct claimant *y, bool served)
{
    if (served && x->range.end != y->range.end)
        return x->range.end > y->range.end;
    return x->range.first > y->range.first;
}

static int sorted_end(const struct claimant *claimants, int first, int count, bool served)
{
    int end = first + 1;
    while (end < count && !is_behind(&claimants[end - 1], &claimants[end], served))
        end++;
    return end;
}

/* Those of one child are in order: runs are merged, of equals the one in front first. */
static void sort_claimants(struct planner *planner, int count, bool served)
{
    while (sorted_end(planner->claimants, 0, count, served) < count) {
        struct claimant *from = planner->claimants, *to = planner->spare;
        for (int first = 0, end; first < count; first = end) {
            int middle = sorted_end(from, first, count, served), i = first, j = middle;
            end = middle < count ? sorted_end(from, middle, count, served) : middle;
            for (int k = first; k < end; k++) {
                bool second = i == middle || (j < end && is_behind(&from[i], &from[j], served));
                to[k] = from[second ? j++ : i++];
            }
        }
        planner->claimants = to;
        planner->spare = from;
    }
}

/* How much of a child's share is given to what lies before a place in the vector. */
static int64_t share_before(const struct planner *planner, int64_t place, int64_t share)
{
    int64_t whole = planner->flex->whole;
    if (place == 0 || place == whole)
        return place == 0 ? 0 : share;
    return (int64_t)((wide)place * (wide)share / (wide)whole);
}

/* A child's ranges claim what is given to them of its share. They tile the vector, so that most
 * begin where the one before them ends. @return how many claimants there are then */
static int add_claimants(struct planner *planner, const struct strag_flex_list *held,
                         const struct strag_tree_node *child, int64_t share, int count)
{
    int64_t place = 0, before = 0;
    for (int i = held->at[child->first_leaf]; i < held->at[child->first_leaf + child->leaves];
         i++) {
        const struct strag_flex_range *range = &held->ranges[i];
        if (range->first != place)
            before = share_before(planner, range->first, share);
        int64_t after = share_before(planner, range->end, share);
        if (after > before)
            planner->claimants[count++] = (struct claimant){*range, after - before, i};
        place = range->end;
        before = after;
    }
    return count;
}

/* Hand out the ranges below one node. */
static void plan_node(struct planner *planner, int level, int index)
{
    const struct strag_tree *tree = planner->flex->tree;
    const struct strag_tree_node *node = &tree->nodes[index];
    const struct strag_flex_list *held = &planner->flex->lists[3 * level + 1];
    int count = 0;
    strag_flex_shares(tree, index, planner->form.rates, planner->flex->whole, planner->shares);
    for (int c = 0; c < node->children; c++) {
        const struct strag_tree_node *child = &tree->nodes[node->first_child + c];
        count = add_claimants(planner, held, child, planner->shares[c], count);
    }
    sort_claimants(planner, count, !planner->form.split);
    if (planner->form.split)
        share_out_split(planner, count);
    else
        share_out_whole(planner, count);
}

/* The first position of a position's group: what is below a child of a level's node. On level 0,
 * where these are leaves, each position is a group. */
static int32_t group_of(const struct strag_tree *tree, int level, int position)
{
    int child = level > 0 ? strag_tree_ancestor(tree, level - 1, position) : NONE;
    return child == NONE ? position : tree->nodes[child].first_leaf;
}

/* Put ranges in the groups of a level, in which they keep their order.
 * @param group  [position]; NULL: each position is one  @return false when out of memory */
static bool put_in_groups(const struct strag_tree *tree, const int32_t *group,
                          const struct strag_flex_range *ranges, int count,
                          struct strag_flex_list *list)
{
    int32_t *at = list->at = calloc((size_t)tree->n + 1, sizeof *list->at);
    list->ranges = malloc(((size_t)count + 1) * sizeof *list->ranges);
    if (!list->at || !list->ranges)
        return false;
    for (int i = 0; i < count; i++)
        at[group ? group[ranges[i].position] : ranges[i].position]++;
    for (int p = 0, sum = 0; p <= tree->n; p++) { /* from counts to the groups' ends */
        sum += at[p];
        at[p] = sum;
    }
    for (int i = count - 1; i >= 0; i--) /* from the groups' ends on */
        list->ranges[--at[group ? group[ranges[i].position] : ranges[i].position]] = ranges[i];
    return true;
}

/* Room for what a level gives: a range is cut at most where another one begins. */
static bool make_room(struct planner *planner)
{
    size_t count = (size_t)planner->ngiven + 1;
    if (count <= planner->room)
        return true;
    free(planner->claimants);
    free(planner->spare);
    free(planner->heap);
    free(planner->given);
    planner->claimants = malloc(count * sizeof *planner->claimants);
    planner->spare = malloc(count * sizeof *planner->spare);
    planner->heap = malloc(count * sizeof *planner->heap);
    planner->given = malloc(2 * count * sizeof *planner->given);
    planner->room = count;
    return count < INT32_MAX / 2 && planner->claimants && planner->spare && planner->heap &&
           planner->given;
}

/* @return of a level, for put_in_groups */
static const int32_t *find_groups(struct planner *planner, int level)
{
    const struct strag_tree *tree = planner->flex->tree;
    for (int p = 0; p < tree->n && level > 0; p++)
        planner->group[p] = group_of(tree, level, p);
    return level > 0 ? planner->group : NULL;
}

/* One level of the tree. Leaves that are below none of its nodes are groups and keep their ranges.
 */
static bool plan_level(struct planner *planner, int level)
{
    const struct strag_tree *tree = planner->flex->tree;
    struct strag_flex_list *held = &planner->flex->lists[3 * level + 1];
    if (level == 0)
        *held = planner->flex->lists[0];
    else if (!put_in_groups(tree, find_groups(planner, level), planner->given, planner->ngiven,
                            held))
        return false;
    if (!make_room(planner))
        return false;
    planner->ngiven = 0;
    for (int i = 0; i < tree->nnodes; i++) {
        if (tree->nodes[i].children && tree->nodes[i].level == level)
            plan_node(planner, level, i);
    }
    for (int p = 0; p < tree->n; p++) {
        if (strag_tree_ancestor(tree, level, p) != NONE)
            continue;
        for (int i = held->at[p]; i < held->at[p + 1]; i++)
            planner->given[planner->ngiven++] = held->ranges[i];
    }
    return true;
}

/* What there is after a level, node after node, so that the ranges of each tile the vector. */
static struct strag_flex_range *ranges_after(const struct planner *planner, int level, int *count)
{
    const struct strag_flex *flex = planner->flex;
    if (level + 1 == flex->tree->levels) {
        *count = planner->ngiven;
        return planner->given;
    }
    const struct strag_flex_list *next = &flex->lists[3 * (level + 1) + 1];
    *count = next->at[flex->tree->n];
    return next->ranges;
}

/* ---- Blocks ---- */

/* All ends of ranges, sorted, each once. @return false when out of memory */
static bool find_cuts(struct planner *planner)
{
    struct strag_flex *flex = planner->flex;
    int levels = flex->tree->levels, count;
    size_t ends = 1;
    for (int level = 0; level < levels; level++) {
        (void)ranges_after(planner, level, &count);
        ends += (size_t)count;
    }
    flex->cuts = malloc(ends * sizeof *flex->cuts);
    int64_t *spare = malloc(ends * sizeof *spare);
    if (!flex->cuts || !spare || ends >= INT32_MAX) {
        free(spare);
        return false;
    }
    flex->cuts[0] = 0;
    ends = 1;
    for (int level = 0; level < levels; level++) {
        const struct strag_flex_range *ranges = ranges_after(planner, level, &count);
        int64_t *cuts = flex->cuts + ends;
        for (int i = 0; i < count; i++)
            cuts[i] = ranges[i].end;
        ends += strag_merge_runs(cuts, (size_t)count, spare);
    }
    flex->blocks = (int)strag_merge_runs(flex->cuts, ends, spare) - 1;
    free(spare);
    return true;
}

/* From fractions of `whole` to blocks. Where a range begins the one before it has often ended. */
static void count_in_blocks(const struct strag_cut_table *table, struct strag_flex_range *ranges,
                            int count)
{
    int64_t before = 0, block = 0; /* the end of the one before */
    for (int i = 0; i < count; i++) {
        struct strag_flex_range *range = &ranges[i];
        int64_t end = range->end;
        range->first = range->first == before ? block : strag_cut_table_find(table, range->first);
        block = range->end = strag_cut_table_find(table, end);
        before = end;
    }
}

/* All that is counted in blocks once is then put in the other groups.
 * @return false when out of memory */
static bool count_all(struct planner *planner, const struct strag_cut_table *table)
{
    const struct strag_flex *flex = planner->flex;
    const struct strag_tree *tree = flex->tree;
    count_in_blocks(table, flex->lists[0].ranges, tree->n);
    for (int level = 0; level < tree->levels; level++) {
        struct strag_flex_list *after = &flex->lists[3 * level + 2];
        int count;
        struct strag_flex_range *ranges = ranges_after(planner, level, &count);
        count_in_blocks(table, ranges, count);
        if (!put_in_groups(tree, find_groups(planner, level), ranges, count, after))
            return false;
        if (level == 0)
            after[1] = *after;
        else if (!put_in_groups(tree, NULL, after->ranges, count, after + 1))
            return false;
    }
    return true;
}

/* ---- Planning ---- */

static void free_lists(struct strag_flex *flex)
{
    for (int l = 0; flex->lists && l <= 3 * flex->tree->levels; l++) {
        if (l == 1 || l == 3)
            continue; /* the same as the one before it */
        free(flex->lists[l].ranges);
        free(flex->lists[l].at);
    }
    free(flex->lists);
}

/* All levels, or those until there are too many ranges. */
static int plan_levels(struct planner *planner)
{
    struct strag_flex *flex = planner->flex;
    int n = flex->tree->n;
    flex->split = planner->form.split;
    flex->lists = calloc(3 * (size_t)flex->tree->levels + 1, sizeof *flex->lists);
    planner->ngiven = n;
    if (!flex->lists || !make_room(planner))
        return STRAG_ERR_MEMORY;
    for (int p = 0; p < n; p++)
        planner->given[p] = (struct strag_flex_range){0, flex->whole, p};
    if (!put_in_groups(flex->tree, NULL, planner->given, n, &flex->lists[0]))
        return STRAG_ERR_MEMORY;
    for (int level = 0; level < flex->tree->levels; level++) {
        if (!plan_level(planner, level))
            return STRAG_ERR_MEMORY;
        if (flex->split && planner->ngiven > many_ranges && planner->ngiven / 4 >= n) {
            free_lists(flex);
            planner->form.split = false;
            return plan_levels(planner);
        }
    }
    return STRAG_OK;
}

static int plan(struct planner *planner)
{
    struct strag_flex *flex = planner->flex;
    planner->shares = malloc((size_t)flex->tree->n * sizeof *planner->shares);
    planner->group = malloc((size_t)flex->tree->n * sizeof *planner->group);
    if (!planner->shares || !planner->group)
        return STRAG_ERR_MEMORY;
    bool exact = !planner->form.rates || all_alike(flex->tree);
    flex->whole = exact ? find_whole(flex->tree) : many_divisors;
    if (plan_levels(planner) != STRAG_OK || !find_cuts(planner))
        return STRAG_ERR_MEMORY;
    struct strag_cut_table table;
    bool good =
        strag_cut_table_open(flex->cuts, flex->blocks + 1, &table) && count_all(planner, &table);
    strag_cut_table_close(&table);
    return good ? STRAG_OK : STRAG_ERR_MEMORY;
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
    free(planner.group);
    free(planner.claimants);
    free(planner.spare);
    free(planner.heap);
    free(planner.given);
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
    free_lists(flex);
    free(flex->cuts);
    strag_tree_free(flex->tree);
    free(flex);
}

/* ---- Looking for overlaps ---- */

struct strag_flex_search strag_flex_search(const struct strag_flex *flex, int level, int child,
                                           bool after, struct strag_flex_range range)
{
    const struct strag_tree_node *node = &flex->tree->nodes[child];
    const struct strag_flex_list *list = &flex->lists[3 * level + 1 + after];
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
