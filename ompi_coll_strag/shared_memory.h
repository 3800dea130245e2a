/* SPDX-License-Identifier: BSD-3-Clause */
/* Sharing memory among the ranks of a host: what run/shared_memory.h needs of Open MPI. */
#ifndef COLL_STRAG_SHARED_MEMORY_H
#define COLL_STRAG_SHARED_MEMORY_H

#include "previous.h"
#include "reducer.h"

#include "run/shared_memory.h"

/**
 * Let messages within a host go through shared memory, if that is possible on all ranks.
 * Collective.
 *
 * @param lane_of   [rank]; ranks with `lane` are on this host; NULL: this rank is out of memory
 * @param wanted    warn if it is not possible
 * @param[out] shm  to be freed with coll_strag_shared_memory_free; NULL on all ranks, or on none
 * @return OMPI_SUCCESS, or an error of a message
 */
int coll_strag_shared_memory_connect(ompi_communicator_t *comm,
                                     const struct coll_strag_previous *previous,
                                     const uint8_t *lane_of, uint8_t lane, bool wanted,
                                     struct strag_shm **shm);

/**
 * The same for ranks that have opened each other's arenas before, and hold them
 * (strag_shm_hold): in one exchange.
 *
 * @param[in,out] stop  this rank wants something else; then whether any does, or cannot share
 *                      memory: the same on all ranks, and *shm is NULL then
 */
int coll_strag_shared_memory_reconnect(ompi_communicator_t *comm,
                                       const struct coll_strag_previous *previous,
                                       const uint8_t *lane_of, uint8_t lane, bool *stop,
                                       struct strag_shm **shm);

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
