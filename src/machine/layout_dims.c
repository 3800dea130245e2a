/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Layouts from an option's text: grids "8x8x4" and "2x2:16x16", trees "((2,3),4)".
 */
#include "machine/layout_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Sizes ---- */

/* "8x8x4"; @return false if it is not such a text */
static bool read_sizes(const char *text, size_t length, int *sizes, int *dims)
{
    size_t i = 0;
    *dims = 0;
    for (;;) {
        int64_t size = 0;
        size_t begin = i;
        for (; i < length && text[i] >= '0' && text[i] <= '9' && size <= INT32_MAX; i++)
            size = 10 * size + (text[i] - '0');
        if (i == begin || size < 1 || size > INT32_MAX || *dims == STRAG_DIMS_MAX)
            return false;
        sizes[(*dims)++] = (int)size;
        if (i == length)
            return true;
        if (text[i++] != 'x')
            return false;
    }
}

static int check_product(const struct strag_source *source, int line, const char *text,
                         size_t length, const int *sizes, int dims)
{
    int64_t product = 1;
    for (int i = 0; i < dims; i++) {
        product *= sizes[i];
        if (product > STRAG_POSITIONS_MAX)
            return strag_source_fail(source, line, "the grid %s has more than %d positions",
                                     strag_quote(text, length).text, STRAG_POSITIONS_MAX);
    }
    return STRAG_OK;
}

int strag_source_dims(const struct strag_source *source, int line, const char *text, size_t length,
                      int *sizes, int *dims)
{
    if (!read_sizes(text, length, sizes, dims))
        return strag_source_fail(source, line,
                                 "'%s' is not a grid; 1 to %d sizes with x between them are, like "
                                 "8x8x4",
                                 strag_quote(text, length).text, STRAG_DIMS_MAX);
    return check_product(source, line, text, length, sizes, *dims);
}

int strag_source_hammingmesh(const struct strag_source *source, int line, const char *text,
                             size_t length, struct strag_grid *grid)
{
    const char *colon = memchr(text, ':', length);
    size_t head = colon ? (size_t)(colon - text) : length;
    int boards[STRAG_DIMS_MAX];
    int dims = 0;
    if (!colon || !read_sizes(text, head, grid->board, &grid->dims) ||
        !read_sizes(colon + 1, length - head - 1, boards, &dims) || dims != grid->dims)
        return strag_source_fail(source, line,
                                 "'%s' is not a HammingMesh; the sizes of a board and as many "
                                 "numbers of boards are, like 2x2:16x16",
                                 strag_quote(text, length).text);
    for (int i = 0; i < dims; i++) {
        int64_t size = (int64_t)grid->board[i] * boards[i];
        if (size > STRAG_POSITIONS_MAX)
            return strag_source_fail(source, line, "the grid %s has more than %d positions",
                                     strag_quote(text, length).text, STRAG_POSITIONS_MAX);
        grid->size[i] = (int)size;
    }
    grid->network = STRAG_NETWORK_HAMMINGMESH;
    return check_product(source, line, text, length, grid->size, dims);
}

