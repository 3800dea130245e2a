/* SPDX-License-Identifier: BSD-3-Clause */
/* On rank 0: which stragglers and slow links are known, and whether calls are watched for others.
 */
#ifndef COLL_STRAG_STATE_H
#define COLL_STRAG_STATE_H

#include "decision.h"

/** The straggler and the slow links that the user names, or else what the system reports of links.
 * @param ranks     [n]
 * @param topology  NULL: nothing that is reported counts */
void coll_strag_read_state(ompi_communicator_t *comm, const struct strag_rank_location *ranks,
                           const struct strag_topology *topology, struct strag_state_record *state);

/** Are calls to be watched, and how? @param pinned  one algorithm runs everything */
void coll_strag_decide_watching(ompi_communicator_t *comm, bool pinned,
                                const struct strag_topology *topology,
                                struct coll_strag_decision *decision);

#endif
