/* SPDX-License-Identifier: BSD-3-Clause */
/* On rank 0: the files that describe the machine, each read once in a process, by the first
 * communicator that needs it. NULL: there is none, or it is of no use, and that was said. */
#ifndef COLL_STRAG_FILES_H
#define COLL_STRAG_FILES_H

#include "machine/layout.h"
#include "model/model_file.h"
#include "model/rules.h"

/** coll_strag_layout, if that is a file and not a pattern of names. */
const struct strag_layout *coll_strag_layout(void);

/** coll_strag_rules. */
const struct strag_rules *coll_strag_rules(void);

/** coll_strag_model. */
const struct strag_models *coll_strag_models(void);

/** At the end. */
void coll_strag_files_free(void);

#endif
