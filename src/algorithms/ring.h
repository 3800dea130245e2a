/* SPDX-License-Identifier: BSD-3-Clause */
/* Reduce-scatter and allgather around a ring (ring.c), of any members and over any range of blocks.
 */
#ifndef STRAG_RING_H
#define STRAG_RING_H

#include "plan/algorithm.h"

/* A rank in a ring, whose members share `size` chunks of blocks. */
struct strag_ring_place {
    int at;             /* its number, in the direction of sending */
    int size;           /* of the ring */
    int next, previous; /* ranks */
    int first, chunk;   /* the chunks begin at block `first` and have this many blocks */
};

/** The algorithm itself, for algorithms whose rings become one. */
extern const struct strag_algorithm strag_ring;

/** The first block of a chunk, whose number is taken modulo the ring's size. */
static inline int strag_ring_chunk(const struct strag_ring_place *place, int number)
{
    return place->first + (number % place->size + place->size) % place->size * place->chunk;
}

/** Append step t, of size - 1, of the reduce-scatter, after which the rank has the sum of chunk at
 * + 1, or of the allgather of these sums. */
void strag_ring_step(const struct strag_ring_place *place, int t, bool gather, int round,
                     struct strag_builder *builder);

/** The `same_rounds` of a ring of `size` ranks, reduce-scatter and allgather: the rounds to the end
 * of its half. */
int strag_ring_same_rounds(int size, int round);

#endif
