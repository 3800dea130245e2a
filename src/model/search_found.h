/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Plans that are two trees for every block: what search.h changes, how an algorithm's plans become
 * that, and how that becomes plans again.
 */
#ifndef STRAG_SEARCH_FOUND_H
#define STRAG_SEARCH_FOUND_H

#include "model/search.h"

enum { STRAG_EDGE_NONE = -1, STRAG_SEARCH_ROUNDS_MAX = 128 };

/* A message of a block: to the tree's root, or from it. */
enum strag_phase { STRAG_TO_ROOT, STRAG_FROM_ROOT, STRAG_PHASES };

struct strag_edge {
    int16_t other; /* the rank nearer to the root; STRAG_EDGE_NONE: this is the root */
    int16_t round;
};

/* Trees of all blocks. */
struct strag_found {
    struct strag_problem problem; /* what it was found for */
    int n, blocks, rounds;
    int64_t denominator,
        units[STRAG_SEARCH_BLOCKS_MAX]; /* a block's length is units / denominator */
    struct strag_edge edge[STRAG_SEARCH_BLOCKS_MAX][STRAG_PHASES][STRAG_SEARCH_RANKS_MAX];
};

/**
 * Take an algorithm's plans apart.
 *
 * @param plans          of all ranks
 * @param[in,out] found  has the problem and n; the rest is filled in, also where it is of no use
 * @return whether the plans are trees, of no more blocks and rounds than are searched
 */
bool strag_found_take_apart(const struct strag_instance *instance, struct strag_plan *const *plans,
                            struct strag_found *found);

/** @return as strag_verify: STRAG_OK, STRAG_ERR_FALSE for what is no allreduce, or
 * STRAG_ERR_MEMORY */
int strag_found_prove(const struct strag_found *found, struct strag_error *err);

#endif
