/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernels: kernels.h for a device. The plug-in finds them by name, strag_kernel_OP_TYPE. CUDA's
 * headers are not needed: these names are built into nvcc, and defined here for clang.
 */
#include "kernels.h"

#if defined(__clang__)
#define GLOBAL __attribute__((global))
#define THREAD (__nvvm_read_ptx_sreg_ctaid_x() * (size_t)__nvvm_read_ptx_sreg_ntid_x() + \
                __nvvm_read_ptx_sreg_tid_x())
#define THREADS (__nvvm_read_ptx_sreg_nctaid_x() * (size_t)__nvvm_read_ptx_sreg_ntid_x())
#else
#define GLOBAL __global__
#define THREAD (blockIdx.x * (size_t)blockDim.x + threadIdx.x)
#define THREADS (gridDim.x * (size_t)blockDim.x)
#endif

#define KERNEL(op, type)                                                                           \
    extern "C" GLOBAL void strag_kernel_##op##_##type(struct strag_job job)                        \
    {                                                                                              \
        strag_run(&job, THREAD, THREADS, sizeof(strag_##type), strag_##op##_##type);               \
    }

STRAG_KERNELS(KERNEL)
