/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared by staging.c, staged_copy.c (memory), staged_reducer.c and staged_transport.c.
 */
#ifndef STRAG_CUDA_STAGING_INTERNAL_H
#define STRAG_CUDA_STAGING_INTERNAL_H

#include "staging.h"

struct staged_message;
struct staged_chunk;

/* A transport that needs host memory, with chunks in front of it. */
struct staged_transport {
    struct strag_transport super; /* must be first */
    struct strag_staging *staging;
    struct strag_transport *inner;
    struct staged_message *messages, **last; /* in the order of posting */
};

struct strag_staging {
    struct strag_staging_options options;
    struct strag_reducer reducer;
    struct staged_transport transports[STRAG_LANES];
    int ntransports;

    const char *host_begin, *host_end; /* temporary space in host memory; NULL: none */

    struct staged_chunk *chunks; /* used by messages */
    uint64_t contents;           /* numbers given to shared chunks so far */
};

/** The staging that a reducer is part of. */
#define STAGING_OF(reducer_address)                                                                \
    ((struct strag_staging *)((char *)(reducer_address)-offsetof(struct strag_staging, reducer)))

/** Bytes from the first to the last of `elements`, at least 1. */
size_t staging_bytes(const struct strag_staging *staging, size_t elements);

/** Is the element at this address in the temporary space in host memory? */
bool staging_on_host(const struct strag_staging *staging, const void *element);

/** Pinned memory for elements: the address of the first one's origin, or NULL. */
void *staging_take(struct strag_staging *staging, size_t elements);
void staging_give(struct strag_staging *staging, void *chunk, bool lost);

/** Start to copy elements, with any gaps. */
int staging_copy(struct strag_staging *staging, enum strag_cuda_way way, void *out, const void *in,
                 size_t elements, uint64_t *ticket);

void staged_reducer_init(struct strag_staging *staging);
void staged_transport_init(struct staged_transport *transport, struct strag_staging *staging,
                           struct strag_transport *inner);

#endif
