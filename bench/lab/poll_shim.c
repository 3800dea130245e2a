/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lets ranks wait without occupying a core: to be loaded with LD_PRELOAD.
 *
 * An MPI process that waits polls its sockets with a timeout of zero. In a lab many such processes
 * share few cores. Here such a poll, if nothing is there, blocks for up to LAB_POLL_US microseconds
 * (200); incoming data ends the wait at once. If ranks also wait for shared memory, which does
 * not end the wait, LAB_POLL_IDLE is the number of empty polls in a row that return at once (0).
 */
#define _GNU_SOURCE
#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <time.h>

enum { WAIT_US = 200, WAIT_US_MAX = 100000 };

static struct timespec wait_time = {0, WAIT_US * 1000L};
static long idle_most;
static __thread long idle; /* polls in a row that found nothing */

static long number(const char *name, long standard, long highest)
{
    const char *text = getenv(name);
    char *end;
    long value = text ? strtol(text, &end, 10) : standard;
    return !text || (end != text && *end == '\0' && value >= 0 && value <= highest) ? value
                                                                                    : standard;
}

__attribute__((constructor)) static void read_environment(void)
{
    wait_time.tv_nsec = number("LAB_POLL_US", WAIT_US, WAIT_US_MAX) * 1000L;
    idle_most = number("LAB_POLL_IDLE", 0, 1000000);
}

/* @return how long to wait this time */
static struct timespec next_wait(void)
{
    const struct timespec none = {0, 0};
    return idle > idle_most ? wait_time : none;
}

static int count(int ready)
{
    idle = ready == 0 ? idle + 1 : 0;
    return ready;
}

static struct timespec milliseconds(int timeout)
{
    return (struct timespec){timeout / 1000, timeout % 1000 * 1000000L};
}

__attribute__((visibility("default"))) int poll(struct pollfd *fds, nfds_t nfds, int timeout)
{
    struct timespec time = timeout > 0 ? milliseconds(timeout) : next_wait();
    if (timeout != 0)
        return ppoll(fds, nfds, timeout < 0 ? NULL : &time, NULL);
    return count(ppoll(fds, nfds, &time, NULL));
}

__attribute__((visibility("default"))) int epoll_wait(int set, struct epoll_event *events, int room,
                                                      int timeout)
{
    struct timespec time = timeout > 0 ? milliseconds(timeout) : next_wait();
    if (timeout != 0)
        return epoll_pwait2(set, events, room, timeout < 0 ? NULL : &time, NULL);
    return count(epoll_pwait2(set, events, room, &time, NULL));
}
