/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the readers of layouts share: drafts, switches and blocks in Slurm's files, sizes of grids.
 */
#ifndef STRAG_LAYOUT_INTERNAL_H
#define STRAG_LAYOUT_INTERNAL_H

#include "base/text.h"
#include "machine/layout.h"

/* The most hosts or switches of a layout, ranks of a host in a tree, names in a list of hosts. */
#define STRAG_LAYOUT_MAX (1 << 20)

/* The most positions of a grid, with or without a host, since each has links. */
#define STRAG_POSITIONS_MAX (1 << 24)

/* The most bytes in the name of a host or a switch. */
#define STRAG_NAME_MAX 255

/* ---- A layout that is being built (layout_draft.c) ---- */

struct strag_draft {
    struct strag_source source;
    struct strag_layout *layout;
    int hosts_room, switches_room;
    struct strag_names hosts, switches;
};

/** Adds all switches and hosts. On a grid it also sets layout->grid. */
typedef int strag_draft_filler(struct strag_draft *draft, void *from);

/**
 * Build a layout from the switches and hosts that `fill` adds. In a tree, switches are sorted; if
 * there are several roots, or hosts at -1, a new root joins them. A grid has at most one host per
 * position.
 */
int strag_layout_build(const struct strag_source *source, enum strag_network network,
                       strag_draft_filler *fill, void *from, struct strag_layout **layout);

/** Add a host, layout->hosts[layout->nhosts - 1]. @param at  its switch or position */
int strag_draft_host(struct strag_draft *draft, const char *name, int line, int at);

/**
 * Add a switch, layout->switches[layout->nswitches - 1].
 *
 * @param name    NULL if it has none
 * @param parent  its index; -1 if not known yet
 */
int strag_draft_switch(struct strag_draft *draft, const char *name, int line, int parent,
                       double uplink);

/** Check the name of a host or a switch. */
int strag_source_name(const struct strag_source *source, int line, const char *name);

/** Read Gbit/s, from 1e-6 to 1e9, as bytes per second. */
int strag_source_gbit(const struct strag_source *source, int line, const char *text,
                      double *bytes_per_second);

/* ---- Switches and blocks in files (layout_records.c) ---- */

struct strag_record {
    struct strag_text name, children, nodes; /* children and nodes are lists */
    double uplink;
};

struct strag_records {
    const char *what; /* "switch", "block", "ring", "torus" */
    struct strag_record *list;
    int count, room;
};

/** Add a record, and take over its texts, even on failure. */
int strag_records_add(struct strag_records *records, const struct strag_source *source,
                      struct strag_record *record);

void strag_record_free(struct strag_record *record);

void strag_records_free(struct strag_records *records);

/** Build the tree of switches that records describe; a single ring is a torus of one dimension. */
int strag_records_build(struct strag_records *records, const struct strag_source *source,
                        struct strag_layout **layout);

/* Slurm's block sizes: ascending, each the first times a power of two. Zeroed at first. */
struct strag_block_sizes {
    int first, last;
};

/** Check the next block size. */
int strag_block_sizes_add(const struct strag_source *source, int line,
                          struct strag_block_sizes *sizes, int size);

/** Add a switch whose name a file gives. */
int strag_draft_named_switch(struct strag_draft *draft, const struct strag_text *name,
                             double uplink);

/** Add the hosts of a list at `at`, `at` + step, ... */
int strag_draft_hosts(struct strag_draft *draft, const struct strag_text *list, int at, int step);

/* ---- Grids (layout_dims.c) ---- */

/* A kind of grid by the name that users give it. */
struct strag_grid_kind {
    const char *name; /* "torus", "mesh", "hyperx", "hammingmesh" */
    enum strag_network network;
    bool wrap;
};

/** @param name  not NUL-terminated @return NULL if there is no such kind */
const struct strag_grid_kind *strag_grid_kind_find(const char *name, size_t length);

/** Read the sizes of a grid: "8x8x4"; "2x2:16x16" for a HammingMesh.
 * @param most           the most positions that are accepted
 * @param[in,out] grid   its network is set by the caller */
int strag_source_grid(const struct strag_source *source, int line, const char *text, size_t length,
                      bool wrap, int most, struct strag_grid *grid);

/**
 * Find the smallest mesh that contains the coordinates.
 *
 * @param[in,out] at  [count][grid->dims], each from 0 to INT32_MAX - 1; on return the mesh's own
 * @param grid  its dims are set by the caller, the rest is filled in
 * @param[out] low  the given coordinates of the mesh's first position
 */
int strag_source_contain(const struct strag_source *source, int *at, int count,
                         struct strag_grid *grid, int *low);

/* ---- Lists of hosts (layout_hosts.c) ---- */

/** As strag_hosts_expand, with FILE:LINE before the message. */
int strag_source_hosts(const struct strag_source *source, int line, const char *list, char ***names,
                       int *count);

#endif
