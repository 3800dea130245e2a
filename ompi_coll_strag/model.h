/* SPDX-License-Identifier: BSD-3-Clause */
/* On rank 0: the numbers of a communicator's cost model, and where each of them is from. */
#ifndef COLL_STRAG_MODEL_H
#define COLL_STRAG_MODEL_H

#include "settings.h"

#include "machine/topology.h"
#include "model/numbers.h"

/**
 * What is known before anything is measured: what the user set goes before the defaults. What the
 * job measures is added by strag_model_set with STRAG_FROM_MEASURED, which leaves the user's be.
 *
 * @param topology  NULL: it is not known, or must not count
 * @param shared    messages within hosts go through shared memory
 */
struct strag_sourced_model coll_strag_make_model(const struct strag_topology *topology,
                                                 bool shared);

#endif
