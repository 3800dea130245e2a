/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Links are numbered in parts:
 *
 *     tree    2i up from node i, 2i + 1 down to it
 *     pairs   after those, if the root joins its children pair by pair: one from each of them to
 *             each, also to itself
 *     grid    after those, `per_position` of them for every position, by dimension:
 *               torus         2: towards +, towards -
 *               HyperX        as many as the dimension's size: to each coordinate
 *               HammingMesh   4: towards +, towards -, from the switch at the board's + edge, from
 *                             the one at its - edge
 */
#include "model/network.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum direction { PLUS, MINUS };
enum { NONE = -1, SLOWED_BITS = 6, SLOWED_LEAST = 1 << SLOWED_BITS }; /* slow links of a grid */
enum { FROM_PLUS = 2, FROM_MINUS = 3 };                               /* of a HammingMesh's four */

/* A package or NUMA domain has the bandwidth of this many ranks. */
static const double ranks_fill_package = 4;

struct strag_model strag_model_default(enum strag_network network)
{
    bool grid = network != STRAG_NETWORK_TREE;
    return (struct strag_model){
        .alpha = 1e-6,
        .local_alpha = 0.4e-6,
        .overhead = STRAG_MODEL_OVERHEAD_SHARE * 1e-6,
        .bandwidth = 12.5e9,
        .local_bandwidth = 20e9,
        .link_latency = grid ? 100e-9 : 0,
        .hop_latency = grid ? 300e-9 : 0,
        .reduce_bandwidth = 20e9,
        .ties = STRAG_TIES_SPLIT,
    };
}

void strag_model_use_pml(struct strag_model *model)
{
    model->local_alpha = 4e-6;
    model->local_bandwidth = model->reduce_bandwidth = 16e9;
}

/* ---- Numbering ---- */

/* How many links a position has in a dimension. */
static int links_per_dim(const struct strag_grid *grid, int d)
{
    switch (grid->network) {
    case STRAG_NETWORK_HYPERX:
        return grid->size[d];
    case STRAG_NETWORK_HAMMINGMESH:
        return 4;
    default:
        return 2;
    }
}

/* @return the number of links, which may be more than an int holds */
static int64_t number_links(struct strag_links *links)
{
    const struct strag_topology *topology = links->topology;
    int64_t positions = 1, per_position = 0, tree = 2 * (int64_t)topology->nnodes;
    if (topology->network == STRAG_NETWORK_TREE)
        return tree + (int64_t)links->groups * links->groups;
    for (int d = 0; d < topology->grid.dims; d++) {
        links->before[d] = (int)per_position;
        links->stride[d] = (int)positions;
        per_position += links_per_dim(&topology->grid, d);
        positions *= topology->grid.size[d];
    }
    links->per_position = (int)per_position;
    return tree + positions * per_position;
}

static int grid_link(const struct strag_links *links, int position, int d, int which)
{
    return 2 * links->topology->nnodes + position * links->per_position + links->before[d] + which;
}

static struct strag_link_ends grid_link_ends(const struct strag_links *links, int position, int d,
                                             int which)
{
    const struct strag_grid *grid = &links->topology->grid;
    const bool boards = grid->network == STRAG_NETWORK_HAMMINGMESH;
    const int x = position / links->stride[d] % grid->size[d];
    const int ring = boards ? grid->board[d] : grid->size[d];
    const int inside = x % ring, edge = which % 2 == PLUS ? ring - 1 : 0;
    const int step = which == PLUS ? 1 : -1;
    struct strag_link_ends ends = {d, position, position + step * links->stride[d]};
    if (grid->network == STRAG_NETWORK_HYPERX) {
        ends.to = position + (which - x) * links->stride[d];
    } else if (which >= FROM_PLUS) {
        ends = (struct strag_link_ends){d, -1, position};
    } else if (inside == edge && boards) {
        ends.to = -1;
    } else if (inside == edge) {
        ends.to = position - step * (ring - 1) * links->stride[d];
    }
    const bool none = ends.to == ends.from || (which >= FROM_PLUS && boards && inside != edge) ||
                      (inside == edge && grid->network == STRAG_NETWORK_TORUS && !grid->wrap[d]);
    return none ? (struct strag_link_ends){d, -1, -1} : ends;
}

