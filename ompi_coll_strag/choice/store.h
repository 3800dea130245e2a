/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * On rank 0: what communicators on an equal machine have in common, found once per process: the
 * table, and what experiments have found (learn/experiment.h). A machine is all that a choice rests
 * on: topology, state, transports, processors. Parameters are not among that, as they do not
 * change.
 *
 * The 32 machines that were used last are kept. Without memory nothing is kept, and no error.
 */
#ifndef COLL_STRAG_STORE_H
#define COLL_STRAG_STORE_H

#include "table.h"

#include "learn/experiment.h"

/** As coll_strag_decide, without a selection, and only if verbose lines are not wanted: the table
 * that was made for an equal machine and the same model, or a new one. */
void coll_strag_decide_once(const struct coll_strag_table_inputs *inputs,
                            struct coll_strag_decision *decision);

/** Keep a table that coll_strag_decide has made, for later communicators. */
void coll_strag_keep_table(const struct coll_strag_table_inputs *inputs,
                           const struct coll_strag_decision *decision);

/** Keep what a communicator's experiments have found. */
void coll_strag_keep_findings(const struct coll_strag_table_inputs *inputs,
                              const struct coll_strag_decision *decision,
                              struct strag_experiments *experiments);

/** Begin with what was found on an equal machine, if anything was: it runs from the end of the
 * first window on, and is not tried again. */
void coll_strag_use_findings(const struct coll_strag_table_inputs *inputs,
                             const struct coll_strag_decision *decision,
                             struct strag_experiments *experiments);

/** No communicator is left. */
void coll_strag_store_free(void);

#endif
