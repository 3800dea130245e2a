/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The box that a job's hosts fill. In every dimension the coordinates that occur must be
 * contiguous, where they may wrap around. If the product of these spans is the number of hosts, no
 * cell is empty.
 *
 *     hosts at x = 6, 7, 0, 1 of a ring of 8:  first 6, size 4
 */
#include "machine/topology.h"

#include "base/text.h"

#include <stdlib.h>

struct span {
    int first, size;
};

/* The span of the coordinates that occur. @return false if they are not contiguous */
static bool find_span(int *occurs, int count, int size, bool cyclic, struct span *span)
{
    int different = 1, gaps = 0;
    qsort(occurs, (size_t)count, sizeof *occurs, strag_compare_int);
    span->first = occurs[0];
    for (int i = 1; i < count; i++) {
        different += occurs[i] != occurs[i - 1];
        if (occurs[i] > occurs[i - 1] + 1) {
            gaps++;
            span->first = occurs[i]; /* with a single gap, the span wraps around */
        }
    }
    span->size = different;
    bool over_the_end = cyclic && occurs[0] == 0 && occurs[count - 1] == size - 1;
    return gaps == 0 || (gaps == 1 && over_the_end);
}

/* Are the first and the last cell of a span neighbours? */
static bool wraps(const struct strag_grid *grid, int d, struct span span)
{
    if (grid->network == STRAG_NETWORK_HYPERX)
        return true;
    if (grid->network == STRAG_NETWORK_TORUS)
        return grid->wrap[d] && span.size == grid->size[d];
    return span.first % grid->board[d] == 0 && span.size % grid->board[d] == 0;
}

/* Spans of a HammingMesh do not wrap around: a board's edges lead to switches. */
static bool is_cyclic(const struct strag_grid *grid, int d)
{
    return grid->network == STRAG_NETWORK_TORUS && grid->wrap[d];
}

/* @return the number of hosts */
static int note_coordinates(const struct strag_topology *topology, int d, int *occurs)
{
    int at[STRAG_DIMS_MAX], count = 0;
    for (int i = 0; i < topology->nnodes; i++) {
        if (topology->nodes[i].level != STRAG_LEVEL_HOST)
            continue;
        strag_grid_coordinates(&topology->grid, topology->nodes[i].position, at);
        occurs[count++] = at[d];
    }
    return count;
}

/* @return STRAG_OK, STRAG_ERR_MEMORY, or STRAG_ERR_FALSE if the hosts fill no box */
static int find_spans(const struct strag_topology *topology, struct strag_box *box)
{
    const struct strag_grid *grid = &topology->grid;
    int64_t cells = 1;
    bool runs = true;
    int *occurs = malloc((size_t)topology->hosts * sizeof *occurs);
    if (!occurs)
        return STRAG_ERR_MEMORY;
    box->dims = grid->dims;
    for (int d = 0; runs && d < grid->dims; d++) {
        struct span span;
        int count = note_coordinates(topology, d, occurs);
        runs = find_span(occurs, count, grid->size[d], is_cyclic(grid, d), &span);
        box->first[d] = span.first;
        box->size[d] = span.size;
        box->wrap[d] = wraps(grid, d, span);
        cells *= span.size;
        runs = runs && cells <= topology->hosts;
    }
    free(occurs);
    box->cells = topology->hosts;
    box->ranks_per_host = topology->ranks_per_host;
    return runs && cells == topology->hosts ? STRAG_OK : STRAG_ERR_FALSE;
}

static int cell_of_position(const struct strag_topology *topology, const struct strag_box *box,
                            int position)
{
    int at[STRAG_DIMS_MAX], cell = 0;
    strag_grid_coordinates(&topology->grid, position, at);
    for (int d = box->dims - 1; d >= 0; d--) {
        int x = at[d] - box->first[d];
        cell = cell * box->size[d] + (x < 0 ? x + topology->grid.size[d] : x);
    }
    return cell;
}

/* Fill the cells with ranks in ascending order. */
static int fill_cells(const struct strag_topology *topology, struct strag_box *box)
{
    int *filled = calloc((size_t)box->cells, sizeof *filled);
    box->rank_at = calloc((size_t)topology->n, sizeof *box->rank_at);
    box->cell_of = calloc((size_t)topology->n, sizeof *box->cell_of);
    bool room = filled && box->rank_at && box->cell_of;
    for (int r = 0; room && r < topology->n; r++) {
        int position = topology->nodes[topology->host_node[r]].position;
        int cell = cell_of_position(topology, box, position);
        box->cell_of[r] = cell;
        box->rank_at[cell * box->ranks_per_host + filled[cell]++] = r;
    }
    free(filled);
    return room ? STRAG_OK : STRAG_ERR_MEMORY;
}

int strag_topology_find_box(struct strag_topology *topology)
{
    if (topology->ranks_per_host == 0)
        return STRAG_OK;
    struct strag_box *box = calloc(1, sizeof *box);
    if (!box)
        return STRAG_ERR_MEMORY;
    int status = find_spans(topology, box);
    if (status == STRAG_OK)
        status = fill_cells(topology, box);
    if (status == STRAG_OK) {
        topology->box = box;
        return STRAG_OK;
    }
    free(box->rank_at);
    free(box->cell_of);
    free(box);
    return status == STRAG_ERR_FALSE ? STRAG_OK : status;
}
