/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A pool of device memory and pinned host memory. Allocating and freeing are slow in the driver,
 * and freeing waits for the device. So blocks are kept for the next allreduce, up to a total of
 * both kinds; their sizes are powers of two.
 */
#include "device.h"

#include <stdlib.h>

enum { SMALLEST = 64 << 10 }; /* bytes */
static const size_t kept_bytes = (size_t)256 << 20;

static size_t rounded(size_t bytes)
{
    size_t room = SMALLEST;
    while (room < bytes && room <= SIZE_MAX / 2)
        room *= 2;
    return room < bytes ? bytes : room;
}

static struct device_block *take_free(struct strag_cuda_device *device,
                                      enum strag_cuda_memory memory, size_t bytes)
{
    for (struct device_block **link = &device->free; *link; link = &(*link)->next) {
        struct device_block *block = *link;
        if (block->memory != memory || block->bytes != bytes)
            continue;
        *link = block->next;
        device->free_bytes -= bytes;
        return block;
    }
    return NULL;
}

/* Errors are ignored: they have been reported before, or the driver is shutting down. */
static void destroy(const struct driver *driver, const struct device_block *block)
{
    if (block->memory == STRAG_CUDA_DEVICE)
        driver->free_device((uint64_t)(uintptr_t)block->address);
    else
        driver->free_host(block->address);
}

static struct device_block *make(struct strag_cuda_device *device, enum strag_cuda_memory memory,
                                 size_t bytes)
{
    const struct driver *driver = device->driver;
    struct device_block *block = calloc(1, sizeof *block);
    uint64_t address = 0;
    int error;
    if (!block)
        return NULL;
    block->bytes = bytes;
    block->memory = memory;
    if (memory == STRAG_CUDA_DEVICE) {
        error = driver->allocate_device(&address, bytes);
        block->address = (void *)(uintptr_t)address;
    } else {
        error = driver->allocate_host(&block->address, bytes, DRIVER_HOST_PORTABLE);
    }
    if (device_check(device, memory == STRAG_CUDA_DEVICE ? "cuMemAlloc" : "cuMemHostAlloc", error,
                     STRAG_ERR_MEMORY) == STRAG_OK)
        return block;
    free(block);
    return NULL;
}

/* Take the least recently used blocks off the list until at most `most` bytes remain. The lock is
 * held. */
static struct device_block *take_surplus(struct strag_cuda_device *device, size_t most)
{
    size_t kept = 0;
    struct device_block **link = &device->free;
    while (*link && kept + (*link)->bytes <= most) {
        kept += (*link)->bytes;
        link = &(*link)->next;
    }
    struct device_block *surplus = *link;
    *link = NULL;
    device->free_bytes = kept;
    return surplus;
}

void pool_free(struct strag_cuda_device *device, struct device_block *list, bool entered)
{
    while (list) {
        struct device_block *block = list;
        list = block->next;
        if (entered)
            destroy(device->driver, block);
        free(block);
    }
}

void pool_empty(struct strag_cuda_device *device)
{
    pthread_mutex_lock(&device->lock);
    struct device_block *surplus = take_surplus(device, 0);
    pthread_mutex_unlock(&device->lock);
    pool_free(device, surplus, true);
}

void *device_allocate(struct strag_cuda_device *device, enum strag_cuda_memory memory, size_t bytes)
{
    size_t room = rounded(bytes);
    pthread_mutex_lock(&device->lock);
    struct device_block *block = take_free(device, memory, room);
    pthread_mutex_unlock(&device->lock);
    if (!block) {
        if (device_enter(device) != STRAG_OK)
            return NULL;
        block = make(device, memory, room);
        if (!block) { /* the pool may hold the missing memory */
            pool_empty(device);
            block = make(device, memory, room);
        }
        device_leave(device);
    }
    if (!block)
        return NULL;
    pthread_mutex_lock(&device->lock);
    block->next = device->used;
    device->used = block;
    pthread_mutex_unlock(&device->lock);
    return block->address;
}

void device_release(struct strag_cuda_device *device, void *space, bool lost)
{
    struct device_block *surplus = NULL;
    pthread_mutex_lock(&device->lock);
    struct device_block **link = &device->used;
    while (*link && (*link)->address != space)
        link = &(*link)->next;
    struct device_block *block = *link;
    if (block) {
        *link = block->next;
        if (!lost) {
            block->next = device->free;
            device->free = block;
            device->free_bytes += block->bytes;
            if (device->free_bytes > kept_bytes)
                surplus = take_surplus(device, kept_bytes);
        }
    }
    pthread_mutex_unlock(&device->lock);
    if (block && lost)
        free(block);
    if (!surplus)
        return;
    const bool entered = device_enter(device) == STRAG_OK;
    pool_free(device, surplus, entered); /* a device that cannot be entered has lost its memory */
    if (entered)
        device_leave(device);
}
