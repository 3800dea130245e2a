/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * strag.h: layouts and topologies.
 */
#include "machine/layout.h"

#include <stdlib.h>
#include <string.h>

int strag_layout_describe(const char *kind, const char *text, struct strag_layout **layout,
                          struct strag_error *err)
{
    static const struct {
        const char *name;
        enum strag_network network;
        bool wrap;
    } grids[] = {
        {"torus", STRAG_NETWORK_TORUS, true},
        {"mesh", STRAG_NETWORK_TORUS, false},
        {"hyperx", STRAG_NETWORK_HYPERX, false},
        {"hammingmesh", STRAG_NETWORK_HAMMINGMESH, false},
    };
    for (size_t g = 0; g < sizeof grids / sizeof *grids; g++) {
        if (strcmp(kind, grids[g].name) == 0)
            return strag_layout_from_dims(text, grids[g].network, grids[g].wrap, layout, err);
    }
    if (strcmp(kind, "tree") == 0)
        return strag_layout_from_tree(text, layout, err);
    return strag_fail(err, STRAG_ERR_ARGUMENT,
                      "no layout is called '%.40s'; there are torus, mesh, hyperx, hammingmesh, "
                      "tree",
                      kind);
}

int strag_layout_hosts(const struct strag_layout *layout)
{
    return layout->nhosts;
}

const char *strag_layout_host(const struct strag_layout *layout, int host)
{
    return host >= 0 && host < layout->nhosts ? layout->hosts[host].name : NULL;
}

int strag_layout_place(const struct strag_layout *layout, const int *host_of, int n,
                       struct strag_topology **topology, struct strag_error *err)
{
    if (n < 1)
        return strag_fail(err, STRAG_ERR_ARGUMENT, "n = %d; must be at least 1", n);
    struct strag_location *at = calloc((size_t)n, sizeof *at);
    if (!at)
        return strag_fail(err, STRAG_ERR_MEMORY, "out of memory for %d ranks", n);
    int status = STRAG_OK;
    for (int rank = 0; rank < n && status == STRAG_OK; rank++) {
        at[rank] = (struct strag_location){host_of[rank], {-1, -1, -1}};
        if (host_of[rank] < 0 || host_of[rank] >= layout->nhosts)
            status = strag_fail(err, STRAG_ERR_ARGUMENT,
                                "rank %d is on host %d; the layout has hosts 0 to %d", rank,
                                host_of[rank], layout->nhosts - 1);
    }
    if (status == STRAG_OK)
        status = strag_layout_locate(layout, at, n, topology, err);
    free(at);
    return status;
}

int strag_topology_ranks(const struct strag_topology *topology)
{
    return topology->n;
}

int strag_topology_hosts(const struct strag_topology *topology)
{
    return topology->hosts;
}

const char *strag_topology_host(const struct strag_topology *topology, int rank)
{
    return rank >= 0 && rank < topology->n ? topology->nodes[topology->host_node[rank]].name : NULL;
}
