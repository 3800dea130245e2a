/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs a command under a time limit that does not depend on how busy the machine is:
 *
 *     limit SECONDS COMMAND [ARGUMENT...]
 *
 * The limit is one of time that the command could use. Fifty times within it, but at most
 * twice a second, is examined what the command and all that it has started got of processors since
 * the last time, and how many of its threads want one (that reads all of /proc: milliseconds).
 * If none does, the time counts: a command that sleeps for ever is ended. If some do, the part of
 * it counts that they got: while other programs have nine tenths of the processors, a second counts
 * as a tenth of one. Ranks that poll want processors, so that a job that hangs is ended, too, only
 * later on a busy machine; after 50 times SECONDS by the clock on the wall in any case.
 *
 * At the limit the command gets SIGTERM, and unless it ends within 10 s, it and all that it has
 * started get SIGKILL. The exit status is the command's, as a shell has it; 124 if the limit ended
 * it, 125 if it could not be started. SIGTERM, SIGINT and SIGHUP do what the limit does; so does
 * the end of the process that started this one: with a test that is ended end the jobs that it runs
 * under limits of their own.
 *
 * The command gets short slices of time, which takes nothing from its share of processors. Ranks
 * that wait give theirs away (sched_yield), and from Linux 6.18 on that costs them a whole slice: a
 * test of 4 s took more than 250 s next to 20 busy processes, and 17 s with short slices.
 *
 * STRAG_TEST_SLOWER=N, for slow machines: all limits are N times as long.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ENDED = 124, NOT_STARTED = 125 };
enum { WALL_FACTOR = 50, GRACE = 10 /* seconds */, INTERVAL = 500000000 /* nanoseconds */ };

/* ---- What the command gets of processors ---- */

/* One of the machine's, as /proc/PID/stat has it. */
struct process {
    pid_t id, parent;
    char name[16];
    bool ours;      /* this one has started it, or one that this one has started */
    double seconds; /* of processors, with those of its children that it has waited for */
};

static struct {
    struct process *all;
    size_t n, room;
} processes;

/* What the command has got since it began, and threads of it that have a processor or wait for one
 */
struct look {
    double seconds;
    int want;
};

/* @param path  of a process's or a thread's `stat` @return false: it has ended */
static bool read_stat(const char *path, struct process *process, char *state)
{
    char text[1024];
    unsigned long user, system;
    long children_user, children_system;
    FILE *file = fopen(path, "r");
    const size_t length = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file)
        fclose(file);
    text[length] = '\0';
    const char *name = strchr(text, '('), *end = strrchr(text, ')'); /* it may have any letters */
    if (!name || !end ||
        sscanf(end + 1, " %c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %ld %ld", state,
               &process->parent, &user, &system, &children_user, &children_system) != 6)
        return false;
    snprintf(process->name, sizeof process->name, "%.*s", (int)(end - name - 1), name + 1);
    process->seconds = ((double)(user + system) + (double)(children_user + children_system)) /
                       (double)sysconf(_SC_CLK_TCK);
    return true;
}

/* Names in a folder of /proc that are numbers. @return 0: there are no more */
static int next_number(DIR *folder)
{
    const struct dirent *entry;
    int number = 0;
    while (folder && number <= 0 && (entry = readdir(folder)) != NULL)
        number = atoi(entry->d_name);
    return number > 0 ? number : 0;
}

static void read_processes(void)
{
    DIR *folder = opendir("/proc");
    char path[64], state;
    processes.n = 0;
    for (int id; (id = next_number(folder)) != 0;) {
        if (processes.n == processes.room) {
            const size_t room = 2 * processes.room + 256;
            struct process *all = realloc(processes.all, room * sizeof *all);
            if (!all)
                break;
            processes.all = all;
            processes.room = room;
        }
        struct process *process = &processes.all[processes.n];
        *process = (struct process){.id = id};
        snprintf(path, sizeof path, "/proc/%d/stat", id);
        processes.n += read_stat(path, process, &state);
    }
    if (folder)
        closedir(folder);
}

/* /proc lists processes by their numbers. */
static int by_id(const void *id, const void *process)
{
    return *(const pid_t *)id - ((const struct process *)process)->id;
}

static bool is_ours(pid_t id)
{
    const struct process *process =
        bsearch(&id, processes.all, processes.n, sizeof *processes.all, by_id);
    return id == getpid() || (process && process->ours);
}

/* Orphans have become children of this process. */
static void find_ours(void)
{
    read_processes();
    for (bool more = true; more;) {
        more = false;
        for (size_t p = 0; p < processes.n; p++) {
            struct process *process = &processes.all[p];
            const bool found = !process->ours && is_ours(process->parent);
            process->ours = process->ours || found;
            more = more || found;
        }
    }
}

/* Threads of a process that have a processor or wait for one. */
static int count_wanting(pid_t id)
{
    char path[64], state;
    struct process thread;
    int count = 0;
    snprintf(path, sizeof path, "/proc/%d/task", id);
    DIR *folder = opendir(path);
    for (int number; (number = next_number(folder)) != 0;) {
        snprintf(path, sizeof path, "/proc/%d/task/%d/stat", id, number);
        count += read_stat(path, &thread, &state) && state == 'R';
    }
    if (folder)
        closedir(folder);
    return count;
}

