/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/file.h"

#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Reading ---- */

static bool streams_accepted;

void strag_file_accept_streams(void)
{
    streams_accepted = true;
}

/* @return NULL after a refusal */
static FILE *open_to_read(const char *file, struct strag_error *err)
{
    const char *name = strag_name_end(file);
    if (!file[0]) {
        strag_fail(err, STRAG_ERR_IO, "the name of the file is empty");
        return NULL;
    }
    const int wait = streams_accepted ? 0 : O_NONBLOCK | O_NOCTTY;
    const int descriptor = open(file, O_RDONLY | O_CLOEXEC | wait);
    struct stat info;
    if (descriptor < 0 || fstat(descriptor, &info) != 0) {
        strag_fail(err, STRAG_ERR_IO, "%s: cannot be opened: %s", name, strerror(errno));
    } else if (S_ISDIR(info.st_mode)) {
        strag_fail(err, STRAG_ERR_IO, "%s: cannot be read: %s", name, strerror(EISDIR));
    } else if (!S_ISREG(info.st_mode) && !streams_accepted) {
        strag_fail(err, STRAG_ERR_IO,
                   "%s: a FIFO, socket or device; only a regular file is read here", name);
    } else if (S_ISBLK(info.st_mode) || (S_ISCHR(info.st_mode) && !isatty(descriptor))) {
        strag_fail(err, STRAG_ERR_IO, "%s: a device; a regular file or a pipe is read here", name);
    } else {
        FILE *stream = fdopen(descriptor, "rb");
        if (stream)
            return stream;
        strag_fail(err, STRAG_ERR_MEMORY, "%s: out of memory", name);
    }
    if (descriptor >= 0)
        close(descriptor);
    return NULL;
}

int strag_file_read(const char *file, size_t most, char **text, size_t *length,
                    struct strag_error *err)
{
    const char *name = strag_name_end(file);
    FILE *stream = open_to_read(file, err);
    if (!stream)
        return STRAG_ERR_IO;
    char *all = NULL;
    size_t room = 1 << 15, used = 0;
    do { /* until the file ends, or is too long */
        room *= 2;
        char *grown = realloc(all, room + 1);
        if (!grown) {
            free(all);
            fclose(stream);
            return strag_fail(err, STRAG_ERR_MEMORY, "%s: out of memory", name);
        }
        all = grown;
        used += fread(all + used, 1, room - used, stream);
    } while (used == room && used <= most);
    int status = STRAG_OK;
    if (ferror(stream))
        status = strag_fail(err, STRAG_ERR_IO, "%s: cannot be read: %s", name, strerror(errno));
    else if (used > most)
        status = strag_fail(err, STRAG_ERR_ARGUMENT, "%s:1: more than %zu bytes", name, most);
    fclose(stream);
    if (status != STRAG_OK) {
        free(all);
        return status;
    }
    all[used] = '\0';
    *text = all;
    *length = used;
    return STRAG_OK;
}

/* ---- Writing ---- */

/* Several names are tried, since a killed process may have left a file with the same number. */
enum { NAMES_TRIED = 100 };

static int fail(struct strag_error *err, int error)
{
    return strag_fail(err, STRAG_ERR_IO, "%s", strerror(error));
}

/* Open a new file in the folder of the output. @return its descriptor; -1 with errno on failure */
static int open_temporary(struct strag_output *output)
{
    const char *slash = strrchr(output->name, '/');
    const int folder = slash ? (int)(slash + 1 - output->name) : 0;
    int descriptor = -1;
    errno = ENAMETOOLONG;
    if (folder > PATH_MAX)
        return -1;
    for (int i = 0; i < NAMES_TRIED; i++) {
        snprintf(output->temporary, sizeof output->temporary, "%.*s.strag-%ld-%d", folder,
                 output->name, (long)getpid(), i);
        descriptor =
            open(output->temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
        if (descriptor >= 0 || errno != EEXIST)
            break;
    }
    return descriptor;
}

/* Open a device, which is not replaced. @return a descriptor; -1 with errno on failure */
static int open_device(const char *name)
{
    const int descriptor = open(name, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (descriptor >= 0)
        fcntl(descriptor, F_SETFL, 0); /* writes may block from here on */
    return descriptor;
}

/* @return a descriptor; -1 after a refusal */
static int open_to_write(struct strag_output *output, struct strag_error *err)
{
    const char *name = output->name;
    const bool out = strcmp(name, "/dev/stdout") == 0, error = strcmp(name, "/dev/stderr") == 0;
    struct stat info;
    int descriptor = -1;
    if (out || error)
        descriptor = fcntl(out ? STDOUT_FILENO : STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
    else if (stat(name, &info) != 0)
        descriptor = errno == ENOENT ? open_temporary(output) : -1;
    else if (S_ISREG(info.st_mode))
        descriptor = open_temporary(output);
    else if (S_ISCHR(info.st_mode))
        descriptor = open_device(name);
    else if (S_ISDIR(info.st_mode))
        errno = EISDIR;
    else {
        strag_fail(err, STRAG_ERR_IO, "a FIFO, socket or device has this name");
        return -1;
    }
    if (descriptor < 0)
        fail(err, errno);
    return descriptor;
}

int strag_output_open(struct strag_output *output, const char *name, struct strag_error *err)
{
    *output = (struct strag_output){.name = name};
    const int descriptor = open_to_write(output, err);
    if (descriptor < 0)
        return STRAG_ERR_IO;
    output->stream = fdopen(descriptor, "w");
    if (output->stream)
        return STRAG_OK;
    close(descriptor);
    if (output->temporary[0])
        unlink(output->temporary);
    return fail(err, ENOMEM);
}

/* @param error  errno of writing, or 0 */
static int place(struct strag_output *output, int error, struct strag_error *err)
{
    if (!error && output->temporary[0] && rename(output->temporary, output->name) != 0)
        error = errno;
    if (error && output->temporary[0])
        unlink(output->temporary);
    output->temporary[0] = '\0';
    return error ? fail(err, error) : STRAG_OK;
}

int strag_output_place(struct strag_output *output, struct strag_error *err)
{
    errno = EIO;
    const bool written = fflush(output->stream) == 0 && !ferror(output->stream);
    return place(output, written ? 0 : errno, err);
}

int strag_output_close(struct strag_output *output, bool complete, struct strag_error *err)
{
    errno = EIO;
    const bool failed = ferror(output->stream) != 0;
    const bool closed = fclose(output->stream) == 0;
    const int error = !closed || failed ? errno : 0;
    output->stream = NULL;
    if (complete)
        return place(output, error, err);
    if (output->temporary[0])
        unlink(output->temporary);
    return STRAG_OK;
}
