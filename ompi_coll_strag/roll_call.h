/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Do all ranks of a communicator have the same strag? The ranks that have it find out among
 * themselves: the others know nothing of the question, and call the previous component.
 */
#ifndef COLL_STRAG_ROLL_CALL_H
#define COLL_STRAG_ROLL_CALL_H

#include "decision.h"
#include "fingerprint.h"

/**
 * When a communicator is made: look at its rank 0. Nothing is sent.
 *
 * @param[out] first  rank 0's fingerprint, whose parameters hold on all ranks
 * @return false: rank 0 has another strag, or none; there is a warning
 */
bool coll_strag_roll_call_first(ompi_communicator_t *comm, struct coll_strag_fingerprint *first);

/**
 * Before anything else is sent: do all ranks have it? Warns if not, and if parameters vary.
 * Collective among those ranks that have it.
 *
 * @param[in,out] offer  what this rank has; then what all have alike, with rank 0's hosts
 * @param[out] all  the same on all of them
 * @return OMPI_SUCCESS, or an error of a message
 */
int coll_strag_roll_call(ompi_communicator_t *comm, const struct coll_strag_fingerprint *first,
                         struct coll_strag_offer *offer, bool *all);

#endif
