/* SPDX-License-Identifier: BSD-3-Clause */
/* Where this process is, and how it is set up: what it sends to rank 0 of each communicator. */
#ifndef COLL_STRAG_RANK_INFO_H
#define COLL_STRAG_RANK_INFO_H

#include "decision.h"

/** Find out where this process is, once; nothing is sent. */
void coll_strag_rank_info_prepare(void);

/** @param parameters  hash of what all ranks of the communicator need alike */
struct coll_strag_rank_info coll_strag_rank_info(ompi_communicator_t *comm, uint64_t parameters);

/** Warn if a rank's parameters differ from rank 0's. @param ranks  [n] */
void coll_strag_rank_info_compare(const struct coll_strag_rank_info *ranks, int n);

#endif
