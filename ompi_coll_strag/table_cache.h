/* SPDX-License-Identifier: BSD-3-Clause */
/* On rank 0: communicators on equal machines have equal tables, which are made once per process. */
#ifndef COLL_STRAG_TABLE_CACHE_H
#define COLL_STRAG_TABLE_CACHE_H

#include "table.h"

/** As coll_strag_decide, without a selection, and where verbose lines are not wanted. */
void coll_strag_decide_once(const struct coll_strag_table_inputs *inputs,
                            struct coll_strag_decision *decision);

/** No communicator is left. */
void coll_strag_table_cache_free(void);

#endif
