/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Up to 128 ranks: roll call, shared memory and decision in one exchange, a message up the tree and
 * one down for each rank but rank 0:
 *
 *     all ranks   do without messages what an origin allows, and find a place in their arenas
 *                 (setup_derive.h, setup_memory.h)
 *     all ranks   -- struct coll_strag_entry -->  rank 0
 *     rank 0      have all the same strag and the same origin? Then it decides
 *     rank 0      -- struct coll_strag_at_once -->  all ranks
 *
 * Over UCX, where more has to be exchanged before rank 0 can decide, and without an origin, it was
 * a roll call and no more: places are given back.
 */
#ifndef COLL_STRAG_SETUP_AT_ONCE_H
#define COLL_STRAG_SETUP_AT_ONCE_H

#include "setup_derive.h"

/* What rank 0 tells all, as it stands in memory. */
struct coll_strag_at_once {
    struct coll_strag_answer answer;
    struct coll_strag_decision decision;
    struct coll_strag_entry entries[]; /* [rank] */
};

/** What setup needs for it beside a struct setup. @return bytes; 0: too many ranks */
size_t coll_strag_setup_at_once_bytes(int n);

/** Begin it instead of the roll call, where setup->at_once is not NULL.
 * @param offer  this rank's; all 0: it has no origin */
void coll_strag_setup_show_all(struct setup *setup, const struct coll_strag_offer *offer);

/** All ranks have begun: rank 0 answers. Nothing if the roll call was held alone. */
coll_strag_setup_step coll_strag_setup_answer_all;

/** It is over: setup->roll_call has the answer. @return whether the rest follows in
 * COLL_STRAG_SETUP_AT_ONCE_STEPS; else this rank's place is given back, if it had one */
bool coll_strag_setup_is_decided(struct setup *setup);

/* All is known: use it. */
#define COLL_STRAG_SETUP_AT_ONCE_STEPS                                                             \
    coll_strag_setup_take_all, coll_strag_setup_take_given, coll_strag_setup_end_derive,           \
        COLL_STRAG_SETUP_CONCLUDE_STEPS

coll_strag_setup_step coll_strag_setup_take_all;

#endif
