/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Planning takes O(levels * r log r) for r ranges; the log is small if adjacent nodes are
 * identical. Ranges are fractions of `whole` while they are made. Finally all their ends become the
 * cuts between blocks, and ranges are counted in blocks.
 */
#include "algorithms/flex_plan.h"

#include "algorithms/flex_cuts.h"
#include "algorithms/flex_shares.h"
#include "base/scale.h"

#include <stdlib.h>
#include <string.h>

enum { NONE = -1 };

/* Up to this number ranges are never too many; see flex_plan.h. */
static const int many_ranges = 2500;

/* A leaf that waits for a new range, with one of its old ones. */
struct claimant {
    int64_t first, end; /* the old one */
    int64_t wanted;     /* how much it has yet to be given */
    int32_t position, number;
};

/* All ranges after a level, in groups from left to right: the leaves below a node of the level, or
 * one leaf that is below none. A group's ranges tile the vector: each begins where the one before
 * it ends, the group's first one at 0. */
struct given {
    int count;
    int64_t *end;
    int32_t *position;
    int32_t *at; /* [first position of a group]: its first range; [n]: count */
};

struct planner {
    struct strag_flex *flex;
    struct strag_flex_form form;
    struct strag_flex_hosts hosts;
    int64_t *shares;     /* of a node's children */
    int32_t *group;      /* [position]: its group on the current level */
    struct given *given; /* [level + 1]; [0]: before the lowest one */
    struct claimant *claimants, *spare;
    int32_t *heap; /* numbers of claimants, the one to be served first on top */
    size_t room;   /* of claimants, spare and heap */
};

/* ---- Who gets the next part of the vector ---- */

