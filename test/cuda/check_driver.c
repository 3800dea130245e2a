/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compiled, not run, where CUDA's headers are: is cuda/driver.h right?
 */
#include "driver.h"

#include <cuda.h>

#define SAME(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), #ours " is not " #theirs)

SAME(DRIVER_SUCCESS, CUDA_SUCCESS);
SAME(DRIVER_ERROR_NOT_READY, CUDA_ERROR_NOT_READY);
SAME(DRIVER_POINTER_CONTEXT, CU_POINTER_ATTRIBUTE_CONTEXT);
SAME(DRIVER_POINTER_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_MEMORY_TYPE);
SAME(DRIVER_POINTER_IS_MANAGED, CU_POINTER_ATTRIBUTE_IS_MANAGED);
SAME(DRIVER_POINTER_DEVICE_ORDINAL, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL);
SAME(DRIVER_MEMORY_HOST, CU_MEMORYTYPE_HOST);
SAME(DRIVER_MEMORY_DEVICE, CU_MEMORYTYPE_DEVICE);
SAME(DRIVER_PROCESSORS, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
SAME(DRIVER_STREAM_NON_BLOCKING, CU_STREAM_NON_BLOCKING);
SAME(DRIVER_EVENT_DISABLE_TIMING, CU_EVENT_DISABLE_TIMING);
SAME(DRIVER_HOST_PORTABLE, CU_MEMHOSTALLOC_PORTABLE);
SAME((uintptr_t)DRIVER_STREAM_LEGACY, (uintptr_t)CU_STREAM_LEGACY);
SAME((uintptr_t)DRIVER_STREAM_PER_THREAD, (uintptr_t)CU_STREAM_PER_THREAD);
SAME(DRIVER_POINTER_SYNC_MEMOPS, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS);
SAME(sizeof(uint64_t), sizeof(CUdeviceptr));
SAME(sizeof(int), sizeof(CUdevice));
SAME(sizeof(int), sizeof(CUresult));
SAME(sizeof(void *), sizeof(CUcontext));
SAME(sizeof(int), sizeof(CUpointer_attribute));

/* Each function exists under the name by which it is looked up. */
#define TAKES(field, symbol, needed, arguments)                                                    \
    static void *take_##field(void)                                                                \
    {                                                                                              \
        return (void *)symbol;                                                                     \
    }
DRIVER_FUNCTIONS(TAKES)

#define LIST(field, symbol, needed, arguments) take_##field,
void *(*const check_driver[])(void) = {DRIVER_FUNCTIONS(LIST)};
