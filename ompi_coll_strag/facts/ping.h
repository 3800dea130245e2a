/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measuring the network before the first call: rank 0 and a rank on another host exchange a few
 * messages, together less than 1 MiB. After 2 ms only the exchanges that ping.c lists begin.
 * The result is a first estimate: a shaper lets some bytes pass at once, TCP begins slowly, and the
 * network may have other links. Calls give better numbers (learn/fit.h).
 */
#ifndef COLL_STRAG_PING_H
#define COLL_STRAG_PING_H

#include "mpi/failure.h"

#include "model/numbers.h"

/**
 * Called on rank 0 and its peer; uses the PML.
 *
 * @param failure     the communicator's
 * @param peer        a rank on another host than rank 0's
 * @param[in,out] number  [STRAG_MODEL_NUMBERS]: on rank 0 alpha, overhead, and perhaps bandwidth
 *                        are set, in seconds and bytes per second
 * @return OMPI_SUCCESS, or an error of the PML or of a communicator that has failed
 */
int coll_strag_ping(const struct coll_strag_failure *failure, int peer, double number[]);

#endif
