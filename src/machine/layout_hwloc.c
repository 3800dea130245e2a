/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cores of a machine, by hwloc.
 *
 * hwloc may crash on a malformed XML file (2.9 does), or print messages of its own. Therefore a
 * child process tries a file first.
 */
#include <hwloc.h>

#include "base/file.h"
#include "machine/hwloc_core.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#if HWLOC_API_VERSION < 0x00020000
#error "hwloc 2.0 or newer is needed"
#endif

enum {
    CORES_MAX = 1 << 20,
    FILE_MAX = 64 << 20, /* bytes */
    SECONDS_MAX = 60,    /* of processor time for trying a file */
};

/* ---- A topology's cores ---- */

/* List the cores, or the hardware threads if hwloc finds no cores (in some virtual machines). */
static int list(hwloc_topology_t topology, struct strag_core **cores, int *count,
                struct strag_error *err)
{
    hwloc_obj_type_t type =
        hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE) > 0 ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
    int found = hwloc_get_nbobjs_by_type(topology, type);
    if (found <= 0 || found > CORES_MAX)
        return strag_fail(err, STRAG_ERR_ARGUMENT, "no cores are in it, or more than %d",
                          CORES_MAX);
    struct strag_core *made = calloc((size_t)found, sizeof *made);
    if (!made)
        return strag_fail(err, STRAG_ERR_MEMORY, "out of memory for %d cores", found);
    for (int i = 0; i < found; i++)
        made[i] =
            strag_hwloc_core(topology, hwloc_get_obj_by_type(topology, type, (unsigned)i)->cpuset);
    *cores = made;
    *count = found;
    return STRAG_OK;
}

/* @param xml  a text of `length` bytes and a NUL; NULL for this machine */
static int load(const char *xml, size_t length, struct strag_core **cores, int *count,
                struct strag_error *err)
{
    hwloc_topology_t topology;
    int status;
    if (hwloc_topology_init(&topology) != 0)
        return strag_fail(err, STRAG_ERR_MEMORY, "out of memory for hwloc's topology");
    if ((xml && hwloc_topology_set_xmlbuffer(topology, xml, (int)length + 1) != 0) ||
        hwloc_topology_load(topology) != 0)
        status = strag_fail(err, STRAG_ERR_ARGUMENT, "hwloc cannot make a topology of it");
    else
        status = list(topology, cores, count, err);
    hwloc_topology_destroy(topology);
    return status;
}

/* ---- The child process ---- */

/* Set up the child: no output, no core file, no inherited signal handlers, limited processor
 * time. */
static void go_quiet(void)
{
    static const int crashes[] = {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGXCPU, SIGPIPE};
    const struct rlimit no_core = {0, 0}, time = {SECONDS_MAX, SECONDS_MAX};
    for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++)
        signal(crashes[i], SIG_DFL);
    setrlimit(RLIMIT_CORE, &no_core);
    setrlimit(RLIMIT_CPU, &time);
    int nowhere = open("/dev/null", O_WRONLY);
    if (nowhere >= 0)
        dup2(nowhere, STDERR_FILENO);
}

static int load_file(const char *file, struct strag_core **cores, int *count,
                     struct strag_error *err)
{
    char *xml;
    size_t length;
    struct sigaction callers;
    const struct sigaction usual = {.sa_handler = SIG_DFL};
    int ended = -1, status = strag_file_read(file, FILE_MAX, &xml, &length, err);
    if (status != STRAG_OK)
        return status;
    sigaction(SIGCHLD, NULL, &callers);
    const bool ignored = callers.sa_handler == SIG_IGN; /* then waitpid gets no child's status */
    if (ignored)
        sigaction(SIGCHLD, &usual, NULL);
    const pid_t child = fork();
    if (child == 0) {
        go_quiet();
        _exit(load(xml, length, cores, count, NULL) != STRAG_OK);
    }
    while (child > 0 && waitpid(child, &ended, 0) < 0 && errno == EINTR)
        ;
    if (ignored)
        sigaction(SIGCHLD, &callers, NULL);
    if (child > 0 && WIFEXITED(ended) && WEXITSTATUS(ended) == 0)
        status = load(xml, length, cores, count, err);
    else
        status = strag_fail(err, STRAG_ERR_ARGUMENT,
                            "%.80s: %s; what `lstopo --of xml` wrote is accepted", file,
                            child < 0          ? "no process can be made that tries it"
                            : WIFEXITED(ended) ? "hwloc finds no cores in it"
                                               : "hwloc crashes on it");
    free(xml);
    return status;
}

int strag_hwloc_cores(const char *xml, struct strag_core **cores, int *count,
                      struct strag_error *err)
{
    return xml ? load_file(xml, cores, count, err) : load(NULL, 0, cores, count, err);
}
