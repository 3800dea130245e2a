/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Running a plan of short messages: one operation after another.
 *
 * Where memory is shared a short message is a copy, which is made when it is sent. Nothing needs to
 * be in flight then, and the pipeline's bookkeeping would take longer than the messages. So each
 * round's sends are made, and then its receives are waited for, in their order:
 *
 *     round 0                       round 1
 *     send ... send  recv ... recv  send ... send  recv ... recv
 *
 * That cannot hang if no send waits for a receive of its own round, and if there is room for all
 * that a rank sends to another in a call: each round's sends are made when the rounds before it
 * have ended, and so, round by round, everything arrives. Other plans are left to the pipeline,
 * such as those that send a block at a time to the same neighbour (ring) on many ranks. Each rank
 * decides for itself: the messages are the same, in the same order.
 */
#ifndef STRAG_IN_ORDER_H
#define STRAG_IN_ORDER_H

#include "run/engine.h"

struct strag_in_order;

/**
 * Look at a plan, which must outlive what is made.
 *
 * @param content  per operation: as in struct strag_transfer; must outlive it, too
 * @return what strag_in_order_suits takes; NULL when out of memory
 */
struct strag_in_order *strag_in_order_create(const struct strag_plan *plan, const int32_t *content);

/** NULL is allowed. */
void strag_in_order_free(struct strag_in_order *run);

/** Can this call be run in order, over this transport? */
bool strag_in_order_suits(const struct strag_in_order *run, const struct strag_call *call,
                          const struct strag_transport *transport);

/** Begin a call that suits; `call` and the transport must live until it has ended. */
void strag_in_order_start(struct strag_in_order *run, const struct strag_call *call,
                          struct strag_transport *transport);

/**
 * Run on until a message is not there, or has no room; then let the transport make progress.
 *
 * @return STRAG_PENDING: not finished; STRAG_OK: finished; or an error: nothing is in flight
 */
int strag_in_order_progress(struct strag_in_order *run);

#endif
