/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each `make_*` says what it takes of a machine's numbers.
 */
#include "machines.h"

#include "base/text.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- Nodes ---- */

struct nodes {
    int count, room, ranks;
    struct strag_node *list;
    bool failed;
};

/* @return its index */
static int add(struct nodes *nodes, int parent, enum strag_level level)
{
    if (!strag_array_grow(&nodes->list, &nodes->room, nodes->count + 1, sizeof *nodes->list)) {
        nodes->failed = true;
        return 0;
    }
    nodes->list[nodes->count] =
        (struct strag_node){.level = (uint8_t)level, .parent = parent, .rank = -1, .position = -1};
    return nodes->count++;
}

static struct nodes begin(void)
{
    struct nodes nodes = {0};
    add(&nodes, -1, STRAG_LEVEL_NETWORK);
    return nodes;
}

static void add_ranks(struct nodes *nodes, int parent, int ranks)
{
    for (int r = 0; r < ranks; r++) {
        int leaf = add(nodes, parent, STRAG_LEVEL_RANK);
        if (!nodes->failed)
            nodes->list[leaf].rank = nodes->ranks++;
    }
}

static void add_host(struct nodes *nodes, int parent, int position, int ranks)
{
    int host = add(nodes, parent, STRAG_LEVEL_HOST);
    if (!nodes->failed)
        nodes->list[host].position = position;
    add_ranks(nodes, host, ranks);
}

static int finish(struct nodes *nodes, const struct strag_grid *grid,
                  struct strag_topology **topology, struct strag_error *err)
{
    int status = nodes->failed ? strag_fail(err, STRAG_ERR_MEMORY, "out of memory for a machine")
                               : strag_topology_create(grid, nodes->list, nodes->count,
                                                       nodes->ranks, topology, err);
    free(nodes->list);
    return status;
}

/* The same numbers on every run. */
static int draw(uint32_t *state, int below)
{
    *state = *state * 1664525u + 1013904223u;
    return (int)(*state >> 8) % below;
}

/* ---- Trees ---- */

/* a ranks, b on each host, the last one with the rest; on one switch. */
static int make_flat(const struct machine *machine, struct strag_topology **topology,
                     struct strag_error *err)
{
    return strag_topology_flat(machine->a, machine->b, topology, err);
}

/* a hosts of b ranks and c ranks in turn. */
static int make_in_turn(const struct machine *machine, struct strag_topology **topology,
                        struct strag_error *err)
{
    struct nodes nodes = begin();
    for (int h = 0; h < machine->a; h++)
        add_host(&nodes, 0, -1, h % 2 ? machine->c : machine->b);
    return finish(&nodes, NULL, topology, err);
}

/* About a ranks on hosts of 1 to b. */
static int make_random(const struct machine *machine, struct strag_topology **topology,
                       struct strag_error *err)
{
    struct nodes nodes = begin();
    uint32_t state = 1;
    while (nodes.ranks < machine->a && !nodes.failed)
        add_host(&nodes, 0, -1, 1 + draw(&state, machine->b));
    return finish(&nodes, NULL, topology, err);
}

/* a hosts of 2 packages, 4 NUMA domains each, 8 ranks each; the last one has b ranks. */
static int make_inner(const struct machine *machine, struct strag_topology **topology,
                      struct strag_error *err)
{
    struct nodes nodes = begin();
    for (int h = 0; h < machine->a && !nodes.failed; h++) {
        int left = h + 1 < machine->a ? 64 : machine->b;
        int host = add(&nodes, 0, STRAG_LEVEL_HOST);
        for (int p = 0; p < 2 && left > 0; p++) {
            int package = add(&nodes, host, STRAG_LEVEL_PACKAGE);
            for (int u = 0; u < 4 && left > 0; u++, left -= 8)
                add_ranks(&nodes, add(&nodes, package, STRAG_LEVEL_NUMA), left < 8 ? left : 8);
        }
    }
    return finish(&nodes, NULL, topology, err);
}

/* Three levels of switches: a at the top, up to b below each, up to c hosts of 16 ranks below
 * these: every leaf has another number of them. */
static int make_fat_tree(const struct machine *machine, struct strag_topology **topology,
                         struct strag_error *err)
{
    struct nodes nodes = begin();
    uint32_t state = 2;
    for (int t = 0; t < machine->a && !nodes.failed; t++) {
        int top = add(&nodes, 0, STRAG_LEVEL_SWITCH), leaves = machine->b - draw(&state, 3);
        for (int l = 0; l < leaves; l++) {
            int leaf = add(&nodes, top, STRAG_LEVEL_SWITCH);
            int hosts = machine->c - draw(&state, machine->c / 2);
            for (int h = 0; h < hosts; h++)
                add_host(&nodes, leaf, -1, 16);
        }
    }
    return finish(&nodes, NULL, topology, err);
}

/* ---- Grids ---- */

