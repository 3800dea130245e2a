/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the readers of layouts share: messages that begin with FILE:LINE, an index of names, and a
 * layout that is being made.
 */
#ifndef STRAG_LAYOUT_INTERNAL_H
#define STRAG_LAYOUT_INTERNAL_H

#include "machine/layout.h"

/* Hosts of a layout, and switches as well; also names in one list of hosts. */
#define STRAG_LAYOUT_MAX (1 << 20)

/* Positions of a grid, with a host or without: links are counted for each of them. */
#define STRAG_POSITIONS_MAX (1 << 24)

/* Bytes in the name of a host or a switch. */
#define STRAG_NAME_MAX 255

/* ---- Messages ---- */

/* Where a description comes from. */
struct strag_source {
    const char *name; /* the file; NULL: an option, whose messages have no FILE:LINE */
    struct strag_error *err;
};

/** Refuse: "NAME:LINE: message". @param line  0: none @return STRAG_ERR_ARGUMENT */
int strag_source_fail(const struct strag_source *source, int line, const char *format, ...)
    STRAG_PRINTF(3, 4);

/** "NAME: out of memory". @return STRAG_ERR_MEMORY */
int strag_source_memory(const struct strag_source *source);

/* The beginning of a text, fit for a message: printable ASCII. */
struct strag_quote {
    char text[48];
};

struct strag_quote strag_quote(const char *text, size_t length);

/** The same for text that ends with NUL. */
struct strag_quote strag_quoted(const char *text);

/** Text without NUL bytes, and UTF-8. A byte order mark at the beginning is taken off. */
int strag_source_text(const struct strag_source *source, const char **text, size_t *length);

/** What a name of a host or switch must be. */
int strag_source_name(const struct strag_source *source, int line, const char *name, size_t length);

/* A text's lines. */
struct strag_line {
    const char *text; /* without blanks around it; no NUL closes it */
    size_t length;
    int number; /* from 1 */
};

/** Take a line off the text: neither blank nor a comment. @return false at the end */
bool strag_next_line(const char **text, size_t *length, struct strag_line *line);

/* ---- Texts and arrays ---- */

static inline bool strag_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/** A copy that a NUL closes; NULL: out of memory. */
char *strag_text_copy(const char *text, size_t length);

/**
 * An array with room for at least `need` elements.
 *
 * @param old   NULL, or what this function returned before
 * @param room  for how many; doubled when it does not suffice
 * @return the array; NULL: out of memory, and `old` is as it was
 */
void *strag_array_grow(void *old, int *room, int need, size_t element);

/* ---- Names ---- */

/* From names to numbers. The names are kept by whoever added them. All zero: empty. */
struct strag_names {
    struct strag_names_slot {
        const char *name;
        int value;
    } * slots;
    int room, count;
};

/** @return the number, or -1 */
int strag_names_find(const struct strag_names *names, const char *name);

/** Add a name that is not there. @return false: out of memory */
bool strag_names_add(struct strag_names *names, const char *name, int value);

void strag_names_free(struct strag_names *names);

/* ---- A layout that is being made ---- */

struct strag_draft {
    struct strag_source source;
    struct strag_layout *layout;
    int hosts_room, switches_room;
    int host_lines_room, switch_lines_room;
    int *host_line, *switch_line;
    struct strag_names hosts, switches;
};

/** Start; strag_draft_free ends, whatever was made. */
int strag_draft_start(struct strag_draft *draft, const struct strag_source *source,
                      enum strag_network network);

/** Everything but a layout that was handed over. */
void strag_draft_free(struct strag_draft *draft);

/**
 * Add a host, layout->hosts[layout->nhosts - 1].
 *
 * @param name  the draft's from now on, even on failure; NULL: refused as out of memory
 * @param at    its switch or position
 */
int strag_draft_host(struct strag_draft *draft, char *name, int line, int at);

/** Add a switch without parent. @param name  as above, but NULL means that it has none */
int strag_draft_switch(struct strag_draft *draft, char *name, int line, double uplink);

/**
 * Switches in an order with parents first, one root (several are joined by a new one, which also
 * takes hosts at -1), no circles. Hands the layout over.
 */
int strag_draft_finish_tree(struct strag_draft *draft, struct strag_layout **layout);

/** No two hosts at one position. Hands the layout over. */
int strag_draft_finish_grid(struct strag_draft *draft, struct strag_layout **layout);

/* ---- Switches and blocks as files list them ---- */

struct strag_text {
    char *text; /* as written; NULL: not given */
    int line;
};

struct strag_record {
    struct strag_text name, children, nodes; /* the latter are lists */
    double uplink;
};

struct strag_records {
    const char *what; /* "switch", "block", "ring", "torus" */
    struct strag_record *list;
    int count, room;
};

/** Add one; its texts are the records' from now on, even on failure. */
int strag_records_add(struct strag_records *records, const struct strag_source *source,
                      struct strag_record *record);

void strag_record_free(struct strag_record *record);

void strag_records_free(struct strag_records *records);

/** The tree of switches they describe. */
int strag_records_tree(const struct strag_records *records, const struct strag_source *source,
                       struct strag_layout **layout);

/** One ring of hosts, a torus of one dimension. Several: every ring is a switch of a tree. */
int strag_records_rings(const struct strag_records *records, const struct strag_source *source,
                        struct strag_layout **layout);

/** Sizes in ascending order, each one the first one times a power of two: Slurm's block sizes. */
int strag_block_sizes_check(const struct strag_source *source, int line, const int *sizes,
                            int count);

/** Hosts of a list at `at`, `at` + step, ... */
int strag_draft_hosts(struct strag_draft *draft, const struct strag_text *list, int at, int step);

/** Gbit/s as bytes per second; 1e-6 to 1e9 is taken. */
int strag_source_gbit(const struct strag_source *source, int line, const char *text,
                      double *bytes_per_second);

/* ---- Grids ---- */

/** "8x8x4". @param[out] sizes  at most STRAG_DIMS_MAX; their product is limited */
int strag_source_dims(const struct strag_source *source, int line, const char *text, size_t length,
                      int *sizes, int *dims);

/** "2x2:16x16". */
int strag_source_hammingmesh(const struct strag_source *source, int line, const char *text,
                             size_t length, struct strag_grid *grid);

/**
 * The mesh that just contains coordinates.
 *
 * @param at    [count][grid->dims], each from 0 to INT32_MAX - 1
 * @param grid  its dims are given, the rest is filled in
 * @param[out] low  the coordinates of its first position
 */
int strag_source_contain(const struct strag_source *source, const int *at, int count,
                         struct strag_grid *grid, int *low);

/** The position of coordinates in a grid whose first position has the coordinates `low`. */
int strag_grid_place(const struct strag_grid *grid, const int *low, const int *at);

/** "(1,0,2)"; NULL: out of memory. */
char *strag_coordinates_name(const int *at, int dims);

/** strag_hosts_expand with FILE:LINE in front of its message. */
int strag_source_hosts(const struct strag_source *source, int line, const char *list, char ***names,
                       int *count);

/** Free an array of names. NULL is allowed. */
void strag_hosts_free(char **names, int count);

#endif
