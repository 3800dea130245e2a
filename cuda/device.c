/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Work on a device is enqueued on a stream, followed by an event that signals its end.
 */
#include "device.h"

#include <stdlib.h>

enum {
    THREADS = 256,           /* of a block */
    BLOCKS_PER_PROCESSOR = 8 /* at most: enough to occupy a multiprocessor */
};

/* A thread's work per iteration, as in kernels.h. */
static const size_t bytes_per_thread = 4 * (size_t)16;

/* ---- Making and freeing ---- */

static int make_streams(struct strag_cuda_device *device, struct strag_error *err)
{
    const struct driver *driver = device->driver;
    int number = device->ordinal, processors = 1;
    int error = driver->context_device(&number);
    if (error == DRIVER_SUCCESS)
        error = driver->device_attribute(&processors, DRIVER_PROCESSORS, number);
    int status = driver_check(driver, "cuDeviceGetAttribute", error, STRAG_ERR_UNSUPPORTED, err);
    device->processors = processors > 0 ? (unsigned)processors : 1;
    for (int s = 0; s < STREAMS && status == STRAG_OK; s++)
        status = driver_check(driver, "cuStreamCreate",
                              driver->make_stream(&device->streams[s], DRIVER_STREAM_NON_BLOCKING),
                              STRAG_ERR_UNSUPPORTED, err);
    return status;
}

static void load_kernels(struct strag_cuda_device *device, const void *image)
{
    if (driver_check(device->driver, "cuModuleLoadData",
                     device->driver->load_module(&device->module, image), STRAG_ERR_UNSUPPORTED,
                     &device->no_module) != STRAG_OK)
        device->module = NULL;
}

static int fill_device(struct strag_cuda_device *device, const void *image, struct strag_error *err)
{
    const struct driver *driver = device->driver;
    if (!device->context) {
        int status = driver_check(driver, "cuDevicePrimaryCtxRetain",
                                  driver->retain_primary(&device->context, device->ordinal),
                                  STRAG_ERR_UNSUPPORTED, err);
        if (status != STRAG_OK)
            return status;
        device->primary = true;
    }
    if (driver->context_id && driver->context_id(device->context, &device->id))
        device->id = 0;
    int status = device_enter(device);
    if (status != STRAG_OK) {
        device_why(device, err);
        return status;
    }
    status = make_streams(device, err);
    if (status == STRAG_OK && image)
        load_kernels(device, image);
    device_leave(device);
    return status;
}

struct strag_cuda_device *device_create(const struct driver *driver, void *context, int ordinal,
                                        const void *image, struct strag_error *err)
{
    struct strag_cuda_device *device = calloc(1, sizeof *device);
    if (!device) {
        driver_check(driver, "strag", 2, STRAG_ERR_MEMORY, err);
        return NULL;
    }
    device->driver = driver;
    device->context = context;
    device->ordinal = ordinal;
    pthread_mutex_init(&device->lock, NULL);
    if (fill_device(device, image, err) == STRAG_OK)
        return device;
    device_free(device, false);
    return NULL;
}

/* The context is current. Errors have been reported before, or the driver is shutting down. */
static void destroy(struct strag_cuda_device *device)
{
    const struct driver *driver = device->driver;
    pool_empty(device);
    for (struct device_event *event = device->events; event; event = event->next)
        driver->destroy_event(event->handle);
    for (int s = 0; s < STREAMS; s++) {
        if (device->streams[s])
            driver->destroy_stream(device->streams[s]);
    }
    if (device->module)
        driver->unload_module(device->module);
}

void device_free(struct strag_cuda_device *device, bool gone)
{
    if (!gone && device->context && device_enter(device) == STRAG_OK) {
        destroy(device);
        device_leave(device);
    }
    if (device->primary && !gone)
        device->driver->release_primary(device->ordinal);
    while (device->events) {
        struct device_event *event = device->events;
        device->events = event->next;
        free(event);
    }
    pool_free(device, device->free, false);
    pool_free(device, device->used, false);
    pthread_mutex_destroy(&device->lock);
    free(device);
}

/* ---- Events ---- */

static struct device_event *take_event(struct strag_cuda_device *device)
{
    pthread_mutex_lock(&device->lock);
    struct device_event *event = device->events;
    if (event)
        device->events = event->next;
    pthread_mutex_unlock(&device->lock);
    if (event)
        return event;
    event = calloc(1, sizeof *event);
    if (!event)
        return NULL;
    int error = device->driver->make_event(&event->handle, DRIVER_EVENT_DISABLE_TIMING);
    if (device_check(device, "cuEventCreate", error, STRAG_ERR_REDUCE) == STRAG_OK)
        return event;
    free(event);
    return NULL;
}

static void keep_event(struct strag_cuda_device *device, struct device_event *event)
{
    pthread_mutex_lock(&device->lock);
    event->next = device->events;
    device->events = event;
    pthread_mutex_unlock(&device->lock);
}

