/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernel for each operator and type. Some types share one: sums and products of signed and
 * unsigned integers have the same bits, and bitwise operators are independent of the type.
 */
#ifndef STRAG_CUDA_KERNEL_TABLE_H
#define STRAG_CUDA_KERNEL_TABLE_H

#include "strag_cuda.h"

enum { STRAG_KERNELS_MAX = 80 };

struct strag_kernel {
    int number; /* index in strag_kernel_names; -1 if there is no kernel */
    int scale;  /* kernel elements in one element of the type */
    int size;   /* bytes of one element of the type */
};

struct strag_kernel strag_kernel_for(enum strag_cuda_op op, enum strag_cuda_type type);

/* In the order of STRAG_KERNELS; ends with NULL. */
extern const char *const strag_kernel_names[STRAG_KERNELS_MAX];

/** The number of the kernel of that name; -1 if there is none. */
int strag_kernel_find(const char *name);

#endif
