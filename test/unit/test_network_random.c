/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Routes and slow links on random grids, against a graph that is made from nothing but the names of
 * the links: "(1,0) dimension 0 +" goes from (1,0) to the next position, or on the edge of a board
 * to the switch of the row.
 */
#include "model/network.h"

#include "machines.h"
#include "support.h"

#include <math.h>

/* A link joins two vertices: positions, and behind them the switches of a HammingMesh, one for each
 * dimension and position whose coordinate in that dimension is 0. */
struct edge {
    int from, to; /* -1: a number without a link */
};

struct graph {
    struct strag_topology *topology;
    struct strag_links *links;
    int vertices;
    struct edge *edges; /* [link] */
};

/* ---- The names' meaning ---- */

static int switch_vertex(const struct strag_grid *grid, int *at, int d)
{
    int x = at[d], positions = strag_grid_positions(grid);
    at[d] = 0;
    int vertex = positions * (1 + d) + strag_grid_position(grid, at);
    at[d] = x;
    return vertex;
}

static int position_with(const struct strag_grid *grid, int *at, int d, int x)
{
    int old = at[d];
    at[d] = x;
    int position = strag_grid_position(grid, at);
    at[d] = old;
    return position;
}

/* One step up or down, on a torus, a mesh or a board. @return -1: there is no neighbour */
static int neighbour(const struct strag_grid *grid, int *at, int d, int by)
{
    int x = at[d] + by, size = grid->size[d];
    if (grid->network == STRAG_NETWORK_HAMMINGMESH) {
        int board = grid->board[d], first = at[d] / board * board;
        return x >= first && x < first + board ? position_with(grid, at, d, x) : -1;
    }
    if (x < 0 || x >= size)
        return grid->wrap[d] ? position_with(grid, at, d, (x + size) % size) : -1;
    return position_with(grid, at, d, x);
}

/* What "+", "-", "to 3", "from +" and "from -" mean. */
static struct edge edge_of(const struct strag_grid *grid, int *at, int d, const char *way)
{
    static const struct edge none = {-1, -1};
    int here = strag_grid_position(grid, at), x;
    if (sscanf(way, "to %d", &x) == 1)
        return x == at[d] ? none : (struct edge){here, position_with(grid, at, d, x)};
    bool from_switch = strncmp(way, "from ", 5) == 0;
    const char *sign = from_switch ? way + 5 : way;
    if (strcmp(sign, "+") != 0 && strcmp(sign, "-") != 0)
        fail_msg("a link goes '%s'", way);
    int next = neighbour(grid, at, d, *sign == '+' ? 1 : -1);
    bool meshes = grid->network == STRAG_NETWORK_HAMMINGMESH;
    if (from_switch)
        return next < 0 ? (struct edge){switch_vertex(grid, at, d), here} : none;
    if (next < 0 && meshes)
        return (struct edge){here, switch_vertex(grid, at, d)};
    return next < 0 || next == here ? none : (struct edge){here, next};
}

static struct edge read_link(const struct graph *graph, int link)
{
    const struct strag_grid *grid = &graph->topology->grid;
    char name[120];
    int at[STRAG_DIMS_MAX], d, used = 0;
    const char *rest = machine_link_name(graph->links, link, name, sizeof name);
    for (int e = 0; e < grid->dims; e++) {
        assert_true(*rest++ == (e ? ',' : '('));
        char *end;
        at[e] = (int)strtol(rest, &end, 10);
        assert_in_range(at[e], 0, grid->size[e] - 1);
        rest = end;
    }
    assert_int_equal(sscanf(rest, ") dimension %d %n", &d, &used), 1);
    assert_in_range(d, 0, grid->dims - 1);
    return edge_of(grid, at, d, rest + used);
}

/* strag_link_ends says the same, but of switches only that they are there. */
static void assert_ends(const struct graph *graph, int link)
{
    const int positions = strag_grid_positions(&graph->topology->grid);
    const struct edge edge = graph->edges[link];
    const struct strag_link_ends ends = strag_link_ends(graph->links, link);
    assert_in_range(ends.dim, 0, graph->topology->grid.dims - 1);
    assert_int_equal(ends.from, edge.from < positions ? edge.from : -1);
    assert_int_equal(ends.to, edge.to < positions ? edge.to : -1);
}

static struct graph graph_of(struct strag_topology *topology, enum strag_ties ties,
                             const struct strag_state *state)
{
    struct strag_error err = {""};
    const struct strag_model model = {.alpha = 1000,
                                      .local_alpha = 7,
                                      .bandwidth = 60,
                                      .local_bandwidth = 40,
                                      .link_latency = 1,
                                      .hop_latency = 0.5,
                                      .ties = ties};
    struct graph graph = {.topology = topology};
    if (strag_links_create(topology, &model, state, &graph.links, &err) != STRAG_OK)
        fail_msg("%s", err.text);
    graph.vertices = strag_grid_positions(&topology->grid) * (1 + topology->grid.dims);
    graph.edges = calloc((size_t)graph.links->nlinks, sizeof *graph.edges);
    assert_non_null(graph.edges);
    for (int link = 0; link < graph.links->nlinks; link++)
        graph.edges[link] =
            link < 2 * topology->nnodes ? (struct edge){-1, -1} : read_link(&graph, link);
    for (int link = 2 * topology->nnodes; link < graph.links->nlinks; link++)
        assert_ends(&graph, link);
    return graph;
}

