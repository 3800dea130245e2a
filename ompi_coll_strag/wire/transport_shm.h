/* SPDX-License-Identifier: BSD-3-Clause */
/* Sharing memory among the ranks of a host: gives shm/shm.h the functions of Open MPI it needs. */
#ifndef COLL_STRAG_TRANSPORT_SHM_H
#define COLL_STRAG_TRANSPORT_SHM_H

#include "mpi/reducer.h"

#include "shm/shm.h"

/** Create a communicator's shared memory transport, with a place in this process's arena.
 * @param lane_of    [rank]; NULL if this rank is out of memory
 * @param[out] info  for the other ranks; its note says why this rank has no place (enum
 *                   strag_shm_reason)
 * @return to be freed with coll_strag_shared_memory_free; NULL if out of memory */
struct strag_shm *coll_strag_shared_memory_create(ompi_communicator_t *comm, const uint8_t *lane_of,
                                                  struct strag_shm_info *info);

/** Before strag_shm_join, which needs a place on every rank. @param infos  [n]: of all ranks
 * @return the first rank that has no place; n if all have one */
int coll_strag_shared_memory_lacking(const struct strag_shm_info *infos, int n);

/** Prepare for a call. @param size  bytes of data in an element
 * @return NULL if an element does not fit into a message */
struct strag_transport *coll_strag_shared_memory_begin(struct strag_shm *shm,
                                                       const struct coll_strag_reducer *reducer,
                                                       size_t size);

/** `shm` may be NULL. */
void coll_strag_shared_memory_free(struct strag_shm *shm);

/** At the end, when no communicator is left: free what the process shares. */
void coll_strag_shared_memory_close(void);

#endif
