/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The links of a topology, with a model's bandwidths, and the routes of messages over them.
 *
 * Links have one direction each.
 *
 *     tree          an uplink of every node but the root: one link up, one down
 *     dragonfly     a tree, and a link from each of the root's children to each other one, where
 *                   these are joined pair by pair (topology.h). Messages between groups take it
 *                   directly; the uplink of a group is all of its links to others together
 *     torus, mesh   from every position one link up and one down in every dimension
 *     HyperX        from every position one link to every other one of its row, per dimension
 *     HammingMesh   as a mesh on a board; from the edges of boards to the row's switch and back
 *
 * If the model limits what a host of a grid injects, the node's uplink is between the host and all
 * of its links there.
 *
 * Routes are minimal and go dimension by dimension, the first one first. A message within a host
 * takes the links of the tree there; one that leaves the host does not load them (the network
 * adapter reads and writes memory itself).
 *
 * Bandwidths that the topology does not give: for a host's uplink the model's `bandwidth`, for a
 * switch's uplink that of all links below it together, for a rank's link within its host
 * `local_bandwidth`, for a package's or NUMA domain's four times that; a cache's is unlimited.
 */
#ifndef STRAG_NETWORK_H
#define STRAG_NETWORK_H

#include "model/model.h"
#include "plan/algorithm.h"

struct strag_hop {
    int32_t link;
    float share; /* of the message's bytes: 1, or 0.5 if a tie is split */
};

struct strag_route {
    double latency; /* seconds, alpha included */
    int nhops;      /* hops that were written */
};

/* A grid's link that is slower than the model's bandwidth. */
struct strag_slowed {
    int32_t link; /* -1 if the entry is free */
    double bandwidth;
};

struct strag_links {
    const struct strag_topology *topology;
    struct strag_topology *own; /* the topology if strag_links_of made it; else NULL */
    struct strag_model model;
    int per_position;           /* links of one position of a grid */
    int before[STRAG_DIMS_MAX]; /* how many of these belong to lower dimensions */
    int stride[STRAG_DIMS_MAX]; /* from a position to its neighbour in a dimension */
    int groups;                 /* the root's children if they are joined pair by pair; else 0 */
    int nlinks;
    int in_tree;       /* the first ones of these: links of nodes, and of pairs of groups */
    double *bandwidth; /* [link in the tree]: bytes per second; INFINITY for no limit */
    int nslowed, slowed_bits;
    struct strag_slowed *slowed; /* [2^bits]: at or after the link's hash; NULL if none */
    int longest;                 /* the most hops of any route */
    struct strag_hop *end;       /* where the current route's next hop is written */
};

/**
 * The links of a topology.
 *
 * @param topology  must outlive the links
 * @param state     slow links; NULL if there are none
 * @param[out] links  the caller's to free with strag_links_free; untouched on failure
 * @return STRAG_OK, STRAG_ERR_ARGUMENT (a slow rank that does not exist, a factor below 1),
 *         STRAG_ERR_UNSUPPORTED (more links than an int counts), STRAG_ERR_MEMORY
 */
int strag_links_create(const struct strag_topology *topology, const struct strag_model *model,
                       const struct strag_state *state, struct strag_links **links,
                       struct strag_error *err);

/** The links of a problem's topology, or, without one, of hosts of one rank each on one switch.
 * @return as strag_links_create */
int strag_links_of(const struct strag_problem *problem, const struct strag_model *model,
                   struct strag_links **links, struct strag_error *err);

/** The bandwidth of a link of a grid, if some of its links are slow. */
double strag_links_slowed(const struct strag_links *links, int link);

/** Bytes per second; INFINITY for no limit. A grid can have very many links: only different ones
 * are stored. */
static inline double strag_link_bandwidth(const struct strag_links *links, int link)
{
    if (link < links->in_tree)
        return links->bandwidth[link];
    return links->nslowed ? strag_links_slowed(links, link) : links->model.bandwidth;
}

/** The first of a group's links to the groups; there is one for each group. */
static inline int strag_links_first_pair(const struct strag_links *links, int group)
{
    return 2 * links->topology->nnodes + group * links->groups;
}

/** The link between the groups of two hosts' nodes; -1 if they are in the same group, or if groups
 * are not joined pair by pair. */
static inline int strag_links_pair(const struct strag_links *links, int from, int to)
{
    const struct strag_node *nodes = links->topology->nodes;
    if (links->groups == 0)
        return -1;
    while (nodes[from].parent > 0)
        from = nodes[from].parent;
    while (nodes[to].parent > 0)
        to = nodes[to].parent;
    const int first = nodes[0].first_child;
    return from == to ? -1 : strag_links_first_pair(links, from - first) + to - first;
}

/* What a link joins: nodes of the tree, or positions of the grid. */
struct strag_link_ends {
    int dim; /* of the grid; -1 for an uplink of the tree, or a link between two groups */
    int from,
        to; /* -1 for a HammingMesh's switch at the edge of a board; both -1 if there is no link */
};

/** @param link  0 .. links->nlinks - 1; some numbers have no link: at the ends of a mesh, and from
 * a HyperX's position or a group to itself */
struct strag_link_ends strag_link_ends(const struct strag_links *links, int link);

/** NULL is allowed. */
void strag_links_free(struct strag_links *links);

/**
 * The route of a message between two ranks.
 *
 * @param from  the sender
 * @param to    another rank
 * @param hops  room for links->longest; in the order of travel, except after a split tie
 */
struct strag_route strag_links_route(struct strag_links *links, int from, int to,
                                     struct strag_hop *hops);

#endif
