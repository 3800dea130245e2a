/* SPDX-License-Identifier: BSD-3-Clause */
#include "host_kernels.h"

typedef void kernel_fn(const struct strag_job *job, size_t thread, size_t threads);

#define KERNEL(op, type)                                                                           \
    static void run_##op##_##type(const struct strag_job *job, size_t thread, size_t threads)      \
    {                                                                                              \
        strag_run(job, thread, threads, sizeof(strag_##type), strag_##op##_##type);                \
    }
STRAG_KERNELS(KERNEL)

#define ADDRESS(op, type) run_##op##_##type,
static kernel_fn *const kernels[] = {STRAG_KERNELS(ADDRESS)};

void host_kernel(int kernel, const struct strag_job *job, size_t thread, size_t threads)
{
    kernels[kernel](job, thread, threads);
}
