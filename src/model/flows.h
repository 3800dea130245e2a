/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages that share links: the rate of each while others start and end.
 *
 * The rates are always max-min fair: all are raised together until a link is full; then the rates
 * of the messages on it stay, the others are raised further, and so on. A message that starts or
 * ends changes the rates of those that share a link with it, of those that share a link with these,
 * and so on. Only they are examined.
 */
#ifndef STRAG_FLOWS_H
#define STRAG_FLOWS_H

#include "model/network.h"

struct strag_flows;

/**
 * @param links  must outlive the flows
 * @return NULL when out of memory
 */
struct strag_flows *strag_flows_create(struct strag_links *links);

/** NULL is allowed. */
void strag_flows_free(struct strag_flows *flows);

/**
 * Start a flow.
 *
 * @param now    seconds; never less than before
 * @param from   a rank, `to` another one; the route is that of network.h
 * @param bytes  how many
 * @param tag    returned by strag_flows_end
 * @return STRAG_OK or STRAG_ERR_MEMORY
 */
int strag_flows_start(struct strag_flows *flows, double now, int from, int to, double bytes,
                      int tag);

/** Start a flow that loads no link and ends at `end`: an event with a known time. */
int strag_flows_wait(struct strag_flows *flows, double end, int tag);

/** When does the next flow end? INFINITY if none is in flight. */
double strag_flows_next(struct strag_flows *flows);

/**
 * Remove a flow that ends at `now`, up to rounding; now >= strag_flows_next.
 *
 * @return its tag, or -1 if there is none
 */
int strag_flows_end(struct strag_flows *flows, double now);

#endif
