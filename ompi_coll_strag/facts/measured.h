/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What this process knows of the network's speed, measured by a ping (ping.h) or learnt from calls
 * (learn/fit.h), on whichever communicator: others begin with it.
 */
#ifndef COLL_STRAG_MEASURED_H
#define COLL_STRAG_MEASURED_H

#include "model/numbers.h"

/* Plain data, sent from rank 0 to all. */
struct coll_strag_measured {
    double number[STRAG_MODEL_NUMBERS]; /* seconds or bytes per second; 0: not measured */
};

/** Those numbers of a model that were measured. */
struct coll_strag_measured coll_strag_measured_of(const struct strag_sourced_model *model);

/** Keep them for later communicators; numbers that were not measured stay as they are.
 * @param shared  messages within hosts go through shared memory */
void coll_strag_measured_keep(const struct coll_strag_measured *measured, bool shared);

/** Put them into a model, where neither the user nor a file says otherwise. */
void coll_strag_measured_use(bool shared, struct strag_sourced_model *model);

#endif
