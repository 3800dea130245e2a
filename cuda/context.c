/* SPDX-License-Identifier: BSD-3-Clause */
/* A device's context, and its last error. */
#include "device.h"

int device_check(struct strag_cuda_device *device, const char *function, int error, int status)
{
    struct strag_error text;
    if (driver_check(device->driver, function, error, status, &text) == STRAG_OK)
        return STRAG_OK;
    pthread_mutex_lock(&device->lock);
    device->error = text;
    pthread_mutex_unlock(&device->lock);
    return status;
}

void device_why(struct strag_cuda_device *device, struct strag_error *err)
{
    pthread_mutex_lock(&device->lock);
    *err = device->error;
    pthread_mutex_unlock(&device->lock);
}

int device_enter(struct strag_cuda_device *device)
{
    return device_check(device, "cuCtxPushCurrent", device->driver->push_context(device->context),
                        STRAG_ERR_REDUCE);
}

void device_leave(struct strag_cuda_device *device)
{
    void *context;
    device->driver->pop_context(&context);
}

bool device_is_gone(const struct strag_cuda_device *device)
{
    unsigned long long id;
    return device->id &&
           (device->driver->context_id(device->context, &id) != DRIVER_SUCCESS || id != device->id);
}
