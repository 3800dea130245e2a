/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Units are numbered in the order of the tree, so those below a node are consecutive.
 */
#include "model/sample.h"

#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* UNIT_RANKS: the most ranks of a unit. PLACES: nodes of one depth that are examined for their
 * place. LINES_MOST: sampled lines of a dimension. On a HyperX's line, LINE_MOST: hosts that are
 * examined; FROM_MOST: coordinates that are distinguished. */
enum { NONE = -1, UNIT_RANKS = 256, PLACES = 3, LINES_MOST = 4, LINE_MOST = 256, FROM_MOST = 64 };

/* ---- Units ---- */

static bool is_unit(const struct strag_topology *topology, int node)
{
    const struct strag_node *one = &topology->nodes[node];
    bool small = one->leaves <= UNIT_RANKS || topology->network != STRAG_NETWORK_TREE;
    return one->children == 0 || (one->level <= STRAG_LEVEL_HOST && small);
}

/* Find the units' nodes and places. */
static bool find_units(const struct strag_topology *topology, struct strag_sample_units *units)
{
    size_t room = (size_t)topology->n + 1;
    units->node = malloc(2 * room * sizeof *units->node);
    if (!units->node)
        return false;
    units->at = units->node + room;
    for (int place = 0; place < topology->n;) {
        int node = topology->leaf_node[topology->leaf_rank[place]];
        while (node != 0 && is_unit(topology, topology->nodes[node].parent))
            node = topology->nodes[node].parent;
        units->node[units->count] = node;
        units->at[units->count++] = place;
        place += topology->nodes[node].leaves;
    }
    units->at[units->count] = topology->n;
    return true;
}

static void find_extremes(const struct strag_links *links, struct strag_sample_units *units)
{
    for (int u = 1; u < units->count; u++) {
        int ranks = units->at[u + 1] - units->at[u];
        if (ranks > units->at[units->most + 1] - units->at[units->most])
            units->most = u;
        if (ranks < units->at[units->fewest + 1] - units->at[units->fewest])
            units->fewest = u;
        if (strag_link_bandwidth(links, 2 * units->node[u]) <
            strag_link_bandwidth(links, 2 * units->node[units->slowest]))
            units->slowest = u;
    }
}

