/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parameters that do not exist. Open MPI takes no notice of them, so that a misspelt one would have
 * no effect, without a word.
 */
#ifndef COLL_STRAG_UNKNOWN_H
#define COLL_STRAG_UNKNOWN_H

#include "complaints.h"

/** Complain of every coll_strag_NAME that a user sets and that is none: in the environment, which
 * is where --mca leads, and in Open MPI's parameter files. */
void coll_strag_find_unknown(struct coll_strag_complaints *complaints);

#endif
