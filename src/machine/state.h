/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The machine's state: stragglers and slow links.
 */
#ifndef STRAG_STATE_H
#define STRAG_STATE_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

/* A rank whose host has links to the network that are all `factor` times slower. */
struct strag_slow {
    int rank;
    double factor; /* at least 1; the larger one if a host is named twice */
};

/* A rank that arrives `delay` seconds after the others. */
struct strag_straggler {
    int rank;
    double delay;
};

/* Differences from an ideal machine; none if zeroed. */
struct strag_state {
    int nslow;
    const struct strag_slow *slow;
    int nstragglers;
    const struct strag_straggler *straggler;
};

/** Check that the ranks are below n, and the factors at least 1. @param state  may be NULL @return
 * STRAG_OK, or STRAG_ERR_ARGUMENT with the reason */
int strag_state_check(const struct strag_state *state, int n, struct strag_error *err);

/** The largest delay; 0 if no rank is late. @param state  may be NULL */
static inline double strag_state_delay(const struct strag_state *state)
{
    double delay = 0;
    for (int i = 0; state && i < state->nstragglers; i++)
        delay = state->straggler[i].delay > delay ? state->straggler[i].delay : delay;
    return delay;
}

enum { STRAG_SLOW_MAX = 64, STRAG_STRAGGLERS_MAX = 3 };

/* A state without pointers, as rank 0 sends it: the last stragglers to arrive, and a rank for each
 * slow host. */
struct strag_state_record {
    int32_t nstragglers, nslow;
    struct strag_straggler straggler[STRAG_STRAGGLERS_MAX]; /* the last to arrive first */
    struct strag_slow slow[STRAG_SLOW_MAX];
};

/** @return a state that points into the record */
static inline struct strag_state strag_state_of(const struct strag_state_record *record)
{
    return (struct strag_state){record->nslow, record->slow, record->nstragglers,
                                record->straggler};
}

/** Are both equal, in the same order? */
static inline bool strag_state_is_same(const struct strag_state_record *a,
                                       const struct strag_state_record *b)
{
    bool same = a->nstragglers == b->nstragglers && a->nslow == b->nslow;
    for (int i = 0; same && i < a->nstragglers; i++)
        same = a->straggler[i].rank == b->straggler[i].rank &&
               a->straggler[i].delay == b->straggler[i].delay;
    for (int i = 0; same && i < a->nslow; i++)
        same = a->slow[i].rank == b->slow[i].rank && a->slow[i].factor == b->slow[i].factor;
    return same;
}

/** Add a straggler; without room it replaces the one that arrives first, if it arrives later. */
static inline void strag_state_add_straggler(struct strag_state_record *record,
                                             struct strag_straggler straggler)
{
    for (int i = 0; i < record->nstragglers; i++) {
        const struct strag_straggler moved = record->straggler[i];
        if (straggler.delay <= moved.delay)
            continue;
        record->straggler[i] = straggler;
        straggler = moved;
    }
    if (record->nstragglers < STRAG_STRAGGLERS_MAX)
        record->straggler[record->nstragglers++] = straggler;
}

/** Add a slow rank, unless its factor is 1 or there is no room. */
static inline void strag_state_add_slow(struct strag_state_record *record, int rank, double factor)
{
    if (factor > 1 && record->nslow < STRAG_SLOW_MAX)
        record->slow[record->nslow++] = (struct strag_slow){rank, factor};
}

#endif
