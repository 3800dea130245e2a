/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A topology as bytes:
 *
 *     struct head     with the grid
 *     struct packed   for each node, in order
 *     names           one after another, not terminated
 *
 * in this machine's own formats: the processes of a job share them.
 */
#include "machine/topology.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>

static const uint32_t magic = 0x53545255; /* changes with the format */

/* `wrap` is no bool, since any byte may arrive. */
struct head {
    uint32_t magic;
    int32_t n, nnodes, network, dims;
    int32_t size[STRAG_DIMS_MAX], board[STRAG_DIMS_MAX];
    uint8_t wrap[STRAG_DIMS_MAX];
};

struct packed {
    double uplink;
    int32_t parent, rank, position;
    int32_t name; /* its bytes; -1: none */
    uint8_t level;
};

static struct packed pack_node(const struct strag_node *node)
{
    struct packed packed;
    memset(&packed, 0, sizeof packed); /* no stray bytes between the members */
    packed.uplink = node->uplink;
    packed.parent = node->parent;
    packed.rank = node->rank;
    packed.position = node->position;
    packed.name = node->name ? (int32_t)strlen(node->name) : -1;
    packed.level = node->level;
    return packed;
}

static struct head pack_head(const struct strag_topology *topology)
{
    const struct strag_grid *grid = &topology->grid;
    struct head head;
    memset(&head, 0, sizeof head);
    head.magic = magic;
    head.n = topology->n;
    head.nnodes = topology->nnodes;
    head.network = (int32_t)grid->network;
    head.dims = grid->dims;
    for (int d = 0; d < grid->dims; d++) {
        head.size[d] = grid->size[d];
        head.board[d] = grid->board[d];
        head.wrap[d] = grid->wrap[d];
    }
    return head;
}

static struct strag_grid unpack_grid(const struct head *head)
{
    struct strag_grid grid = {.network = (enum strag_network)head->network, .dims = head->dims};
    for (int d = 0; d < STRAG_DIMS_MAX; d++) {
        grid.size[d] = head->size[d];
        grid.board[d] = head->board[d];
        grid.wrap[d] = head->wrap[d] != 0;
    }
    return grid;
}

int strag_topology_pack(const struct strag_topology *topology, void **bytes, size_t *size,
                        struct strag_error *err)
{
    const struct head head = pack_head(topology);
    const size_t nodes = (size_t)topology->nnodes * sizeof(struct packed);
    size_t names = 0;
    for (int i = 0; i < topology->nnodes; i++)
        names += topology->nodes[i].name ? strlen(topology->nodes[i].name) : 0;
    char *buffer = malloc(sizeof head + nodes + names);
    if (!buffer)
        return strag_fail(err, STRAG_ERR_MEMORY, "out of memory for packing %d nodes",
                          topology->nnodes);
    char *node = buffer + sizeof head, *name = node + nodes;
    memcpy(buffer, &head, sizeof head);
    for (int i = 0; i < topology->nnodes; i++, node += sizeof(struct packed)) {
        const struct packed packed = pack_node(&topology->nodes[i]);
        memcpy(node, &packed, sizeof packed);
        if (packed.name > 0)
            memcpy(name, topology->nodes[i].name, (size_t)packed.name);
        name += packed.name > 0 ? packed.name : 0;
    }
    *bytes = buffer;
    *size = sizeof head + nodes + names;
    return STRAG_OK;
}

/* @param left  bytes of all names
 * @return STRAG_OK, STRAG_ERR_MEMORY, or STRAG_ERR_ARGUMENT: the names do not fit */
static int unpack_nodes(const char *nodes, int nnodes, size_t left, struct strag_node *to)
{
    const char *names = nodes + (size_t)nnodes * sizeof(struct packed);
    for (int i = 0; i < nnodes; i++) {
        struct packed packed;
        memcpy(&packed, nodes + (size_t)i * sizeof packed, sizeof packed);
        to[i] = (struct strag_node){
            .level = packed.level,
            .parent = packed.parent,
            .rank = packed.rank,
            .position = packed.position,
            .uplink = packed.uplink,
        };
        if (packed.name < 0)
            continue;
        if ((size_t)packed.name > left)
            return STRAG_ERR_ARGUMENT;
        to[i].name = strag_text_copy(names, (size_t)packed.name);
        if (!to[i].name)
            return STRAG_ERR_MEMORY;
        names += packed.name;
        left -= (size_t)packed.name;
    }
    return left ? STRAG_ERR_ARGUMENT : STRAG_OK;
}

int strag_topology_unpack(const void *bytes, size_t size, struct strag_topology **topology,
                          struct strag_error *err)
{
    struct head head = {.magic = 0};
    const char *nodes = (const char *)bytes + sizeof head;
    if (size >= sizeof head)
        memcpy(&head, bytes, sizeof head);
    size_t left = size - sizeof head;
    if (head.magic != magic || head.nnodes < 1 ||
        (size_t)head.nnodes > left / sizeof(struct packed))
        return strag_fail(err, STRAG_ERR_ARGUMENT, "%zu bytes are no packed topology", size);

    const struct strag_grid grid = unpack_grid(&head);
    struct strag_node *made = calloc((size_t)head.nnodes, sizeof *made);
    left -= (size_t)head.nnodes * sizeof(struct packed);
    int status = made ? unpack_nodes(nodes, head.nnodes, left, made) : STRAG_ERR_MEMORY;
    if (status == STRAG_ERR_MEMORY)
        strag_fail(err, status, "out of memory for %d nodes", head.nnodes);
    else if (status != STRAG_OK)
        strag_fail(err, status, "%zu bytes are no packed topology", size);
    else
        status = strag_topology_create(grid.dims ? &grid : NULL, made, head.nnodes, head.n,
                                       topology, err);
    for (int i = 0; made && i < head.nnodes; i++)
        free(made[i].name);
    free(made);
    return status;
}