/* Is a served before b? The claimant whose old range ends, or else begins, first is. */
static bool is_before(const struct planner *planner, int32_t a, int32_t b)
{
    const struct claimant *x = &planner->claimants[a], *y = &planner->claimants[b];
    if (x->end != y->end)
        return x->end < y->end;
    if (x->first != y->first)
        return x->first < y->first;
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

/* Give the next part, up to `end`, to a position. @param start  the node's first range */
static void give(struct given *given, int start, int64_t end, int32_t position)
{
    int count = given->count;
    if (end == (count > start ? given->end[count - 1] : 0))
        return;
    if (count > start && given->position[count - 1] == position) {
        given->end[count - 1] = end;
        return;
    }
    given->end[count] = end;
    given->position[count] = position;
    given->count++;
}

/* Share the vector among claimants, who are sorted by the start of their old ranges. */
static void share_out_split(struct planner *planner, struct given *given, int count)
{
    struct claimant *claimants = planner->claimants;
    int waiting = 0, released = 0, start = given->count;
    int64_t progress = 0;
    while (released < count || waiting > 0) {
        while (released < count && (waiting == 0 || claimants[released].first <= progress)) {
            push(planner, &waiting, released);
            released++;
        }
        int32_t number = pop(planner, &waiting);
        struct claimant *first = &claimants[number];
        int64_t end = progress + first->wanted;
        if (released < count && claimants[released].first < end)
            end = claimants[released].first; /* a more urgent one may come */
        give(given, start, end, first->position);
        first->wanted -= end - progress;
        progress = end;
        if (first->wanted > 0)
            push(planner, &waiting, number);
    }
}

/* Likewise, but each claimant gets one range; they are sorted in the order of service.
 * @param within  new ranges must lie within old ones
 * @return false if one does not; then nothing is given */
static bool share_out_whole(struct planner *planner, struct given *given, int count, bool within)
{
    int start = given->count;
    int64_t progress = 0;
    for (int c = 0; c < count; c++) {
        const struct claimant *claimant = &planner->claimants[c];
        if (within && progress < claimant->first) {
            given->count = start;
            return false;
        }
        progress += claimant->wanted;
        give(given, start, progress, claimant->position);
    }
    return true;
}

/* ---- Claims ---- */

/* Is x sorted behind y? @param served  in the order of service, else by the start of old ranges */
static bool is_behind(const struct claimant *x, const struct claimant *y, bool served)
{
    if (served && x->end != y->end)
        return x->end > y->end;
    return x->first > y->first;
}

static int sorted_end(const struct claimant *claimants, int first, int count, bool served)
{
    int end = first + 1;
    while (end < count && !is_behind(&claimants[end - 1], &claimants[end], served))
        end++;
    return end;
}

/* Sort claimants, which come in sorted stretches, by merging these; the sort is stable. */
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

/* How much of a child's share goes to the ranges before a place in the vector. */
static int64_t share_before(const struct planner *planner, int64_t place, int64_t share)
{
    int64_t whole = planner->flex->whole;
    if (place == 0 || place == whole)
        return place == 0 ? 0 : share;
    return (int64_t)strag_scale((uint64_t)place, (uint64_t)share, (uint64_t)whole);
}

/* The old ranges below a child. */
struct held {
    int first, count;
};

static struct held held_by(const struct planner *planner, const struct given *held, int child)
{
    const struct strag_tree_node *node = &planner->flex->tree->nodes[child];
    int first = held->at[node->first_leaf];
    return (struct held){first, held->at[node->first_leaf + node->leaves] - first};
}

static bool is_same(const struct given *held, struct held a, struct held b)
{
    return a.count == b.count && memcmp(held->end + a.first, held->end + b.first,
                                        (size_t)a.count * sizeof *held->end) == 0;
}

/* Add the claimants of children [child, end), which have the same old ranges, range by range.
 * @return the new number of claimants */
static int add_claimants(struct planner *planner, const struct given *held,
                         const struct strag_tree_node *node, int child, int end, int count)
{
    const int children = end - child;
    const struct held first = held_by(planner, held, node->first_child + child);
    const int64_t *shares = planner->shares + child;
    int64_t before = 0;
    for (int i = 0; i < first.count; i++) {
        int64_t place = held->end[first.first + i], wanted = 0;
        for (int c = 0; c < children; c++) {
            int number = first.first + c * first.count + i;
            if (c == 0 || shares[c] != shares[c - 1])
                wanted = share_before(planner, place, shares[c]) -
                         share_before(planner, before, shares[c]);
            if (wanted > 0)
                planner->claimants[count++] = (struct claimant){
                    before, place, wanted, held->position[number], (int32_t)number};
        }
        before = place;
    }
    return count;
}

/* Add a claimant for each range held below a node's children. @return how many there are */
static int add_all_claimants(struct planner *planner, const struct given *held,
                             const struct strag_tree_node *node)
{
    int count = 0;
    for (int child = 0, end; child < node->children; child = end) {
        const struct held first = held_by(planner, held, node->first_child + child);
        end = child + 1;
        while (end < node->children &&
               is_same(held, first, held_by(planner, held, node->first_child + end)))
            end++;
        count = add_claimants(planner, held, node, child, end, count);
    }
    return count;
}

/* ---- Levels ---- */

/* Hand out the ranges below one node. If new ranges, in the order of the old ones' ends, lie within
 * the old ones, both forms are the same. */
static void plan_node(struct planner *planner, int level, int index)
{
    const struct strag_tree_node *node = &planner->flex->tree->nodes[index];
    const struct given *held = &planner->given[level];
    struct given *given = &planner->given[level + 1];
    strag_flex_shares(planner->flex->tree, index, planner->form.rates ? &planner->hosts : NULL,
                      planner->flex->whole, planner->shares);
    int count = add_all_claimants(planner, held, node);
    sort_claimants(planner, count, true);
    if (share_out_whole(planner, given, count, planner->form.split))
        return;
    count = add_all_claimants(planner, held, node);
    sort_claimants(planner, count, false);
    share_out_split(planner, given, count);
}

static bool make_given(struct planner *planner, int level, int most)
{
    struct given *given = &planner->given[level];
    size_t n = (size_t)planner->flex->tree->n;
    given->end = malloc(((size_t)most + 1) * sizeof *given->end);
    given->position = malloc(((size_t)most + 1) * sizeof *given->position);
    given->at = malloc((n + 1) * sizeof *given->at);
    return given->end && given->position && given->at;
}

static void free_given(struct given *given)
{
    free(given->end);
    free(given->position);
    free(given->at);
    *given = (struct given){0};
}

static void free_all_given(struct planner *planner)
{
    for (int level = 0; planner->given && level <= planner->flex->tree->levels; level++)
        free_given(&planner->given[level]);
}

static void free_claimants(struct planner *planner)
{
    free(planner->claimants);
    free(planner->spare);
    free(planner->heap);
    planner->claimants = planner->spare = NULL;
    planner->heap = NULL;
    planner->room = 0;
}

/* Make room for a level's ranges: one is cut only where another one begins. */
static bool make_room(struct planner *planner, int level)
{
    const int held = planner->given[level].count;
    const size_t count = (size_t)held + 1;
    if (!make_given(planner, level + 1, planner->form.split ? 2 * held : held))
        return false;
    if (count <= planner->room)
        return true;
    free_claimants(planner);
    planner->claimants = malloc(count * sizeof *planner->claimants);
    planner->spare = malloc(count * sizeof *planner->spare);
    planner->heap = malloc(count * sizeof *planner->heap);
    planner->room = count;
    return count < INT32_MAX / 2 && planner->claimants && planner->spare && planner->heap;
}

/* Plan one level. A leaf below none of its nodes is its own group, and keeps the whole vector. */
static bool plan_level(struct planner *planner, int level)
{
    const struct strag_tree *tree = planner->flex->tree;
    if (!make_room(planner, level))
        return false;
    struct given *given = &planner->given[level + 1];
    for (int p = 0; p < tree->n;) {
        int index = strag_tree_ancestor(tree, level, p);
        given->at[p] = given->count;
        if (index == NONE) {
            give(given, given->count, planner->flex->whole, p++);
            continue;
        }
        plan_node(planner, level, index);
        p += tree->nodes[index].leaves;
    }
    given->at[tree->n] = given->count;
    return true;
}

/* ---- Blocks ---- */

/* All ends of ranges, sorted, each once. @return false when out of memory */
static bool find_cuts(struct planner *planner)
{
    struct strag_flex *flex = planner->flex;
    size_t cuts = 1, room = 1;
    for (int level = 1; level <= flex->tree->levels; level++)
        room += (size_t)planner->given[level].count;
    int64_t *spare = malloc(room * sizeof *spare);
    flex->cuts = malloc(room * sizeof *flex->cuts);
    if (!flex->cuts || !spare || room >= INT32_MAX) {
        free(spare);
        return false;
    }
    flex->cuts[0] = 0;
    for (int level = 1; level <= flex->tree->levels; level++) {
        const struct given *given = &planner->given[level];
        size_t count = (size_t)given->count;
        memcpy(flex->cuts + cuts, given->end, count * sizeof *given->end);
        count = strag_merge_runs(flex->cuts + cuts, count, spare);
        cuts = strag_merge_runs(flex->cuts, cuts + count, spare);
    }
    flex->blocks = (int)cuts - 1;
    free(spare);
    return true;
}

/* ---- Lists ---- */

/* The first position of a position's group, which is all below a child of a level's node. On level
 * 0 these children are leaves, so each position is a group. */
static int32_t group_of(const struct strag_tree *tree, int level, int position)
{
    int child = level > 0 ? strag_tree_ancestor(tree, level - 1, position) : NONE;
    return child == NONE ? position : tree->nodes[child].first_leaf;
}

/* @return a level's groups, for put_in_groups */
static const int32_t *find_groups(struct planner *planner, int level)
{
    const struct strag_tree *tree = planner->flex->tree;
    for (int p = 0; p < tree->n && level > 0; p++)
        planner->group[p] = group_of(tree, level, p);
    return level > 0 ? planner->group : NULL;
}

/* Put a list's ranges in other groups, in which they keep their order.
 * @param group  [position]; NULL if each position is a group  @return false when out of memory */
static bool put_in_groups(const struct strag_tree *tree, const int32_t *group,
                          const struct strag_flex_list *from, struct strag_flex_list *list)
{
    int32_t *at = list->at = calloc((size_t)tree->n + 1, sizeof *list->at);
    const struct strag_flex_range *ranges = from->ranges;
    int count = from->at[tree->n];
    list->ranges = malloc(((size_t)count + 1) * sizeof *list->ranges);
    if (!list->at || !list->ranges)
        return false;
    for (int i = 0; i < count; i++)
        at[group ? group[ranges[i].position] : ranges[i].position]++;
    for (int p = 0, sum = 0; p <= tree->n; p++) { /* turns counts into the groups' ends */
        sum += at[p];
        at[p] = sum;
    }
    for (int i = count - 1; i >= 0; i--) /* from the groups' ends down */
        list->ranges[--at[group ? group[ranges[i].position] : ranges[i].position]] = ranges[i];
    return true;
}

/* Move a level's ranges to a list, counted in blocks, in the same groups.
 * @return false when out of memory */
static bool count_in_blocks(const struct strag_flex *flex, const struct strag_cut_table *table,
                            struct given *given, struct strag_flex_list *list)
{
    int32_t block = 0;
    list->ranges = malloc(((size_t)given->count + 1) * sizeof *list->ranges);
    if (!list->ranges)
        return false;
    for (int i = 0; i < given->count; i++) {
        int32_t end = strag_cut_table_find(table, given->end[i]);
        list->ranges[i] = (struct strag_flex_range){block, end, given->position[i]};
        block = end == flex->blocks ? 0 : end;
    }
    list->at = given->at;
    given->at = NULL;
    free_given(given);
    return true;
}

/* Count all ranges in blocks once, and then put them in the other groups as well.
 * @return false when out of memory */
static bool make_lists(struct planner *planner, const struct strag_cut_table *table)
{
    const struct strag_flex *flex = planner->flex;
    const struct strag_tree *tree = flex->tree;
    struct strag_flex_list *lists = flex->lists;
    if (!count_in_blocks(flex, table, &planner->given[0], &lists[0]))
        return false;
    lists[1] = lists[0];
    for (int level = 0; level < tree->levels; level++) {
        struct strag_flex_list *after = &lists[3 * level + 2];
        if (!count_in_blocks(flex, table, &planner->given[level + 1], after + 2) ||
            !put_in_groups(tree, find_groups(planner, level), after + 2, after))
            return false;
        if (level == 0)
            after[1] = *after;
        else if (!put_in_groups(tree, NULL, after, after + 1))
            return false;
    }
    return true;
}

/* ---- Planning ---- */

static void free_lists(struct strag_flex *flex)
{
    for (int l = 0; flex->lists && l <= 3 * flex->tree->levels + 1; l++) {
        if (l == 1 || l == 3)
            continue; /* it shares the memory of the one before it */
        free(flex->lists[l].ranges);
        free(flex->lists[l].at);
    }
    free(flex->lists);
}

/* At first every position has the whole vector. */
static bool begin(struct planner *planner)
{
    const int n = planner->flex->tree->n;
    if (!make_given(planner, 0, n))
        return false;
    struct given *given = &planner->given[0];
    for (int p = 0; p < n; p++) {
        given->at[p] = p;
        give(given, p, planner->flex->whole, p);
    }
    given->at[n] = n;
    return true;
}

/* Plan all levels. If there are too many ranges, start again without `split`. */
static int plan_levels(struct planner *planner)
{
    struct strag_flex *flex = planner->flex;
    int n = flex->tree->n;
    flex->split = planner->form.split;
    if (!begin(planner))
        return STRAG_ERR_MEMORY;
    for (int level = 0; level < flex->tree->levels; level++) {
        if (!plan_level(planner, level))
            return STRAG_ERR_MEMORY;
        const int count = planner->given[level + 1].count;
        if (flex->split && count > many_ranges && count / 4 >= n) {
            free_all_given(planner);
            planner->form.split = false;
            return plan_levels(planner);
        }
    }
    return STRAG_OK;
}

static int plan(struct planner *planner)
{
    struct strag_flex *flex = planner->flex;
    const size_t n = (size_t)flex->tree->n, levels = (size_t)flex->tree->levels;
    planner->shares = malloc(n * sizeof *planner->shares);
    planner->group = malloc(n * sizeof *planner->group);
    planner->given = calloc(levels + 1, sizeof *planner->given);
    flex->lists = calloc(3 * levels + 2, sizeof *flex->lists);
    if (!planner->shares || !planner->group || !planner->given || !flex->lists)
        return STRAG_ERR_MEMORY;
    flex->whole = strag_flex_whole(flex->tree, planner->form.rates);
    planner->hosts = strag_flex_hosts(flex->tree);
    if (plan_levels(planner) != STRAG_OK)
        return STRAG_ERR_MEMORY;
    free_claimants(planner); /* so that the rest reuses memory that was touched */
    if (!find_cuts(planner))
        return STRAG_ERR_MEMORY;
    struct strag_cut_table table;
    bool good =
        strag_cut_table_open(flex->cuts, flex->blocks + 1, &table) && make_lists(planner, &table);
    strag_cut_table_close(&table);
    return good ? STRAG_OK : STRAG_ERR_MEMORY;
}

static void free_planner(struct planner *planner)
{
    free_all_given(planner);
    free_claimants(planner);
    free(planner->given);
    free(planner->shares);
    free(planner->group);
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
    free_planner(&planner);
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
    while (low < high) { /* skip ranges that end before this one begins */
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
