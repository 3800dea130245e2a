/* SPDX-License-Identifier: BSD-3-Clause */
#include "machine/grid.h"

#include "base/text.h"

#include <stdint.h>

const char *strag_network_name(enum strag_network network)
{
    static const char *const names[] = {"tree", "torus", "HyperX", "HammingMesh"};
    return network <= STRAG_NETWORK_HAMMINGMESH ? names[network] : "?";
}

const char *const strag_network_words[] = {"tree", "torus", "hyperx", "hammingmesh", NULL};

int strag_grid_check(const struct strag_grid *grid, struct strag_error *err)
{
    int64_t positions = 1;
    if (grid->network == STRAG_NETWORK_TREE || grid->network > STRAG_NETWORK_HAMMINGMESH)
        return strag_fail(err, STRAG_ERR_ARGUMENT, "a grid is a torus, HyperX or HammingMesh");
    if (grid->dims < 1 || grid->dims > STRAG_DIMS_MAX)
        return strag_fail(err, STRAG_ERR_ARGUMENT, "a grid of %d dimensions; must be 1 to %d",
                          grid->dims, STRAG_DIMS_MAX);
    for (int d = 0; d < grid->dims; d++) {
        if (grid->size[d] < 1)
            return strag_fail(err, STRAG_ERR_ARGUMENT, "a dimension of size %d; must be at least 1",
                              grid->size[d]);
        positions *= grid->size[d];
        if (positions > INT32_MAX)
            return strag_fail(err, STRAG_ERR_ARGUMENT, "a grid of more than %d positions",
                              INT32_MAX);
        if (grid->network == STRAG_NETWORK_HAMMINGMESH &&
            (grid->board[d] < 1 || grid->size[d] % grid->board[d] != 0))
            return strag_fail(err, STRAG_ERR_ARGUMENT,
                              "boards of size %d do not fill a dimension of size %d",
                              grid->board[d], grid->size[d]);
    }
    return STRAG_OK;
}

int strag_grid_positions(const struct strag_grid *grid)
{
    int positions = 1;
    for (int d = 0; d < grid->dims; d++)
        positions *= grid->size[d];
    return positions;
}

void strag_grid_coordinates(const struct strag_grid *grid, int position, int *at)
{
    for (int d = 0; d < grid->dims; d++) {
        at[d] = position % grid->size[d];
        position /= grid->size[d];
    }
}

int strag_grid_position(const struct strag_grid *grid, const int *at)
{
    int position = 0;
    for (int d = grid->dims - 1; d >= 0; d--)
        position = position * grid->size[d] + at[d];
    return position;
}

struct strag_coordinates strag_coordinates_text(const int *at, int dims)
{
    struct strag_coordinates made = {""};
    for (int d = 0; d < dims; d++)
        strag_append(made.text, sizeof made.text, "%c%d", d ? ',' : '(', at[d]);
    strag_append(made.text, sizeof made.text, ")");
    return made;
}
