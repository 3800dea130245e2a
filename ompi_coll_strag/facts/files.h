/* SPDX-License-Identifier: BSD-3-Clause */
/* On rank 0: the files that describe the machine, each read once in a process, by the first
 * communicator that needs it. All return NULL if there is no file or, after a warning, if the file
 * cannot be used. */
#ifndef COLL_STRAG_FILES_H
#define COLL_STRAG_FILES_H

#include "machine/layout.h"
#include "model/model_file.h"
#include "model/rules.h"

/** The file that coll_strag_layout names, unless that is a pattern of host names. */
const struct strag_layout *coll_strag_layout(void);

/** The file that coll_strag_rules names. */
const struct strag_rules *coll_strag_rules(void);

/** The file that coll_strag_model names. */
const struct strag_models *coll_strag_models(void);

/** At the end. */
void coll_strag_files_free(void);

#endif