static struct strag_grid grid_of(const char *dims, enum strag_network network)
{
    struct strag_grid grid = {.network = network};
    for (int used = 0; sscanf(dims, "%d%n", &grid.size[grid.dims], &used) == 1; grid.dims++) {
        grid.wrap[grid.dims] = true;
        grid.board[grid.dims] = 2;
        dims += used + (dims[used] == 'x');
    }
    return grid;
}

/* a ranks on every host of a torus; with b, a host at every position whose number draws less than b
 * out of 4; with c, only where all coordinates are less than c. */
static int make_torus(const struct machine *machine, struct strag_topology **topology,
                      struct strag_error *err)
{
    struct strag_grid grid = grid_of(machine->dims, STRAG_NETWORK_TORUS);
    struct nodes nodes = begin();
    uint32_t state = 3;
    for (int p = 0; p < strag_grid_positions(&grid); p++) {
        int at[STRAG_DIMS_MAX];
        strag_grid_coordinates(&grid, p, at);
        bool there = machine->b == 0 || draw(&state, 4) < machine->b;
        for (int d = 0; machine->c && d < grid.dims; d++)
            there = there && at[d] < machine->c;
        if (there)
            add_host(&nodes, 0, p, machine->a);
    }
    return finish(&nodes, &grid, topology, err);
}

/* a: the network; a rank on every host. */
static int make_grid(const struct machine *machine, struct strag_topology **topology,
                     struct strag_error *err)
{
    struct strag_grid grid = grid_of(machine->dims, (enum strag_network)machine->a);
    struct nodes nodes = begin();
    for (int p = 0; p < strag_grid_positions(&grid); p++)
        add_host(&nodes, 0, p, 1);
    return finish(&nodes, &grid, topology, err);
}

const struct machine machines[] = {
    {"16 ranks, 8 per host", make_flat, 16, 8, 0, NULL},
    {"16 hosts", make_flat, 16, 1, 0, NULL},
    {"1,000 ranks, 64 per host, the last 40", make_flat, 1000, 64, 0, NULL},
    {"2,000 ranks, 64 per host, the last 16", make_flat, 2000, 64, 0, NULL},
    {"4,095 ranks, 64 per host, the last 63", make_flat, 4095, 64, 0, NULL},
    {"4,096 ranks, 64 per host", make_flat, 4096, 64, 0, NULL},
    {"10,000 ranks, 64 per host, the last 16", make_flat, 10000, 64, 0, NULL},
    {"200 hosts", make_flat, 200, 1, 0, NULL},
    {"512 hosts", make_flat, 512, 1, 0, NULL},
    {"4,096 hosts", make_flat, 4096, 1, 0, NULL},
    {"32 hosts of 32 and 31 in turn", make_in_turn, 32, 32, 31, NULL},
    {"64 hosts of 2x4x8, the last half full", make_inner, 64, 32, 0, NULL},
    {"hosts of 1 to 96 ranks, 4,000", make_random, 4000, 96, 0, NULL},
    {"fat tree of 3 levels, uneven, 3,000", make_fat_tree, 3, 8, 12, NULL},
    {"torus 12x10x9, 4 per host", make_torus, 4, 0, 0, "12x10x9"},
    {"torus 8x8x8, 8 per host", make_torus, 8, 0, 0, "8x8x8"},
    {"torus 16x16x16", make_torus, 1, 0, 0, "16x16x16"},
    {"box of 12 in a torus 16x16x16", make_torus, 1, 0, 12, "16x16x16"},
    {"scattered over a torus 16x16x16", make_torus, 1, 3, 0, "16x16x16"},
    {"HyperX 64x64", make_grid, STRAG_NETWORK_HYPERX, 0, 0, "64x64"},
    {"Hx2Mesh of 64x64", make_grid, STRAG_NETWORK_HAMMINGMESH, 0, 0, "64x64"},
    {"torus 16x16x16, 4 per host", make_torus, 4, 0, 0, "16x16x16"},
    {"torus 32x32x32", make_torus, 1, 0, 0, "32x32x32"},
    {"torus 32x32x32, 4 per host", make_torus, 4, 0, 0, "32x32x32"},
    {"scattered over a torus 32x32x32, 4 per host", make_torus, 4, 3, 0, "32x32x32"},
    {"131,072 ranks, 64 per host", make_flat, 131072, 64, 0, NULL},
    {"131,000 ranks, 64 per host, the last 56", make_flat, 131000, 64, 0, NULL},
    {"131,072 hosts", make_flat, 131072, 1, 0, NULL},
    {"2,048 hosts of 2x4x8, the last half full", make_inner, 2048, 32, 0, NULL},
    {"hosts of 1 to 192 ranks, 131,000", make_random, 130900, 192, 0, NULL},
    {"fat tree of 3 levels, uneven, 120,000", make_fat_tree, 16, 32, 20, NULL},
    {NULL, NULL, 0, 0, 0, NULL},
};
