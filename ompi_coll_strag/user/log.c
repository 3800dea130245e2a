/* SPDX-License-Identifier: BSD-3-Clause */
#include "log.h"

#include "compat/world.h"

#include "base/units.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMEWORK_VERBOSE_LEVEL = 10 }; /* of coll_base_verbose: logs to the framework's stream */

#define TEXT(number)                   #number
#define VERSION(major, minor, release) TEXT(major) "." TEXT(minor) "." TEXT(release)
const char coll_strag_version[] =
    VERSION(STRAG_VERSION_MAJOR, STRAG_VERSION_MINOR, STRAG_VERSION_RELEASE);

bool coll_strag_logging;

static struct {
    int stream;      /* strag's own; -1 for the coll framework's */
    unsigned warned; /* a bit for each enum coll_strag_warning; atomic */
} log_state = {.stream = -1};

const char *coll_strag_host_of(ompi_communicator_t *comm, int rank)
{
    const ompi_proc_t *proc = ompi_group_peer_lookup_existing(comm->c_local_group, rank);
    const char *host = proc ? opal_get_proc_hostname(&proc->super) : NULL;
    if (rank == ompi_comm_rank(comm))
        host = opal_process_info.nodename;
    return host ? host : "unknown host";
}

void coll_strag_log_open(int verbose)
{
    int framework = ompi_coll_base_framework.framework_output;
    coll_strag_logging =
        verbose > 0 || opal_output_get_verbosity(framework) >= FRAMEWORK_VERBOSE_LEVEL;
    if (verbose > 0) {
        log_state.stream = opal_output_open(NULL);
        opal_output_set_verbosity(log_state.stream, verbose);
    }
}

void coll_strag_log_close(void)
{
    if (log_state.stream >= 0)
        opal_output_close(log_state.stream);
    log_state.stream = -1;
}

void coll_strag_log(ompi_communicator_t *comm, const char *format, ...)
{
    char cid[32], text[1024];
    va_list args;
    if (!coll_strag_logging)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    int stream =
        log_state.stream >= 0 ? log_state.stream : ompi_coll_base_framework.framework_output;
    if (comm)
        opal_output_verbose(0, stream, "coll:strag: %s (cid %s, %s): %s", comm->c_name,
                            coll_strag_cid(comm, cid, sizeof cid),
                            strag_units_count(ompi_comm_size(comm), "rank").text, text);
    else
        opal_output_verbose(0, stream, "coll:strag: %s", text);
}

/* Does not use opal_show_help, which sends the text to mpirun: that of 4.1.4 loses one of three.
 * The text is written at once, so that those of several processes do not mix. */
void coll_strag_show(enum coll_strag_warning warning, const char *what, const char *why)
{
    static const char dashes[] =
        "--------------------------------------------------------------------------\n";
    const char *text = coll_strag_texts[warning].text, *values[] = {what, why}, *gap;
    char *all = NULL;
    size_t length;
    FILE *stream = open_memstream(&all, &length);
    if (NULL == stream)
        return;
    fputs(dashes, stream);
    for (int v = 0; v < 2 && NULL != (gap = strstr(text, "%s")); v++) {
        fprintf(stream, "%.*s%s", (int)(gap - text), text, values[v]);
        text = gap + strlen("%s");
    }
    fprintf(stream, "%s%s", text, dashes);
    if (fclose(stream) == 0)
        fputs(all, stderr);
    free(all);
}

/* Was the warning shown before? Record that it was. */
static bool is_warned(enum coll_strag_warning warning)
{
    const unsigned bit = 1u << warning;
    return __atomic_fetch_or(&log_state.warned, bit, __ATOMIC_RELAXED) & bit;
}

/* Is this process on the host of its job's rank 0? */
static bool is_beside_first(void)
{
    ompi_communicator_t *world = &ompi_mpi_comm_world.comm;
    return coll_strag_world_size() > 0 &&
           OPAL_PROC_ON_LOCAL_NODE(ompi_comm_peer_lookup(world, 0)->super.proc_flags);
}

bool coll_strag_speaks(void)
{
    return OPAL_PROC_MY_NAME.vpid == 0 && !getenv("OMPI_PARENT_PORT");
}

void coll_strag_warn(enum coll_strag_warning warning, const char *what, const char *why)
{
    const int who = coll_strag_texts[warning].who;
    const bool first = coll_strag_speaks();
    if ((who == FIRST_RANK && !first) ||
        (who == FIRST_AND_OTHER_HOSTS && !first && is_beside_first()) ||
        (who == ONE_PER_HOST && opal_process_info.my_local_rank != 0))
        return;
    if (!is_warned(warning))
        coll_strag_show(warning, what, why);
}

void coll_strag_warned(enum coll_strag_warning warning)
{
    (void)is_warned(warning);
}
