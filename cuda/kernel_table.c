/* SPDX-License-Identifier: BSD-3-Clause */
#include "kernel_table.h"

#include "kernels.h"

#include <stdio.h>
#include <string.h>

#define KERNEL_NAME(op, type) "strag_kernel_" #op "_" #type,

const char *const strag_kernel_names[STRAG_KERNELS_MAX] = {STRAG_KERNELS(KERNEL_NAME) NULL};

#define NAME(constant, name, ...) #name,
static const char *const ops[] = {STRAG_CUDA_OP_LIST(NAME)};
static const char *const types[] = {STRAG_CUDA_TYPE_LIST(NAME)};

int strag_kernel_find(const char *name)
{
    for (int k = 0; strag_kernel_names[k]; k++) {
        if (strcmp(strag_kernel_names[k], name) == 0)
            return k;
    }
    return -1;
}

/* The type whose kernel reduces elements of this type, which may be another one for integers. */
static enum strag_cuda_type kernel_type(enum strag_cuda_op op, enum strag_cuda_type type)
{
    if (type > STRAG_CUDA_UINT64)
        return type;
    switch (op) {
    case STRAG_CUDA_MAX:
    case STRAG_CUDA_MIN:
        return type;
    case STRAG_CUDA_BAND:
    case STRAG_CUDA_BOR:
    case STRAG_CUDA_BXOR:
        return STRAG_CUDA_UINT8;
    default:
        return type <= STRAG_CUDA_INT64
                   ? (enum strag_cuda_type)(type - STRAG_CUDA_INT8 + STRAG_CUDA_UINT8)
                   : type;
    }
}

struct strag_kernel strag_kernel_for(enum strag_cuda_op op, enum strag_cuda_type type)
{
    char name[48];
    enum strag_cuda_type kernel = kernel_type(op, type);
    snprintf(name, sizeof name, "strag_kernel_%s_%s", ops[op], types[kernel]);
    return (struct strag_kernel){strag_kernel_find(name),
                                 (int)(strag_cuda_size(type) / strag_cuda_size(kernel)),
                                 (int)strag_cuda_size(type)};
}
