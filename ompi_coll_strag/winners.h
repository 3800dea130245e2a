/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * On rank 0: what experiments have found (watch/experiment.h), for communicators that begin later
 * on an equal machine: dups, and splits whose hosts are equal. They run it from the end of their
 * first window on, and try nothing again.
 */
#ifndef COLL_STRAG_WINNERS_H
#define COLL_STRAG_WINNERS_H

#include "table.h"

#include "watch/experiment.h"

/** Keep what a communicator's experiments have found. Without memory it is not kept. */
void coll_strag_winners_keep(const struct coll_strag_table_inputs *inputs,
                             const struct coll_strag_decision *decision,
                             const struct strag_experiments *experiments);

/** Begin with what was found on an equal machine, if anything was. */
void coll_strag_winners_use(const struct coll_strag_table_inputs *inputs,
                            const struct coll_strag_decision *decision,
                            struct strag_experiments *experiments);

/** No communicator is left. */
void coll_strag_winners_free(void);

#endif
