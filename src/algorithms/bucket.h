/* SPDX-License-Identifier: BSD-3-Clause */
/* Rings one dimension after the other (bucket.c), on any cells that are numbered like a box. */
#ifndef STRAG_BUCKET_H
#define STRAG_BUCKET_H

#include "algorithms/ring.h"
#include "algorithms/tree.h"

/* What bucket and blueconnect prepare. */
struct strag_rings {
    int n, dims;
    int parts; /* 1 to two per dimension */
    int size[31], stride[31];
    const int32_t *rank_at, *cell_of; /* [cell], [rank]; NULL if cells are ranks */
    struct strag_tree *tree;          /* the tree that owns these, or NULL */
};

/** @param size  [dims]: at least 2 each; their product is n
 * @param[out] rings  for strag_rings_release; untouched on failure */
int strag_rings_create(int n, int parts, int dims, const int32_t *size, struct strag_rings **rings,
                       struct strag_error *err);

/* The functions of both rows. */
void strag_rings_release(void *prepared);
void strag_rings_claim(const struct strag_problem *problem, struct strag_claim *claim);
void strag_rings_build(const struct strag_problem *problem, int rank,
                       struct strag_builder *builder);
int strag_rings_same_rounds(const struct strag_problem *problem, int round, int *period);

#endif
