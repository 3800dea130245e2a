/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The operators, one element at a time and without anything clever: what kernels must agree with.
 */
#ifndef TEST_CUDA_REFERENCE_H
#define TEST_CUDA_REFERENCE_H

#include "strag_cuda.h"

/** Is the operator defined for the type? */
bool reference_defined(enum strag_cuda_op op, enum strag_cuda_type type);

/** out = left (op) right, one element; any alignment. */
void reference_reduce(enum strag_cuda_op op, enum strag_cuda_type type, void *out, const void *left,
                      const void *right);

/** An element whose sums and products stay finite, from a random number; also small ones, zeros and
 * equal ones. */
void reference_value(enum strag_cuda_type type, uint64_t random, void *out);

#endif
