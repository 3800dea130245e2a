/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads and writes whole files of users. Neither waits for another process: a FIFO without another
 * end would block this process, and in a job all that wait for it.
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
 * @param most  the most bytes that are accepted
 * @param[out] text  the caller's to free; NUL-terminated
 * @return STRAG_OK, STRAG_ERR_IO, STRAG_ERR_ARGUMENT (the file is longer) or STRAG_ERR_MEMORY, with
 *         "FILE: why"
 */
int strag_file_read(const char *file, size_t most, char **text, size_t *length,
                    struct strag_error *err);

/** Let strag_file_read also read /dev/stdin, pipes and other streams, and wait for their end. For
 * programs of a single process; to be called once, before any file is read. */
void strag_file_accept_streams(void);

/*
 * A file that is written. It grows under another name in the same folder and gets its own name when
 * it is complete, so that nobody reads a part of it and no link is followed. Devices, such as
 * /dev/null, and this process's /dev/stdout and /dev/stderr are written to directly.
 */
struct strag_output {
    FILE *stream;
    const char *name;              /* the caller's; must stay valid until the file is closed */
    char temporary[PATH_MAX + 32]; /* "" if the file has its own name, or had no other */
};

/**
 * Begin a file, with the permissions that the umask leaves.
 *
 * @param[out] output  to be closed by strag_output_close, unless this fails
 * @return STRAG_OK, or STRAG_ERR_IO with a reason that does not name the file
 */
int strag_output_open(struct strag_output *output, const char *name, struct strag_error *err);

/**
 * Give the file its name, replacing a file that has it. More may then be written to the stream.
 *
 * @return STRAG_OK, or STRAG_ERR_IO if writing or renaming failed
 */
int strag_output_place(struct strag_output *output, struct strag_error *err);

/**
 * Close the stream.
 *
 * @param complete  true to give the file its name, false to remove it, unless it has its name
 * @return as strag_output_place; STRAG_OK if `complete` is false
 */
int strag_output_close(struct strag_output *output, bool complete, struct strag_error *err);

#endif
