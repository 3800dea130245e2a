/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * To be preloaded where tests run next to each other, to leave processors to them: ranks wait most
 * of the time, and start and end most of the rest.
 *
 * A rank that waits for long gives its processor away again and again, which takes as much of one
 * as computing does. So it sleeps at every 8th time, the longer the longer it has waited. If the
 * next message comes soon, it seldom gets there. MPI_Init and MPI_Finalize look every 100 us
 * whether all ranks are there; a tenth of that will do. And components of Open MPI that are not
 * chosen stay loaded: in a process with threads each piece of memory that goes stops all
 * processors. Those that strag calls, and strag, are unloaded.
 */
#define _GNU_SOURCE /* RTLD_NEXT, dlinfo */
#include <dlfcn.h>
#include <link.h>
#include <sched.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    YIELDS = 8,
    NAP_FIRST = 50000, /* nanoseconds */
    NAP_LONGEST = 400000,
    BUSY = 50000, /* it has done something since the last time: another wait begins */
};

static long long now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

int sched_yield(void)
{
    static _Thread_local unsigned yields;
    static _Thread_local long length;
    static _Thread_local long long left; /* when it went back to its work */
    if (now() - left > BUSY)
        length = NAP_FIRST;
    if (++yields % YIELDS) {
        (void)syscall(SYS_sched_yield);
    } else {
        (void)nanosleep(&(struct timespec){0, length}, NULL); /* a signal may end it */
        length = length < NAP_LONGEST ? 2 * length : NAP_LONGEST;
    }
    left = now();
    return 0;
}

int usleep(useconds_t microseconds)
{
    const long long all = 1000LL * (microseconds == 100 ? 1000 : microseconds);
    return nanosleep(&(struct timespec){all / 1000000000, (long)(all % 1000000000)}, NULL);
}

int dlclose(void *handle)
{
    static const char *const unloaded[] = {"strag", "/mca_coll_", "/mca_pml_", "/mca_op_"};
    struct link_map *map = NULL;
    int (*close_it)(void *);
    *(void **)&close_it = dlsym(RTLD_NEXT, "dlclose");
    if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || !strstr(map->l_name, "/mca_"))
        return close_it(handle);
    for (size_t i = 0; i < sizeof unloaded / sizeof *unloaded; i++)
        if (strstr(map->l_name, unloaded[i]))
            return close_it(handle);
    return 0;
}
