/* SPDX-License-Identifier: BSD-3-Clause */
/* Files that are written for a communicator (coll_strag_save, coll_strag_trace). */
#ifndef COLL_STRAG_FILE_NAME_H
#define COLL_STRAG_FILE_NAME_H

#include "log.h"

#include <pthread.h>

/* Files of one kind. If their name has %c there is a file for each communicator. Else there is one,
 * for the largest so far of the communicators whose rank 0 is the job's rank 0: so two processes
 * never write the same file. */
struct coll_strag_files {
    enum coll_strag_warning warning; /* if a file cannot be written */
    pthread_mutex_t lock;            /* one file at a time: communicators may have the same name */
    int ranks;                       /* without %c: of the communicator written last, */
    size_t size;                     /* ... and its `size` */
};

/**
 * Write a communicator's file, if it is to have one; warn if that fails.
 *
 * @param wanted  the name, as the user configured it; "" for no file
 * @param size    among communicators with the same number of ranks, one with more is larger
 * @param write   writes `what`; errors are found when the file is closed
 */
void coll_strag_file_write(struct coll_strag_files *files, const char *wanted,
                           ompi_communicator_t *comm, size_t size,
                           void (*write)(const void *what, FILE *stream), const void *what);

#endif
