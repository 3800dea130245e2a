/* SPDX-License-Identifier: BSD-3-Clause */
#include "log.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMEWORK_VERBOSE_LEVEL = 10 }; /* coll_base_verbose from which we log there */

static const char help_file[] = "help-mca-coll-strag.txt";

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
    const char *slash = NULL;
    if (dladdr(help_file, &info) && info.dli_fname)
        slash = strrchr(info.dli_fname, '/');
    size_t length = slash ? (size_t)(slash + 1 - info.dli_fname) : 0;
    snprintf(buffer, size, "%.*s", length < size ? (int)length : 0, slash ? info.dli_fname : "");
    return buffer;
}

void coll_strag_log_register(void)
{
    char folder[PATH_MAX];
    if (coll_strag_folder(folder, sizeof folder)[0])
        opal_show_help_add_dir(folder);
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
        opal_output_verbose(0, stream, "coll:strag: %s (cid %s, %d ranks): %s", comm->c_name,
                            coll_strag_cid(comm, cid, sizeof cid), ompi_comm_size(comm), text);
    else
        opal_output_verbose(0, stream, "coll:strag: %s", text);
}

/* Not by opal_show_help: it sends the text to mpirun, and that of 4.1.4 loses one of three. */
void coll_strag_help(const char *topic, const char *what, const char *why)
{
    char *text = opal_show_help_string(help_file, topic, true, what, why);
    if (text)
        fputs(text, stderr);
    free(text);
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
        const char *topic;
        enum { ANY_RANK, FIRST_RANK, FIRST_AND_OTHER_HOSTS, ONE_PER_HOST } who;
    } warnings[] = {
        [COLL_STRAG_WARN_PARAMETERS] = {"bad parameters", FIRST_RANK},
        [COLL_STRAG_WARN_DIFFERENT] = {"different parameters", ANY_RANK},
        [COLL_STRAG_WARN_NOT_EVERYWHERE] = {"not everywhere", ANY_RANK},
        [COLL_STRAG_WARN_LAYOUT] = {"no layout", FIRST_AND_OTHER_HOSTS},
        [COLL_STRAG_WARN_TORUS] = {"no layout", FIRST_RANK},
        [COLL_STRAG_WARN_RULES] = {"no rules", FIRST_AND_OTHER_HOSTS},
        [COLL_STRAG_WARN_MODEL] = {"no model", FIRST_AND_OTHER_HOSTS},
        [COLL_STRAG_WARN_SAVE] = {"not saved", ANY_RANK},
        [COLL_STRAG_WARN_PINNED] = {"cannot be planned", FIRST_RANK},
        [COLL_STRAG_WARN_NO_HOST] = {"bad parameters", FIRST_RANK},
        [COLL_STRAG_WARN_NO_UCP] = {"no ucp", ANY_RANK},
        [COLL_STRAG_WARN_LOST] = {"lost", ANY_RANK},
        [COLL_STRAG_WARN_NOT_SHARED] = {"not shared", ANY_RANK},
        [COLL_STRAG_WARN_NO_PLUGIN] = {"no plug-in", ONE_PER_HOST},
        [COLL_STRAG_WARN_STAGED] = {"device buffers", ONE_PER_HOST},
        [COLL_STRAG_WARN_NO_KERNELS] = {"no kernels", ONE_PER_HOST},
    };
    const int who = warnings[warning].who;
    if ((who == FIRST_RANK && !log_state.first) ||
        (who == FIRST_AND_OTHER_HOSTS && !log_state.first && is_beside_first()) ||
        (who == ONE_PER_HOST && opal_process_info.my_local_rank != 0))
        return;
    if (!is_warned(warning))
        coll_strag_help(warnings[warning].topic, what, why);
}

void coll_strag_warned(enum coll_strag_warning warning)
{
    (void)is_warned(warning);
}
