/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Layouts from an option's text: grids "8x8x4" and "2x2:16x16", trees "((2,3),4)".
 */
#include "machine/layout_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Kinds ---- */

const struct strag_grid_kind *strag_grid_kind_find(const char *name, size_t length)
{
    static const struct strag_grid_kind kinds[] = {
        {"torus", STRAG_NETWORK_TORUS, true},
        {"mesh", STRAG_NETWORK_TORUS, false},
        {"hyperx", STRAG_NETWORK_HYPERX, false},
        {"hammingmesh", STRAG_NETWORK_HAMMINGMESH, false},
    };
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        if (strlen(kinds[k].name) == length && memcmp(kinds[k].name, name, length) == 0)
            return &kinds[k];
    }
    return NULL;
}

/* ---- Sizes ---- */

/* "8x8x4" @return false for other texts */
static bool read_sizes(const char *text, const char *end, int *sizes, int *dims)
{
    *dims = 0;
    for (;; text++) {
        int64_t size;
        if (!strag_next_number(&text, end, INT32_MAX, &size) || size < 1 || *dims == STRAG_DIMS_MAX)
            return false;
        sizes[(*dims)++] = (int)size;
        if (text == end || *text != 'x')
            return text == end;
    }
}

/* "2x2:16x16" @return as read_sizes; sizes are numbers of boards */
static bool read_boards(const char *text, const char *end, struct strag_grid *grid)
{
    const char *colon = memchr(text, ':', (size_t)(end - text));
    int dims = 0;
    return colon && read_sizes(text, colon, grid->board, &dims) &&
           read_sizes(colon + 1, end, grid->size, &grid->dims) && dims == grid->dims;
}

int strag_source_grid(const struct strag_source *source, int line, const char *text, size_t length,
                      bool wrap, int most, struct strag_grid *grid)
{
    const char *end = text + length;
    const bool boards = grid->network == STRAG_NETWORK_HAMMINGMESH;
    int64_t positions = 1;
    if (boards && !read_boards(text, end, grid))
        return strag_source_fail(source, line,
                                 "'%s' is not a HammingMesh; the sizes of a board and as many "
                                 "numbers of boards are, like 2x2:16x16",
                                 strag_quote(text, length).text);
    if (!boards && !read_sizes(text, end, grid->size, &grid->dims))
        return strag_source_fail(source, line,
                                 "'%s' is not a grid; 1 to %d sizes with x between them are, like "
                                 "8x8x4",
                                 strag_quote(text, length).text, STRAG_DIMS_MAX);
    for (int d = 0; d < grid->dims; d++) {
        int64_t size = (int64_t)grid->size[d] * (boards ? grid->board[d] : 1);
        positions = size > most ? size : positions * size;
        if (positions > most)
            return strag_source_fail(source, line, "the grid %s has more than %d positions",
                                     strag_quote(text, length).text, most);
        grid->size[d] = (int)size;
        grid->wrap[d] = wrap && grid->network == STRAG_NETWORK_TORUS;
    }
    return STRAG_OK;
}

int strag_source_contain(const struct strag_source *source, int *at, int count,
                         struct strag_grid *grid, int *low)
{
    size_t dims = (size_t)grid->dims, end = (size_t)count * dims;
    int64_t product = 1;
    grid->network = STRAG_NETWORK_TORUS;
    for (size_t d = 0; d < dims; d++) {
        int high = low[d] = at[d];
        for (size_t i = d; i < end; i += dims) {
            low[d] = at[i] < low[d] ? at[i] : low[d];
            high = at[i] > high ? at[i] : high;
        }
        for (size_t i = d; i < end; i += dims)
            at[i] -= low[d];
        grid->size[d] = high - low[d] + 1;
        grid->wrap[d] = false;
        product *= grid->size[d];
        if (product > STRAG_POSITIONS_MAX)
            return strag_source_fail(source, 0,
                                     "the mesh that contains all coordinates has more than %d "
                                     "positions",
                                     STRAG_POSITIONS_MAX);
    }
    return STRAG_OK;
}

/* ---- Grids with a host at every position ---- */

static int fill_grid(struct strag_draft *draft, void *from)
{
    const struct strag_grid *grid = from;
    int positions = strag_grid_positions(grid), status = STRAG_OK;
    draft->layout->grid = *grid;
    for (int position = 0; position < positions && status == STRAG_OK; position++) {
        int at[STRAG_DIMS_MAX];
        strag_grid_coordinates(grid, position, at);
        status = strag_draft_host(draft, strag_coordinates_text(at, grid->dims).text, 0, position);
    }
    return status;
}

int strag_layout_from_dims(const char *dims, enum strag_network network, bool wrap,
                           struct strag_layout **layout, struct strag_error *err)
{
    const struct strag_source source = {NULL, err};
    struct strag_grid grid = {.network = network};
    if (network == STRAG_NETWORK_TREE)
        return strag_fail(err, STRAG_ERR_ARGUMENT, "sizes make a grid, not a tree");
    int status = strag_source_grid(&source, 0, dims, strlen(dims), wrap, STRAG_LAYOUT_MAX, &grid);
    return status == STRAG_OK ? strag_layout_build(&source, network, fill_grid, &grid, layout)
                              : status;
}

