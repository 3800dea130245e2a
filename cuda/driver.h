/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The part of CUDA's driver interface that the plug-in uses, declared here so that it compiles
 * without CUDA's headers; test/cuda/check_driver.c compares the two.
 */
#ifndef STRAG_CUDA_DRIVER_H
#define STRAG_CUDA_DRIVER_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

enum {
    DRIVER_SUCCESS = 0,
    DRIVER_ERROR_NOT_READY = 600,

    DRIVER_POINTER_CONTEXT = 1,
    DRIVER_POINTER_MEMORY_TYPE = 2,
    DRIVER_POINTER_SYNC_MEMOPS = 6,
    DRIVER_POINTER_IS_MANAGED = 8,
    DRIVER_POINTER_DEVICE_ORDINAL = 9,

    DRIVER_MEMORY_HOST = 1,
    DRIVER_MEMORY_DEVICE = 2,

    DRIVER_PROCESSORS = 16, /* attribute of a device: its multiprocessors */

    DRIVER_STREAM_NON_BLOCKING = 1,
    DRIVER_EVENT_DISABLE_TIMING = 2,
    DRIVER_HOST_PORTABLE = 1,
};

/* The default streams: of the context, and of the calling thread. */
#define DRIVER_STREAM_LEGACY     ((void *)(uintptr_t)1)
#define DRIVER_STREAM_PER_THREAD ((void *)(uintptr_t)2)

/* F(field, symbol, required, arguments). Device addresses are numbers; contexts, streams, events,
 * modules and functions are opaque pointers. All return 0 or an error. */
#define DRIVER_FUNCTIONS(F)                                                                        \
    F(pointer_attributes, cuPointerGetAttributes, 1,                                               \
      (unsigned n, int *attributes, void **data, uint64_t pointer))                                \
    F(set_pointer_attribute, cuPointerSetAttribute, 1,                                             \
      (const void *value, int attribute, uint64_t pointer))                                        \
    F(error_text, cuGetErrorString, 1, (int error, const char **text))                             \
    F(device_attribute, cuDeviceGetAttribute, 1, (int *value, int attribute, int device))          \
    F(retain_primary, cuDevicePrimaryCtxRetain, 1, (void **context, int device))                   \
    F(release_primary, cuDevicePrimaryCtxRelease_v2, 1, (int device))                              \
    F(push_context, cuCtxPushCurrent_v2, 1, (void *context))                                       \
    F(pop_context, cuCtxPopCurrent_v2, 1, (void **context))                                        \
    F(context_device, cuCtxGetDevice, 1, (int *device))                                            \
    F(wait_stream, cuStreamSynchronize, 1, (void *stream))                                         \
    F(context_id, cuCtxGetId, 0, (void *context, unsigned long long *id))                          \
    F(allocate_device, cuMemAlloc_v2, 1, (uint64_t * pointer, size_t bytes))                       \
    F(free_device, cuMemFree_v2, 1, (uint64_t pointer))                                            \
    F(allocate_host, cuMemHostAlloc, 1, (void **pointer, size_t bytes, unsigned flags))            \
    F(free_host, cuMemFreeHost, 1, (void *pointer))                                                \
    F(copy, cuMemcpyAsync, 1, (uint64_t out, uint64_t in, size_t bytes, void *stream))             \
    F(make_stream, cuStreamCreate, 1, (void **stream, unsigned flags))                             \
    F(destroy_stream, cuStreamDestroy_v2, 1, (void *stream))                                       \
    F(make_event, cuEventCreate, 1, (void **event, unsigned flags))                                \
    F(record_event, cuEventRecord, 1, (void *event, void *stream))                                 \
    F(query_event, cuEventQuery, 1, (void *event))                                                 \
    F(wait_event, cuEventSynchronize, 1, (void *event))                                            \
    F(destroy_event, cuEventDestroy_v2, 1, (void *event))                                          \
    F(load_module, cuModuleLoadData, 1, (void **module, const void *image))                        \
    F(unload_module, cuModuleUnload, 1, (void *module))                                            \
    F(get_function, cuModuleGetFunction, 1, (void **function, void *module, const char *name))     \
    F(launch, cuLaunchKernel, 1,                                                                   \
      (void *function, unsigned blocks, unsigned blocks_y, unsigned blocks_z, unsigned threads,    \
       unsigned threads_y, unsigned threads_z, unsigned shared_bytes, void *stream,                \
       void **parameters, void **extra))

#define DRIVER_FIELD(field, symbol, needed, arguments) int(*field) arguments;
struct driver {
    DRIVER_FUNCTIONS(DRIVER_FIELD)
};
#undef DRIVER_FIELD

/** Find the functions. @param handle  from dlopen @return STRAG_OK or STRAG_ERR_UNSUPPORTED */
int driver_find(struct driver *driver, void *handle, struct strag_error *err);

/**
 * @return STRAG_OK if `error` is DRIVER_SUCCESS, else `status` with a text like
 *         "cuMemAlloc_v2: out of memory (error 2)"
 */
int driver_check(const struct driver *driver, const char *function, int error, int status,
                 struct strag_error *err);

#endif
