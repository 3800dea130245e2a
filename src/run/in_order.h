/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Running a plan of short messages: one operation after another.
 *
 * In shared memory a short message is a copy, which is made when it is sent. No message needs to be
 * in flight then, and the pipeline's bookkeeping would take longer than the messages. So in each
 * round a rank makes its sends, and then waits for its receives, in their order:
 *
 *     round 0                       round 1
 *     send ... send  recv ... recv  send ... send  recv ... recv
 *
 * That cannot hang if no send waits for a receive of its own round, and if there is room for all
 * messages that a rank sends to another in a call: each round's sends are made when the rounds
 * before it have ended, so everything arrives, round by round. The pipeline runs other plans, such
 * as those that send a block at a time to the same neighbour (ring) on many ranks. Each rank may
 * choose for itself: the messages are the same, in the same order.
 */
#ifndef STRAG_IN_ORDER_H
#define STRAG_IN_ORDER_H

#include "run/engine.h"

struct strag_in_order;

/**
 * Prepare to run a plan. The plan must outlive the result.
 *
 * @param content  per operation: as in struct strag_transfer; must outlive the result, too
 * @return NULL if out of memory
 */
struct strag_in_order *strag_in_order_create(const struct strag_plan *plan, const int32_t *content);

/** `run` may be NULL. */
void strag_in_order_free(struct strag_in_order *run);

/** Can this call be run in order, over this transport? */
bool strag_in_order_suits(const struct strag_in_order *run, const struct strag_call *call,
                          const struct strag_transport *transport);

/** Begin a call that suits; `call` and the transport must live until it has ended. */
void strag_in_order_start(struct strag_in_order *run, const struct strag_call *call,
                          struct strag_transport *transport);

/**
 * Run until a message has not come, or has no room; then let the transport make progress.
 *
 * @return STRAG_PENDING; STRAG_OK when finished; or an error, and nothing is in flight
 */
int strag_in_order_progress(struct strag_in_order *run);

#endif
