/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every rank's record to rank 0, when a communicator comes to its end: in MPI_Comm_free or
 * MPI_Finalize, which ranks call at different times, and for several communicators in another order
 * on each. So all that a rank has to send and to receive is posted before it waits for anything,
 * and nobody waits for ever; what is still in flight then is left to its messages.
 */
#ifndef COLL_STRAG_COLLECT_H
#define COLL_STRAG_COLLECT_H

#include "compat/compat.h"

/* Seconds to wait at most, in MPI_Finalize; and on rank 0 in MPI_Comm_free, where a rank that is to
 * come may wait for rank 0. */
#define COLL_STRAG_COLLECT_WAIT_LIMIT 60.0
#define COLL_STRAG_COLLECT_IN_FREE    9.0

/* Seconds after which rank 0 names those that are missing, on standard error. */
#define COLL_STRAG_COLLECT_SILENTLY 5.0

/* Seconds to wait on other ranks in MPI_Comm_free: rank 0 may be in that of another communicator,
 * and wait for this rank there, but a long message needs the progress of both. */
#define COLL_STRAG_COLLECT_BRIEFLY 1.0

struct coll_strag_collect {
    ompi_communicator_t *comm;
    int n;
    size_t room;               /* bytes of a record at most */
    char *records;             /* rank 0: [n * room]; else its own */
    ompi_request_t **requests; /* rank 0: [n], NULL: nothing is to come; else one */
    size_t *bytes;             /* rank 0: [n] of what has come; 0: nothing has */
};

/**
 * Post all messages. Ranks without strag send none.
 *
 * @param record  this rank's, to be freed here; NULL: out of memory, the others will miss it
 * @param bytes   of it
 * @param room    the same on all ranks, at least `bytes`
 */
void coll_strag_collect_begin(struct coll_strag_collect *collect, ompi_communicator_t *comm,
                              void *record, size_t bytes, size_t room);

/** Wait until they are done, or for at most `wait_limit` seconds. @return whether they are done */
bool coll_strag_collect_wait(struct coll_strag_collect *collect, double wait_limit);

/** On another rank than 0, in MPI_Comm_free: a message that is not done yet is left to Open MPI. */
void coll_strag_collect_leave(struct coll_strag_collect *collect);

/** On rank 0. @param[out] bytes  of it @return a rank's record; NULL: it has not come */
const void *coll_strag_collect_of(const struct coll_strag_collect *collect, int rank,
                                  size_t *bytes);

/** Afterwards. */
void coll_strag_collect_free(struct coll_strag_collect *collect);

#endif
