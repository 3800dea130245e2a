/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A layout: a machine as described by a file, an option or its hosts' addresses. A layout and the
 * locations of a job's ranks make a topology.
 *
 *     topology.conf, topology.yaml, coordinates file ──┐
 *     "8x8x4", "2x2:16x16", "((2,3),4)"                ├──► layout ──┐
 *     SLURM_TOPOLOGY_ADDR or name of every host        ┘             ├──► topology
 *     hosts and cores of the ranks ──► locations ────────────────────┘
 *
 * Messages of readers begin with "FILE:LINE: ". The functions for other programs are in
 * api/strag.h: strag_layout_read, _parse, _fill and _free.
 */
#ifndef STRAG_LAYOUT_H
#define STRAG_LAYOUT_H

#include "machine/topology.h"

/* More ranks than any machine has, so that a mistyped number does not take all memory. */
#define STRAG_LAYOUT_RANKS_MAX (1 << 24)

/* A switch of a tree. switches[0] is the root, and every other one comes after its parent. */
struct strag_switch {
    char *name;    /* NULL if it has none */
    int parent;    /* index; -1 for the root */
    int line;      /* in the file that describes it; 0 without a file */
    double uplink; /* as in struct strag_node, also for the root; 0 if not given */
};

struct strag_host {
    char *name;    /* unique; never NULL */
    int at;        /* its switch in a tree, or its position in a grid */
    double uplink; /* bytes per second to the switch; 0 if not given, and on grids */
    int ranks;     /* 0 if not given */
    int line;      /* in the file that describes it; 0 without a file */
};

struct strag_layout {
    enum strag_network network;
    struct strag_grid grid; /* unless the network is a tree */
    int nswitches;          /* 0 on a grid */
    struct strag_switch *switches;
    int nhosts;
    struct strag_host *hosts;
    int nranks; /* that a coordinates file places; 0 if there are none */
    int *rank_host;
};

/** Is it one switch for all hosts, which are not listed? (`flat` of a topology.yaml) */
bool strag_layout_is_flat(const struct strag_layout *layout);

/*
 * Readers. They return STRAG_OK, STRAG_ERR_ARGUMENT with the reason, STRAG_ERR_IO (the file) or
 * STRAG_ERR_MEMORY; the layout is the caller's to free, and untouched on failure.
 */

/** Slurm's topology.conf of topology/tree (and topology/block). */
int strag_layout_parse_conf(const char *text, size_t length, const char *name,
                            struct strag_layout **layout, struct strag_error *err);

/** Slurm's topology.yaml: tree, block, flat, torus3d. Of several, it reads the default one. */
int strag_layout_parse_yaml(const char *text, size_t length, const char *name,
                            struct strag_layout **layout, struct strag_error *err);

/** A coordinates file; its first line may give the kind and the sizes of the grid. */
int strag_layout_parse_coordinates(const char *text, size_t length, const char *name,
                                   struct strag_layout **layout, struct strag_error *err);

/**
 * A grid: "8x8x4" for a torus (a mesh unless it wraps) or HyperX; "2x2:16x16" for a HammingMesh of
 * 16 x 16 boards of 2 x 2 hosts. Hosts are named by their coordinates, "(1,0,2)".
 */
int strag_layout_from_dims(const char *dims, enum strag_network network, bool wrap,
                           struct strag_layout **layout, struct strag_error *err);

/** The number of hosts of such a grid. @param kind  as for strag_layout_describe @return 0 if the
 * text is refused or the kind is not a grid */
int strag_layout_dims_hosts(const char *kind, const char *dims);

/**
 * A tree: ranks per host between commas, "2,3"; round brackets make switches, "((2,3),(4))".
 * "@GBIT" after a number or a bracket gives its uplink, "((2@50,3)@200,4)"; after the outermost
 * bracket it gives the links that join its children pair by pair.
 */
int strag_layout_from_tree(const char *text, struct strag_layout **layout, struct strag_error *err);

/* A host's SLURM_TOPOLOGY_ADDR: the switches from the top and the host, between dots, "s0.s1.n7";
 * or coordinates, "torus:1:0:2" or "pod1:1:0:2.n7". */
struct strag_address {
    const char *host, *address;
};

/**
 * Make a tree of switches from all hosts' addresses, or the smallest mesh that contains them
 * (addresses do not show wrap-around links).
 */
int strag_layout_from_addresses(const struct strag_address *addresses, int count,
                                struct strag_layout **layout, struct strag_error *err);

/** The pattern of a layout "names:PATTERN", where PATTERN may be a name. @return NULL for others */
const char *strag_names_pattern(const char *layout);

/**
 * Make a host's address in a tree from a name that has its groups (layout_names.c).
 *
 * @param name  the host's name, or another name of it
 * @param[out] address  the caller's to free; untouched on failure
 * @return STRAG_OK, STRAG_ERR_ARGUMENT if the pattern is wrong or does not fit, STRAG_ERR_MEMORY
 */
int strag_names_address(const char *pattern, const char *name, const char *host, char **address,
                        struct strag_error *err);

/** Make the tree of groups from hosts' names by a pattern; one switch if the pattern is NULL. */
int strag_layout_from_names(const char *pattern, const char *const *hosts, int count,
                            struct strag_layout **layout, struct strag_error *err);

/**
 * Expand a list of hosts as Slurm writes it: "n[01-16,20],login". At most 2^20 names.
 *
 * @param[out] names  the caller's to free with strag_hosts_free
 */
int strag_hosts_expand(const char *list, char ***names, int *count, struct strag_error *err);

/** Free an array of names. NULL is allowed. */
void strag_hosts_free(char **names, int count);

/* ---- Locating ranks ---- */

/* Where a rank is inside its host, in hwloc's logical numbers; -1 if not known. */
struct strag_core {
    int package, numa, cache;
};

struct strag_location {
    int host; /* index in the layout's hosts */
    struct strag_core core;
};

/**
 * The topology of ranks at locations.
 *
 * A host has an inner level (package, NUMA domain, cache) if it is known for all ranks of the host
 * and differs between them.
 *
 * @param locations  one per rank
 */
int strag_layout_locate(const struct strag_layout *layout, const struct strag_location *locations,
                        int n, struct strag_topology **topology, struct strag_error *err);

/* ---- hwloc ---- */

/**
 * The cores of a machine, by hwloc.
 *
 * @param xml  a file that hwloc wrote (lstopo --of xml); NULL for the running machine
 * @param[out] cores  the caller's to free
 */
int strag_hwloc_cores(const char *xml, struct strag_core **cores, int *count,
                      struct strag_error *err);

#endif