static void graph_free(struct graph *graph)
{
    free(graph->edges);
    strag_links_free(graph->links);
    strag_topology_free(graph->topology);
}

/* How far it is from one vertex to all others: relax until nothing changes. */
static int *distances(const struct graph *graph, int from)
{
    int *far = malloc((size_t)graph->vertices * sizeof *far);
    assert_non_null(far);
    for (int v = 0; v < graph->vertices; v++)
        far[v] = v == from ? 0 : 1 << 20;
    for (bool changed = true; changed;) {
        changed = false;
        for (int link = 0; link < graph->links->nlinks; link++) {
            struct edge edge = graph->edges[link];
            if (edge.from < 0 || far[edge.from] + 1 >= far[edge.to])
                continue;
            far[edge.to] = far[edge.from] + 1;
            changed = true;
        }
    }
    return far;
}

/* ---- Random grids ---- */

static struct strag_grid random_grid(struct rng *rng)
{
    struct strag_grid grid = {.network = (enum strag_network)(1 + rng_below(rng, 3))};
    int positions = 1;
    grid.dims = 1 + (int)rng_below(rng, 4);
    for (int d = 0; d < grid.dims; d++) {
        int most = grid.dims == 1 ? 12 : 100 / positions < 8 ? 100 / positions : 8;
        grid.size[d] = 1 + (int)rng_below(rng, (unsigned)most);
        grid.wrap[d] = grid.network == STRAG_NETWORK_TORUS && rng_one_in(rng, 2);
        if (grid.network == STRAG_NETWORK_HAMMINGMESH) {
            do {
                grid.board[d] = 1 + (int)rng_below(rng, (unsigned)grid.size[d]);
            } while (grid.size[d] % grid.board[d] != 0);
        }
        positions *= grid.size[d];
    }
    return grid;
}

/* Hosts at some of the positions. */
static struct strag_topology *random_machine(const struct strag_grid *grid, struct rng *rng)
{
    int positions = strag_grid_positions(grid), hosts = 0;
    int *list = malloc((size_t)positions * sizeof *list);
    assert_non_null(list);
    for (int position = 0; position < positions; position++) {
        if (rng_below(rng, 4) || position == positions - 1)
            list[hosts++] = position;
    }
    for (int h = hosts - 1; h > 0; h--) {
        int other = (int)rng_below(rng, (unsigned)h + 1), position = list[h];
        list[h] = list[other];
        list[other] = position;
    }
    struct strag_topology *topology = machine_hosts(grid, list, hosts, 1 + (int)rng_below(rng, 2));
    free(list);
    return topology;
}

static int position_of(const struct strag_topology *topology, int rank)
{
    return topology->nodes[topology->host_node[rank]].position;
}

/* ---- Routes ---- */

/* The shares that a route leaves and enters a vertex with balance, but at its ends; each link is
 * one step further from the sender, and at every distance the shares are 1 together. So all bytes
 * take ways of the least length. */
static void check_flow(const struct graph *graph, const struct strag_hop *hops, int nhops,
                       const int *far, int to)
{
    double *balance = calloc((size_t)graph->vertices, sizeof *balance);
    double *cut = calloc((size_t)far[to] + 1, sizeof *cut);
    assert_true(balance && cut);
    for (int h = 0; h < nhops; h++) {
        assert_in_range(hops[h].link, 2 * graph->topology->nnodes, graph->links->nlinks - 1);
        struct edge edge = graph->edges[hops[h].link];
        assert_true(edge.from >= 0);
        assert_int_equal(far[edge.to], far[edge.from] + 1);
        assert_in_range(far[edge.to], 1, far[to]);
        cut[far[edge.from]] += hops[h].share;
        balance[edge.from] -= hops[h].share;
        balance[edge.to] += hops[h].share;
        for (int other = 0; other < h; other++)
            assert_int_not_equal(hops[other].link, hops[h].link);
    }
    for (int v = 0; v < graph->vertices; v++)
        assert_true(balance[v] == (v == to ? 1 : far[v] == 0 ? -1 : 0));
    for (int distance = 0; distance < far[to]; distance++)
        assert_true(cut[distance] == 1);
    free(balance);
    free(cut);
}

/* Without a split tie the links are in the order of travel. */
static void check_order(const struct graph *graph, const struct strag_hop *hops, int nhops)
{
    for (int h = 0; h < nhops; h++) {
        if (graph->links->model.ties != STRAG_TIES_SPLIT)
            assert_true(hops[h].share == 1.0f);
        if (h > 0 && hops[h].share == 1.0f && hops[h - 1].share == 1.0f)
            assert_int_equal(graph->edges[hops[h].link].from, graph->edges[hops[h - 1].link].to);
    }
}

