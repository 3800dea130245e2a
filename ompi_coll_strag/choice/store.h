/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * On rank 0: the table and the findings of experiments (learn/experiment.h), kept in the process
 * for later communicators on an identical machine. A machine is everything on which a choice
 * depends: topology, state, transports, processors. Parameters are left out: they do not change.
 *
 * The 32 machines that were used last are kept, by a hash of each. If out of memory, nothing is
 * kept, and there is no error.
 */
#ifndef COLL_STRAG_STORE_H
#define COLL_STRAG_STORE_H

#include "table.h"

#include "learn/experiment.h"

/** As coll_strag_decide, and keep the table. @param[out] selection  NULL if it is not needed: then
 * the table is the one kept for an identical machine and model, if there is one */
void coll_strag_decide_once(const struct coll_strag_table_inputs *inputs,
                            struct coll_strag_decision *decision,
                            struct strag_selection **selection);

/** Keep the findings of a communicator's experiments. */
void coll_strag_keep_findings(const struct coll_strag_table_inputs *inputs,
                              const struct coll_strag_decision *decision,
                              struct strag_experiments *experiments);

/** Begin with the findings kept for an identical machine. They are used from the end of the first
 * window on, and not tried again. */
void coll_strag_use_findings(const struct coll_strag_table_inputs *inputs,
                             const struct coll_strag_decision *decision,
                             struct strag_experiments *experiments);

/** At the end, when no communicator is left. */
void coll_strag_store_free(void);

#endif
