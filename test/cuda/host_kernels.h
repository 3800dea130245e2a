/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernels, compiled for the host: what a device does in parallel is done thread by thread.
 */
#ifndef TEST_CUDA_HOST_KERNELS_H
#define TEST_CUDA_HOST_KERNELS_H

#include "kernels.h"

/** Thread `thread` of `threads` of a kernel; by the index in strag_kernel_names. */
void host_kernel(int kernel, const struct strag_job *job, size_t thread, size_t threads);

#endif
