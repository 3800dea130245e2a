/* SPDX-License-Identifier: BSD-3-Clause */
#include "file_name.h"

#include <string.h>

bool coll_strag_file_each(const char *wanted)
{
    return NULL != strstr(wanted, "%c");
}

static bool is_letter_or_digit(char c) /* in any locale */
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* The communicator's name, for the name of a file: it stays in its folder, where it is neither
 * hidden nor an option to others. Communicators of other processes may be called the same: those
 * that rank 0 of the job is not in the lead of have their leader's rank, too. */
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

bool coll_strag_file_name(const char *wanted, const ompi_communicator_t *comm, char *name,
                          size_t size)
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
