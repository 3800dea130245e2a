/* SPDX-License-Identifier: BSD-3-Clause */
/* Files that are written for a communicator (coll_strag_save, coll_strag_trace). */
#ifndef COLL_STRAG_FILE_NAME_H
#define COLL_STRAG_FILE_NAME_H

#include "compat/compat.h"

/** Is there to be a file for each communicator? */
bool coll_strag_file_each(const char *wanted);

/**
 * The file's name for this communicator, whose name takes the place of %c.
 *
 * @param wanted  as the user gave it
 * @return false: it is too long
 */
bool coll_strag_file_name(const char *wanted, const ompi_communicator_t *comm, char *name,
                          size_t size);

#endif
