/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What all candidates of a problem are priced on, made once for them: the links, room for what
 * these carry, and the ranks that are looked at where there are too many for all of them.
 */
#ifndef STRAG_PLATFORM_H
#define STRAG_PLATFORM_H

#include "model/network.h"
#include "model/sample.h"

/* What a link carries. */
struct strag_load {
    double busy;      /* seconds in the round at hand, per byte of the vector */
    double total;     /* bytes in all rounds, per byte of the vector */
    uint32_t round;   /* that `busy` belongs to */
    uint32_t traffic; /* that `total` belongs to */
};

struct strag_platform {
    struct strag_links *links;
    struct strag_load *load;  /* [link], if it stands for itself; behind them a sample's classes */
    uint32_t rounds;          /* looked at so far, for all candidates */
    uint32_t traffics;        /* candidates so far */
    struct strag_units units; /* what samples are made of; made when it is first asked for */
    struct strag_sample sample;
};

/**
 * @param problem    of which the blocks do not matter
 * @param[out] platform  the caller's to free with strag_platform_free; untouched on failure
 * @return STRAG_OK, or as strag_links_of
 */
int strag_platform_create(const struct strag_problem *problem, const struct strag_model *model,
                          struct strag_platform **platform, struct strag_error *err);

/**
 * The ranks to look at, about so many; valid until the next call.
 *
 * @return NULL: out of memory
 */
const struct strag_sample *strag_platform_sample(struct strag_platform *platform,
                                                 const struct strag_problem *problem, int ranks);

/** Seconds per byte of a link, or of a sample's class. */
static inline double strag_platform_pace(const struct strag_platform *platform, int link)
{
    int nlinks = platform->links->nlinks;
    return link < nlinks ? 1 / platform->links->bandwidth[link]
                         : platform->sample.pace[link - nlinks];
}

/** NULL is allowed. */
void strag_platform_free(struct strag_platform *platform);

#endif
