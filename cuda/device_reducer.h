/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The engine's reducer for a vector in a device's memory. The transport must take such memory, and
 * the plug-in must have a kernel for the operator and type.
 */
#ifndef STRAG_CUDA_DEVICE_REDUCER_H
#define STRAG_CUDA_DEVICE_REDUCER_H

#include "run/reducer.h"
#include "strag_cuda.h"

struct strag_device_reducer {
    struct strag_reducer super; /* must be first */
    const struct strag_cuda *cuda;
    struct strag_cuda_device *device;
    enum strag_cuda_op op;
    enum strag_cuda_type type;
};

/** Prepare for one call. @param device  of the vector, and of the call's temporary space */
void strag_device_reducer_init(struct strag_device_reducer *reducer, const struct strag_cuda *cuda,
                               struct strag_cuda_device *device, enum strag_cuda_op op,
                               enum strag_cuda_type type);

#endif
