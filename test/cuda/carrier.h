/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the staging's tests put over the loopback, as the component's transports are: elements are
 * packed on the way, and only their floats arrive.
 *
 *     like UCX             from and to a device's memory, if there are no gaps
 *     like shared memory   from and to host memory; values that several are sent are read once and
 *                          kept until the end of the call; sends are complete when they are packed,
 *                          as long as there is room; elements without gaps may be read in place
 */
#ifndef TEST_CUDA_CARRIER_H
#define TEST_CUDA_CARRIER_H

#include "gpu.h"
#include "run/transport.h"

#include <stdbool.h>

enum { CARRIER_MESSAGES = 256, CARRIER_KEPT = 1024 };

/* A message on its way. */
struct carried {
    struct strag_transfer flight; /* first: the completion finds the rest by it */
    struct carrier *carrier;
    struct strag_transfer *outer; /* NULL: it has been notified */
    char *chunk, *buffer;
    size_t elements;
    bool send, in_place, used;
};

struct carrier {
    struct strag_transport super; /* first */
    struct strag_transport *inner;
    const struct gpu *gpu; /* takes its memory; NULL: like shared memory */
    size_t extent;         /* bytes from one float to the next */
    struct carried messages[CARRIER_MESSAGES];

    /* like shared memory: values that several are sent */
    struct kept {
        uint64_t content;
        const void *buffer;
        size_t elements;
        char *values;
    } kept[CARRIER_KEPT];
    int nkept;
    long shared, in_place; /* messages that were not copied again, and that were read in place */
};

void carrier_init(struct carrier *carrier, struct strag_transport *inner, const struct gpu *gpu,
                  size_t extent);

/** The call has ended. */
void carrier_clear(struct carrier *carrier);

#endif