struct strag_link_ends strag_link_ends(const struct strag_links *links, int link)
{
    const struct strag_topology *topology = links->topology;
    if (link < 2 * topology->nnodes) {
        const int node = link / 2, parent = topology->nodes[node].parent;
        if (parent < 0)
            return (struct strag_link_ends){-1, -1, -1};
        return link % 2 == 0 ? (struct strag_link_ends){-1, node, parent}
                             : (struct strag_link_ends){-1, parent, node};
    }
    link -= 2 * topology->nnodes;
    if (links->groups) {
        const int from = link / links->groups, to = link % links->groups;
        const int first = topology->nodes[0].first_child;
        return from == to ? (struct strag_link_ends){-1, -1, -1}
                          : (struct strag_link_ends){-1, first + from, first + to};
    }
    const int position = link / links->per_position, rest = link % links->per_position;
    int d = topology->grid.dims - 1;
    while (links->before[d] > rest)
        d--;
    return grid_link_ends(links, position, d, rest - links->before[d]);
}

/* ---- Bandwidths ---- */

static double node_bandwidth(const struct strag_links *links, const struct strag_node *node)
{
    if (node->uplink > 0)
        return node->uplink;
    switch ((enum strag_level)node->level) {
    case STRAG_LEVEL_RANK:
        return links->model.local_bandwidth;
    case STRAG_LEVEL_NUMA:
    case STRAG_LEVEL_PACKAGE:
        return ranks_fill_package * links->model.local_bandwidth;
    case STRAG_LEVEL_HOST:
        if (links->topology->network == STRAG_NETWORK_TREE)
            return links->model.bandwidth;
        return links->model.injection_bandwidth > 0 ? links->model.injection_bandwidth : INFINITY;
    case STRAG_LEVEL_SWITCH: {
        double below = 0;
        for (int c = 0; c < node->children; c++)
            below += links->bandwidth[2 * (node->first_child + c)];
        return below;
    }
    default:
        return INFINITY;
    }
}

static double pair_bandwidth(const struct strag_topology *topology, int a, int b)
{
    const struct strag_node *root = topology->nodes, *child = root + root->first_child;
    double bandwidth = root->uplink;
    if (child[a].uplink > 0)
        bandwidth = fmin(bandwidth, child[a].uplink);
    return child[b].uplink > 0 ? fmin(bandwidth, child[b].uplink) : bandwidth;
}

/* Set the links between groups. A group's uplink is all of its links to other groups together. */
static void set_pairs(struct strag_links *links)
{
    const struct strag_node *nodes = links->topology->nodes;
    for (int a = 0; a < links->groups; a++) {
        const int node = nodes[0].first_child + a;
        double *pairs = links->bandwidth + strag_links_first_pair(links, a), all = 0;
        for (int b = 0; b < links->groups; b++) {
            pairs[b] = pair_bandwidth(links->topology, a, b);
            all += b == a ? 0 : pairs[b];
        }
        if (nodes[node].level == STRAG_LEVEL_HOST)
            all = fmin(all, links->bandwidth[2 * node]);
        links->bandwidth[2 * node] = links->bandwidth[2 * node + 1] = all;
    }
}

static void set_bandwidths(struct strag_links *links)
{
    const struct strag_topology *topology = links->topology;
    for (int i = topology->nnodes - 1; i >= 0; i--) {
        double bandwidth = node_bandwidth(links, &topology->nodes[i]);
        links->bandwidth[2 * i] = bandwidth;
        links->bandwidth[2 * i + 1] = bandwidth;
    }
    set_pairs(links);
}

/* The coordinate one step on, or -1 if there is no link. */
static int step(const struct strag_grid *grid, int d, int x, enum direction direction)
{
    int size = grid->size[d];
    int next = direction == PLUS ? x + 1 : x - 1;
    if (grid->network == STRAG_NETWORK_HAMMINGMESH)
        return next >= 0 && next < size && next / grid->board[d] == x / grid->board[d] ? next : -1;
    if (next >= 0 && next < size)
        return next;
    return grid->wrap[d] ? (next + size) % size : -1;
}

/* The entry of a grid's link in `slowed`, or the free entry for it. */
static struct strag_slowed *find_slowed(const struct strag_links *links, int link)
{
    size_t mask = ((size_t)1 << links->slowed_bits) - 1;
    size_t at = (uint32_t)link * 2654435769u >> (32 - links->slowed_bits);
    while (links->slowed[at].link != NONE && links->slowed[at].link != link)
        at = (at + 1) & mask;
    return &links->slowed[at];
}

double strag_links_slowed(const struct strag_links *links, int link)
{
    const struct strag_slowed *slowed = find_slowed(links, link);
    return slowed->link == NONE ? links->model.bandwidth : slowed->bandwidth;
}

