/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lower bounds on the time of any allreduce when links are slow.
 *
 * Theorems are those of P. Chen et al., "Don't let a few network failures slow the entire
 * allreduce" (section 3 and appendix B). Their unit of time is the vector's time over one fast
 * link. In the paper g ranks of a host have a fast link each, and theorems 3 and 13 divide by g.
 * Here all ranks of a host share one link, so these become theorems 1 and 6, of hosts.
 *
 * Theorems 6 and 13 hold if a link carries one flow at a time: while a fast host talks to the slow
 * one, its link can do nothing else. If flows share a link, only theorems 1, 2 and 3 hold, and a
 * plan may be faster than theorem 6.
 */
#ifndef STRAG_LOWER_BOUNDS_H
#define STRAG_LOWER_BOUNDS_H

#include "model/model.h"
#include "plan/algorithm.h"

/** Theorem 6, and 13 with hosts as servers: one of `hosts` (at least 2) is `factor` times slower,
 * and a link carries one flow at a time. */
double strag_bound_one_flow(int hosts, double factor);

/* The bounds of a problem, in seconds per byte of the vector; 0 if none is known. */
struct strag_lower_bound {
    double latency;     /* seconds: of one message between hosts, before the first byte is there */
    double shared;      /* theorem 2 with the rates of all hosts */
    double one_flow;    /* theorem 6 or 13 if one host is slow; else the same as `shared` */
    double delay, late; /* the last straggler's delay in seconds, and the time per byte of the
                           slowest uplink after it: each uplink carries the straggler's vector or a
                           sum with it, or the result */
};

/**
 * The bounds for the hosts of a problem, from their links' rates in the model: on a grid, those of
 * all links of a host together, or its injection rate. For two hosts or more. Switches, routes and
 * links within hosts are not counted.
 *
 * @return STRAG_OK, STRAG_ERR_MEMORY, or as strag_links_create
 */
int strag_lower_bound(const struct strag_problem *problem, const struct strag_model *model,
                      struct strag_lower_bound *bound, struct strag_error *err);

/** Seconds from the first rank's arrival for a vector of `bytes` bytes; 0 if unknown.
 * @param[out] delay  seconds of these until the last straggler arrives if the bound is what it then
 *                    has to send or to receive, else 0; may be NULL */
double strag_lower_bound_seconds(const struct strag_lower_bound *bound, double bytes,
                                 double *delay);

#endif
