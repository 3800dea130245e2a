/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The plug-in: the interface of strag_cuda.h over the contexts used so far.
 */
#define _GNU_SOURCE /* dladdr */
#include "device.h"

#include "base/file.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of the kernels' file, at most. */
#define KERNELS_MAX ((size_t)256 << 20)

/* A process has one driver. */
static struct {
    pthread_mutex_t lock; /* guards opened and devices */
    bool opened;
    struct driver driver;
    struct strag_cuda_device *devices;
    struct strag_kernel kernels[STRAG_CUDA_OPS][STRAG_CUDA_TYPES];
    void *image; /* the kernels, or NULL */
    struct strag_error no_image;
} plugin = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- The kernels' file, in the plug-in's folder ---- */

static bool find_file(char *path, size_t room)
{
    Dl_info info;
    if (!dladdr(&plugin, &info) || !info.dli_fname)
        return false;
    const char *slash = strrchr(info.dli_fname, '/');
    int folder = slash ? (int)(slash + 1 - info.dli_fname) : 0;
    int length = snprintf(path, room, "%.*s%s", folder, info.dli_fname, STRAG_CUDA_KERNELS);
    return length > 0 && (size_t)length < room;
}

/* Kernels may be text, which the driver expects to be NUL-terminated. */
static void read_kernels(void)
{
    char path[PATH_MAX], *image = NULL;
    size_t bytes;
    if (find_file(path, sizeof path) &&
        strag_file_read(path, KERNELS_MAX, &image, &bytes, NULL) == STRAG_OK)
        plugin.image = image;
    else
        strag_fail(&plugin.no_image, STRAG_ERR_IO,
                   "%s cannot be read: strag was built without nvcc and clang (Debian: clang)",
                   STRAG_CUDA_KERNELS);
}

/* ---- Devices ---- */

/* The device of that memory, or NULL. Devices whose context no longer exists are removed. */
static struct strag_cuda_device *find_device(const struct strag_cuda_location *location)
{
    struct strag_cuda_device **link = &plugin.devices;
    while (*link) {
        struct strag_cuda_device *device = *link;
        if (device_is_gone(device)) {
            *link = device->next;
            device_free(device, true);
            continue;
        }
        if (location->context ? device->context == location->context
                              : device->primary && device->ordinal == location->ordinal)
            return device;
        link = &device->next;
    }
    return NULL;
}

static struct strag_cuda_device *get_device(const struct strag_cuda_location *location,
                                            struct strag_error *err)
{
    pthread_mutex_lock(&plugin.lock);
    struct strag_cuda_device *device = find_device(location);
    if (!device) {
        device =
            device_create(&plugin.driver, location->context, location->ordinal, plugin.image, err);
        if (device) {
            if (!plugin.image)
                device->no_module = plugin.no_image;
            device->next = plugin.devices;
            plugin.devices = device;
        }
    }
    pthread_mutex_unlock(&plugin.lock);
    return device;
}

/* ---- Addresses ---- */

/*
 * cudaMemcpy from pageable memory returns while its last bytes are in flight to the device, on a
 * default stream, for which the plug-in's streams do not wait: a kernel may read the old values
 * (seen on an H100, with copies of a few KB). Once SYNC_MEMOPS is set such a copy returns at its
 * end. This function waits for earlier copies: once for each piece of memory, or at every call if
 * the driver has no such attribute for it, as for managed memory. It does not wait for other
 * streams: a kernel of the program may run until the program does something after this call.
 */
static void settle(const void *address, const struct strag_cuda_location *location)
{
    const unsigned on = 1;
    struct strag_error err;
    struct strag_cuda_device *device = get_device(location, &err);
    (void)plugin.driver.set_pointer_attribute(&on, DRIVER_POINTER_SYNC_MEMOPS,
                                              (uint64_t)(uintptr_t)address);
    if (!device || device_enter(device) != STRAG_OK)
        return; /* the next operation on that memory reports the error */
    (void)plugin.driver.wait_stream(DRIVER_STREAM_LEGACY);
    (void)plugin.driver.wait_stream(DRIVER_STREAM_PER_THREAD);
    device_leave(device);
}