static void check_pair(const struct graph *graph, int from, int to)
{
    struct strag_hop *hops = calloc((size_t)graph->links->longest, sizeof *hops);
    assert_non_null(hops);
    struct strag_route route = strag_links_route(graph->links, from, to, hops);
    assert_in_range(route.nhops, 0, graph->links->longest);
    if (strag_topology_same_host(graph->topology, from, to)) {
        assert_true(route.latency == 7);
        assert_int_equal(route.nhops, 2);
    } else {
        int source = position_of(graph->topology, from), sink = position_of(graph->topology, to);
        int *far = distances(graph, source);
        check_flow(graph, hops, route.nhops, far, sink);
        check_order(graph, hops, route.nhops);
        assert_true(route.latency == 1000 + 1.5 * far[sink]);
        free(far);
    }
    free(hops);
}

TEST(routes_are_shortest)
{
    enum { PAIRS = 10 };
    struct rng rng = {support_seed("routes")};
    long pairs = 0;
    for (long wanted = support_cases(2000); pairs < wanted;) {
        struct strag_grid grid = random_grid(&rng);
        struct strag_topology *topology = random_machine(&grid, &rng);
        enum strag_ties ties = rng_one_in(&rng, 3) ? STRAG_TIES_PLUS : STRAG_TIES_SPLIT;
        struct graph graph = graph_of(topology, ties, NULL);
        for (int i = 0; i < PAIRS && topology->n > 1; i++, pairs++) {
            int from = (int)rng_below(&rng, (unsigned)topology->n);
            int by = 1 + (int)rng_below(&rng, (unsigned)topology->n - 1);
            check_pair(&graph, from, (from + by) % topology->n);
        }
        graph_free(&graph);
    }
}

/* ---- Slow links ---- */

static double factor_of(const struct graph *graph, const struct strag_state *state, int vertex)
{
    double factor = 1;
    for (int i = 0; i < state->nslow; i++) {
        if (position_of(graph->topology, state->slow[i].rank) == vertex)
            factor = fmax(factor, state->slow[i].factor);
    }
    return factor;
}

/* A slow host's links are slow in both directions, and no others are. Between two slow hosts the
 * slower one counts. */
static void check_slow(const struct graph *graph, const struct strag_state *state)
{
    for (int link = 2 * graph->topology->nnodes; link < graph->links->nlinks; link++) {
        struct edge edge = graph->edges[link];
        if (edge.from < 0)
            continue;
        double a = factor_of(graph, state, edge.from), b = factor_of(graph, state, edge.to);
        double expected = 60 / fmax(a, b);
        if (fabs(strag_link_bandwidth(graph->links, link) - expected) > 1e-9)
            fail_msg("%s, link %d: %g, not %g", strag_network_name(graph->topology->network), link,
                     strag_link_bandwidth(graph->links, link), expected);
    }
    for (int link = 0; link < 2 * graph->topology->nnodes; link++) {
        int level = graph->topology->nodes[link / 2].level;
        if (level == STRAG_LEVEL_RANK)
            assert_true(strag_link_bandwidth(graph->links, link) == 40);
    }
}

TEST(slow_hosts_on_grids)
{
    struct rng rng = {support_seed("slow hosts")};
    for (long cases = support_cases(300); cases > 0; cases--) {
        struct strag_grid grid = random_grid(&rng);
        struct strag_topology *topology = random_machine(&grid, &rng);
        unsigned n = (unsigned)topology->n;
        struct strag_slow slow[3];
        for (int i = 0; i < 3; i++) /* a host may be named twice */
            slow[i] = (struct strag_slow){(int)rng_below(&rng, n), 1 + rng_below(&rng, 4)};
        const struct strag_state troubles = {.nslow = (int)rng_below(&rng, 4), .slow = slow};
        struct graph graph = graph_of(topology, STRAG_TIES_SPLIT, &troubles);
        check_slow(&graph, &troubles);
        graph_free(&graph);
    }
}

TEST(slow_hosts_on_a_tree)
{
    const struct strag_slow slow[] = {{4, 3}, {0, 1}, {5, 2}};
    const struct strag_state troubles = {.nslow = 3, .slow = slow};
    struct strag_model model = strag_model_default(STRAG_NETWORK_TREE);
    struct strag_topology *topology = machine_tree("((2,2),(2,2@50))");
    struct strag_links *links = NULL, *healthy = NULL;
    struct strag_error err = {""};
    assert_int_equal(strag_links_create(topology, &model, &troubles, &links, &err), STRAG_OK);
    assert_int_equal(strag_links_create(topology, &model, NULL, &healthy, &err), STRAG_OK);
    for (int link = 0; link < links->nlinks; link++) {
        bool is_slow = link / 2 == topology->host_node[4];
        double expected = strag_link_bandwidth(healthy, link) / (is_slow ? 3 : 1);
        assert_true(strag_link_bandwidth(links, link) == expected);
    }
    strag_links_free(links);
    strag_links_free(healthy);
    strag_topology_free(topology);
}
