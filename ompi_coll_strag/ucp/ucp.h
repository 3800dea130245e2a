/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The engine's transport over UCX. On a build without UCX there is none (none.c).
 *
 *     process.c     the library, this process's worker, the way to its peers
 *     connect.c     a communicator's ranks exchange how they are reached
 *     messages.c    the engine's messages
 *     internal.h    what these share
 */
#ifndef COLL_STRAG_UCP_H
#define COLL_STRAG_UCP_H

#include "../previous.h"
#include "../transport.h"

/**
 * Let a communicator's messages go over UCX; or over the PML, if that is not possible on any rank.
 * Collective.
 *
 * @param able            false: this rank is out of memory
 * @param[out] transport  to be freed with coll_strag_ucp_free; NULL on all ranks, or on none
 * @return OMPI_SUCCESS, or an error of a message
 */
int coll_strag_ucp_connect(ompi_communicator_t *comm, const struct coll_strag_previous *previous,
                           bool able, struct coll_strag_transport **transport);

/** NULL is allowed. */
void coll_strag_ucp_free(struct coll_strag_transport *transport);

/** At the end: leave all peers, and close the library. */
void coll_strag_ucp_close(void);

/** Does UCX carry messages from and to a CUDA device's memory? Opens UCX. */
bool coll_strag_ucp_takes_device(void);

#endif
