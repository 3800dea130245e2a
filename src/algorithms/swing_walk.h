/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which ranks meet in Swing, and for which blocks. All of its forms share this.
 *
 * Take one dimension of any size. Its ranks are a list, at first in their order. A step pairs
 * neighbours in the list. Then the list is split into a lower and an upper one, with one rank of
 * every pair in each, and each list goes on by itself until it is a single rank. On a ring the two
 * lists take the pairs' ranks alternately, and the lower one runs backwards, so that the next step
 * pairs the other neighbours. Distances stay short: 1, 1, 3, 5, 11, ... A ring of 8:
 *
 *     step   distance   lists, pairs in brackets
 *      0        1       (0 1) (2 3) (4 5) (6 7)
 *      1        1       (0 7) (4 3)      | (1 2) (5 6)
 *      2        3       (0 3) | (7 4)    | (1 6) | (2 5)
 *
 * These are the paper's peers: r + rho(t) for an even rank r, r - rho(t) for an odd one. A list's
 * ranks still have to reduce one contiguous range of blocks, as many as ranks; the lower list takes
 * the lower blocks. A rank that is alone in the end has one block, its own: 0 3 7 4 1 6 2 5 in the
 * example, in the order of the blocks. So a message is always one range.
 *
 * In a list of odd size the last rank is left over. It joins the upper list and swaps single blocks
 * with every rank of the lower one: it hands each rank a different one of the lower blocks, and
 * gets the last of the upper blocks, which the rank's partner does not get. So all ranks send the
 * same amount. This replaces the paper's rules for sizes that are no power of two (leave out what
 * would come twice; the last rank of an odd ring sends each block by itself): here all sizes take
 * ceil(log2 size) steps, every message is one range, and nothing is sent twice. A ring of 5:
 *
 *     step   lists                  the one left over
 *      0     (0 1) (2 3) 4          4 swaps with 0 and 3
 *      1     (0 3) | (1 2) 4        4 swaps with 1
 *      2     0 | 3 | 1 | (2 4)
 *
 * On a mesh, or a part of a ring, the same is done: messages that would go round the end run back
 * through all links. Even with all ports, this loads links no more than recursive doubling does.
 *
 * Several dimensions take turns (torus.h). Several ranks of a host are a list of their own, whose
 * steps come first: then each rank goes on with a share of the vector.
 */
#ifndef STRAG_SWING_WALK_H
#define STRAG_SWING_WALK_H

#include "algorithms/torus.h"

/* With the steps of one more dimension, for the ranks of a host. */
#define STRAG_SWING_STEPS_MAX (STRAG_TORUS_STEPS_MAX + 31)
#define STRAG_SWING_PARTS_MAX (2 * STRAG_DIMS_MAX)

/* What all ranks of a problem share. */
struct strag_swing {
    struct strag_torus torus;
    int blocks; /* of one part */
    int steps;  /* the first local_steps of them are within hosts */
    int local_steps;
    int scatter_steps; /* how many divide the blocks: the first ones, and all within hosts */
    uint8_t dim[STRAG_SWING_PARTS_MAX][STRAG_SWING_STEPS_MAX]; /* [part][step]; torus.dims: within
                                                                  the host */
};

/* A rank before a step: its place in a list, and the blocks of the list. */
struct strag_swing_place {
    int size, index; /* if size is 1, the rank has nothing to do */
    int first, count;
};

/* One rank's way through all steps of one part. */
struct strag_swing_walk {
    const struct strag_swing *swing;
    int part, cell, local;
    struct strag_swing_place place[STRAG_SWING_STEPS_MAX];
    int first, count; /* the blocks that it has after the last step */
};

/* The ranks that a rank meets in a step, and the blocks if the step divides them: the lower list's
 * are [first, first + low), the upper list's are behind them. */
struct strag_swing_meeting {
    int pairs;     /* in the list; 0 if the rank is alone */
    int pair;      /* the number of its own pair, or `pairs` if it is left over */
    bool upper;    /* it goes to the upper list */
    int peer;      /* the other rank of its pair; -1 if it is left over, or alone */
    int left_over; /* if it goes to the lower list: the rank that is left over; else -1 */
    int first, low;
    int unit; /* in a list of odd size: the blocks of each rank */
};

/**
 * Lay out a problem that strag_torus_check has accepted.
 *
 * @param scatter  how many steps among hosts divide the blocks. If all do, there are n blocks per
 *                 part. Otherwise none does from the first list of odd size on, and there is a
 *                 block for each range that ranks end with
 */
void strag_swing_lay_out(const struct strag_problem *problem, int scatter,
                         struct strag_swing *swing);

/** Find a rank's way through a part. */
void strag_swing_walk(const struct strag_swing *swing, int part, int rank,
                      struct strag_swing_walk *walk);

/** The meeting in one step of a walk. */
struct strag_swing_meeting strag_swing_meet(const struct strag_swing_walk *walk, int step);

/** The rank of a pair that goes to the lower list. */
int strag_swing_lower(const struct strag_swing_walk *walk, int step, int pair);

/** The most messages that any rank sends in the steps of a dimension that do not divide the blocks,
 * as the mean of all parts. It sends to its partner, and the first rank of a list also to the one
 * left over. */
double strag_swing_messages(const struct strag_swing *swing, int dim);

/** Do all lists fall into pairs, with no rank left over? */
bool strag_swing_is_even(const struct strag_swing *swing);

#endif
