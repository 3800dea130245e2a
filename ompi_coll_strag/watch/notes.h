/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What ranks tell each other while their calls are watched: samples of a window, merged up a tree
 * to rank 0, and a barrier, one at a time. They go on while the program does something else, as
 * exchanges with a tag of their own: the tags of MPI_Ireduce and MPI_Ibarrier come from a counter,
 * which MPI_Comm_idup moves on at another point of each rank's program.
 *
 * A rank on which the communicator has failed does its part no more. The others get a message about
 * that, and then they wait no longer. After an error nothing is begun any more.
 */
#ifndef COLL_STRAG_NOTES_H
#define COLL_STRAG_NOTES_H

#include "mpi/failure.h"

#include "detect/link_sample.h"
#include "detect/window.h"

/* A window, as some ranks have timed it: what is sent. Plain data. */
struct coll_strag_samples {
    struct strag_call_sample call[STRAG_WINDOW_CALLS];
    struct strag_link_sample links; /* of meters; empty if links are not watched */
};

struct coll_strag_notes;

/** One rank's part. @param failure  as in struct coll_strag_watch_options
 * @return NULL: out of memory */
struct coll_strag_notes *coll_strag_notes_create(const struct coll_strag_failure *failure);

/** What is still in flight keeps its memory. NULL is allowed. */
void coll_strag_notes_free(struct coll_strag_notes *notes);

/** Begin to merge. @param own  this rank's; copied */
void coll_strag_notes_merge(struct coll_strag_notes *notes, const struct coll_strag_samples *own);

/** Begin a barrier. */
void coll_strag_notes_barrier(struct coll_strag_notes *notes);

/** Wait until this rank's part is done. @param[out] seconds  when it was, as of coll_strag_seconds:
 * of a barrier, when this rank knew that all had begun it; or NULL
 * @return OMPI_SUCCESS, or the first error of MPI's */
int coll_strag_notes_wait(struct coll_strag_notes *notes, double *seconds);

/** The same without waiting: has one of its messages failed? */
int coll_strag_notes_check(const struct coll_strag_notes *notes);

/** On rank 0, after it has waited: all ranks' samples. */
const struct coll_strag_samples *coll_strag_notes_merged(const struct coll_strag_notes *notes);

/** Wait until nothing is in flight, but for no longer than that: after an error other ranks may not
 * do their part. @return whether nothing is */
bool coll_strag_notes_end(struct coll_strag_notes *notes, double seconds);

#endif
