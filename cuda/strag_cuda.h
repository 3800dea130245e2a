/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The plug-in for CUDA devices, strag_cuda.so, as the component sees it.
 *
 * The component does not link with CUDA. When a buffer may be in a device's memory and a driver is
 * loaded, it opens the plug-in, which looks up the driver's functions by name. Only `wait` blocks:
 * an operation that is started returns a ticket, which `test` polls.
 */
#ifndef STRAG_CUDA_H
#define STRAG_CUDA_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Changes with everything below. */
#define STRAG_CUDA_VERSION 2u

enum strag_cuda_memory {
    STRAG_CUDA_HOST,    /* unknown to the driver */
    STRAG_CUDA_PINNED,  /* the host's, registered with the driver */
    STRAG_CUDA_MANAGED, /* moves between host and device */
    STRAG_CUDA_DEVICE,
};

/* The memory at an address. A range that was freed may have a new owner, which only the driver
 * knows, so a location must not be cached from one MPI call to the next. */
struct strag_cuda_location {
    enum strag_cuda_memory memory;
    int ordinal;   /* of the device; -1 for the host's memory */
    void *context; /* the driver's; NULL for the device's primary one */
};

/* Operators: X(constant, name in the kernels). Types: X(constant, name in the kernels, bytes from
 * one element to the next); the last four are a value and its index. */
/* clang-format off */
#define STRAG_CUDA_OP_LIST(X)                                                                      \
    X(MAX, max) X(MIN, min) X(SUM, sum) X(PROD, prod) X(LAND, land) X(LOR, lor) X(LXOR, lxor)      \
    X(BAND, band) X(BOR, bor) X(BXOR, bxor) X(MAXLOC, maxloc) X(MINLOC, minloc)
#define STRAG_CUDA_TYPE_LIST(X)                                                                    \
    X(INT8, int8, 1) X(INT16, int16, 2) X(INT32, int32, 4) X(INT64, int64, 8)                      \
    X(UINT8, uint8, 1) X(UINT16, uint16, 2) X(UINT32, uint32, 4) X(UINT64, uint64, 8)              \
    X(FLOAT, float, 4) X(DOUBLE, double, 8) X(HALF, half, 2) X(BFLOAT16, bfloat16, 2)              \
    X(HALF_COMPLEX, half_complex, 4) X(FLOAT_COMPLEX, float_complex, 8)                            \
    X(DOUBLE_COMPLEX, double_complex, 16) X(INT_INT, int_int, 8) X(FLOAT_INT, float_int, 8)        \
    X(FLOAT_FLOAT, float_float, 8) X(DOUBLE_DOUBLE, double_double, 16)
/* clang-format on */

/* STRAG_CUDA_MAX ..., STRAG_CUDA_INT8 ... */
#define STRAG_CUDA_CONSTANT(constant, ...) STRAG_CUDA_##constant,
enum strag_cuda_op { STRAG_CUDA_OP_LIST(STRAG_CUDA_CONSTANT) STRAG_CUDA_OPS };
enum strag_cuda_type { STRAG_CUDA_TYPE_LIST(STRAG_CUDA_CONSTANT) STRAG_CUDA_TYPES };

/* A context of the driver, and the plug-in's objects in it. */
struct strag_cuda_device;

struct strag_cuda {
    /** Find the memory at any address. */
    void (*locate)(const void *address, struct strag_cuda_location *location);

    /** The device of a location that is not the host's; created at the first call, and again when
     * the driver has a new context. @return NULL if it cannot be created */
    struct strag_cuda_device *(*device)(const struct strag_cuda_location *location,
                                        struct strag_error *err);

    /** Can it reduce elements of this type? @param err  why it has no kernels; else "" */
    bool (*reduces)(struct strag_cuda_device *device, enum strag_cuda_op op,
                    enum strag_cuda_type type, struct strag_error *err);

    /** Memory from a pool. @param memory  STRAG_CUDA_DEVICE or _PINNED @return NULL if none left */
    void *(*allocate)(struct strag_cuda_device *device, enum strag_cuda_memory memory,
                      size_t bytes);

    /** @param lost  the space may still be written to: never use it again */
    void (*release)(struct strag_cuda_device *device, void *space, bool lost);

    /** Start to copy between any two memories. @return STRAG_OK or STRAG_ERR_REDUCE */
    int (*copy)(struct strag_cuda_device *device, void *out, const void *in, size_t bytes,
                uint64_t *ticket);

    /** Start out = left (op) right; `out` is one of them, or disjoint from both. */
    int (*reduce)(struct strag_cuda_device *device, enum strag_cuda_op op,
                  enum strag_cuda_type type, void *out, const void *left, const void *right,
                  size_t elements, uint64_t *ticket);

    /** @return STRAG_PENDING; or STRAG_OK or STRAG_ERR_REDUCE, after which the ticket is invalid */
    int (*test)(struct strag_cuda_device *device, uint64_t ticket);

    /** As test, but wait for the operation. */
    int (*wait)(struct strag_cuda_device *device, uint64_t ticket);

    /** The last error. */
    void (*why)(struct strag_cuda_device *device, struct strag_error *err);

    /** Free everything; no operation may be pending. */
    void (*close)(void);
};

/**
 * Exported by the plug-in.
 *
 * @param version  STRAG_CUDA_VERSION
 * @param driver   from dlopen of libcuda.so.1; it must stay open
 * @return NULL if it cannot be used; see err
 */
const struct strag_cuda *strag_cuda_open(unsigned version, void *driver, struct strag_error *err);
typedef const struct strag_cuda *strag_cuda_open_fn(unsigned version, void *driver,
                                                    struct strag_error *err);

/* Files in the same folder. */
#define STRAG_CUDA_PLUGIN  "strag_cuda.so"
#define STRAG_CUDA_KERNELS "strag_cuda.kernels"

/** Bytes from one element of a type to the next. */
static inline size_t strag_cuda_size(enum strag_cuda_type type)
{
#define STRAG_CUDA_SIZE(constant, name, size) size,
    static const uint8_t sizes[] = {STRAG_CUDA_TYPE_LIST(STRAG_CUDA_SIZE)};
    return sizes[type];
}

#endif
