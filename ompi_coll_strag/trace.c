/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace.h"

#include "file_name.h"
#include "log.h"
#include "settings.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <string.h>

/* One at a time: threads may end communicators under one name. */
static struct {
    pthread_mutex_t lock;
    int ranks;     /* of the largest communicator that was written under a name without %c, */
    size_t events; /* and how many events it had */
} written = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* With the lock held. */
static bool is_wanted(const struct strag_trace_job *job)
{
    size_t events = 0;
    if (coll_strag_file_each(coll_strag_settings.trace_file))
        return true;
    for (int r = 0; r < job->n; r++)
        events += job->ranks[r].count;
    if (!coll_strag_speaks() || job->n < written.ranks ||
        (job->n == written.ranks && events <= written.events))
        return false;
    written.ranks = job->n;
    written.events = events;
    return true;
}

/* trace.json: the picture is trace.svg */
static void name_picture(const char *name, char *picture, size_t size)
{
    const char *dot = strrchr(name, '.');
    const int stem = dot && strcmp(dot, ".json") == 0 ? (int)(dot - name) : (int)strlen(name);
    snprintf(picture, size, "%.*s.svg", stem, name);
}

static bool write_file(const char *name, const struct strag_trace_job *job, bool picture)
{
    FILE *out = fopen(name, "w");
    int status = STRAG_OK;
    if (!out)
        return false;
    if (picture)
        status = strag_trace_svg(job, out);
    else
        strag_trace_json(job, out);
    const bool whole = status == STRAG_OK && !ferror(out);
    return fclose(out) == 0 && whole;
}

void coll_strag_trace_write(const ompi_communicator_t *comm, const struct strag_trace_job *job)
{
    char name[PATH_MAX], picture[PATH_MAX + 8];
    pthread_mutex_lock(&written.lock);
    if (is_wanted(job)) {
        errno = ENAMETOOLONG;
        bool done = coll_strag_file_name(coll_strag_settings.trace_file, comm, name, sizeof name) &&
                    write_file(name, job, false);
        name_picture(name, picture, sizeof picture);
        done = done && write_file(picture, job, true);
        if (!done)
            coll_strag_warn(COLL_STRAG_WARN_NOT_WRITTEN, name, strerror(errno));
    }
    pthread_mutex_unlock(&written.lock);
}
