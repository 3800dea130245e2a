/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Communicators that this process has freed. Another rank may wait in a later call of one, and is
 * answered that this rank makes no more calls. The last 64 are known, by their numbers. Since Open
 * MPI uses these again, an answer counts only when it is repeated (stuck.c).
 *
 * One thread at a time may call this, as in news.h.
 */
#ifndef COLL_STRAG_STUCK_FREED_H
#define COLL_STRAG_STUCK_FREED_H

#include "news.h"

/** A communicator is freed. @param self  this rank, in its last call */
void coll_strag_freed_note(ompi_communicator_t *comm, const struct strag_roster_entry *self);

/** Answer a message about a communicator that is not here, if its sender waits in a call and the
 * communicator is one of the last that were freed. */
void coll_strag_freed_answer(const struct coll_strag_stuck_received *received);

#endif