/* Make room for one more entry, and keep half of them free, so that searches end. @return false if
 * out of memory */
static bool grow_slowed(struct strag_links *links)
{
    struct strag_slowed *old = links->slowed;
    size_t room = old ? (size_t)1 << links->slowed_bits : 0;
    if (2 * ((size_t)links->nslowed + 1) <= room)
        return true;
    struct strag_slowed *moved = malloc((room ? 2 * room : SLOWED_LEAST) * sizeof *moved);
    if (!moved)
        return false;
    links->slowed_bits = room ? links->slowed_bits + 1 : SLOWED_BITS;
    for (size_t i = 0; i < (size_t)1 << links->slowed_bits; i++)
        moved[i].link = NONE;
    links->slowed = moved;
    for (size_t i = 0; i < room; i++) {
        if (old[i].link != NONE)
            *find_slowed(links, old[i].link) = old[i];
    }
    free(old);
    return true;
}

/* Slow a link; the largest factor counts. @return false if out of memory */
static bool slow_link(struct strag_links *links, int link, double bandwidth)
{
    if (link < links->in_tree) {
        links->bandwidth[link] = fmin(links->bandwidth[link], bandwidth);
        return true;
    }
    if (!grow_slowed(links))
        return false;
    struct strag_slowed *slowed = find_slowed(links, link);
    links->nslowed += slowed->link == NONE;
    if (slowed->link == NONE || bandwidth < slowed->bandwidth)
        *slowed = (struct strag_slowed){link, bandwidth};
    return true;
}

/* Slow all links of a position in one dimension, to it and from it. */
static bool slow_dimension(struct strag_links *links, int position, int d, double slowed)
{
    const struct strag_grid *grid = &links->topology->grid;
    int at[STRAG_DIMS_MAX];
    strag_grid_coordinates(grid, position, at);
    int x = at[d];
    bool good = true;
    for (int which = 0; which < links_per_dim(grid, d); which++)
        good = good && slow_link(links, grid_link(links, position, d, which), slowed);
    if (grid->network == STRAG_NETWORK_HYPERX) {
        for (at[d] = 0; at[d] < grid->size[d]; at[d]++) {
            int other = strag_grid_position(grid, at);
            good = good && (at[d] == x || slow_link(links, grid_link(links, other, d, x), slowed));
        }
        return good;
    }
    for (int direction = PLUS; direction <= MINUS && good; direction++) {
        at[d] = step(grid, d, x, direction);
        if (at[d] >= 0 && at[d] != x)
            good = slow_link(links, grid_link(links, strag_grid_position(grid, at), d, !direction),
                             slowed);
    }
    return good;
}

static bool slow_host(struct strag_links *links, int host, double factor)
{
    const struct strag_topology *topology = links->topology;
    const struct strag_node *node = &topology->nodes[host];
    bool good = true;
    if (topology->network == STRAG_NETWORK_TREE)
        return slow_link(links, 2 * host, node_bandwidth(links, node) / factor) &&
               slow_link(links, 2 * host + 1, node_bandwidth(links, node) / factor);
    for (int d = 0; d < topology->grid.dims && good; d++)
        good = slow_dimension(links, node->position, d, links->model.bandwidth / factor);
    return good;
}

static int slow_hosts(struct strag_links *links, const struct strag_state *state,
                      struct strag_error *err)
{
    int status = strag_state_check(state, links->topology->n, err);
    bool good = true;
    if (status != STRAG_OK)
        return status;
    for (int i = 0; state && i < state->nslow; i++)
        good = good && slow_host(links, links->topology->host_node[state->slow[i].rank],
                                 state->slow[i].factor);
    return good ? STRAG_OK : strag_fail(err, STRAG_ERR_MEMORY, "out of memory for slow links");
}

/* ---- Creation ---- */

/* The most links of a route: up and down the tree and between two groups, and once across every
 * dimension (a split tie takes both halves of a ring). */
static int longest_route(const struct strag_topology *topology)
{
    int longest = 1;
    for (int i = topology->nnodes - 1; i > 0; i = topology->nodes[i].parent)
        longest += 2; /* the last node is as far from the root as any */
    int across = 0;
    for (int d = 0; d < topology->grid.dims; d++)
        across += topology->grid.size[d] + 4;
    across += 2; /* into the grid, and out */
    return longest > across ? longest : across;
}

