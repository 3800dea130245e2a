/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * To be preloaded where tests run next to each other: a rank that waits for long gives its
 * processor away again and again, which takes as much of one as computing does, and most ranks of
 * the tests wait most of the time. So it sleeps for a moment at every 16th time. If the next
 * message comes soon, it seldom gets there.
 */
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { YIELDS = 16, NAP = 100000 /* nanoseconds */ };

int sched_yield(void)
{
    static _Thread_local unsigned yields;
    const struct timespec nap = {0, NAP};
    if (++yields % YIELDS)
        return (int)syscall(SYS_sched_yield);
    (void)nanosleep(&nap, NULL); /* a signal may end it */
    return 0;
}
