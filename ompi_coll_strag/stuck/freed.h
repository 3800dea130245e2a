/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Communicators that this process has freed: another rank may wait in a later call of one, and gets
 * the answer that this rank makes no more. The last 64 are known, by their numbers, which Open MPI
 * uses again: so an answer counts only if a second one says the same (stuck.c).
 *
 * By one thread at a time, as in news.h.
 */
#ifndef COLL_STRAG_STUCK_FREED_H
#define COLL_STRAG_STUCK_FREED_H

#include "news.h"

/** It is freed. @param self  this rank, in its last call */
void coll_strag_freed_note(ompi_communicator_t *comm, const struct strag_roster_entry *self);

/** A message has come about a communicator that is not here: answer it, if a rank waits in a call
 * of one that is known. */
void coll_strag_freed_answer(const struct coll_strag_stuck_received *received);

#endif