/* The unit at a place in the order of the tree. */
static int unit_at(const struct strag_sample_units *units, int place)
{
    int low = 0, high = units->count;
    while (high - low > 1) {
        int middle = low + (high - low) / 2;
        if (units->at[middle] <= place)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static int unit_of(const struct strag_links *links, const struct strag_sample_units *units,
                   int rank)
{
    const struct strag_topology *topology = links->topology;
    return unit_at(units, topology->nodes[topology->leaf_node[rank]].first_leaf);
}

/* ---- Rows ---- */

/* @return false when out of memory */
static bool add_row(struct strag_sample_units *units, int *room, int node)
{
    if (units->row[node] != STRAG_ROW_UNKNOWN)
        return true;
    if (!strag_array_grow(&units->row_node, room, units->rows + 1, sizeof *units->row_node))
        return false;
    units->row_node[units->rows] = node;
    units->row[node] = units->rows++;
    return true;
}

/* Add the nodes above a rank's unit, except the root, which has no link. */
static bool add_rows_above(const struct strag_links *links, struct strag_sample_units *units,
                           int *room, int rank)
{
    const struct strag_node *nodes = links->topology->nodes;
    bool good = true;
    for (int i = nodes[units->node[unit_of(links, units, rank)]].parent; i > 0 && good;
         i = nodes[i].parent)
        good = add_row(units, room, i);
    return good;
}

/* Add, of the nodes [first, end) of one depth, the first, the last and the largest that have units
 * below. @param[out] next  where the nodes of the next depth end */
static bool add_rows_of_depth(const struct strag_topology *topology,
                              struct strag_sample_units *units, int *room, int first, int end,
                              int *next)
{
    const struct strag_node *nodes = topology->nodes;
    int found[PLACES] = {NONE, NONE, NONE};
    bool good = true;
    *next = end;
    for (int i = first; i < end; i++) {
        *next += nodes[i].children;
        units->row[i] = is_unit(topology, i) ? STRAG_ROW_EXACT : STRAG_ROW_UNKNOWN;
        if (units->row[i] == STRAG_ROW_EXACT)
            continue;
        found[0] = found[0] == NONE ? i : found[0];
        found[1] = i;
        found[2] = found[2] == NONE || nodes[i].leaves > nodes[found[2]].leaves ? i : found[2];
    }
    for (int p = 0; first > 0 && p < PLACES && good; p++)
        good = found[p] == NONE || add_row(units, room, found[p]);
    return good;
}

static bool find_rows(const struct strag_links *links, const struct strag_state *state,
                      struct strag_sample_units *units)
{
    const struct strag_topology *topology = links->topology;
    int room = 0;
    units->row = malloc((size_t)topology->nnodes * sizeof *units->row);
    bool good = units->row != NULL, tree = topology->network == STRAG_NETWORK_TREE;
    for (int i = 0; good && !tree && i < topology->nnodes; i++)
        units->row[i] = STRAG_ROW_EXACT;
    for (int first = 0, end = tree, next; good && first < end; first = end, end = next)
        good = add_rows_of_depth(topology, units, &room, first, end, &next);
    for (int i = 0; good && tree && state && i < state->nslow; i++)
        good = add_rows_above(links, units, &room, state->slow[i].rank);
    for (int i = 0; good && tree && state && i < state->nstragglers; i++)
        good = add_rows_above(links, units, &room, state->straggler[i].rank);
    return good;
}

bool strag_units_open(const struct strag_links *links, const struct strag_state *state,
                      struct strag_sample_units *units)
{
    *units = (struct strag_sample_units){0};
    if (!find_units(links->topology, units) || !find_rows(links, state, units)) {
        strag_units_close(units);
        return false;
    }
    find_extremes(links, units);
    return true;
}

void strag_units_close(struct strag_sample_units *units)
{
    free(units->node);
    free(units->row_node);
    free(units->row);
    *units = (struct strag_sample_units){0};
}

/* ---- The choice ---- */

/* A sample while it is made. */
struct choice {
    const struct strag_links *links;
    const struct strag_sample_units *units;
    const struct strag_state *state;
    struct strag_sample *sample;
    int growth;      /* factor by which distances from either end grow */
    int32_t *number; /* [unit]: among the chosen ones; during the choice NONE if chosen, else 0 */
    int ranks;       /* of the chosen units */
};

static void choose(struct choice *choice, int unit)
{
    if (choice->number[unit] == NONE)
        return;
    choice->number[unit] = NONE;
    choice->ranks += choice->units->at[unit + 1] - choice->units->at[unit];
}

/* A stratum: units for which one of them stands. */
struct stratum {
    int first, end, chosen;
};

/* Find a stratum of the units from `first` to `end`. From either end on, the number of units up to
 * a stratum's end is `growth` times that up to its beginning. @param number  even from the left,
 * odd from the right @return whether it exists */
static bool find_stratum(const struct choice *choice, int first, int end, int number,
                         struct stratum *stratum)
{
    int count = end - first, half = (count + 1) / 2, wanted = number / 2;
    bool right = number % 2;
    int64_t before = 0, size = 1;
    for (int s = 0; s < wanted; s++) {
        before += size;
        size = before * (choice->growth - 1);
    }
    int limit = right ? count - half : half;
    if (before >= limit) {
        *stratum = (struct stratum){first, first, NONE};
        return false;
    }
    int low = (int)before, high = before + size < limit ? (int)(before + size) : limit;
    if (right)
        *stratum = (struct stratum){end - high, end - low, end - 1 - (low + high - 1) / 2};
    else
        *stratum = (struct stratum){first + low, first + high, first + (low + high - 1) / 2};
    return true;
}

/* Strata come in pairs, one from the left and one from the right; the right ones may end first. */
static void choose_strata(struct choice *choice, int first, int end)
{
    struct stratum stratum;
    for (int s = 0;; s++) {
        if (find_stratum(choice, first, end, s, &stratum))
            choose(choice, stratum.chosen);
        else if (s % 2 == 0)
            break;
    }
}

/* Choose the units with a slow host or a late rank. */
static void choose_state(struct choice *choice)
{
    const struct strag_state *state = choice->state;
    for (int i = 0; state && i < state->nslow; i++)
        choose(choice, unit_of(choice->links, choice->units, state->slow[i].rank));
    for (int i = 0; state && i < state->nstragglers; i++)
        choose(choice, unit_of(choice->links, choice->units, state->straggler[i].rank));
}

/* ---- Trees ---- */

/* Choose the hosts where folding ends. Butterflies need a power of two: the surplus ranks are
 * folded into their neighbours, up to one place in the order of ranks. */
static void choose_folds(struct choice *choice)
{
    int n = choice->links->topology->n, active = 1;
    while (active <= n / 2)
        active *= 2;
    int folded = 2 * (n - active);
    choose(choice, unit_of(choice->links, choice->units, folded));
    choose(choice, unit_of(choice->links, choice->units, folded > 0 ? folded - 1 : 0));
}

/* The units below a node. */
static struct stratum units_below(const struct choice *choice, int node)
{
    const struct strag_node *one = &choice->links->topology->nodes[node];
    int first = unit_at(choice->units, one->first_leaf);
    int last = unit_at(choice->units, one->first_leaf + one->leaves - 1);
    return (struct stratum){first, last + 1, NONE};
}

/* Set the weights of the units below a node: each stands for its stratum's ranks. */
static void weigh_row(const struct choice *choice, int node, float *weight)
{
    struct stratum below = units_below(choice, node), stratum;
    const int32_t *at = choice->units->at;
    for (int s = 0;; s++) {
        if (find_stratum(choice, below.first, below.end, s, &stratum))
            weight[choice->number[stratum.chosen]] =
                (float)(at[stratum.end] - at[stratum.first]) /
                (float)(at[stratum.chosen + 1] - at[stratum.chosen]);
        else if (s % 2 == 0)
            break;
    }
}

static bool weigh_rows(const struct choice *choice)
{
    const struct strag_sample_units *units = choice->units;
    struct strag_sample *sample = choice->sample;
    size_t chosen = (size_t)sample->chosen;
    sample->weight = calloc((size_t)units->rows * chosen + 1, sizeof *sample->weight);
    for (int row = 0; sample->weight && row < units->rows; row++)
        weigh_row(choice, units->row_node[row], sample->weight + (size_t)row * chosen);
    return sample->weight != NULL;
}

/* Choose units with the current growth of distances. */
static void choose_on_tree(struct choice *choice)
{
    const struct strag_sample_units *units = choice->units;
    choice->ranks = 0;
    memset(choice->number, 0, (size_t)units->count * sizeof *choice->number);
    choose_state(choice);
    choose(choice, units->most);
    choose(choice, units->fewest);
    choose(choice, units->slowest);
    choose_folds(choice);
    choose_strata(choice, 0, units->count);
    for (int row = 0; row < units->rows; row++) {
        struct stratum below = units_below(choice, units->row_node[row]);
        choose_strata(choice, below.first, below.end);
    }
}

/* ---- Grids ---- */

/* The box around the job's hosts. */
struct around {
    int first[STRAG_DIMS_MAX], last[STRAG_DIMS_MAX];
};

static struct around find_around(const struct choice *choice)
{
    const struct strag_topology *topology = choice->links->topology;
    const struct strag_grid *grid = &topology->grid;
    struct around around = {{0}, {0}};
    for (int u = 0; u < choice->units->count; u++) {
        int at[STRAG_DIMS_MAX];
        strag_grid_coordinates(grid, topology->nodes[choice->units->node[u]].position, at);
        for (int d = 0; d < grid->dims; d++) {
            around.first[d] = u == 0 || at[d] < around.first[d] ? at[d] : around.first[d];
            around.last[d] = u == 0 || at[d] > around.last[d] ? at[d] : around.last[d];
        }
    }
    return around;
}

/* On a HyperX's long lines one host of this many is examined: each message has its own link. */
static int stride_of(const struct strag_grid *grid, int d)
{
    bool thin = grid->network == STRAG_NETWORK_HYPERX && grid->size[d] > LINE_MOST;
    return thin ? (grid->size[d] + LINE_MOST - 1) / LINE_MOST : 1;
}

/* Choose all hosts on the lines through one host, one line in each dimension. @param
 * unit_on  [position] */
static void choose_lines(struct choice *choice, const int32_t *unit_on, int unit)
{
    const struct strag_topology *topology = choice->links->topology;
    const struct strag_grid *grid = &topology->grid;
    int at[STRAG_DIMS_MAX];
    strag_grid_coordinates(grid, topology->nodes[choice->units->node[unit]].position, at);
    for (int d = 0; d < grid->dims; d++) {
        int x = at[d];
        int stride = stride_of(grid, d);
        for (at[d] = x % stride; at[d] < grid->size[d]; at[d] += stride) {
            int other = unit_on[strag_grid_position(grid, at)];
            if (other == NONE)
                continue;
            choose(choice, other);
            choice->sample->lines[other] |= (uint8_t)(1 << d);
        }
        at[d] = x;
    }
}

/* Choose the lines through late ranks, and through as many others as there is room for. Slow hosts
 * need not be included: a class is as slow as its slowest link. */
static void choose_on_grid(struct choice *choice, const int32_t *unit_on)
{
    const struct strag_state *state = choice->state;
    int count = choice->units->count;
    choice->ranks = 0;
    memset(choice->number, 0, (size_t)count * sizeof *choice->number);
    for (int i = 0; state && i < state->nstragglers && i < LINES_MOST; i++)
        choose_lines(choice, unit_on,
                     unit_of(choice->links, choice->units, state->straggler[i].rank));
    for (int l = 0; l < LINES_MOST && (l == 0 || choice->ranks < choice->sample->wanted / 2); l++)
        choose_lines(choice, unit_on, (int)((int64_t)(2 * l + 1) * count / (2 * LINES_MOST)));
}

/* Find a link's share of what the sampled lines of its dimension receive: its class's mean. */
static void share_lines(const struct choice *choice)
{
    struct strag_sample *sample = choice->sample;
    const struct strag_grid *grid = &choice->links->topology->grid;
    const struct around around = find_around(choice);
    for (int d = 0; d < grid->dims; d++) {
        double lines = 1, examined = 0;
        for (int e = 0; e < grid->dims; e++)
            lines *= e == d ? 1 : around.last[e] - around.first[e] + 1;
        for (int u = 0; u < choice->units->count; u++)
            examined += sample->lines[u] >> d & 1;
        sample->part[d] = (float)(choice->units->count / examined / lines / stride_of(grid, d));
    }
}

static int links_of_dim(const struct strag_links *links, int d)
{
    int end = d + 1 < links->topology->grid.dims ? links->before[d + 1] : links->per_position;
    return end - links->before[d];
}

/* The number of coordinates that are distinguished. In a HyperX, which has a link to each, two
 * messages to one host rarely come from hosts that are FROM_MOST apart. */
static int coordinates_of(const struct strag_grid *grid, int d)
{
    bool fold = grid->network == STRAG_NETWORK_HYPERX && grid->size[d] > FROM_MOST;
    return fold ? FROM_MOST : grid->size[d];
}

/* The class of a link: its dimension, coordinate, and number among the position's links. */
static int class_of(const struct strag_sample *sample, const struct strag_links *links, int link,
                    int *dim)
{
    const struct strag_grid *grid = &links->topology->grid;
    int number = link - 2 * links->topology->nnodes, position = number / links->per_position;
    int which = number - position * links->per_position, d = grid->dims - 1;
    while (which < links->before[d])
        d--;
    *dim = d;
    int coordinate = position / links->stride[d] % grid->size[d] % coordinates_of(grid, d);
    return sample->class_start[d] + coordinate * links_of_dim(links, d) + which - links->before[d];
}

static bool find_classes(const struct choice *choice)
{
    struct strag_sample *sample = choice->sample;
    const struct strag_links *links = choice->links;
    const struct strag_grid *grid = &links->topology->grid;
    for (int d = 0; d < grid->dims; d++) {
        sample->class_start[d] = sample->classes;
        sample->classes += coordinates_of(grid, d) * links_of_dim(links, d);
    }
    sample->pace = malloc((size_t)sample->classes * sizeof *sample->pace);
    for (int c = 0; sample->pace && c < sample->classes; c++)
        sample->pace[c] = 1 / links->model.bandwidth;
    for (size_t i = 0; sample->pace && links->nslowed && i >> links->slowed_bits == 0; i++) {
        const struct strag_slowed *slowed = &links->slowed[i];
        if (slowed->link < 0)
            continue;
        int dim, number = class_of(sample, links, slowed->link, &dim);
        sample->pace[number] = fmax(sample->pace[number], 1 / slowed->bandwidth);
    }
    return sample->pace != NULL;
}

static bool open_on_grid(struct choice *choice)
{
    const struct strag_topology *topology = choice->links->topology;
    struct strag_sample *sample = choice->sample;
    size_t positions = (size_t)strag_grid_positions(&topology->grid);
    int32_t *unit_on = malloc(positions * sizeof *unit_on);
    sample->lines = calloc((size_t)choice->units->count, sizeof *sample->lines);
    bool good = unit_on && sample->lines && find_classes(choice);
    for (size_t p = 0; good && p < positions; p++)
        unit_on[p] = NONE;
    for (int u = 0; good && u < choice->units->count; u++)
        unit_on[topology->nodes[choice->units->node[u]].position] = u;
    if (good) {
        choose_on_grid(choice, unit_on);
        share_lines(choice);
    }
    free(unit_on);
    return good;
}

/* ---- The sample ---- */

/* Number the chosen units, and record their ranks. */
static bool note_chosen(struct choice *choice)
{
    const struct strag_topology *topology = choice->links->topology;
    struct strag_sample *sample = choice->sample;
    sample->rank = malloc((size_t)choice->ranks * sizeof *sample->rank);
    if (!sample->rank)
        return false;
    for (int r = 0; r < topology->n; r++)
        sample->unit[r] = NONE;
    for (int u = 0; u < choice->units->count; u++) {
        if (choice->number[u] != NONE)
            continue;
        if (sample->lines)
            sample->lines[sample->chosen] = sample->lines[u];
        choice->number[u] = sample->chosen;
        for (int p = choice->units->at[u]; p < choice->units->at[u + 1]; p++) {
            sample->rank[sample->count++] = topology->leaf_rank[p];
            sample->unit[topology->leaf_rank[p]] = sample->chosen;
        }
        sample->chosen++;
    }
    return true;
}

bool strag_sample_open(const struct strag_links *links, const struct strag_sample_units *units,
                       const struct strag_state *state, int wanted, struct strag_sample *sample)
{
    const struct strag_topology *topology = links->topology;
    struct choice choice = {links, units, state, sample, .growth = 2};
    bool tree = topology->network == STRAG_NETWORK_TREE, good;
    *sample = (struct strag_sample){.wanted = wanted, .sends = tree, .row = units->row};
    choice.number = malloc((size_t)units->count * sizeof *choice.number);
    sample->unit = malloc((size_t)topology->n * sizeof *sample->unit);
    good = choice.number && sample->unit;
    if (good && tree) {
        choose_on_tree(&choice);
        while (choice.ranks > wanted && choice.growth < topology->n) {
            choice.growth *= 4;
            choose_on_tree(&choice);
        }
    } else if (good) {
        good = open_on_grid(&choice);
    }
    good = good && note_chosen(&choice) && (!tree || weigh_rows(&choice));
    free(choice.number);
    if (!good)
        strag_sample_close(sample);
    return good;
}

void strag_sample_close(struct strag_sample *sample)
{
    free(sample->rank);
    free(sample->unit);
    free(sample->weight);
    free(sample->lines);
    free(sample->pace);
    *sample = (struct strag_sample){0};
}

struct strag_sampled_hop strag_sample_class(const struct strag_sample *sample,
                                            const struct strag_links *links, int to, int link)
{
    int dim, number = class_of(sample, links, link, &dim);
    bool counts = sample->lines[sample->unit[to]] >> dim & 1;
    return (struct strag_sampled_hop){links->nlinks + number, counts ? sample->part[dim] : 0};
}