/* After an error the event may never occur. */
static void drop_event(struct strag_cuda_device *device, struct device_event *event)
{
    device->driver->destroy_event(event->handle);
    free(event);
}

int device_test(struct strag_cuda_device *device, uint64_t ticket, bool wait)
{
    struct device_event *event = (struct device_event *)(uintptr_t)ticket;
    const struct driver *driver = device->driver;
    int status = device_enter(device);
    if (status == STRAG_OK) {
        int error = wait ? driver->wait_event(event->handle) : driver->query_event(event->handle);
        device_leave(device);
        if (error == DRIVER_ERROR_NOT_READY)
            return STRAG_PENDING;
        status = device_check(device, wait ? "cuEventSynchronize" : "cuEventQuery", error,
                              STRAG_ERR_REDUCE);
    }
    if (status == STRAG_OK)
        keep_event(device, event);
    else
        drop_event(device, event);
    return status;
}

/* ---- Copies and kernels ---- */

struct work {
    void *out;
    const void *left, *right;
    size_t elements; /* or bytes */
    void *function;  /* NULL for a copy of left */
    unsigned blocks;
};

/* The same as struct strag_job of kernels.h, which is for the kernels' compilers. */
struct parameters {
    void *out;
    const void *left, *right;
    size_t elements;
};

static int enqueue(struct strag_cuda_device *device, const struct work *work, void *stream)
{
    const struct driver *driver = device->driver;
    struct parameters parameters = {work->out, work->left, work->right, work->elements};
    void *list[] = {&parameters};
    if (!work->function)
        return device_check(device, "cuMemcpyAsync",
                            driver->copy((uint64_t)(uintptr_t)work->out,
                                         (uint64_t)(uintptr_t)work->left, work->elements, stream),
                            STRAG_ERR_REDUCE);
    return device_check(
        device, "cuLaunchKernel",
        driver->launch(work->function, work->blocks, 1, 1, THREADS, 1, 1, 0, stream, list, NULL),
        STRAG_ERR_REDUCE);
}

/* Enqueue work, and an event after it. The context is current. */
static int begin(struct strag_cuda_device *device, const struct work *work, void *stream,
                 uint64_t *ticket)
{
    struct device_event *event = take_event(device);
    if (!event)
        return STRAG_ERR_REDUCE;
    int status = enqueue(device, work, stream);
    if (status == STRAG_OK)
        status =
            device_check(device, "cuEventRecord",
                         device->driver->record_event(event->handle, stream), STRAG_ERR_REDUCE);
    if (status != STRAG_OK)
        keep_event(device, event);
    *ticket = (uint64_t)(uintptr_t)event;
    return status;
}

int device_copy(struct strag_cuda_device *device, void *out, const void *in, size_t bytes,
                uint64_t *ticket)
{
    const struct work work = {.out = out, .left = in, .elements = bytes};
    int status = device_enter(device);
    if (status != STRAG_OK)
        return status;
    status = begin(device, &work, device->streams[COPY_STREAM], ticket);
    device_leave(device);
    return status;
}

/* The kernel's function, looked up at its first use. */
static void *find_function(struct strag_cuda_device *device, int kernel)
{
    void *function = NULL;
    pthread_mutex_lock(&device->lock);
    function = device->functions[kernel];
    pthread_mutex_unlock(&device->lock);
    if (function)
        return function;
    int error = device->driver->get_function(&function, device->module, strag_kernel_names[kernel]);
    if (device_check(device, strag_kernel_names[kernel], error, STRAG_ERR_REDUCE) != STRAG_OK)
        return NULL;
    pthread_mutex_lock(&device->lock);
    device->functions[kernel] = function;
    pthread_mutex_unlock(&device->lock);
    return function;
}

static unsigned blocks_for(const struct strag_cuda_device *device, size_t bytes)
{
    size_t most = (size_t)device->processors * BLOCKS_PER_PROCESSOR;
    size_t blocks = bytes / (THREADS * bytes_per_thread) + 1;
    return (unsigned)(blocks < most ? blocks : most);
}

int device_reduce(struct strag_cuda_device *device, struct strag_kernel kernel, void *out,
                  const void *left, const void *right, size_t elements, uint64_t *ticket)
{
    struct work work = {out, left, right, elements * (size_t)kernel.scale, NULL, 1};
    int status = device_enter(device);
    if (status != STRAG_OK)
        return status;
    work.function = find_function(device, kernel.number);
    if (work.function) {
        pthread_mutex_lock(&device->lock);
        unsigned turn = device->turn++ % KERNEL_STREAMS;
        pthread_mutex_unlock(&device->lock);
        work.blocks = blocks_for(device, elements * (size_t)kernel.size);
        status = begin(device, &work, device->streams[turn], ticket);
    } else {
        status = STRAG_ERR_REDUCE;
    }
    device_leave(device);
    return status;
}
