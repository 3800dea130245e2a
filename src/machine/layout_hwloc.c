/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cores of a machine, by hwloc.
 *
 * hwloc may crash on a malformed XML file (2.9 does), or print messages of its own. A child process
 * therefore reads files, and sends the cores through a pipe.
 */
#include <hwloc.h>

#include "machine/hwloc_core.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#if HWLOC_API_VERSION < 0x00020000
#error "hwloc 2.0 or newer is needed"
#endif

enum {
    CORES_MAX = 1 << 20,
    SECONDS_MAX = 60, /* of processor time for reading a file */
};

/* ---- A topology's cores ---- */

/* Hardware threads, where hwloc finds no cores (in some virtual machines). */
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

static int load(const char *xml, struct strag_core **cores, int *count, struct strag_error *err)
{
    hwloc_topology_t topology;
    int status;
    if (hwloc_topology_init(&topology) != 0)
        return strag_fail(err, STRAG_ERR_MEMORY, "out of memory for hwloc's topology");
    if ((xml && hwloc_topology_set_xml(topology, xml) != 0) || hwloc_topology_load(topology) != 0)
        status = strag_fail(err, STRAG_ERR_ARGUMENT, "hwloc cannot make a topology of it");
    else
        status = list(topology, cores, count, err);
    hwloc_topology_destroy(topology);
    return status;
}

/* ---- The child process ---- */

/* Precedes the cores in the pipe. */
struct answer {
    int status, count;
    struct strag_error err;
};

/* Write or read all of it. @return false: the other end was closed early */
static bool transfer(int pipe, bool send, void *data, size_t bytes)
{
    for (char *at = data; bytes > 0;) {
        ssize_t moved = send ? write(pipe, at, bytes) : read(pipe, at, bytes);
        if (moved < 0 && errno == EINTR)
            continue;
        if (moved <= 0)
            return false;
        at += moved;
        bytes -= (size_t)moved;
    }
    return true;
}

/* No output, no core file, none of the parent's signal handlers, and limited processor time. */
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

static void run_child(int pipe, const char *xml)
{
    struct answer answer;
    struct strag_core *cores = NULL;
    memset(&answer, 0, sizeof answer);
    go_quiet();
    answer.status = load(xml, &cores, &answer.count, &answer.err);
    bool sent = transfer(pipe, true, &answer, sizeof answer);
    if (sent && answer.status == STRAG_OK)
        sent = transfer(pipe, true, cores, (size_t)answer.count * sizeof *cores);
    free(cores);
    _exit(sent ? 0 : 1);
}

static int receive(int pipe, struct strag_core **cores, int *count, struct strag_error *err)
{
    struct answer answer;
    if (!transfer(pipe, false, &answer, sizeof answer))
        return strag_fail(err, STRAG_ERR_ARGUMENT, "hwloc crashes on it");
    if (answer.status != STRAG_OK)
        return strag_fail(err, answer.status, "%s", answer.err.text);
    size_t bytes = (size_t)answer.count * sizeof **cores;
    struct strag_core *made = malloc(bytes);
    if (!made)
        return strag_fail(err, STRAG_ERR_MEMORY, "out of memory for %d cores", answer.count);
    if (!transfer(pipe, false, made, bytes)) {
        free(made);
        return strag_fail(err, STRAG_ERR_ARGUMENT, "hwloc crashes on it");
    }
    *cores = made;
    *count = answer.count;
    return STRAG_OK;
}

static int load_in_child(const char *xml, struct strag_core **cores, int *count,
                         struct strag_error *err)
{
    int ends[2];
    if (access(xml, R_OK) != 0)
        return strag_fail(err, STRAG_ERR_IO, "%s", strerror(errno));
    if (pipe(ends) != 0)
        return strag_fail(err, STRAG_ERR_IO, "no pipe for reading it: %s", strerror(errno));
    pid_t child = fork();
    if (child == 0)
        run_child(ends[1], xml);
    int status = STRAG_OK, error = errno;
    close(ends[1]);
    if (child < 0)
        status = strag_fail(err, STRAG_ERR_IO, "no process for reading it: %s", strerror(error));
    else
        status = receive(ends[0], cores, count, err);
    close(ends[0]);
    while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
        ;
    return status;
}

int strag_hwloc_cores(const char *xml, struct strag_core **cores, int *count,
                      struct strag_error *err)
{
    struct strag_error why;
    int status = xml ? load_in_child(xml, cores, count, &why) : load(NULL, cores, count, &why);
    if (status == STRAG_OK)
        return STRAG_OK;
    return strag_fail(
        err, status, "%.80s: %.140s%s", xml ? xml : "this machine", why.text,
        xml && status == STRAG_ERR_ARGUMENT ? "; what `lstopo --of xml` wrote is accepted" : "");
}