int strag_source_contain(const struct strag_source *source, const int *at, int count,
                         struct strag_grid *grid, int *low)
{
    int64_t product = 1;
    grid->network = STRAG_NETWORK_TORUS;
    for (int d = 0; d < grid->dims; d++) {
        int high = low[d] = at[d];
        for (int i = 1; i < count; i++) {
            int here = at[(size_t)i * (size_t)grid->dims + (size_t)d];
            low[d] = here < low[d] ? here : low[d];
            high = here > high ? here : high;
        }
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

int strag_grid_place(const struct strag_grid *grid, const int *low, const int *at)
{
    int position = 0;
    for (int d = grid->dims - 1; d >= 0; d--)
        position = position * grid->size[d] + (at[d] - low[d]);
    return position;
}

/* ---- Grids with a host at every position ---- */

char *strag_coordinates_name(const int *at, int dims)
{
    char name[STRAG_DIMS_MAX * 12 + 3];
    size_t used = 0;
    for (int i = 0; i < dims; i++)
        used += (size_t)snprintf(name + used, sizeof name - used, "%c%d", i ? ',' : '(', at[i]);
    snprintf(name + used, sizeof name - used, ")");
    return strag_text_copy(name, strlen(name));
}

static int fill_grid(struct strag_draft *draft)
{
    const struct strag_grid *grid = &draft->layout->grid;
    int positions = 1;
    for (int i = 0; i < grid->dims; i++)
        positions *= grid->size[i];
    if (positions > STRAG_LAYOUT_MAX)
        return strag_source_fail(&draft->source, 0, "a grid of %d hosts; at most %d are accepted",
                                 positions, STRAG_LAYOUT_MAX);
    int at[STRAG_DIMS_MAX] = {0};
    for (int position = 0; position < positions; position++) {
        char *name = strag_coordinates_name(at, grid->dims);
        int status = strag_draft_host(draft, name, 0, position);
        if (status != STRAG_OK)
            return status;
        for (int i = 0; i < grid->dims && ++at[i] == grid->size[i]; i++)
            at[i] = 0;
    }
    return STRAG_OK;
}

static int full_grid(const struct strag_grid *grid, const struct strag_source *source,
                     struct strag_layout **layout)
{
    struct strag_draft draft;
    int status = strag_draft_start(&draft, source, grid->network);
    if (status == STRAG_OK) {
        draft.layout->grid = *grid;
        status = fill_grid(&draft);
    }
    if (status == STRAG_OK)
        status = strag_draft_finish_grid(&draft, layout);
    strag_draft_free(&draft);
    return status;
}

int strag_layout_from_dims(const char *dims, enum strag_network network, bool wrap,
                           struct strag_layout **layout, struct strag_error *err)
{
    const struct strag_source source = {NULL, err};
    struct strag_grid grid = {.network = network};
    if (network != STRAG_NETWORK_TORUS && network != STRAG_NETWORK_HYPERX)
        return strag_fail(err, STRAG_ERR_ARGUMENT,
                          "sizes make a torus, a mesh or a HyperX, not a %s",
                          strag_network_name(network));
    int status = strag_source_dims(&source, 0, dims, strlen(dims), grid.size, &grid.dims);
    if (status != STRAG_OK)
        return status;
    for (int i = 0; i < grid.dims; i++)
        grid.wrap[i] = wrap && network == STRAG_NETWORK_TORUS;
    return full_grid(&grid, &source, layout);
}

int strag_layout_from_hammingmesh(const char *text, struct strag_layout **layout,
                                  struct strag_error *err)
{
    const struct strag_source source = {NULL, err};
    struct strag_grid grid = {.network = STRAG_NETWORK_HAMMINGMESH};
    int status = strag_source_hammingmesh(&source, 0, text, strlen(text), &grid);
    return status == STRAG_OK ? full_grid(&grid, &source, layout) : status;
}

int strag_layout_flat(int hosts, struct strag_layout **layout, struct strag_error *err)
{
    const struct strag_source source = {NULL, err};
    if (hosts < 1 || hosts > STRAG_LAYOUT_MAX)
        return strag_fail(err, STRAG_ERR_ARGUMENT, "%d hosts; 1 to %d are accepted", hosts,
                          STRAG_LAYOUT_MAX);
    struct strag_draft draft;
    int status = strag_draft_start(&draft, &source, STRAG_NETWORK_TREE);
    for (int i = 0; i < hosts && status == STRAG_OK; i++) {
        char name[16];
        int length = snprintf(name, sizeof name, "%d", i);
        status = strag_draft_host(&draft, strag_text_copy(name, (size_t)length), 0, -1);
    }
    if (status == STRAG_OK)
        status = strag_draft_finish_tree(&draft, layout);
    strag_draft_free(&draft);
    return status;
}

/* ---- Trees ---- */

/* Where reading "((2,3@50),4)@100" is. */
struct tree_text {
    struct strag_draft draft;
    const char *all, *rest;
    int at;    /* the switch whose bracket is open; -1: outside */
    int depth; /* brackets that are open */
};

static int fail_tree(const struct tree_text *tree)
{
    return strag_source_fail(&tree->draft.source, 0,
                             "'%s', at '%s': ranks per host between commas are needed, brackets "
                             "around those on one switch, like 2,3 or ((2,3),4@50)@100",
                             strag_quoted(tree->all).text,
                             *tree->rest ? strag_quoted(tree->rest).text : "the end");
}

/* Take "@GBIT" off the text, if it is there. */
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
    return strag_source_gbit(&tree->draft.source, 0, number, uplink);
}

static int read_host(struct tree_text *tree)
{
    struct strag_layout *layout = tree->draft.layout;
    int64_t ranks = 0;
    const char *text = tree->rest;
    for (; *text >= '0' && *text <= '9' && ranks <= INT32_MAX; text++)
        ranks = 10 * ranks + (*text - '0');
    if (ranks < 1 || ranks > INT32_MAX)
        return fail_tree(tree);
    tree->rest = text;
    char name[16];
    int length = snprintf(name, sizeof name, "%d", layout->nhosts);
    int status = strag_draft_host(&tree->draft, strag_text_copy(name, (size_t)length), 0, tree->at);
    if (status != STRAG_OK)
        return status;
    struct strag_host *host = &layout->hosts[layout->nhosts - 1];
    host->ranks = (int)ranks;
    return read_uplink(tree, &host->uplink);
}

static int open_switch(struct tree_text *tree)
{
    struct strag_layout *layout = tree->draft.layout;
    int status = strag_draft_switch(&tree->draft, NULL, 0, 0);
    if (status != STRAG_OK)
        return status;
    layout->switches[layout->nswitches - 1].parent = tree->at;
    tree->at = layout->nswitches - 1;
    tree->depth++;
    tree->rest++;
    return STRAG_OK;
}

/* Everything up to the end: after a host or a closing bracket comes a comma, another closing
 * bracket or the end. */
static int read_tree(struct tree_text *tree)
{
    struct strag_layout *layout = tree->draft.layout;
    bool behind = false; /* a host or a closing bracket */
    while (*tree->rest || !behind || tree->depth) {
        int status = STRAG_OK;
        char c = *tree->rest;
        if (!behind && c == '(') {
            status = open_switch(tree);
        } else if (!behind) {
            status = read_host(tree);
            behind = true;
        } else if (c == ',') {
            tree->rest++;
            behind = false;
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
    int status = strag_draft_start(&tree.draft, &source, STRAG_NETWORK_TREE);
    if (status == STRAG_OK)
        status = read_tree(&tree);
    if (status == STRAG_OK)
        status = strag_draft_finish_tree(&tree.draft, layout);
    strag_draft_free(&tree.draft);
    return status;
}
