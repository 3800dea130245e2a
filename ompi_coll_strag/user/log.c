/* SPDX-License-Identifier: BSD-3-Clause */
#include "log.h"

#include "compat/world.h"
#include "texts.h"

#include "base/units.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMEWORK_VERBOSE_LEVEL = 10 }; /* coll_base_verbose from which we log there */

#define TEXT(number)                   #number
#define VERSION(major, minor, release) TEXT(major) "." TEXT(minor) "." TEXT(release)
const char coll_strag_version[] =
    VERSION(STRAG_VERSION_MAJOR, STRAG_VERSION_MINOR, STRAG_VERSION_RELEASE);

bool coll_strag_logging;

static struct {
    int stream;      /* of our own, or -1: the coll framework's */
    bool first;      /* rank 0 of a job that none has spawned: it warns for all */
    unsigned warned; /* a bit for each enum coll_strag_warning; atomic */
} log_state = {.stream = -1};

const char *coll_strag_folder(char *buffer, size_t size)
{
    Dl_info info;
    char *path = NULL;
    if (dladdr(coll_strag_version, &info) && info.dli_fname)
        path = realpath(info.dli_fname, NULL);
    const char *slash = path ? strrchr(path, '/') : NULL;
    size_t length = slash ? (size_t)(slash + 1 - path) : 0;
    snprintf(buffer, size, "%.*s", length < size ? (int)length : 0, slash ? path : "");
    free(path);
    return buffer;
}

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
    log_state.first = OPAL_PROC_MY_NAME.vpid == 0 && !getenv("OMPI_PARENT_PORT");
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

/* Not by opal_show_help: it sends the text to mpirun, and that of 4.1.4 loses one of three. In one
 * piece, so that those of several processes do not mix. */
void coll_strag_show(const char *text, const char *what, const char *why)
{
    static const char dashes[] =
        "--------------------------------------------------------------------------\n";
    const char *values[] = {what, why}, *gap;
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

/* Has there been this warning? From now on there has. */
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
    return log_state.first;
}

void coll_strag_warn(enum coll_strag_warning warning, const char *what, const char *why)
{
    static const struct {
        const char *text;
        enum { ANY_RANK, FIRST_RANK, FIRST_AND_OTHER_HOSTS, ONE_PER_HOST } who;
    } warnings[] = {
        [COLL_STRAG_WARN_PARAMETERS] = {coll_strag_text_bad_parameters, FIRST_RANK},
        [COLL_STRAG_WARN_DIFFERENT] = {coll_strag_text_different_parameters, ANY_RANK},
        [COLL_STRAG_WARN_NOT_EVERYWHERE] = {coll_strag_text_not_everywhere, ANY_RANK},
        [COLL_STRAG_WARN_LAYOUT] = {coll_strag_text_no_layout, FIRST_AND_OTHER_HOSTS},
        [COLL_STRAG_WARN_TORUS] = {coll_strag_text_no_layout, FIRST_RANK},
        [COLL_STRAG_WARN_RULES] = {coll_strag_text_no_rules, FIRST_AND_OTHER_HOSTS},
        [COLL_STRAG_WARN_MODEL] = {coll_strag_text_no_model, FIRST_AND_OTHER_HOSTS},
        [COLL_STRAG_WARN_PLAN] = {coll_strag_text_no_plan, FIRST_AND_OTHER_HOSTS},
        [COLL_STRAG_WARN_KEYED_PLAN] = {coll_strag_text_no_plan, ANY_RANK},
        [COLL_STRAG_WARN_NOT_WRITTEN] = {coll_strag_text_not_written, ANY_RANK},
        [COLL_STRAG_WARN_SAVE] = {coll_strag_text_not_saved, ANY_RANK},
        [COLL_STRAG_WARN_PINNED] = {coll_strag_text_cannot_be_planned, FIRST_RANK},
        [COLL_STRAG_WARN_NO_HOST] = {coll_strag_text_bad_parameters, FIRST_RANK},
        [COLL_STRAG_WARN_NO_UCP] = {coll_strag_text_no_ucp, ANY_RANK},
        [COLL_STRAG_WARN_LOST] = {coll_strag_text_lost, ANY_RANK},
        [COLL_STRAG_WARN_NOT_SHARED] = {coll_strag_text_not_shared, ANY_RANK},
        [COLL_STRAG_WARN_NO_PLUGIN] = {coll_strag_text_no_plugin, ONE_PER_HOST},
        [COLL_STRAG_WARN_STAGED] = {coll_strag_text_device_buffers, ONE_PER_HOST},
        [COLL_STRAG_WARN_NO_KERNELS] = {coll_strag_text_no_kernels, ONE_PER_HOST},
    };
    const int who = warnings[warning].who;
    if ((who == FIRST_RANK && !log_state.first) ||
        (who == FIRST_AND_OTHER_HOSTS && !log_state.first && is_beside_first()) ||
        (who == ONE_PER_HOST && opal_process_info.my_local_rank != 0))
        return;
    if (!is_warned(warning))
        coll_strag_show(warnings[warning].text, what, why);
}

void coll_strag_warned(enum coll_strag_warning warning)
{
    (void)is_warned(warning);
}
