/* SPDX-License-Identifier: BSD-3-Clause */
/* Files that are written for a communicator (coll_strag_save, coll_strag_trace). */
#ifndef COLL_STRAG_FILE_NAME_H
#define COLL_STRAG_FILE_NAME_H

#include "log.h"

#include <pthread.h>

/* Files of one kind. With %c in their name there is one for each communicator; else one, of the
 * largest so far of those that rank 0 of the job decides for: so two processes never write one
 * file. */
struct coll_strag_files {
    enum coll_strag_warning warning; /* that one cannot be written */
    pthread_mutex_t lock; /* one at a time: threads may have communicators with one name */
    int ranks;            /* of the largest under a name without %c, */
    size_t size;          /* and how much there was to write of it */
};

/**
 * Write a communicator's file, if one is wanted of it; or warn.
 *
 * @param wanted  the name, as the user gave it; "": none is wanted
 * @param size    of communicators of the same ranks one with more is larger
 * @param write   writes `what`; that it could not is found out when the file is closed
 */
void coll_strag_file_write(struct coll_strag_files *files, const char *wanted,
                           ompi_communicator_t *comm, size_t size,
                           void (*write)(const void *what, FILE *stream), const void *what);

#endif
