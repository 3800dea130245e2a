/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * strag-tune --model: the numbers of the cost model, measured on the job's own hosts, as a model
 * file (src/model/model_file.h).
 *
 *     alpha, bandwidth          pings between the first ranks of up to four pairs of hosts: half of
 *                               a short one's time, and the slope between two long ones, so that
 *                               data that a link passes at once (a shaper's burst, a socket's
 *                               buffer) does not count
 *     overhead                  a short ping with 15 more short messages on the way there: the
 *                               additional time, for each end of each message
 *     local-alpha,              allreduces of two ranks of a host by recursive-doubling: one
 *     local-bandwidth           message each way and one reduction, over whatever strag uses there
 *     reduce-bandwidth          MPI_Reduce_local
 *
 * Each number is a median. Measuring takes about a second, on links of 10 Mbit/s about ten. Ranks
 * that have nothing to do sleep.
 */
#ifndef STRAG_TUNE_MODEL_H
#define STRAG_TUNE_MODEL_H

#include "model/model_file.h"

#include <mpi.h>

/* Where the ranks are. Hosts are distinguished by their names, as coll/strag does. */
struct tune_places {
    int *leader; /* [host]: its first rank; the caller's to free */
    int hosts, ranks;
    int ranks_per_host; /* 0 if not all are equal */
    int neighbour[2];   /* two ranks of one host, or -1 if no host has two */
};

/** Find them. Collective over a communicator of all ranks. */
struct tune_places tune_find_places(MPI_Comm comm);

/**
 * Measure. Collective over MPI_COMM_WORLD, which has two ranks or more.
 *
 * @param sync   a communicator of all ranks without strag, for calls that are not measured
 * @param entry  the same on all ranks; numbers that cannot be measured here (between hosts, if
 *               there is only one) stay below 0
 */
void tune_model_measure(MPI_Comm sync, struct strag_model_entry *entry);

#endif