int strag_links_create(const struct strag_topology *topology, const struct strag_model *model,
                       const struct strag_state *state, struct strag_links **links,
                       struct strag_error *err)
{
    struct strag_links *made = calloc(1, sizeof *made);
    if (!made)
        return strag_fail(err, STRAG_ERR_MEMORY, "out of memory for the links of the network");
    const bool tree = topology->network == STRAG_NETWORK_TREE;
    made->topology = topology;
    made->model = *model;
    if (tree && topology->nodes[0].uplink > 0 && topology->nodes[0].children > 1)
        made->groups = topology->nodes[0].children;
    int64_t nlinks = number_links(made);
    if (nlinks > INT32_MAX) {
        free(made);
        return strag_fail(err, STRAG_ERR_UNSUPPORTED, "a network of more than %d links", INT32_MAX);
    }
    made->nlinks = (int)nlinks;
    made->in_tree = tree ? made->nlinks : 2 * topology->nnodes;
    made->bandwidth = malloc((size_t)made->in_tree * sizeof *made->bandwidth);
    made->longest = longest_route(topology);
    int status = STRAG_OK;
    if (!made->bandwidth)
        status = strag_fail(err, STRAG_ERR_MEMORY, "out of memory for %d links", made->nlinks);
    if (status == STRAG_OK) {
        set_bandwidths(made);
        status = slow_hosts(made, state, err);
    }
    if (status == STRAG_OK)
        *links = made;
    else
        strag_links_free(made);
    return status;
}

int strag_links_of(const struct strag_problem *problem, const struct strag_model *model,
                   struct strag_links **links, struct strag_error *err)
{
    struct strag_topology *own = NULL;
    int status = problem->topology ? STRAG_OK : strag_topology_flat(problem->n, 1, &own, err);
    if (status == STRAG_OK)
        status =
            strag_links_create(own ? own : problem->topology, model, problem->state, links, err);
    if (status == STRAG_OK)
        (*links)->own = own;
    else
        strag_topology_free(own);
    return status;
}

void strag_links_free(struct strag_links *links)
{
    if (!links)
        return;
    strag_topology_free(links->own);
    free(links->bandwidth);
    free(links->slowed);
    free(links);
}

/* ---- Routes ---- */

static void add_hop(struct strag_links *links, int link, double share)
{
    *links->end++ = (struct strag_hop){link, (float)share};
}

/* Add the hops up from one node to the lowest common one, and down to the other. */
static void climb(struct strag_links *links, int from, int to)
{
    const struct strag_node *nodes = links->topology->nodes;
    struct strag_hop *hop = links->end;
    int down = 0, top = from;
    for (int other = to; top != other;) {
        if (top > other) {
            *hop++ = (struct strag_hop){2 * top, 1};
            top = nodes[top].parent;
        } else {
            other = nodes[other].parent;
            down++;
        }
    }
    hop += down;
    links->end = hop;
    for (; to != top; to = nodes[to].parent)
        *--hop = (struct strag_hop){2 * to + 1, 1};
}

/* A message's place on its route: the position, and its coordinate in the current dimension. */
struct place {
    int position, x;
};

/* Go to another coordinate of the dimension. */
static void move(const struct strag_links *links, struct place *place, int d, int to)
{
    place->position += (to - place->x) * links->stride[d];
    place->x = to;
}

/* Take some steps in one direction. */
static void walk(struct strag_links *links, struct place *place, int d, enum direction direction,
                 int steps, double share)
{
    int size = links->topology->grid.size[d];
    for (; steps > 0; steps--) {
        int next = direction == PLUS ? place->x + 1 : place->x - 1;
        add_hop(links, grid_link(links, place->position, d, direction), share);
        move(links, place, d, next == size ? 0 : next < 0 ? size - 1 : next);
    }
}

/* @return the number of consecutive links */
static int cross_torus(struct strag_links *links, struct place *place, int d, int to)
{
    const struct strag_grid *grid = &links->topology->grid;
    int up = to - place->x, down = -up;
    if (grid->wrap[d]) {
        up += up < 0 ? grid->size[d] : 0;
        down += down < 0 ? grid->size[d] : 0;
    }
    bool plus = up >= 0 && (down < 0 || up <= down);
    if (up == down && links->model.ties == STRAG_TIES_SPLIT) {
        struct place start = *place;
        walk(links, &start, d, PLUS, up, 0.5);
        walk(links, place, d, MINUS, down, 0.5);
    } else {
        walk(links, place, d, plus ? PLUS : MINUS, plus ? up : down, 1);
    }
    return plus ? up : down;
}

