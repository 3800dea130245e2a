/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One type signature in several layouts: three 32-bit words per element, with and without gaps, in
 * and out of order. Ranks may each bring another of these types to the same call; user-defined
 * operators, which check the type and the length that they are given, reduce them word by word.
 */
#ifndef TEST_MPI_SHAPES_H
#define TEST_MPI_SHAPES_H

#include "common.h"

enum { SHAPES = 5, SHAPE_WORDS = 3 };

struct shape {
    const char *name;
    MPI_Datatype type;
    MPI_Aint offset[SHAPE_WORDS]; /* bytes from an element's address, none below 0 */
    MPI_Aint extent;              /* bytes from element to element */
};

enum shape_op {
    SHAPE_SUM,    /* of words, modulo 2^32 */
    SHAPE_AFFINE, /* x -> ax + b applied one after another, and a sum: does not commute */
    SHAPE_OPS
};

extern struct shape shapes[SHAPES];
extern MPI_Op shape_ops[SHAPE_OPS];

/** Make the types and the operators; once, after MPI_Init. */
void shapes_create(void);
void shapes_free(void);

/**
 * What this thread's next call gives to MPI, for the operators to check: nothing else may reach
 * them. With `length` 0 no operator may be called.
 */
void shapes_expect(const struct shape *shape, int length);

/** Calls of an operator, since the last shapes_expect of this thread, that were given something
 * else: another type, or a length below 1 or above that of the call. */
long shapes_refused(void);

/** Copy elements between a buffer of this shape and packed words. */
void shape_scatter(const struct shape *shape, const uint32_t *words, size_t count, void *elements);
void shape_gather(const struct shape *shape, const void *elements, size_t count, uint32_t *words);

/** right = left op right, for packed elements. */
void shape_reduce(enum shape_op op, const uint32_t *left, uint32_t *right, size_t count);

#endif
