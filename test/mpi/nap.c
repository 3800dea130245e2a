/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * To be preloaded where tests run next to each other: a rank that waits for long gives its
 * processor away again and again, which takes as much of one as computing does, and most ranks of
 * the tests wait most of the time. So it sleeps at every 8th time, the longer the longer it has
 * waited. If the next message comes soon, it seldom gets there.
 */
#include <sched.h>
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
