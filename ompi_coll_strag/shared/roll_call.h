/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Do all ranks of a communicator have the same strag? The ranks that have it find out among
 * themselves: the others know nothing of the question, and call the previous component.
 */
#ifndef COLL_STRAG_ROLL_CALL_H
#define COLL_STRAG_ROLL_CALL_H

#include "facts/decision.h"
#include "facts/fingerprint.h"

#include "run/exchange.h"

/**
 * When a communicator is made: compare this rank with its rank 0. Nothing is sent.
 *
 * @param[out] first  rank 0's fingerprint, whose parameters hold on all ranks
 * @return false if rank 0 has another strag, or none; there is a warning
 */
bool coll_strag_roll_call_first(ompi_communicator_t *comm, struct coll_strag_fingerprint *first);

/* This rank's answer, then that of all ranks: plain data. */
struct coll_strag_answer {
    struct coll_strag_presence presence;
    struct coll_strag_offer offer;
};

/**
 * Begin the roll call, before anything else is sent. Collective among the ranks that have strag.
 * Rank 0, or the topmost rank of a part of the tree that is cut off, then hears the ranks below it,
 * makes the answer from their entries, and spreads it (strag_exchange_spread) with whatever else it
 * has to send.
 *
 * @param answer    this rank's: its offer, if it has an origin; all else is 0
 * @param exchange  the roll call is begun in it
 * @param entries   [rank]: this rank's entry has its info, if any; all else is 0
 */
void coll_strag_roll_call_begin(struct coll_strag_answer *answer, struct strag_exchange *exchange,
                                ompi_communicator_t *comm,
                                const struct coll_strag_fingerprint *first,
                                struct coll_strag_entry *entries);

/** Once it is done: add the entries of `count` ranks, this one and those below it, to the answer.
 * @param entries  from this rank's on */
void coll_strag_roll_call_add(struct coll_strag_answer *answer,
                              const struct coll_strag_entry *entries, int count);

/** Evaluate the answer, whose offer is now that of all ranks, with rank 0's hosts. Warns if not all
 * ranks have strag, and if parameters vary. @return whether all have it; the same on all that do */
bool coll_strag_roll_call_end(ompi_communicator_t *comm, const struct coll_strag_fingerprint *first,
                              const struct coll_strag_answer *answer);

#endif
