/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The plug-in's objects in a context of the driver: streams, events, kernels, and a memory pool.
 * Thread-safe.
 */
#ifndef STRAG_CUDA_DEVICE_H
#define STRAG_CUDA_DEVICE_H

#include "driver.h"
#include "kernel_table.h"
#include "strag_cuda.h"

#include <pthread.h>

/* Several for kernels, which may run concurrently, and one for copies. */
enum { KERNEL_STREAMS = 4, COPY_STREAM = KERNEL_STREAMS, STREAMS };

/* A ticket is the address of an event. */
struct device_event {
    struct device_event *next;
    void *handle;
};

struct device_block {
    struct device_block *next;
    void *address;
    size_t bytes;
    enum strag_cuda_memory memory;
};

struct strag_cuda_device {
    struct strag_cuda_device *next;
    const struct driver *driver;
    void *context;
    unsigned long long id; /* of the context; 0 if unknown */
    int ordinal;
    bool primary; /* the context was retained */

    void *streams[STREAMS];
    unsigned turn; /* chooses the next kernel's stream */
    unsigned processors;

    void *module; /* NULL if there are no kernels */
    struct strag_error no_module;
    void *functions[STRAG_KERNELS_MAX];

    pthread_mutex_t lock; /* guards the members below, turn and functions */
    struct device_event *events;
    struct device_block *used, *free; /* free: the last released one first */
    size_t free_bytes;
    struct strag_error error;
};

/**
 * Create all objects in a context.
 *
 * @param context  NULL for the primary one of device `ordinal`
 * @param image    the kernels, or NULL
 */
struct strag_cuda_device *device_create(const struct driver *driver, void *context, int ordinal,
                                        const void *image, struct strag_error *err);

/** @param gone  the context no longer exists: free only host memory */
void device_free(struct strag_cuda_device *device, bool gone);

/** Does the context no longer exist? Another one may have the same address. */
bool device_is_gone(const struct strag_cuda_device *device);

/* As in struct strag_cuda. */
void *device_allocate(struct strag_cuda_device *device, enum strag_cuda_memory memory,
                      size_t bytes);
void device_release(struct strag_cuda_device *device, void *space, bool lost);
int device_copy(struct strag_cuda_device *device, void *out, const void *in, size_t bytes,
                uint64_t *ticket);
int device_reduce(struct strag_cuda_device *device, struct strag_kernel kernel, void *out,
                  const void *left, const void *right, size_t elements, uint64_t *ticket);
int device_test(struct strag_cuda_device *device, uint64_t ticket, bool wait);
void device_why(struct strag_cuda_device *device, struct strag_error *err);

/* In pool.c: return all free blocks to the driver. The context is current. */
void pool_empty(struct strag_cuda_device *device);

/** Free the blocks of a list, and their memory if the context is current (`entered`). */
void pool_free(struct strag_cuda_device *device, struct device_block *list, bool entered);

/* In context.c: make the context current in this thread until device_leave. */
int device_enter(struct strag_cuda_device *device);
void device_leave(struct strag_cuda_device *device);

/** Check a driver call's result and store its error. @return STRAG_OK, or `status` */
int device_check(struct strag_cuda_device *device, const char *function, int error, int status);

#endif
