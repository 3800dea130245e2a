/* SPDX-License-Identifier: BSD-3-Clause */
#include "kernel_table.h"

#include "kernels.h"

#include <stdio.h>
#include <string.h>

#define KERNEL_NAME(op, type) "strag_kernel_" #op "_" #type,

const char *const strag_kernel_names[STRAG_KERNELS_MAX] = {STRAG_KERNELS(KERNEL_NAME) NULL};

static const char *const ops[STRAG_CUDA_OPS] = {
    [STRAG_CUDA_MAX] = "max",   [STRAG_CUDA_MIN] = "min",       [STRAG_CUDA_SUM] = "sum",
    [STRAG_CUDA_PROD] = "prod", [STRAG_CUDA_LAND] = "land",     [STRAG_CUDA_LOR] = "lor",
    [STRAG_CUDA_LXOR] = "lxor", [STRAG_CUDA_BAND] = "band",     [STRAG_CUDA_BOR] = "bor",
    [STRAG_CUDA_BXOR] = "bxor", [STRAG_CUDA_MAXLOC] = "maxloc", [STRAG_CUDA_MINLOC] = "minloc",
};

static const char *const types[STRAG_CUDA_TYPES] = {
    [STRAG_CUDA_INT8] = "int8",
    [STRAG_CUDA_INT16] = "int16",
    [STRAG_CUDA_INT32] = "int32",
    [STRAG_CUDA_INT64] = "int64",
    [STRAG_CUDA_UINT8] = "uint8",
    [STRAG_CUDA_UINT16] = "uint16",
    [STRAG_CUDA_UINT32] = "uint32",
    [STRAG_CUDA_UINT64] = "uint64",
    [STRAG_CUDA_FLOAT] = "float",
    [STRAG_CUDA_DOUBLE] = "double",
    [STRAG_CUDA_HALF] = "half",
    [STRAG_CUDA_BFLOAT16] = "bfloat16",
    [STRAG_CUDA_HALF_COMPLEX] = "half_complex",
    [STRAG_CUDA_FLOAT_COMPLEX] = "float_complex",
    [STRAG_CUDA_DOUBLE_COMPLEX] = "double_complex",
    [STRAG_CUDA_SHORT_INT] = "short_int",
    [STRAG_CUDA_INT_INT] = "int_int",
    [STRAG_CUDA_LONG_INT] = "long_int",
    [STRAG_CUDA_FLOAT_INT] = "float_int",
    [STRAG_CUDA_DOUBLE_INT] = "double_int",
    [STRAG_CUDA_FLOAT_FLOAT] = "float_float",
    [STRAG_CUDA_DOUBLE_DOUBLE] = "double_double",
};

int strag_kernel_find(const char *name)
{
    for (int k = 0; strag_kernel_names[k]; k++) {
        if (strcmp(strag_kernel_names[k], name) == 0)
            return k;
    }
    return -1;
}

/* The type whose kernel does an integer's work. */
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
