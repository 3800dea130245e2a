/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A topology: a job's ranks as a tree, and the network of its hosts.
 *
 * The ranks are the leaves. Above them are caches, NUMA domains and packages, if they are known and
 * distinguish ranks, then hosts, switches, and one root, the network:
 *
 *     network ─┬─ switch ─┬─ host ─┬─ package ─┬─ rank 0
 *              │          │        │           └─ rank 1
 *              │          │        └─ package ─── ...
 *              │          └─ host ─── ...
 *              └─ switch ─── ...
 *
 * Every node has an uplink to its parent, a full-duplex link with a bandwidth. If the root has an
 * uplink, its children are joined pair by pair, as the groups of a dragonfly: each two have a link
 * of this bandwidth, or of the lower of their own uplinks if that is less. On a grid (torus, mesh,
 * HyperX, HammingMesh) all hosts are children of the root, and each has a position in the grid; its
 * links to its neighbours take the place of its uplink. The grid may be larger than the job: the
 * links of positions without a host still carry traffic.
 *
 * A topology is immutable. Its size is proportional to the number of ranks. strag_topology_flat and
 * _free are in api/strag.h.
 */
#ifndef STRAG_TOPOLOGY_H
#define STRAG_TOPOLOGY_H

#include "machine/grid.h"

#include <stddef.h>
#include <stdint.h>

/* From the leaves up. A node's parent has a higher level, or both are switches. */
enum strag_level {
    STRAG_LEVEL_RANK,
    STRAG_LEVEL_CACHE,
    STRAG_LEVEL_NUMA,
    STRAG_LEVEL_PACKAGE,
    STRAG_LEVEL_HOST,
    STRAG_LEVEL_SWITCH,
    STRAG_LEVEL_NETWORK, /* the root */
};

/** "rank", "cache", "NUMA domain", "package", "host", "switch", "network". */
const char *strag_level_name(enum strag_level level);

struct strag_node {
    uint8_t level;       /* enum strag_level */
    int32_t parent;      /* index of a node; -1 for the root */
    int32_t first_child; /* children are [first_child, first_child + children) */
    int32_t children;
    int32_t first_leaf; /* the ranks below are leaf_rank[first_leaf .. first_leaf + leaves) */
    int32_t leaves;
    int32_t rank;     /* a leaf's; -1 if not a leaf */
    int32_t position; /* a host's, in the grid; -1 if none */
    double uplink;    /* bytes per second to the parent, each direction; 0 if not given */
    char *name;       /* of a host or a switch; NULL if it has none */
};

/*
 * A box: the hosts fill an axis-aligned part of the grid without a gap, each with the same number
 * of ranks. Algorithms for tori work on boxes. A cell is the position of a host in the box;
 * rank_at[cell * ranks_per_host + i] is the host's i-th rank in ascending order.
 */
struct strag_box {
    int dims; /* of the grid, including those in which the box is one cell wide */
    int size[STRAG_DIMS_MAX];
    int first[STRAG_DIMS_MAX]; /* coordinates of cell 0 in the grid */
    bool wrap[STRAG_DIMS_MAX]; /* the last cell and the first are neighbours: always in a HyperX; if
                                  the box is as wide as a ring of the torus, or has whole boards */
    int cells, ranks_per_host;
    int32_t *rank_at; /* [cell][i] */
    int32_t *cell_of; /* [rank] */
};

struct strag_topology {
    int n; /* ranks */
    enum strag_network network;
    struct strag_grid grid; /* unless network is a tree */

    int nnodes;
    struct strag_node *nodes; /* level by level from the root, nodes[0], so parents come before
                                 children; a node's children are consecutive */
    int32_t *leaf_rank;       /* ranks in the order of the tree: each node's are consecutive */
    int32_t *leaf_node;       /* [rank]: its leaf */
    int32_t *host_node;       /* [rank]: its host */
    int hosts;
    int ranks_per_host;    /* 0 if it differs */
    struct strag_box *box; /* NULL for a tree, or if the hosts do not fill a box */
};

/**
 * Make a topology from nodes.
 *
 * Nodes without a rank below are left out, and so are caches, NUMA domains, packages and switches
 * with a single child. The child gets the lower of the two bandwidths; but the node stays if only
 * its own bandwidth is given and the child is not a switch. Of each node only level, parent, rank,
 * position, uplink and name are read.
 *
 * @param grid    NULL for a tree
 * @param nodes   the root first, every other node after its parent; names are copied
 * @param nnodes  how many
 * @param n       ranks: each number from 0 to n - 1 is the rank of one leaf
 * @param[out] topology  the caller's to free with strag_topology_free; untouched on failure
 * @return STRAG_OK, STRAG_ERR_ARGUMENT with the reason, or STRAG_ERR_MEMORY
 */
int strag_topology_create(const struct strag_grid *grid, const struct strag_node *nodes, int nnodes,
                          int n, struct strag_topology **topology, struct strag_error *err);

/**
 * The topology of some of the ranks, with new numbers.
 *
 * @param rank_of  [n]: rank i of the part is rank rank_of[i] of the whole; no rank occurs twice
 * @param[out] part  as `topology` of strag_topology_create
 * @return as strag_topology_create
 */
int strag_topology_part(const struct strag_topology *whole, const int32_t *rank_of, int n,
                        struct strag_topology **part, struct strag_error *err);

/**
 * Set topology->box if the hosts fill one; strag_topology_create calls it.
 *
 * @return STRAG_OK or STRAG_ERR_MEMORY
 */
int strag_topology_find_box(struct strag_topology *topology);

/** Are both ranks on the same host? */
static inline bool strag_topology_same_host(const struct strag_topology *topology, int a, int b)
{
    return topology->host_node[a] == topology->host_node[b];
}

/**
 * Pack a topology into bytes, for messages and files.
 *
 * @param[out] bytes  the caller's to free
 * @param[out] size   how many
 * @return STRAG_OK or STRAG_ERR_MEMORY
 */
int strag_topology_pack(const struct strag_topology *topology, void **bytes, size_t *size,
                        struct strag_error *err);

/** The inverse of strag_topology_pack; other bytes are refused. Errors as strag_topology_create. */
int strag_topology_unpack(const void *bytes, size_t size, struct strag_topology **topology,
                          struct strag_error *err);

#endif
