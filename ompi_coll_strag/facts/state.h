/* SPDX-License-Identifier: BSD-3-Clause */
/* On rank 0: known stragglers and slow links, and whether calls are watched for others. */
#ifndef COLL_STRAG_STATE_H
#define COLL_STRAG_STATE_H

#include "decision.h"

/** The straggler and the slow links that the user names. If the user names no links: those that the
 * system reports to be slower than others.
 * @param ranks     [n]
 * @param topology  NULL if reported speeds do not count */
void coll_strag_read_state(ompi_communicator_t *comm, const struct strag_rank_location *ranks,
                           const struct strag_topology *topology, struct strag_state_record *state);

/** Decide whether and how calls are watched. @param pinned  one algorithm runs all calls */
void coll_strag_decide_watching(ompi_communicator_t *comm, bool pinned,
                                const struct strag_topology *topology,
                                struct coll_strag_decision *decision);

#endif
