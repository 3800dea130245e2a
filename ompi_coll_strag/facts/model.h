/* SPDX-License-Identifier: BSD-3-Clause */
/* On rank 0: the numbers of a communicator's cost model, and the source of each. */
#ifndef COLL_STRAG_MODEL_H
#define COLL_STRAG_MODEL_H

#include "user/settings.h"

#include "machine/topology.h"
#include "model/numbers.h"

/**
 * A number that the user has set takes precedence over coll_strag_model's file, the file over a
 * number that this process has measured, and that over the default.
 *
 * @param topology   NULL if it is not known, or must not count
 * @param shared     messages within hosts go through shared memory
 * @param transport  enum coll_strag_transport_kind; COLL_STRAG_TRANSPORTS if it must not count
 */
struct strag_sourced_model coll_strag_make_model(const struct strag_topology *topology, bool shared,
                                                 int transport);

/* Numbers that this process has measured by a ping (ping.h) or learnt from calls (learn/fit.h), on
 * any communicator; later communicators begin with them. Plain data, sent from rank 0 to all. */
struct coll_strag_measured {
    double number[STRAG_MODEL_NUMBERS]; /* seconds or bytes per second; 0 if not measured */
};

/** The numbers of a model that were measured. */
struct coll_strag_measured coll_strag_measured_of(const struct strag_sourced_model *model);

/** Keep measured numbers for later communicators; the others stay as they are.
 * @param shared  messages within hosts go through shared memory */
void coll_strag_measured_keep(const struct coll_strag_measured *measured, bool shared);

#endif
