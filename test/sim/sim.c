/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { HOSTS_MAX = 1 << 20 };

void sim_give_up(const char *what)
{
    fprintf(stderr, "%s\n", what);
    MPI_Abort(MPI_COMM_WORLD, 2);
}

/* The size of every dimension. @return the number of positions */
static int read_dims(const char *text, struct strag_grid *grid)
{
    *grid = (struct strag_grid){.network = STRAG_NETWORK_TORUS};
    int positions = 1;
    char *end = NULL;
    do {
        long size = strtol(end ? end + 1 : text, &end, 10);
        if (size < 1 || size > HOSTS_MAX / positions || grid->dims == STRAG_DIMS_MAX)
            sim_give_up("a torus has sizes like 8x8");
        grid->wrap[grid->dims] = true;
        grid->size[grid->dims++] = (int)size;
        positions *= (int)size;
    } while (*end == 'x');
    return positions;
}

/* The root, then the hosts, then their ranks. */
int sim_torus(const char *dims, struct strag_topology **topology, struct strag_error *err)
{
    struct strag_grid grid;
    int n = read_dims(dims, &grid);
    struct strag_node *nodes = calloc(1 + 2 * (size_t)n, sizeof *nodes);
    if (!nodes)
        return strag_fail(err, STRAG_ERR_MEMORY, "out of memory for %d hosts", n);
    nodes[0] = (struct strag_node){STRAG_LEVEL_NETWORK, .parent = -1, .rank = -1, .position = -1};
    for (int i = 0; i < n; i++) {
        nodes[1 + i] = (struct strag_node){STRAG_LEVEL_HOST, .rank = -1, .position = i};
        nodes[1 + n + i] =
            (struct strag_node){STRAG_LEVEL_RANK, .parent = 1 + i, .rank = i, .position = -1};
    }
    int status = strag_topology_create(&grid, nodes, 1 + 2 * n, n, topology, err);
    free(nodes);
    return status;
}
