/* SPDX-License-Identifier: BSD-3-Clause */
#include "gpu.h"

#include <dlfcn.h>
#include <string.h>

enum { GLOBAL = 1 }; /* managed memory is for all streams */

static bool find(void *handle, const char *symbol, void *field)
{
    void *address = dlsym(handle, symbol);
    memcpy(field, &address, sizeof address);
    return address;
}

static bool find_all(struct gpu *gpu)
{
    bool found = true;
#define FIND(field, symbol, needed, arguments)                                                     \
    found = find(gpu->handle, #symbol, &gpu->field) && found;
    GPU_FUNCTIONS(FIND)
#undef FIND
    find(gpu->handle, "fake_cuda_counts", &gpu->fake_counts);
    find(gpu->handle, "fake_cuda_fail", &gpu->fake_fail);
    find(gpu->handle, "fake_cuda_restart", &gpu->fake_restart);
    return found;
}

bool gpu_open(struct gpu *gpu, const char *path)
{
    const int most = sizeof gpu->contexts / sizeof *gpu->contexts;
    memset(gpu, 0, sizeof *gpu);
    gpu->handle = dlopen(path ? path : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!gpu->handle || !find_all(gpu) || gpu->init(0) != DRIVER_SUCCESS ||
        gpu->count(&gpu->devices) != DRIVER_SUCCESS || gpu->devices < 1)
        return false;
    gpu->devices = gpu->devices < most ? gpu->devices : most;
    for (int d = 0; d < gpu->devices; d++) {
        if (gpu->retain(&gpu->contexts[d], d) != DRIVER_SUCCESS)
            return false;
    }
    return gpu->push(gpu->contexts[0]) == DRIVER_SUCCESS;
}

void gpu_close(struct gpu *gpu)
{
    void *context;
    gpu->pop(&context);
    for (int d = 0; d < gpu->devices; d++)
        gpu->release(d);
}

void *gpu_allocate(const struct gpu *gpu, int device, enum gpu_memory memory, size_t bytes)
{
    void *context, *address = NULL;
    uint64_t pointer = 0;
    int error;
    if (gpu->push(gpu->contexts[device]) != DRIVER_SUCCESS)
        return NULL;
    if (memory == GPU_PINNED) {
        error = gpu->allocate_host(&address, bytes, 0);
    } else {
        error = memory == GPU_DEVICE ? gpu->allocate(&pointer, bytes)
                                     : gpu->allocate_managed(&pointer, bytes, GLOBAL);
        address = (void *)(uintptr_t)pointer;
    }
    gpu->pop(&context);
    return error == DRIVER_SUCCESS ? address : NULL;
}

void gpu_free(const struct gpu *gpu, int device, enum gpu_memory memory, void *address)
{
    void *context;
    if (!address || gpu->push(gpu->contexts[device]) != DRIVER_SUCCESS)
        return;
    if (memory == GPU_PINNED)
        gpu->free_host(address);
    else
        gpu->free((uint64_t)(uintptr_t)address);
    gpu->pop(&context);
}

bool gpu_copy(const struct gpu *gpu, void *out, const void *in, size_t bytes)
{
    return bytes == 0 ||
           gpu->copy((uint64_t)(uintptr_t)out, (uint64_t)(uintptr_t)in, bytes) == DRIVER_SUCCESS;
}