int strag_layout_dims_hosts(const char *kind, const char *dims)
{
    const struct strag_source source = {NULL, NULL};
    const struct strag_grid_kind *found = strag_grid_kind_find(kind, strlen(kind));
    struct strag_grid grid = {.network = found ? found->network : STRAG_NETWORK_TREE};
    return found && strag_source_grid(&source, 0, dims, strlen(dims), false, STRAG_LAYOUT_MAX,
                                      &grid) == STRAG_OK
               ? strag_grid_positions(&grid)
               : 0;
}

/* ---- Trees ---- */

/* The parser's state in "((2,3@50),4)@100". */
struct tree_text {
    struct strag_draft *draft;
    const char *all, *rest;
    int at;    /* the switch whose bracket is open, or -1 */
    int depth; /* brackets that are open */
};

static int fail_tree(const struct tree_text *tree)
{
    return strag_source_fail(&tree->draft->source, 0,
                             "'%s', at '%s': ranks per host between commas are needed, brackets "
                             "around those on one switch, like 2,3 or ((2,3),4@50)@100",
                             strag_quoted(tree->all).text,
                             *tree->rest ? strag_quoted(tree->rest).text : "the end");
}

/* Take an optional "@GBIT" off the text. */
static int read_uplink(struct tree_text *tree, double *uplink)
{
    if (*tree->rest != '@')
        return STRAG_OK;
    const char *text = tree->rest + 1;
    size_t length = strcspn(text, ",()@");
    char number[40];
    if (length == 0 || length >= sizeof number)
        return fail_tree(tree);
    memcpy(number, text, length);
    number[length] = '\0';
    tree->rest = text + length;
    return strag_source_gbit(&tree->draft->source, 0, number, uplink);
}

static int read_host(struct tree_text *tree)
{
    struct strag_layout *layout = tree->draft->layout;
    int64_t ranks;
    const char *text = tree->rest;
    const size_t digits = strspn(text, "0123456789");
    if (!digits)
        return fail_tree(tree);
    if (!strag_next_number(&text, text + digits, STRAG_LAYOUT_MAX, &ranks) || ranks < 1)
        return strag_source_fail(&tree->draft->source, 0,
                                 "'%s' is not a number of ranks on a host; must be 1 to %d",
                                 strag_quote(tree->rest, digits).text, STRAG_LAYOUT_MAX);
    tree->rest = text;
    char name[16];
    snprintf(name, sizeof name, "%d", layout->nhosts);
    int status = strag_draft_host(tree->draft, name, 0, tree->at);
    if (status != STRAG_OK)
        return status;
    struct strag_host *host = &layout->hosts[layout->nhosts - 1];
    host->ranks = (int)ranks;
    return read_uplink(tree, &host->uplink);
}

static int open_switch(struct tree_text *tree)
{
    int status = strag_draft_switch(tree->draft, NULL, 0, tree->at, 0);
    if (status != STRAG_OK)
        return status;
    tree->at = tree->draft->layout->nswitches - 1;
    tree->depth++;
    tree->rest++;
    return STRAG_OK;
}

/* A host or a closing bracket is followed by a comma, another closing bracket or the end. */
static int fill_tree(struct strag_draft *draft, void *from)
{
    struct tree_text *tree = from;
    struct strag_layout *layout = draft->layout;
    tree->draft = draft;
    bool complete = false; /* a host or a closing bracket was just read */
    while (*tree->rest || !complete || tree->depth) {
        int status = STRAG_OK;
        char c = *tree->rest;
        if (!complete && c == '(') {
            status = open_switch(tree);
        } else if (!complete) {
            status = read_host(tree);
            complete = true;
        } else if (c == ',') {
            tree->rest++;
            complete = false;
        } else if (c == ')' && tree->depth) {
            struct strag_switch *closed = &layout->switches[tree->at];
            tree->rest++;
            tree->depth--;
            tree->at = closed->parent;
            status = read_uplink(tree, &closed->uplink);
        } else {
            status = fail_tree(tree);
        }
        if (status != STRAG_OK)
            return status;
    }
    return STRAG_OK;
}

int strag_layout_from_tree(const char *text, struct strag_layout **layout, struct strag_error *err)
{
    const struct strag_source source = {NULL, err};
    struct tree_text tree = {.all = text, .rest = text, .at = -1};
    return strag_layout_build(&source, STRAG_NETWORK_TREE, fill_tree, &tree, layout);
}

/* ---- Grids and trees ---- */

int strag_layout_describe(const char *kind, const char *text, struct strag_layout **layout,
                          struct strag_error *err)
{
    const struct strag_grid_kind *grid = strag_grid_kind_find(kind, strlen(kind));
    if (grid)
        return strag_layout_from_dims(text, grid->network, grid->wrap, layout, err);
    if (strcmp(kind, "tree") == 0)
        return strag_layout_from_tree(text, layout, err);
    return strag_fail(err, STRAG_ERR_ARGUMENT,
                      "no layout is called '%.40s'; there are torus, mesh, hyperx, hammingmesh, "
                      "tree",
                      kind);
}
