/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The messages of watched calls: a merge of a window's samples up a tree to rank 0, and a barrier,
 * one at a time. They make progress while the program does something else. They are exchanges with
 * a tag of their own: the tags of MPI_Ireduce and MPI_Ibarrier come from a counter, which
 * MPI_Comm_idup advances at a different point of each rank's program.
 *
 * A rank on which the communicator has failed takes no further part. It sends the others a message,
 * upon which they stop waiting. After an error neither a merge nor a barrier begins.
 */
#ifndef COLL_STRAG_NOTES_H
#define COLL_STRAG_NOTES_H

#include "mpi/queue.h"
#include "wire/exchange.h"

#include "detect/link_sample.h"
#include "detect/window.h"

/* A window, as some ranks have timed it. Plain data, sent as it is. */
struct coll_strag_samples {
    struct strag_call_sample call[STRAG_WINDOW_CALLS];
    struct strag_link_sample links; /* the meters' rates; empty if links are not watched */
};

struct coll_strag_notes {
    struct coll_strag_queue queue;
    struct coll_strag_job job; /* the pending merge or barrier */
    struct coll_strag_exchange exchange;
    struct coll_strag_samples samples; /* this rank's, later with those of its subtree merged in: on
                                          rank 0 in the end all ranks' */
    int code;                          /* the first error */
    bool left;      /* never freed: after an error, messages that use it could not be stopped */
    double seconds; /* when the last merge or barrier was done, by coll_strag_seconds; after a
                       barrier, when this rank knew that all had begun it */
};

/** Create one rank's part. @param failure  as in struct coll_strag_watch_options
 * @return NULL if out of memory */
struct coll_strag_notes *coll_strag_notes_create(const struct coll_strag_failure *failure);

/** If a message is in flight, its memory is freed when it completes. `notes` may be NULL. */
void coll_strag_notes_free(struct coll_strag_notes *notes);

/** Begin to merge. @param own  this rank's samples; copied */
void coll_strag_notes_merge(struct coll_strag_notes *notes, const struct coll_strag_samples *own);

/** Begin a barrier. */
void coll_strag_notes_barrier(struct coll_strag_notes *notes);

/** Wait until this rank's part is done. @return OMPI_SUCCESS, or the first error from MPI */
int coll_strag_notes_wait(struct coll_strag_notes *notes);

/** Wait until nothing is in flight, but for at most `seconds`: after an error other ranks may not
 * do their part. @return whether nothing is in flight */
bool coll_strag_notes_end(struct coll_strag_notes *notes, double seconds);

#endif
