/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Grids of hosts: torus, mesh, HyperX, HammingMesh. Position p has the coordinates p % size[0],
 * p / size[0] % size[1], ...: the first dimension runs fastest.
 */
#ifndef STRAG_GRID_H
#define STRAG_GRID_H

#include "base/status.h"

#include <stdbool.h>

enum strag_network {
    STRAG_NETWORK_TREE,        /* one switch or more */
    STRAG_NETWORK_TORUS,       /* neighbours in every dimension; a mesh if it does not wrap */
    STRAG_NETWORK_HYPERX,      /* in every dimension all hosts of a line are neighbours */
    STRAG_NETWORK_HAMMINGMESH, /* boards that are meshes, their edges joined by row switches */
};

/** "tree", "torus", "HyperX", "HammingMesh". */
const char *strag_network_name(enum strag_network network);

/* "tree", "torus", "hyperx", "hammingmesh", as in files; NULL after the last one. */
extern const char *const strag_network_words[];

#define STRAG_DIMS_MAX 8

struct strag_grid {
    enum strag_network network; /* not a tree */
    int dims;                   /* 1 .. STRAG_DIMS_MAX */
    int size[STRAG_DIMS_MAX];   /* of a HammingMesh: of all boards together */
    bool wrap[STRAG_DIMS_MAX];  /* torus: a link joins the last and the first */
    int board[STRAG_DIMS_MAX];  /* HammingMesh: the size of one board, which divides `size` */
};

/** Check the members. @return STRAG_OK, or STRAG_ERR_ARGUMENT with the reason */
int strag_grid_check(const struct strag_grid *grid, struct strag_error *err);

/** The product of the sizes; at most INT32_MAX. */
int strag_grid_positions(const struct strag_grid *grid);

/** The coordinates of a position. @param[out] at  one per dimension */
void strag_grid_coordinates(const struct strag_grid *grid, int position, int *at);

/** The position of coordinates inside the grid. */
int strag_grid_position(const struct strag_grid *grid, const int *at);

/* Coordinates as text: "(1,0,2)". */
struct strag_coordinates {
    char text[STRAG_DIMS_MAX * 12 + 3];
};

struct strag_coordinates strag_coordinates_text(const int *at, int dims);

#endif
