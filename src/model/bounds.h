/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What no allreduce can beat where links are slow, and what others reach.
 *
 * Theorems are those of P. Chen et al., "Don't let a few network failures slow the entire
 * allreduce" (section 3 and appendix B). Their unit of time is what the vector takes over one fast
 * link. There g ranks of a host have a fast link each and theorems 3 and 13 divide by g; here all
 * ranks of a host share one, so that they become theorems 1 and 6 with hosts in the place of ranks.
 *
 * Theorems 6 and 13 hold where a link carries one flow at a time: while a fast host talks to the
 * slow one, its link can do nothing else. Links that share their bandwidth are bound by theorems 1,
 * 2 and 3 only, and a plan may be faster than theorem 6.
 */
#ifndef STRAG_LOWER_BOUNDS_H
#define STRAG_LOWER_BOUNDS_H

#include "model/model.h"
#include "plan/algorithm.h"

/** Theorem 6, and 13 with hosts for servers: one of `hosts` (2 at least) is `factor` times slower,
 * one flow at a time on a link. */
double strag_bound_one_flow(int hosts, double factor);

/* The bounds of a problem, in seconds per byte of the vector; 0: none is known. */
struct strag_lower_bound {
    double shared;      /* theorem 2 for the rates of all hosts */
    double one_flow;    /* theorem 6 or 13, where one host is slow; else the same as `shared` */
    double delay, late; /* the last straggler's delay in seconds; per byte, what the slowest uplink
                           takes from then on: over each of them goes the straggler's vector or sum
                           one way, or the result */
};

/**
 * The bounds for the hosts of a problem, from their links as the model has them: on a grid all
 * links of a host together, or what it injects. For two hosts and more; what switches, routes and
 * links within hosts add to it is not counted.
 *
 * @return STRAG_OK, STRAG_ERR_MEMORY, or what strag_links_create says
 */
int strag_lower_bound(const struct strag_problem *problem, const struct strag_model *model,
                      struct strag_lower_bound *bound, struct strag_error *err);

/** Seconds from the first rank's arrival for a vector of `bytes` bytes; 0: unknown. */
double strag_lower_bound_seconds(const struct strag_lower_bound *bound, double bytes);

#endif
