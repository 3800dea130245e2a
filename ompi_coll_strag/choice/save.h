/* SPDX-License-Identifier: BSD-3-Clause */
/* On rank 0: a communicator's choice, and all that it rests on, in a file (coll_strag_save). */
#ifndef COLL_STRAG_SAVE_H
#define COLL_STRAG_SAVE_H

#include "table.h"

/**
 * Write the file, if one is wanted of this communicator (user/file_name.h).
 *
 * @param inputs, decision  as coll_strag_decide had and left them
 */
void coll_strag_save(const struct coll_strag_table_inputs *inputs,
                     const struct coll_strag_decision *decision);

#endif
