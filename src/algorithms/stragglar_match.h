/* SPDX-License-Identifier: BSD-3-Clause */
/* Pairs of nodes in a graph with weights. For stragglar.c. */
#ifndef STRAG_STRAGGLAR_MATCH_H
#define STRAG_STRAGGLAR_MATCH_H

#include <stdint.h>

struct strag_matching;

enum { STRAG_MATCHING_MAX = 256 }; /* nodes */

/** @return the caller's to free; NULL when out of memory */
struct strag_matching *strag_matching_create(void);

/**
 * Pair nodes so that the sum of the pairs' weights is as large as possible.
 *
 * @param n       nodes, an even number up to STRAG_MATCHING_MAX
 * @param weight  weight[a * n + b] = weight[b * n + a], 0 to 2^28; 0 if a and b must not be paired
 * @param[out] partner  [n]; -1 if the node has none
 */
void strag_matching_solve(struct strag_matching *matching, int n, const int32_t *weight,
                          int32_t *partner);

#endif
