/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which kernel reduces which elements. Several types share one: sums and products of signed and of
 * unsigned integers have the same bits, and operators on bits know no elements.
 */
#ifndef STRAG_CUDA_KERNEL_TABLE_H
#define STRAG_CUDA_KERNEL_TABLE_H

#include "strag_cuda.h"

enum { STRAG_KERNELS_MAX = 80 };

struct strag_kernel {
    int number; /* index in strag_kernel_names, or -1: there is none */
    int scale;  /* the kernel's elements in one of the type's */
    int size;   /* bytes of one of the type's */
};

struct strag_kernel strag_kernel_for(enum strag_cuda_op op, enum strag_cuda_type type);

/* In the order of STRAG_KERNELS; ends with NULL. */
extern const char *const strag_kernel_names[STRAG_KERNELS_MAX];

/** Where is the kernel of that name? @return -1: nowhere */
int strag_kernel_find(const char *name);

#endif
