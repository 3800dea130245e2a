/* SPDX-License-Identifier: BSD-3-Clause */
#include "device_reducer.h"

static const struct strag_device_reducer *own(const struct strag_reducer *base)
{
    return (const struct strag_device_reducer *)base;
}

static size_t bytes_of(const struct strag_device_reducer *reducer, size_t elements)
{
    return elements * strag_cuda_size(reducer->type);
}

static void *device_allocate(struct strag_reducer *base, size_t elements)
{
    const struct strag_device_reducer *reducer = own(base);
    return reducer->cuda->allocate(reducer->device, STRAG_CUDA_DEVICE, bytes_of(reducer, elements));
}

static void device_release(struct strag_reducer *base, void *buffer, int lost)
{
    own(base)->cuda->release(own(base)->device, buffer, lost);
}

static int device_reduce(struct strag_reducer *base, void *out, const void *left, const void *right,
                         size_t elements, uint64_t *ticket)
{
    const struct strag_device_reducer *reducer = own(base);
    int status = reducer->cuda->reduce(reducer->device, reducer->op, reducer->type, out, left,
                                       right, elements, ticket);
    return status == STRAG_OK ? STRAG_PENDING : status;
}

static int device_copy(struct strag_reducer *base, void *out, const void *in, size_t elements)
{
    const struct strag_device_reducer *reducer = own(base);
    uint64_t ticket;
    if (elements == 0)
        return STRAG_OK;
    int status =
        reducer->cuda->copy(reducer->device, out, in, bytes_of(reducer, elements), &ticket);
    return status == STRAG_OK ? reducer->cuda->wait(reducer->device, ticket) : status;
}

static int device_test(struct strag_reducer *base, uint64_t ticket)
{
    return own(base)->cuda->test(own(base)->device, ticket);
}

void strag_device_reducer_init(struct strag_device_reducer *reducer, const struct strag_cuda *cuda,
                               struct strag_cuda_device *device, enum strag_cuda_op op,
                               enum strag_cuda_type type)
{
    *reducer = (struct strag_device_reducer){
        .super = {device_allocate, device_release, device_reduce, device_copy, device_test},
        .cuda = cuda,
        .device = device,
        .op = op,
        .type = type,
    };
}
