/* SPDX-License-Identifier: BSD-3-Clause */
/* How long the segments are that messages are cut into. */
#ifndef COLL_STRAG_SEGMENTS_H
#define COLL_STRAG_SEGMENTS_H

#include "decision.h"

/** How long segments are best for what this rank sends. @param[out] segments  bytes, by lane */
void coll_strag_find_segments(ompi_communicator_t *comm, uint64_t *segments);

/** On rank 0: what the user wants, or what suits all ranks. @param ranks  [n]
 * @param[out] segments  bytes, by enum coll_strag_transport_kind, and lane */
void coll_strag_least_segments(const struct coll_strag_rank_info *ranks, int n,
                               uint64_t segments[][STRAG_LANES]);

#endif