/* Other limits look at the same moments, perhaps: they want nothing. */
static struct look look(void)
{
    struct rusage ended;
    struct look now = {0, 0};
    find_ours();
    for (size_t p = 0; p < processes.n; p++) {
        const struct process *process = &processes.all[p];
        if (!process->ours)
            continue;
        now.seconds += process->seconds;
        if (strcmp(process->name, program_invocation_short_name) != 0)
            now.want += count_wanting(process->id);
    }
    if (getrusage(RUSAGE_CHILDREN, &ended) == 0)
        now.seconds += (double)(ended.ru_utime.tv_sec + ended.ru_stime.tv_sec) +
                       1e-6 * (double)(ended.ru_utime.tv_usec + ended.ru_stime.tv_usec);
    return now;
}

/* How much of an interval the command could use. */
static double usable(double seconds, const struct look *before, const struct look *now)
{
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    const double got = now->seconds - before->seconds,
                 wanted = seconds * (now->want < processors ? now->want : (double)processors);
    if (got >= wanted) /* it may want none */
        return seconds;
    return got > 0 ? seconds * got / wanted : 0;
}

/* ---- The command ---- */

/* The kernel's struct sched_attr, for which not every C library has a name. */
struct schedule {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t slice, deadline, period; /* nanoseconds */
};

/* Of this process, and of those that it starts. Kernels before Linux 6.12 do not care. */
static void shorten_slices(void)
{
    struct schedule schedule = {.size = sizeof schedule};
    if (syscall(SYS_sched_getattr, 0, &schedule, sizeof schedule, 0) != 0 ||
        schedule.policy != SCHED_OTHER)
        return;
    schedule.slice = 100000;
    (void)syscall(SYS_sched_setattr, 0, &schedule, 0);
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* @return its exit status, or -1: it is still there */
static int reap(pid_t command)
{
    int status, result = -1;
    pid_t ended;
    while ((ended = waitpid(-1, &status, WNOHANG)) > 0) {
        if (ended == command)
            result = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
    return result;
}

/* Those that are started meanwhile, too. A process that hangs in the kernel stays. */
static void kill_all(pid_t command)
{
    bool left = true;
    for (int round = 0; left && round < 1000; round++) {
        left = false;
        find_ours();
        for (size_t p = 0; p < processes.n; p++)
            left |= processes.all[p].ours && kill(processes.all[p].id, SIGKILL) == 0;
        nanosleep(&(struct timespec){.tv_nsec = INTERVAL / 50}, NULL);
        (void)reap(command);
    }
}

/* The command runs, or has been asked to end. */
struct stage {
    double limit;             /* seconds */
    double start, last, used; /* by the clock: its begin, the last look; what counts since then */
    struct look look;         /* the last one */
};

static struct stage begin_stage(double limit, struct look look)
{
    const double time = now();
    return (struct stage){limit, time, time, 0, look};
}

/* @return whether the limit is reached */
static bool is_over(struct stage *stage)
{
    const double time = now(), since = time - stage->last;
    if (since >= 1e-9 * INTERVAL && since >= stage->limit / 50) {
        const struct look this = look();
        stage->used += usable(since, &stage->look, &this);
        stage->look = this;
        stage->last = time;
    }
    return stage->used >= stage->limit || time - stage->start >= WALL_FACTOR * stage->limit;
}

/* @return this process's exit status */
static int watch(pid_t command, double limit, const sigset_t *signals)
{
    const struct timespec interval = {.tv_nsec = INTERVAL};
    struct stage stage = begin_stage(limit, (struct look){0, 0});
    bool ending = false;
    for (;;) {
        const int signal = sigtimedwait(signals, NULL, &interval);
        const int status = reap(command);
        if (status >= 0)
            return ending ? ENDED : status;
        const bool over = is_over(&stage);
        if (ending && over) {
            kill_all(command);
            return ENDED;
        }
        if (!ending && (over || (signal > 0 && signal != SIGCHLD))) {
            kill(command, SIGTERM);
            kill(command, SIGCONT);
            stage = begin_stage(GRACE, stage.look);
            ending = true;
        }
    }
}

static double limit_of(int argc, char **argv)
{
    const char *slower = getenv("STRAG_TEST_SLOWER");
    const double limit = argc > 2 ? strtod(argv[1], NULL) * (slower ? strtod(slower, NULL) : 1) : 0;
    if (limit > 0)
        return limit;
    fprintf(stderr, "usage: limit SECONDS COMMAND [ARGUMENT...]\n");
    exit(NOT_STARTED);
}

int main(int argc, char **argv)
{
    const double limit = limit_of(argc, argv);
    sigset_t signals, usual;
    sigemptyset(&signals);
    sigaddset(&signals, SIGCHLD);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGHUP);
    sigprocmask(SIG_BLOCK, &signals, &usual);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    const pid_t command = fork();
    if (command < 0) {
        perror("limit: fork");
        return NOT_STARTED;
    }
    if (command == 0) {
        sigprocmask(SIG_SETMASK, &usual, NULL);
        shorten_slices();
        execvp(argv[2], argv + 2);
        perror(argv[2]);
        _exit(NOT_STARTED);
    }
    return watch(command, limit, &signals);
}
