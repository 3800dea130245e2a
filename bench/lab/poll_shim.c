/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks that wait without eating a core: to be loaded with LD_PRELOAD.
 *
 * An MPI process that waits asks its sockets again and again whether something has come, with a
 * timeout of zero. In a lab many such processes share few cores. Here such a question, if nothing
 * is there, waits for up to LAB_POLL_US microseconds (200); what comes in ends the wait at once.
 * Where ranks also wait for shared memory, which ends no wait, LAB_POLL_IDLE says how many
 * questions in a row get their answer at once first (0).
 */
#define _GNU_SOURCE
#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <time.h>

enum { WAIT_US = 200, WAIT_US_MAX = 100000 };

static struct timespec wait_time = {0, WAIT_US * 1000L};
static long patience;
static __thread long idle; /* questions in a row that found nothing */

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
    patience = number("LAB_POLL_IDLE", 0, 1000000);
}

/* @return how long to wait this time */
static struct timespec next_wait(void)
{
    const struct timespec none = {0, 0};
    return idle > patience ? wait_time : none;
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