static void locate(const void *address, struct strag_cuda_location *location)
{
    unsigned type = 0, managed = 0, settled = 0;
    int ordinal = -1;
    void *context = NULL;
    int attributes[] = {DRIVER_POINTER_MEMORY_TYPE, DRIVER_POINTER_IS_MANAGED,
                        DRIVER_POINTER_DEVICE_ORDINAL, DRIVER_POINTER_CONTEXT,
                        DRIVER_POINTER_SYNC_MEMOPS};
    void *data[] = {&type, &managed, &ordinal, &context, &settled};
    *location = (struct strag_cuda_location){STRAG_CUDA_HOST, -1, NULL};
    if (plugin.driver.pointer_attributes(5, attributes, data, (uint64_t)(uintptr_t)address) !=
            DRIVER_SUCCESS ||
        (type == 0 && !managed))
        return;
    location->memory = managed & 1                    ? STRAG_CUDA_MANAGED
                       : type == DRIVER_MEMORY_DEVICE ? STRAG_CUDA_DEVICE
                       : type == DRIVER_MEMORY_HOST   ? STRAG_CUDA_PINNED
                                                      : STRAG_CUDA_HOST;
    if (location->memory <= STRAG_CUDA_PINNED)
        return;
    location->ordinal = ordinal;
    location->context = context;
    if (!(settled & 1))
        settle(address, location);
}

static bool reduces(struct strag_cuda_device *device, enum strag_cuda_op op,
                    enum strag_cuda_type type, struct strag_error *err)
{
    *err = device->no_module;
    return device->module && plugin.kernels[op][type].number >= 0;
}

static int reduce(struct strag_cuda_device *device, enum strag_cuda_op op,
                  enum strag_cuda_type type, void *out, const void *left, const void *right,
                  size_t elements, uint64_t *ticket)
{
    return device_reduce(device, plugin.kernels[op][type], out, left, right, elements, ticket);
}

static int test(struct strag_cuda_device *device, uint64_t ticket)
{
    return device_test(device, ticket, false);
}

static int wait(struct strag_cuda_device *device, uint64_t ticket)
{
    return device_test(device, ticket, true);
}

static void close_plugin(void)
{
    pthread_mutex_lock(&plugin.lock);
    while (plugin.devices) {
        struct strag_cuda_device *device = plugin.devices;
        plugin.devices = device->next;
        device_free(device, device_is_gone(device));
    }
    free(plugin.image);
    plugin.image = NULL;
    plugin.opened = false;
    pthread_mutex_unlock(&plugin.lock);
}

/* ---- Opening ---- */

static const struct strag_cuda interface = {
    .locate = locate,
    .device = get_device,
    .reduces = reduces,
    .allocate = device_allocate,
    .release = device_release,
    .copy = device_copy,
    .reduce = reduce,
    .test = test,
    .wait = wait,
    .why = device_why,
    .close = close_plugin,
};

__attribute__((visibility("default"))) const struct strag_cuda *
strag_cuda_open(unsigned version, void *driver, struct strag_error *err)
{
    if (version != STRAG_CUDA_VERSION) {
        strag_fail(err, STRAG_ERR_ARGUMENT, "the plug-in is of version %u, not %u",
                   STRAG_CUDA_VERSION, version);
        return NULL;
    }
    pthread_mutex_lock(&plugin.lock);
    bool good = plugin.opened || driver_find(&plugin.driver, driver, err) == STRAG_OK;
    if (good && !plugin.opened) {
        plugin.opened = true;
        plugin.devices = NULL;
        for (int op = 0; op < STRAG_CUDA_OPS; op++) {
            for (int type = 0; type < STRAG_CUDA_TYPES; type++)
                plugin.kernels[op][type] =
                    strag_kernel_for((enum strag_cuda_op)op, (enum strag_cuda_type)type);
        }
        read_kernels();
    }
    pthread_mutex_unlock(&plugin.lock);
    return good ? &interface : NULL;
}
