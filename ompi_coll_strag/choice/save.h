/* SPDX-License-Identifier: BSD-3-Clause */
/* On rank 0: a communicator's choice, and all that it rests on, in a file (coll_strag_save). */
#ifndef COLL_STRAG_SAVE_H
#define COLL_STRAG_SAVE_H

#include "table.h"

/**
 * Write the file, if one is wanted of this communicator: with %c in its name of each, else of the
 * one with the most ranks so far that rank 0 of the job decides for. So two processes never write
 * one file. A file that cannot be written is warned of.
 *
 * @param inputs, decision  as coll_strag_decide had and left them
 */
void coll_strag_save(const struct coll_strag_table_inputs *inputs,
                     const struct coll_strag_decision *decision);

#endif
