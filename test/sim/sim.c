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

/* The number of hosts and the uplink at *text, which moves on. @return the hosts */
static int read_group(const char **text, double *gbit)
{
    int hosts = 0, length = 0;
    if (sscanf(*text, "%d@%lf%n", &hosts, gbit, &length) != 2 || hosts < 1 || hosts > HOSTS_MAX)
        sim_give_up("groups are a list like 4@100,2@50");
    *text += length;
    *text += **text == ',';
    return hosts;
}

static int count_hosts(const char *text, int *groups)
{
    double gbit;
    int hosts = 0;
    for (*groups = 0; *text; (*groups)++)
        hosts += read_group(&text, &gbit);
    return hosts;
}

/* The root, the groups' switches, the hosts, then their ranks. */
int sim_groups(const char *text, struct strag_topology **topology, struct strag_error *err)
{
    int groups, n = count_hosts(text, &groups), host = 0;
    int first = 1 + groups; /* host */
    struct strag_node *nodes = calloc((size_t)first + 2 * (size_t)n, sizeof *nodes);
    if (!nodes)
        return strag_fail(err, STRAG_ERR_MEMORY, "out of memory for %d hosts", n);
    nodes[0] = (struct strag_node){STRAG_LEVEL_NETWORK, .parent = -1, .rank = -1, .position = -1};
    for (int group = 0; group < groups; group++) {
        double gbit;
        int end = host + read_group(&text, &gbit);
        nodes[1 + group] = (struct strag_node){STRAG_LEVEL_SWITCH, .rank = -1, .position = -1,
                                               .uplink = gbit * 1e9 / 8};
        for (; host < end; host++) {
            nodes[first + host] = (struct strag_node){STRAG_LEVEL_HOST, .parent = 1 + group,
                                                      .rank = -1, .position = -1};
            nodes[first + n + host] = (struct strag_node){STRAG_LEVEL_RANK, .parent = first + host,
                                                          .rank = host, .position = -1};
        }
    }
    int status = strag_topology_create(NULL, nodes, first + 2 * n, n, topology, err);
    free(nodes);
    return status;
}
