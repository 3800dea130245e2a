/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All ranks send their records to rank 0 when a communicator comes to its end: in MPI_Comm_free or
 * MPI_Finalize. Ranks call these at different times, and for several communicators in different
 * orders. So a rank posts all its sends and receives before it waits for any, and none waits for
 * ever. The memory of messages that are still in flight then is kept for them.
 */
#ifndef COLL_STRAG_COLLECT_H
#define COLL_STRAG_COLLECT_H

#include "compat/compat.h"

/* Seconds to wait at most, in MPI_Finalize; and on rank 0 in MPI_Comm_free, where the rank that it
 * waits for may itself wait for rank 0. */
#define COLL_STRAG_COLLECT_WAIT_LIMIT 60.0
#define COLL_STRAG_COLLECT_IN_FREE    9.0

/* Seconds after which rank 0 names the missing ranks, on standard error. */
#define COLL_STRAG_COLLECT_SILENTLY 5.0

/* Seconds for which other ranks wait in MPI_Comm_free: not long, since rank 0 may free another
 * communicator and wait for this rank there; but a long message needs the progress of both. */
#define COLL_STRAG_COLLECT_BRIEFLY 1.0

struct coll_strag_collect {
    ompi_communicator_t *comm;
    int n;
    size_t room;               /* bytes of a record at most */
    char *records;             /* rank 0: [n * room]; else its own */
    ompi_request_t **requests; /* rank 0: [n], NULL if nothing is to come; else one */
    size_t *bytes;             /* rank 0: [n], received; 0 if nothing was */
};

/**
 * Post all messages. Ranks without strag send none.
 *
 * @param record  this rank's, to be freed here; NULL if out of memory: then rank 0 gets none
 * @param bytes   of the record
 * @param room    the same on all ranks, at least `bytes`
 */
void coll_strag_collect_begin(struct coll_strag_collect *collect, ompi_communicator_t *comm,
                              void *record, size_t bytes, size_t room);

/** Wait until all messages are done, for `wait_limit` seconds at most. @return whether they are */
bool coll_strag_collect_wait(struct coll_strag_collect *collect, double wait_limit);

/** On ranks other than 0, in MPI_Comm_free: a message in flight is left to Open MPI. */
void coll_strag_collect_leave(struct coll_strag_collect *collect);

/** On rank 0. @param[out] bytes  of the record @return a rank's record; NULL if it has not come */
const void *coll_strag_collect_of(const struct coll_strag_collect *collect, int rank,
                                  size_t *bytes);

/** Free everything, except what messages in flight use. */
void coll_strag_collect_free(struct coll_strag_collect *collect);

#endif
