/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The machine's state: stragglers and slow links.
 */
#ifndef STRAG_STATE_H
#define STRAG_STATE_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

/* A rank whose host's links to the network are `factor` times slower, all of them. */
struct strag_slow {
    int rank;
    double factor; /* at least 1; the larger one if a host is named twice */
};

/* A rank that arrives `delay` seconds after the others. */
struct strag_straggler {
    int rank;
    double delay;
};

/* Differences from an ideal machine. All zero: none. */
struct strag_state {
    int nslow;
    const struct strag_slow *slow;
    int nstragglers;
    const struct strag_straggler *straggler;
};

/** Do its ranks exist, of n of them, and are its factors numbers from 1 on? @param state  NULL:
 * nothing differs @return STRAG_OK, or STRAG_ERR_ARGUMENT with the reason */
int strag_state_check(const struct strag_state *state, int n, struct strag_error *err);

/** The largest delay; 0: no rank is late. @param state  NULL: nothing differs */
static inline double strag_state_delay(const struct strag_state *state)
{
    double delay = 0;
    for (int i = 0; state && i < state->nstragglers; i++)
        delay = state->straggler[i].delay > delay ? state->straggler[i].delay : delay;
    return delay;
}

enum { STRAG_SLOW_MAX = 64, STRAG_STRAGGLERS_MAX = 3 };

/* The same without pointers, as rank 0 sends it: the last stragglers to arrive, and a rank for each
 * slow host. */
struct strag_state_record {
    int32_t nstragglers, nslow;
    struct strag_straggler straggler[STRAG_STRAGGLERS_MAX]; /* the last to arrive first */
    struct strag_slow slow[STRAG_SLOW_MAX];
};

/** @return it points into the record */
static inline struct strag_state strag_state_of(const struct strag_state_record *record)
{
    return (struct strag_state){record->nslow, record->slow, record->nstragglers,
                                record->straggler};
}

/** Do both say the same, in the same order? */
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

/** One more straggler; where there is no room in the place of the one that arrives first. */
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

/** One more slow rank; none by a factor of 1, or where there is no room. */
static inline void strag_state_add_slow(struct strag_state_record *record, int rank, double factor)
{
    if (factor > 1 && record->nslow < STRAG_SLOW_MAX)
        record->slow[record->nslow++] = (struct strag_slow){rank, factor};
}

#endif
