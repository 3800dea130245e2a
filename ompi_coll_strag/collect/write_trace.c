/* SPDX-License-Identifier: BSD-3-Clause */
#include "write_trace.h"

#include "user/file_name.h"
#include "user/log.h"
#include "user/settings.h"

#include "base/file.h"

#include <limits.h>
#include <pthread.h>

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

static int write_file(const char *name, const struct strag_trace_job *job, struct strag_error *err)
{
    struct strag_output out;
    int status = strag_output_open(&out, name, err);
    if (status != STRAG_OK)
        return status;
    strag_trace_json(job, out.stream);
    return strag_output_close(&out, true, err);
}

void coll_strag_trace_write(const ompi_communicator_t *comm, const struct strag_trace_job *job)
{
    char name[PATH_MAX];
    struct strag_error err = {"the name is too long"};
    pthread_mutex_lock(&written.lock);
    if (is_wanted(job) &&
        (!coll_strag_file_name(coll_strag_settings.trace_file, comm, name, sizeof name) ||
         write_file(name, job, &err) != STRAG_OK))
        coll_strag_warn(COLL_STRAG_WARN_NOT_WRITTEN, name, err.text);
    pthread_mutex_unlock(&written.lock);
}
