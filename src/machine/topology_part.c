/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes the topology of some of a topology's ranks, in any order. */
#include "machine/topology.h"

#include <stdlib.h>

enum { NONE = -1 };

/* @param number_of  [rank of the whole]: its number in the part, or NONE
 * @param place_of   [node of the whole]: scratch
 * @return the number of nodes, including those without ranks below */
static int copy_nodes(const struct strag_topology *whole, const int32_t *number_of,
                      int32_t *place_of, struct strag_node *nodes)
{
    int count = 0;
    for (int i = 0; i < whole->nnodes; i++) {
        const struct strag_node *node = &whole->nodes[i];
        const int32_t number = node->rank == NONE ? NONE : number_of[node->rank];
        if (node->rank != NONE && number == NONE)
            continue;
        place_of[i] = count;
        nodes[count] = *node;
        nodes[count].rank = number;
        nodes[count++].parent = i > 0 ? place_of[node->parent] : NONE;
    }
    return count;
}

int strag_topology_part(const struct strag_topology *whole, const int32_t *rank_of, int n,
                        struct strag_topology **part, struct strag_error *err)
{
    const size_t nnodes = (size_t)whole->nnodes, all = (size_t)whole->n;
    int32_t *number_of = malloc(all * sizeof *number_of);
    int32_t *place_of = malloc(nnodes * sizeof *place_of);
    struct strag_node *nodes = malloc(nnodes * sizeof *nodes);
    int status = number_of && place_of && nodes ? STRAG_OK : STRAG_ERR_MEMORY;
    if (status == STRAG_OK) {
        for (size_t rank = 0; rank < all; rank++)
            number_of[rank] = NONE;
        for (int i = 0; i < n; i++)
            number_of[rank_of[i]] = i;
        status =
            strag_topology_create(whole->network == STRAG_NETWORK_TREE ? NULL : &whole->grid, nodes,
                                  copy_nodes(whole, number_of, place_of, nodes), n, part, err);
    } else {
        (void)strag_fail(err, status, "out of memory for the topology of %d ranks", n);
    }
    free(number_of);
    free(place_of);
    free(nodes);
    return status;
}
