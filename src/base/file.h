/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Users' files, read whole and written whole. Neither waits for anybody: a FIFO without another end
 * would block a process, and in a job all that wait for it.
 */
#ifndef STRAG_FILE_H
#define STRAG_FILE_H

#include "base/status.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/**
 * Read a whole file, which must be a regular one.
 *
 * @param most  bytes that are accepted
 * @param[out] text  the caller's to free; NUL-terminated
 * @return STRAG_OK, STRAG_ERR_IO, STRAG_ERR_ARGUMENT (it is longer) or STRAG_ERR_MEMORY, with
 *         "FILE: why"
 */
int strag_file_read(const char *file, size_t most, char **text, size_t *length,
                    struct strag_error *err);

/** Let strag_file_read take /dev/stdin, pipes and other streams as well, and wait for their end.
 * For a program of a single process; called once, before any file is read. */
void strag_file_accept_streams(void);

/*
 * A file that is written. It grows under another name in the same folder and gets its own name when
 * it is complete, so that nobody reads a part of it and no link is followed. Devices, such as
 * /dev/null, and this process's /dev/stdout and /dev/stderr are written to as they are.
 */
struct strag_output {
    FILE *stream;
    const char *name;              /* the caller's, which must live until it is closed */
    char temporary[PATH_MAX + 32]; /* "": it has its own name already, or never had another */
};

/**
 * Begin a file, with the permissions that the umask leaves.
 *
 * @param[out] output  to be closed, unless this fails
 * @return STRAG_OK, or STRAG_ERR_IO with the reason, which does not name the file
 */
int strag_output_open(struct strag_output *output, const char *name, struct strag_error *err);

/**
 * Give the file its name, in place of a file that has it. More may be written to the stream.
 *
 * @return STRAG_OK, or STRAG_ERR_IO: something could not be written, or the name could not be given
 */
int strag_output_place(struct strag_output *output, struct strag_error *err);

/**
 * Close the stream.
 *
 * @param complete  give the file its name, unless it has it; false: remove a file that does not
 * @return as strag_output_place; STRAG_OK if it was not complete
 */
int strag_output_close(struct strag_output *output, bool complete, struct strag_error *err);

#endif
