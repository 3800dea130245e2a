/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * On rank 0: what communicators on an equal machine have in common, found once per process: the
 * table, and what experiments have found (learn/experiment.h). A machine is all that a choice rests
 * on: topology, state, transports, processors. Parameters are not among that, as they do not
 * change.
 *
 * The 32 machines that were used last are kept, by a hash of each. Without memory nothing is kept,
 * and no error.
 */
#ifndef COLL_STRAG_STORE_H
#define COLL_STRAG_STORE_H

#include "table.h"

#include "learn/experiment.h"

/** As coll_strag_decide, and keep the table. @param[out] selection  NULL: none is wanted, and the
 * table is that which was made for an equal machine and the same model, if there is one */
void coll_strag_decide_once(const struct coll_strag_table_inputs *inputs,
                            struct coll_strag_decision *decision,
                            struct strag_selection **selection);

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
