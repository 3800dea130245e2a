/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the test puts over the loopback, as UCX with CUDA support is for the component: messages of
 * floats from and to a device's memory.
 */
#ifndef TEST_CUDA_CARRIER_H
#define TEST_CUDA_CARRIER_H

#include "gpu.h"
#include "run/transport.h"

#include <stdbool.h>

enum { CARRIER_MESSAGES = 256 };

/* A message on its way. */
struct carried {
    struct strag_transfer flight; /* first: the completion finds the rest by it */
    struct carrier *carrier;
    struct strag_transfer *outer;
    char *chunk, *buffer;
    size_t elements;
    bool send, used;
};

struct carrier {
    struct strag_transport super; /* first */
    struct strag_transport *inner;
    const struct gpu *gpu;
    struct carried messages[CARRIER_MESSAGES];
};

void carrier_init(struct carrier *carrier, struct strag_transport *inner, const struct gpu *gpu);

/** The call has ended. */
void carrier_clear(struct carrier *carrier);

#endif
