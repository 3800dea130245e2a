/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The plug-in for CUDA devices, strag_cuda.so, as the component sees it.
 *
 * The component is linked with nothing of CUDA's. When it meets an address that may be a device's,
 * in a process where a driver is loaded, it opens the plug-in, which finds the driver's functions
 * by name. Nothing here waits, unless it says so: what is begun gives a ticket, and `test` says
 * when it is done.
 */
#ifndef STRAG_CUDA_H
#define STRAG_CUDA_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Changes with everything below. */
#define STRAG_CUDA_VERSION 1u

enum strag_cuda_memory {
    STRAG_CUDA_HOST,    /* not known to the driver */
    STRAG_CUDA_PINNED,  /* the host's, known to the driver */
    STRAG_CUDA_MANAGED, /* moves between host and device */
    STRAG_CUDA_DEVICE,
};

/* What is at an address. Only the driver knows whether a range that was freed belongs to somebody
 * else now, so nothing of this may be remembered from one call of MPI to the next. */
struct strag_cuda_location {
    enum strag_cuda_memory memory;
    int ordinal;         /* of the device; -1 for the host's memory */
    void *context;       /* the driver's, or NULL: the device's primary one */
    uint64_t allocation; /* the driver's number, never used twice */
};

enum strag_cuda_op {
    STRAG_CUDA_MAX,
    STRAG_CUDA_MIN,
    STRAG_CUDA_SUM,
    STRAG_CUDA_PROD,
    STRAG_CUDA_LAND,
    STRAG_CUDA_LOR,
    STRAG_CUDA_LXOR,
    STRAG_CUDA_BAND,
    STRAG_CUDA_BOR,
    STRAG_CUDA_BXOR,
    STRAG_CUDA_MAXLOC,
    STRAG_CUDA_MINLOC,
    STRAG_CUDA_OPS,
};

enum strag_cuda_type {
    STRAG_CUDA_INT8,
    STRAG_CUDA_INT16,
    STRAG_CUDA_INT32,
    STRAG_CUDA_INT64,
    STRAG_CUDA_UINT8,
    STRAG_CUDA_UINT16,
    STRAG_CUDA_UINT32,
    STRAG_CUDA_UINT64,
    STRAG_CUDA_FLOAT,
    STRAG_CUDA_DOUBLE,
    STRAG_CUDA_HALF,
    STRAG_CUDA_BFLOAT16,
    STRAG_CUDA_HALF_COMPLEX,
    STRAG_CUDA_FLOAT_COMPLEX,
    STRAG_CUDA_DOUBLE_COMPLEX,
    STRAG_CUDA_SHORT_INT, /* these: a value, and where it was found */
    STRAG_CUDA_INT_INT,
    STRAG_CUDA_LONG_INT,
    STRAG_CUDA_FLOAT_INT,
    STRAG_CUDA_DOUBLE_INT,
    STRAG_CUDA_FLOAT_FLOAT,
    STRAG_CUDA_DOUBLE_DOUBLE,
    STRAG_CUDA_TYPES,
};

/* Copies of different ways go on at the same time. */
enum strag_cuda_way { STRAG_CUDA_TO_DEVICE, STRAG_CUDA_FROM_DEVICE, STRAG_CUDA_WITHIN };

/* A context of the driver's, and what was made in it. */
struct strag_cuda_device;

struct strag_cuda {
    /** What is at an address? Any address may be asked for. */
    void (*locate)(const void *address, struct strag_cuda_location *location);

    /** What works on memory at such a location (not the host's); made when first asked for, and
     * again when the driver has a new context. @return NULL: it cannot be made */
    struct strag_cuda_device *(*device)(const struct strag_cuda_location *location,
                                        struct strag_error *err);

    /** Can it reduce elements of this type? @param err  why it has no kernels at all; else "" */
    bool (*reduces)(struct strag_cuda_device *device, enum strag_cuda_op op,
                    enum strag_cuda_type type, struct strag_error *err);

    /** Space, kept in a pool when it is released. @param memory  STRAG_CUDA_DEVICE or _PINNED
     *  @return NULL when there is none */
    void *(*allocate)(struct strag_cuda_device *device, enum strag_cuda_memory memory,
                      size_t bytes);

    /** @param lost  something may still write to it: it is never used again */
    void (*release)(struct strag_cuda_device *device, void *space, bool lost);

    /** Begin to copy. @return STRAG_OK or STRAG_ERR_REDUCE */
    int (*copy)(struct strag_cuda_device *device, enum strag_cuda_way way, void *out,
                const void *in, size_t bytes, uint64_t *ticket);

    /** Begin out = left (op) right; `out` is the same as one of them, or apart from both. */
    int (*reduce)(struct strag_cuda_device *device, enum strag_cuda_op op,
                  enum strag_cuda_type type, void *out, const void *left, const void *right,
                  size_t elements, uint64_t *ticket);

    /** STRAG_PENDING; or STRAG_OK or STRAG_ERR_REDUCE, and the ticket is used up. */
    int (*test)(struct strag_cuda_device *device, uint64_t ticket);

    /** The same, but waits. */
    int (*wait)(struct strag_cuda_device *device, uint64_t ticket);

    /** What went wrong last. */
    void (*why)(struct strag_cuda_device *device, struct strag_error *err);

    /** Give everything back; nothing may be going on. */
    void (*close)(void);
};

/**
 * Exported by the plug-in.
 *
 * @param version  STRAG_CUDA_VERSION
 * @param driver   from dlopen of libcuda.so.1; it must stay open
 * @return NULL: it cannot be used
 */
const struct strag_cuda *strag_cuda_open(unsigned version, void *driver, struct strag_error *err);
typedef const struct strag_cuda *strag_cuda_open_fn(unsigned version, void *driver,
                                                    struct strag_error *err);

/* Its name, and that of its kernels, which are in the same folder. */
#define STRAG_CUDA_PLUGIN  "strag_cuda.so"
#define STRAG_CUDA_KERNELS "strag_cuda.kernels"

/** Bytes from one element of a type to the next. */
static inline size_t strag_cuda_size(enum strag_cuda_type type)
{
    static const uint8_t size[STRAG_CUDA_TYPES] = {
        [STRAG_CUDA_INT8] = 1,         [STRAG_CUDA_INT16] = 2,
        [STRAG_CUDA_INT32] = 4,        [STRAG_CUDA_INT64] = 8,
        [STRAG_CUDA_UINT8] = 1,        [STRAG_CUDA_UINT16] = 2,
        [STRAG_CUDA_UINT32] = 4,       [STRAG_CUDA_UINT64] = 8,
        [STRAG_CUDA_FLOAT] = 4,        [STRAG_CUDA_DOUBLE] = 8,
        [STRAG_CUDA_HALF] = 2,         [STRAG_CUDA_BFLOAT16] = 2,
        [STRAG_CUDA_HALF_COMPLEX] = 4, [STRAG_CUDA_FLOAT_COMPLEX] = 8,
        [STRAG_CUDA_SHORT_INT] = 8,    [STRAG_CUDA_DOUBLE_COMPLEX] = 16,
        [STRAG_CUDA_INT_INT] = 8,      [STRAG_CUDA_LONG_INT] = 16,
        [STRAG_CUDA_FLOAT_INT] = 8,    [STRAG_CUDA_DOUBLE_INT] = 16,
        [STRAG_CUDA_FLOAT_FLOAT] = 8,  [STRAG_CUDA_DOUBLE_DOUBLE] = 16,
    };
    return size[type];
}

#endif
