/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Puts the times at which all ranks were in their calls on one clock.
 *
 * Processes of a host read the same clock; hosts' clocks differ, and drift. But no rank leaves an
 * allreduce before the last one has arrived, and all leave at about the same time. So the times at
 * which rank 0 and a rank of another host left the same calls, by their own clocks, show the
 * clocks' difference: the median over several calls in a row, and between two such medians a linear
 * interpolation. Two errors remain: how much later one rank usually leaves than the other, which is
 * less than a call takes from the last arrival on; and whatever a clock does within these calls
 * besides drifting.
 */
#ifndef STRAG_CLOCKS_H
#define STRAG_CLOCKS_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

/* A call of a rank, in seconds of the rank's clock. */
struct strag_stay {
    double begin, end;
};

/* The stays that a rank has kept: of its first call, and of every `every`-th from there on. */
struct strag_stays {
    const struct strag_stay *stays; /* [kept]; NULL if not known */
    int kept;
    uint64_t every; /* a power of 2 */
    uint64_t clock; /* ranks with the same number read the same clock */
    double seconds; /* in all calls, kept or not */
};

/* The calls that all ranks with known stays have kept. */
struct strag_common {
    int ranks;      /* whose stays are known */
    int calls;      /* 0 with fewer than two ranks */
    uint64_t every; /* the calls are 0, every, 2 every, ... */
};

static inline bool strag_stays_known(const struct strag_stays *rank)
{
    return rank->stays && rank->kept > 0;
}

/** @param ranks  [n] */
struct strag_common strag_common_find(const struct strag_stays *ranks, int n);

/** @param call  below common->calls; the rank's stays must be known */
static inline const struct strag_stay *strag_common_stay(const struct strag_common *common,
                                                         const struct strag_stays *rank, int call)
{
    return &rank->stays[(uint64_t)call * (common->every / rank->every)];
}

struct strag_clocks;

/**
 * @param ranks  [n]
 * @param[out] clocks  the caller's to free; untouched on failure
 * @return STRAG_OK or STRAG_ERR_MEMORY
 */
int strag_clocks_find(const struct strag_stays *ranks, int n, const struct strag_common *common,
                      struct strag_clocks **clocks);

/** NULL is allowed. */
void strag_clocks_free(struct strag_clocks *clocks);

/** Convert a time by a rank's clock to the clock of the first rank whose stays are known. */
double strag_clocks_shift(const struct strag_clocks *clocks, int rank, double time);

#endif
