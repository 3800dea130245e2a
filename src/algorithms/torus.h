/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A job as algorithms for tori see it: hosts in D dimensions, each with the same number of ranks.
 *
 * The hosts are the cells of the topology's box, without the dimensions that are one host wide. If
 * there is no box (a tree, hosts scattered over a grid, no topology at all), hosts are one line of
 * cells in the order of the tree, so that neighbours in the line are close. If hosts have different
 * numbers of ranks, every rank counts as a host of its own.
 *
 * The vector may be worked on in several parts at the same time, one per port: each part starts in
 * another dimension and, from part `dims` on, goes the other way round (mirrored). The best number
 * of ports depends on the vector's size, since more messages in a round cost their ranks time. So
 * if the number is not configured, the count of blocks may select it.
 */
#ifndef STRAG_TORUS_H
#define STRAG_TORUS_H

#include "algorithms/skips.h"
#include "plan/algorithm.h"

struct strag_torus {
    int dims;                   /* with more than one host; 0 if all ranks are on one host */
    int size[STRAG_DIMS_MAX];   /* at least 2 */
    int stride[STRAG_DIMS_MAX]; /* from a cell to the next one in this dimension */
    bool wrap[STRAG_DIMS_MAX];  /* the last cell and the first are neighbours */
    int hosts, local;           /* local: ranks on each host */
    int parts;                  /* 1 to two per dimension */
    bool grid;                  /* there is a box: hosts have links to neighbours */
    const struct strag_topology *topology;
};

/** A problem's hosts. There are several parts if several ports are configured, or if none are and
 * there is a box. */
struct strag_torus strag_torus_of(const struct strag_problem *problem);

/** The same, but without a box each rank counts as a host of its own. */
struct strag_torus strag_torus_of_ranks(const struct strag_problem *problem);

/**
 * Set the parts if ports are not configured and the count of blocks selects them: 1, one per
 * dimension, or two.
 *
 * @param blocks  how many each part has
 */
void strag_torus_set_ports(const struct strag_problem *problem, int blocks,
                           struct strag_torus *torus);

/** For strag_algorithm.choices: the counts of blocks for these numbers of ports, 0 for the most.
 * @return how many */
int strag_torus_choices(const struct strag_problem *problem, const struct strag_torus *torus,
                        int blocks, int *choices);

/**
 * The check of every algorithm that runs on strag_torus: the number of ports, and that all blocks
 * can be counted.
 *
 * @param blocks  how many it needs per part
 */
int strag_torus_check(const struct strag_problem *problem, int blocks, struct strag_error *err);

/** For algorithms that run on strag_torus_of_ranks: check that hosts fill a box, each with one
 * rank, or are a line. */
int strag_torus_check_hosts(const struct strag_problem *problem, struct strag_error *err);

/** Both checks for strag_torus_of_ranks. */
int strag_torus_check_ranks(const struct strag_problem *problem, int blocks,
                            struct strag_error *err);

/** A rank's cell. @param[out] local  its number on its host, from 0 */
int strag_torus_cell(const struct strag_torus *torus, int rank, int *local);

/** The rank with this number on the host of a cell. */
int strag_torus_rank(const struct strag_torus *torus, int cell, int local);

/** A cell's coordinate in a dimension. */
static inline int strag_torus_coordinate(const struct strag_torus *torus, int cell, int dim)
{
    return cell / torus->stride[dim] % torus->size[dim];
}

/** The cell with another coordinate in a dimension. */
static inline int strag_torus_move(const struct strag_torus *torus, int cell, int dim, int to)
{
    return cell + (to - strag_torus_coordinate(torus, cell, dim)) * torus->stride[dim];
}

/* At most 31 for all dimensions' logarithms, and one more for each size that is no power of two. */
#define STRAG_TORUS_STEPS_MAX (31 + STRAG_DIMS_MAX)

/* A step of an algorithm that takes the dimensions in turn. */
struct strag_torus_step {
    int dim;
    int level; /* how many steps of this dimension came before */
};

/**
 * The dimensions in turn, from `start` on, with ceil(log2 size) steps in each. A dimension that has
 * had all its steps is left out.
 *
 * @param[out] steps  the order
 * @return how many
 */
int strag_torus_steps(const struct strag_torus *torus, int start,
                      struct strag_torus_step steps[STRAG_TORUS_STEPS_MAX]);

#endif
