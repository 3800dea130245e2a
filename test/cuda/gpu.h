/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Devices as a test's program sees them: over the driver that is there, be it a real one or the
 * fake one. The program is linked with neither.
 */
#ifndef TEST_CUDA_GPU_H
#define TEST_CUDA_GPU_H

#include "driver.h"
#include "fake_driver.h"

#include <stdbool.h>

/* What the plug-in does not use; as in driver.h. */
#define GPU_FUNCTIONS(F)                                                                           \
    F(init, cuInit, 1, (unsigned flags))                                                           \
    F(count, cuDeviceGetCount, 1, (int *count))                                                    \
    F(name, cuDeviceGetName, 1, (char *name, int length, int device))                              \
    F(retain, cuDevicePrimaryCtxRetain, 1, (void **context, int device))                           \
    F(release, cuDevicePrimaryCtxRelease_v2, 1, (int device))                                      \
    F(push, cuCtxPushCurrent_v2, 1, (void *context))                                               \
    F(pop, cuCtxPopCurrent_v2, 1, (void **context))                                                \
    F(synchronize, cuCtxSynchronize, 1, (void))                                                    \
    F(allocate, cuMemAlloc_v2, 1, (uint64_t * pointer, size_t bytes))                              \
    F(allocate_managed, cuMemAllocManaged, 1, (uint64_t * pointer, size_t bytes, unsigned flags))  \
    F(free, cuMemFree_v2, 1, (uint64_t pointer))                                                   \
    F(allocate_host, cuMemHostAlloc, 1, (void **pointer, size_t bytes, unsigned flags))            \
    F(free_host, cuMemFreeHost, 1, (void *pointer))                                                \
    F(make_stream, cuStreamCreate, 1, (void **stream, unsigned flags))                             \
    F(wait_stream, cuStreamSynchronize, 1, (void *stream))                                         \
    F(destroy_stream, cuStreamDestroy_v2, 1, (void *stream))                                       \
    F(copy, cuMemcpy, 1, (uint64_t out, uint64_t in, size_t bytes))                                \
    F(copy_async, cuMemcpyAsync, 1, (uint64_t out, uint64_t in, size_t bytes, void *stream))

#define GPU_FIELD(field, symbol, needed, arguments) int(*field) arguments;
struct gpu {
    void *handle; /* from dlopen */
    int devices;
    void *contexts[8]; /* primary ones; the first is the current one */
    GPU_FUNCTIONS(GPU_FIELD)

    /* of the fake driver; NULL: it is a real one */
    void (*fake_counts)(struct fake_counts *counts);
    void (*fake_fail)(const char *function, long n);
    void (*fake_restart)(unsigned seed);
};
#undef GPU_FIELD

/** Open the driver and its devices. @param path  or NULL: libcuda.so.1 @return whether there are */
bool gpu_open(struct gpu *gpu, const char *path);
void gpu_close(struct gpu *gpu);

enum gpu_memory { GPU_DEVICE, GPU_MANAGED, GPU_PINNED };

/** Memory of a device; NULL when there is none. */
void *gpu_allocate(const struct gpu *gpu, int device, enum gpu_memory memory, size_t bytes);
void gpu_free(const struct gpu *gpu, int device, enum gpu_memory memory, void *address);

/** Between any two memories, as cudaMemcpy does it. @return whether it was possible */
bool gpu_copy(const struct gpu *gpu, void *out, const void *in, size_t bytes);

#endif
