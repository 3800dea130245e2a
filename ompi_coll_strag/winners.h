/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * On rank 0: what trials have found (watch/trials.h), for communicators that begin later on an
 * equal machine: dups, and splits whose hosts are alike. They run it from the end of their first
 * window on, and try nothing again.
 */
#ifndef COLL_STRAG_WINNERS_H
#define COLL_STRAG_WINNERS_H

#include "table.h"

#include "watch/learn.h"

/** Keep what a communicator's trials have found, if they have found anything. Without memory it is
 * not kept. */
void coll_strag_winners_keep(const struct coll_strag_table_inputs *inputs,
                             const struct coll_strag_decision *decision,
                             const struct strag_learner *learner);

/** Begin with what was found on an equal machine, if anything was. */
void coll_strag_winners_use(const struct coll_strag_table_inputs *inputs,
                            const struct coll_strag_decision *decision,
                            struct strag_learner *learner);

/** No communicator is left. */
void coll_strag_winners_free(void);

#endif
