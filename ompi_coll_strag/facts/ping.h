/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How fast the network is, before anything ran on it: rank 0 and a rank on another host exchange a
 * few messages. After 2 ms no exchange is begun but for a first one, and all together send less
 * than 1 MiB. The result is only a start: a shaper lets some bytes pass at once, TCP begins slowly,
 * and the network may have other links. Calls say more (learn/fit.h).
 */
#ifndef COLL_STRAG_PING_H
#define COLL_STRAG_PING_H

#include "mpi/failure.h"

#include "model/numbers.h"

/**
 * On rank 0 and its peer, over the PML.
 *
 * @param failure     the communicator's
 * @param peer        of another host than rank 0's
 * @param[in,out] number  [STRAG_MODEL_NUMBERS]: alpha, overhead, and perhaps bandwidth are set on
 *                        rank 0, in seconds and bytes per second
 * @return OMPI_SUCCESS, or an error: of the PML's, or that the communicator has failed
 */
int coll_strag_ping(const struct coll_strag_failure *failure, int peer, double number[]);

#endif
