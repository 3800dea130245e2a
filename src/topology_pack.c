/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A topology as bytes:
 *
 *     head            magic number, ranks, nodes, bytes of all names
 *     grid            struct strag_grid
 *     nodes           struct packed, the nodes in their order
 *     names           one behind the other, without closing zeros
 *
 * in this machine's own formats: the processes of a job share them.
 */
#include "topology.h"

#include <stdlib.h>
#include <string.h>

static const uint32_t magic = 0x53545254; /* changes with the format */

struct head {
    uint32_t magic;
    int32_t n, nnodes;
    uint64_t names;
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

    size_t whole = sizeof head + sizeof topology->grid +
                   (size_t)topology->nnodes * sizeof(struct packed) + head.names;
    char *buffer = malloc(whole);
    if (!buffer)
        return strag_fail(err, STRAG_ERR_MEMORY, "out of memory for packing %d nodes",
                          topology->nnodes);
    char *next = buffer;
    memcpy(next, &head, sizeof head);
    next += sizeof head;
    memcpy(next, &topology->grid, sizeof topology->grid);
    next += sizeof topology->grid;
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

/* @return false if the names do not fit, or out of memory */
static bool unpack_nodes(const char *nodes, int nnodes, const char *names, size_t left,
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
            return false;
        to[i].name = strndup(names, (size_t)packed.name);
        if (!to[i].name)
            return false;
        names += packed.name;
        left -= (size_t)packed.name;
    }
    return true;
}

int strag_topology_unpack(const void *bytes, size_t size, struct strag_topology **topology,
                          struct strag_error *err)
{
    struct head head;
    struct strag_grid grid;
    const char *nodes = (const char *)bytes + sizeof head + sizeof grid;
    if (size < sizeof head + sizeof grid)
        return strag_fail(err, STRAG_ERR_ARGUMENT, "%zu bytes are no packed topology", size);
    memcpy(&head, bytes, sizeof head);
    memcpy(&grid, (const char *)bytes + sizeof head, sizeof grid);
    size_t left = size - sizeof head - sizeof grid;
    if (head.magic != magic || head.nnodes < 1 ||
        (size_t)head.nnodes > left / sizeof(struct packed) ||
        head.names != left - (size_t)head.nnodes * sizeof(struct packed))
        return strag_fail(err, STRAG_ERR_ARGUMENT, "%zu bytes are no packed topology", size);

    struct strag_node *made = calloc((size_t)head.nnodes, sizeof *made);
    const char *names = nodes + (size_t)head.nnodes * sizeof(struct packed);
    int status;
    if (!made || !unpack_nodes(nodes, head.nnodes, names, head.names, made))
        status = strag_fail(err, STRAG_ERR_MEMORY, "out of memory for %d nodes", head.nnodes);
    else
        status = strag_topology_create(grid.dims ? &grid : NULL, made, head.nnodes, head.n,
                                       topology, err);
    for (int i = 0; made && i < head.nnodes; i++)
        free(made[i].name);
    free(made);
    return status;
}
