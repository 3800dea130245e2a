/* SPDX-License-Identifier: BSD-3-Clause */
/* A process's place and settings, which it sends to rank 0 of each communicator; and on rank 0, the
 * topology and the segments that follow from those of all ranks. */
#ifndef COLL_STRAG_RANK_INFO_H
#define COLL_STRAG_RANK_INFO_H

#include "decision.h"

/** Find out where this process is, once; nothing is sent. */
void coll_strag_rank_info_prepare(void);

/** This rank's message to rank 0. @param pinned  as in struct coll_strag_decision */
struct coll_strag_rank_info coll_strag_rank_info(ompi_communicator_t *comm, int pinned);

/** On rank 0: the topology of a communicator, from coll_strag_layout, coll_strag_torus or the
 * hosts' own addresses (machine/job.h). Warns if one of the first two cannot be used.
 * @param ranks  [n] @return the caller's to free; NULL if out of memory */
struct strag_topology *coll_strag_make_topology(ompi_communicator_t *comm,
                                                const struct strag_rank_location *ranks);

/** Warn if a rank pins another algorithm than rank 0. (Fingerprints have compared parameters, but
 * not info keys.) @param ranks  [n] */
void coll_strag_rank_info_compare(const struct coll_strag_rank_info *ranks, int n);

/** On rank 0: the length of segments, as configured by the user, or else the shortest that is best
 * for a rank. @param ranks  [n]
 * @param[out] segments  bytes, by enum coll_strag_transport_kind, and lane */
void coll_strag_least_segments(const struct coll_strag_rank_info *ranks, int n,
                               uint64_t segments[][STRAG_LANES]);

#endif