/* From inside a board to its edge and onto the switch there. */
static void leave_board(struct strag_links *links, struct place place, int d, enum direction edge,
                        double share)
{
    int board = links->topology->grid.board[d], inside = place.x % board;
    walk(links, &place, d, edge, edge == PLUS ? board - 1 - inside : inside, share);
    add_hop(links, grid_link(links, place.position, d, edge), share);
}

/* From the switch at an edge to a place inside the board. */
static void enter_board(struct strag_links *links, struct place place, int d, enum direction edge,
                        int to, double share)
{
    int board = links->topology->grid.board[d], inside = to % board;
    int steps = edge == PLUS ? board - 1 - inside : inside;
    move(links, &place, d, edge == PLUS ? to + steps : to - steps);
    add_hop(links, grid_link(links, place.position, d, edge == PLUS ? FROM_PLUS : FROM_MINUS),
            share);
    walk(links, &place, d, edge == PLUS ? MINUS : PLUS, steps, share);
}

/* A route from one board to another uses the nearer edge of each. */
static int cross_boards(struct strag_links *links, struct place *place, int d, int to)
{
    int board = links->topology->grid.board[d], from = place->x;
    int out[] = {board - 1 - from % board, from % board},
        in[] = {board - 1 - to % board, to % board};
    enum direction leave = out[PLUS] <= out[MINUS] ? PLUS : MINUS;
    enum direction enter = in[PLUS] <= in[MINUS] ? PLUS : MINUS;
    bool split = links->model.ties == STRAG_TIES_SPLIT;
    int length = out[leave] + 2 + in[enter], direct = abs(to - from);
    if (from / board == to / board && direct <= length) {
        walk(links, place, d, to > from ? PLUS : MINUS, direct, 1);
        return direct;
    }
    double share = out[PLUS] == out[MINUS] && split ? 0.5 : 1;
    leave_board(links, *place, d, leave, share);
    if (share < 1)
        leave_board(links, *place, d, MINUS, share);
    share = in[PLUS] == in[MINUS] && split ? 0.5 : 1;
    enter_board(links, *place, d, enter, to, share);
    if (share < 1)
        enter_board(links, *place, d, MINUS, to, share);
    move(links, place, d, to);
    return length;
}

static int cross_dimension(struct strag_links *links, struct place *place, int d, int to)
{
    switch (links->topology->grid.network) {
    case STRAG_NETWORK_HYPERX:
        add_hop(links, grid_link(links, place->position, d, to), 1);
        move(links, place, d, to);
        return 1;
    case STRAG_NETWORK_HAMMINGMESH:
        return cross_boards(links, place, d, to);
    default:
        return cross_torus(links, place, d, to);
    }
}

static int cross_grid(struct strag_links *links, int from, int to)
{
    const struct strag_grid *grid = &links->topology->grid;
    struct place place = {.position = from};
    int length = 0;
    for (int d = 0; d < grid->dims; d++) {
        place.x = from % grid->size[d];
        int target = to % grid->size[d];
        if (place.x != target)
            length += cross_dimension(links, &place, d, target);
        from /= grid->size[d];
        to /= grid->size[d];
    }
    return length;
}

struct strag_route strag_links_route(struct strag_links *links, int from, int to,
                                     struct strag_hop *hops)
{
    const struct strag_topology *topology = links->topology;
    const struct strag_model *model = &links->model;
    int from_host = topology->host_node[from], to_host = topology->host_node[to];
    double latency = model->alpha;
    links->end = hops;
    if (from_host == to_host) {
        climb(links, topology->leaf_node[from], topology->leaf_node[to]);
        latency = model->local_alpha;
    } else {
        int length;
        if (topology->network == STRAG_NETWORK_TREE) {
            climb(links, from_host, to_host);
            length = (int)(links->end - hops);
            const int pair = strag_links_pair(links, from_host, to_host);
            if (pair >= 0)
                add_hop(links, pair, 1);
        } else {
            const bool limited = model->injection_bandwidth > 0;
            if (limited)
                add_hop(links, 2 * from_host, 1);
            length = cross_grid(links, topology->nodes[from_host].position,
                                topology->nodes[to_host].position);
            if (limited)
                add_hop(links, 2 * to_host + 1, 1);
        }
        latency += length * (model->link_latency + model->hop_latency);
    }
    return (struct strag_route){latency, (int)(links->end - hops)};
}
