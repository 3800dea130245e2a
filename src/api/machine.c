/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * strag.h: layouts and topologies.
 */
#include "machine/layout.h"

#include <stdlib.h>

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
    for (int rank = 0; rank < n; rank++)
        at[rank] = (struct strag_location){host_of[rank], {-1, -1, -1}};
    const int status = strag_layout_locate(layout, at, n, topology, err);
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
