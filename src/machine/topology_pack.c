/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A topology as bytes:
 *
 *     head            magic number, ranks, nodes, bytes of all names
 *     grid            struct packed_grid
 *     nodes           struct packed, the nodes in their order
 *     names           one after another, without closing zeros
 *
 * in this machine's own formats: the processes of a job share them.
 */
#include "machine/topology.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>

static const uint32_t magic = 0x53545254; /* changes with the format */

struct head {
    uint32_t magic;
    int32_t n, nnodes;
    uint64_t names;
};

/* Of a grid; any byte is a truth value, unlike in a bool. */
struct packed_grid {
    int32_t network, dims;
    int32_t size[STRAG_DIMS_MAX], board[STRAG_DIMS_MAX];
    uint8_t wrap[STRAG_DIMS_MAX];
};

struct packed {
    double uplink;
    int32_t parent, rank, position;
    int32_t name; /* bytes of it; -1: none */
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

static struct packed_grid pack_grid(const struct strag_grid *grid)
{
    struct packed_grid packed = {(int32_t)grid->network, grid->dims, {0}, {0}, {0}};
    for (int d = 0; d < grid->dims; d++) {
        packed.size[d] = grid->size[d];
        packed.board[d] = grid->board[d];
        packed.wrap[d] = grid->wrap[d];
    }
    return packed;
}

static struct strag_grid unpack_grid(const struct packed_grid *packed)
{
    struct strag_grid grid = {.network = (enum strag_network)packed->network, .dims = packed->dims};
    for (int d = 0; d < STRAG_DIMS_MAX; d++) {
        grid.size[d] = packed->size[d];
        grid.board[d] = packed->board[d];
        grid.wrap[d] = packed->wrap[d] != 0;
    }
    return grid;
}

int strag_topology_pack(const struct strag_topology *topology, void **bytes, size_t *size,
                        struct strag_error *err)
{
    struct head head;
    memset(&head, 0, sizeof head);
    head.magic = magic;
    head.n = topology->n;
    head.nnodes = topology->nnodes;
    for (int i = 0; i < topology->nnodes; i++)
        head.names += topology->nodes[i].name ? strlen(topology->nodes[i].name) : 0;

    size_t whole = sizeof head + sizeof(struct packed_grid) +
                   (size_t)topology->nnodes * sizeof(struct packed) + head.names;
    char *buffer = malloc(whole);
    if (!buffer)
        return strag_fail(err, STRAG_ERR_MEMORY, "out of memory for packing %d nodes",
                          topology->nnodes);
    char *next = buffer;
    memcpy(next, &head, sizeof head);
    next += sizeof head;
    const struct packed_grid packed_grid = pack_grid(&topology->grid);
    memcpy(next, &packed_grid, sizeof packed_grid);
    next += sizeof packed_grid;
    for (int i = 0; i < topology->nnodes; i++, next += sizeof(struct packed)) {
        struct packed packed = pack_node(&topology->nodes[i]);
        memcpy(next, &packed, sizeof packed);
    }
    for (int i = 0; i < topology->nnodes; i++) {
        const char *name = topology->nodes[i].name;
        size_t length = name ? strlen(name) : 0;
        if (length)
            memcpy(next, name, length);
        next += length;
    }
    *bytes = buffer;
    *size = whole;
    return STRAG_OK;
}

/* @return STRAG_OK, STRAG_ERR_MEMORY, or STRAG_ERR_ARGUMENT: the names do not fit */
static int unpack_nodes(const char *nodes, int nnodes, const char *names, size_t left,
                        struct strag_node *to)
{
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
    return STRAG_OK;
}

int strag_topology_unpack(const void *bytes, size_t size, struct strag_topology **topology,
                          struct strag_error *err)
{
    struct head head;
    struct packed_grid packed_grid;
    const char *nodes = (const char *)bytes + sizeof head + sizeof packed_grid;
    if (size < sizeof head + sizeof packed_grid)
        return strag_fail(err, STRAG_ERR_ARGUMENT, "%zu bytes are no packed topology", size);
    memcpy(&head, bytes, sizeof head);
    memcpy(&packed_grid, (const char *)bytes + sizeof head, sizeof packed_grid);
    size_t left = size - sizeof head - sizeof packed_grid;
    if (head.magic != magic || head.nnodes < 1 ||
        (size_t)head.nnodes > left / sizeof(struct packed) ||
        head.names != left - (size_t)head.nnodes * sizeof(struct packed))
        return strag_fail(err, STRAG_ERR_ARGUMENT, "%zu bytes are no packed topology", size);

    const struct strag_grid grid = unpack_grid(&packed_grid);
    struct strag_node *made = calloc((size_t)head.nnodes, sizeof *made);
    const char *names = nodes + (size_t)head.nnodes * sizeof(struct packed);
    int status =
        made ? unpack_nodes(nodes, head.nnodes, names, head.names, made) : STRAG_ERR_MEMORY;
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
