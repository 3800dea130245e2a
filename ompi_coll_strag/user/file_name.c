/* SPDX-License-Identifier: BSD-3-Clause */
#include "file_name.h"

#include "base/file.h"

#include <limits.h>
#include <string.h>

static bool is_letter_or_digit(char c) /* in any locale */
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* The communicator's name, as a part of a file name without a slash. A file whose name begins with
 * it is neither hidden nor mistaken for an option. Another process may have a communicator of the
 * same name: unless the job's rank 0 leads it, the leader's rank is added. */
static void file_part(const ompi_communicator_t *comm, char *part, size_t size)
{
    char cid[32];
    const unsigned leader = OPAL_PROC_MY_NAME.vpid;
    int length = comm->c_name[0]
                     ? snprintf(part, size, "%s", comm->c_name)
                     : snprintf(part, size, "cid-%s", coll_strag_cid(comm, cid, sizeof cid));
    for (char *c = part; *c; c++)
        if (!is_letter_or_digit(*c) && (c == part || !strchr("._-", *c)))
            *c = c == part ? '_' : '-';
    if (leader > 0 && length > 0 && (size_t)length < size)
        snprintf(part + length, size - (size_t)length, "-of-rank-%u", leader);
}

/* @return false if the name is too long */
static bool make_name(const char *wanted, const ompi_communicator_t *comm, char *name, size_t size)
{
    const char *mark = strstr(wanted, "%c");
    char part[MPI_MAX_OBJECT_NAME + 32] = "";
    if (mark)
        file_part(comm, part, sizeof part);
    const int length =
        mark ? snprintf(name, size, "%.*s%s%s", (int)(mark - wanted), wanted, part, mark + 2)
             : snprintf(name, size, "%s", wanted);
    return length > 0 && (size_t)length < size;
}

/* Is this communicator to have a file? The caller has the lock. */
static bool is_wanted(struct coll_strag_files *files, const char *wanted, int n, size_t size)
{
    if (!wanted[0] || strstr(wanted, "%c"))
        return wanted[0];
    if (!coll_strag_speaks() || n < files->ranks || (n == files->ranks && size <= files->size))
        return false;
    files->ranks = n;
    files->size = size;
    return true;
}

void coll_strag_file_write(struct coll_strag_files *files, const char *wanted,
                           ompi_communicator_t *comm, size_t size,
                           void (*write)(const void *what, FILE *stream), const void *what)
{
    char name[PATH_MAX];
    struct strag_error err = {"the name is too long"};
    struct strag_output out;
    bool written = false;
    pthread_mutex_lock(&files->lock);
    const bool is_to_be = is_wanted(files, wanted, ompi_comm_size(comm), size);
    if (is_to_be && make_name(wanted, comm, name, sizeof name) &&
        strag_output_open(&out, name, &err) == STRAG_OK) {
        write(what, out.stream);
        written = strag_output_close(&out, true, &err) == STRAG_OK;
    }
    pthread_mutex_unlock(&files->lock);
    if (written)
        coll_strag_log(comm, "saved in %s", name);
    else if (is_to_be) {
        coll_strag_log(comm, "%s: %s", name, err.text);
        coll_strag_warn(files->warning, name, err.text);
    }
}
