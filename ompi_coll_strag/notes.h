/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What ranks tell each other while their calls are watched: a gather of notes to rank 0, and a
 * barrier. Both go on while the program does something else, as MPI_Igather and MPI_Ibarrier would.
 * Those get their tags from a counter, which MPI_Comm_idup moves on in its progress, at another
 * point of each rank's program; a program that makes no nonblocking calls of its own is right to
 * expect that its blocking ones do not mind. So these have a tag of their own, and match in order:
 * all ranks begin the same ones in the same order.
 *
 * A rank on which the communicator has failed does its part no more. The others are told so, and
 * then they wait no longer.
 */
#ifndef COLL_STRAG_NOTES_H
#define COLL_STRAG_NOTES_H

#include "failure.h"

struct coll_strag_notes;

/** One rank's part. @param failure  as in struct coll_strag_watch_options
 * @return NULL: out of memory */
struct coll_strag_notes *coll_strag_notes_create(ompi_communicator_t *comm,
                                                 const struct coll_strag_failure *failure);

/** What is still under way keeps its memory. NULL is allowed.
 * @return false: this rank's notes are under way, too, and must stay where they are */
bool coll_strag_notes_free(struct coll_strag_notes *notes);

/* ---- Notes ---- */

/**
 * Begin to gather, once the last gather is over.
 *
 * @param own  [bytes]: this rank's, as many on all ranks; must stay until it is over
 * @param all  on rank 0: [rank], each `bytes`; elsewhere it is not used
 * @return OMPI_SUCCESS, or an error of MPI's
 */
int coll_strag_notes_gather(struct coll_strag_notes *notes, const void *own, size_t bytes,
                            void *all);

/** Wait until the gather is over, if there is one: on rank 0 for all ranks, elsewhere for this
 * rank's message. @return OMPI_SUCCESS, or an error of MPI's */
int coll_strag_notes_wait(struct coll_strag_notes *notes);

/** The same without waiting: has one of its messages failed? */
int coll_strag_notes_look(struct coll_strag_notes *notes);

/* ---- The barrier ---- */

/** Begin one, once the last one is over. */
void coll_strag_notes_begin_barrier(struct coll_strag_notes *notes);

/** Was one begun, and has not been waited for? */
bool coll_strag_notes_has_barrier(const struct coll_strag_notes *notes);

/** Wait until it is over. @param[out] seconds  when this rank knew that all had begun it, as of
 * coll_strag_seconds @return OMPI_SUCCESS, or an error of MPI's */
int coll_strag_notes_end_barrier(struct coll_strag_notes *notes, double *seconds);

/** Wait until all is over, but for no longer than that: after an error other ranks may not do their
 * part. @return whether it is */
bool coll_strag_notes_end(struct coll_strag_notes *notes, double seconds);

#endif
