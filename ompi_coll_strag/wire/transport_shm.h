/* SPDX-License-Identifier: BSD-3-Clause */
/* Sharing memory among the ranks of a host: what shm/shm.h needs of Open MPI. */
#ifndef COLL_STRAG_TRANSPORT_SHM_H
#define COLL_STRAG_TRANSPORT_SHM_H

#include "mpi/reducer.h"

#include "shm/shm.h"

/** A communicator's part in what the process shares, and a place in its arena.
 * @param lane_of    [rank]; NULL: this rank is out of memory
 * @param[out] info  what the other ranks need of this one; its note: enum strag_shm_reason, why it
 *                   has no place
 * @return to be freed with coll_strag_shared_memory_free; NULL: out of memory */
struct strag_shm *coll_strag_shared_memory_create(ompi_communicator_t *comm, const uint8_t *lane_of,
                                                  struct strag_shm_info *info);

/** Before strag_shm_join, which all must be able to do. @param infos  [n]: of all ranks
 * @return the first rank that has no place; n: all have one */
int coll_strag_shared_memory_lacking(const struct strag_shm_info *infos, int n);

/** Get ready for a call. @param size  bytes of data in an element
 * @return NULL: its messages are too short for such an element */
struct strag_transport *coll_strag_shared_memory_begin(struct strag_shm *shm,
                                                       const struct coll_strag_reducer *reducer,
                                                       size_t size);

/** NULL is allowed. */
void coll_strag_shared_memory_free(struct strag_shm *shm);

/** No communicator is left. */
void coll_strag_shared_memory_close(void);

#endif
