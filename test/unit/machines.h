/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Topologies for tests, made from nodes by hand: nothing of src/layout*.c is needed. Each function
 * lets the test fail if it cannot do what it is asked for. What they return is the caller's to free
 * with strag_topology_free.
 */
#ifndef STRAG_TEST_MACHINES_H
#define STRAG_TEST_MACHINES_H

#include "model/network.h"

#include <stddef.h>

struct rng;

/** The default model with round numbers within a host, for times that are computed by hand: 1 us,
 * four times a link's bandwidth, and reducing for free. */
static inline struct strag_model machine_model(enum strag_network network)
{
    struct strag_model model = strag_model_default(network);
    model.local_alpha = 1e-6;
    model.local_bandwidth = 4 * model.bandwidth;
    model.reduce_bandwidth = 0;
    return model;
}

/** A list of nodes that grows; the root is there from the beginning. */
struct machine_nodes {
    int count, room;
    struct strag_node *list;
};

/** Only the root. */
struct machine_nodes machine_nodes_create(void);

/**
 * Append a node below `parent`, without rank, position and uplink.
 *
 * @return its index
 */
int machine_node(struct machine_nodes *nodes, int parent, enum strag_level level);

/** Append a leaf. */
void machine_rank(struct machine_nodes *nodes, int parent, int rank);

/**
 * Nodes as text, for tests that compare trees:
 *
 *     node := LEVEL [=name] [#position] [@uplink] [ ( node node ... ) ]  |  rank [@uplink]
 *
 * with the levels N(etwork) S(witch) H(ost) P(ackage) U (NUMA domain) C(ache). A parent comes right
 * before its children: "N(H(0 1) S=leaf@2(H(2) H(3)))".
 */
struct machine_nodes machine_parse(const char *text);

/** A topology as such a text. @return buffer */
char *machine_describe(const struct strag_topology *topology, char *buffer, size_t size);

/** Make the topology and free the list. @param grid  NULL: a tree */
struct strag_topology *machine_finish(struct machine_nodes *nodes, const struct strag_grid *grid);

/** How many leaves there are. */
int machine_ranks(const struct machine_nodes *nodes);

/** Free the list and its names. */
void machine_nodes_free(struct machine_nodes *nodes);

/**
 * A grid's description.
 *
 * @param wrap   of all dimensions
 * @param dims   the sizes, all boards together: "8x8x4"
 * @param board  "2x2"; NULL: not a HammingMesh
 */
struct strag_grid machine_grid_of(enum strag_network network, bool wrap, const char *dims,
                                  const char *board);

/** Hosts at these positions of a grid; ranks host after host. */
struct strag_topology *machine_hosts(const struct strag_grid *grid, const int *positions, int hosts,
                                     int ranks_per_host);

/** A grid with a host at every position, as machine_grid_of and machine_hosts. */
struct strag_topology *machine_grid(enum strag_network network, bool wrap, const char *dims,
                                    const char *board, int ranks_per_host);

enum { MACHINE_BOX_MOST = 125 };

/** A box of `least` to `least` + 3 hosts a side, MACHINE_BOX_MOST at most, at a random place of a
 * torus of three dimensions, over its edges too; hosts in random order. */
struct strag_topology *machine_random_box(const char *dims, int least, int ranks_per_host,
                                          struct rng *rng);

/** n ranks on hosts of `ranks_per_host` (the last may have fewer), all on one switch. */
struct strag_topology *machine_flat(int n, int ranks_per_host);

/**
 * A tree: a number is a host with this many ranks, brackets are a switch, "@GBIT" behind either is
 * its uplink: "((2,3@50),(4))@200". Ranks as they are written.
 */
struct strag_topology *machine_tree(const char *text);

/** "host n1 up", "(1,0) dimension 0 +": a link as tests compare it. @return buffer */
char *machine_link_name(const struct strag_links *links, int link, char *buffer, size_t size);

/** What holds for every topology: the order of its nodes, its ranks, and nothing left in it that
 * tells no ranks apart. */
void machine_check(const struct strag_topology *topology);

#endif
