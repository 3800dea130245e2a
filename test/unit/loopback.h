/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A network inside one process, for tests: n endpoints, messages with random but repeatable delays,
 * reordered completions, and failures on demand.
 *
 * It is as unkind as the transport's contract allows. A send reads its buffer only at the moment it
 * completes, a receive fills its buffer with garbage when it is posted, and completions of
 * different messages come in any order. Time is counted in calls of progress. Endpoints may be
 * used from different threads; each endpoint's completions are called from its own calls only.
 */
#ifndef STRAG_LOOPBACK_H
#define STRAG_LOOPBACK_H

#include "run/transport.h"

#include <stdbool.h>
#include <stdint.h>

struct strag_loopback;

struct strag_loopback_options {
    uint64_t seed;
    unsigned max_delay; /* a side completes 0 .. max_delay ticks after it could */
    bool in_order;      /* completions of one pair of ranks keep their order */
    size_t eager;       /* sends of up to this many elements complete without a receive */
    int fail_rank;      /* with fail_post > 0: this rank's fail_post-th message ... */
    unsigned fail_post; /* ... counted from 1 */
    bool fail_late;     /* ... completes with an error, instead of being refused */
    bool cannot_cancel; /* cancel cannot stop messages that both sides have posted */
    bool in_place;      /* messages may be read where they arrive: each in memory of its own, which
                         * is filled with garbage and freed when it is released */
    int room;           /* above 0: short messages may be sent at once, this many may be in flight
                         * between two ranks; a try_send is refused at times, if there are delays */
};

/** @param n  endpoints  @param element  bytes  @return NULL when out of memory */
struct strag_loopback *strag_loopback_create(int n, size_t element,
                                             const struct strag_loopback_options *options);

/** Frees the endpoints too. NULL is allowed. */
void strag_loopback_free(struct strag_loopback *network);

struct strag_transport *strag_loopback_endpoint(struct strag_loopback *network, int rank);

/** The rank is gone: messages to and from it complete with an error on the other side. */
void strag_loopback_kill(struct strag_loopback *network, int rank);

/** Messages that are posted on at least one side and not complete on it, or not released. */
size_t strag_loopback_pending(struct strag_loopback *network);

/** Elements and messages that a rank has sent so far. */
void strag_loopback_sent(struct strag_loopback *network, int rank, size_t *elements,
                         size_t *messages);

#endif
