/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stragglers: which rank is detected, and when. Ranks sleep before their calls, depending on the
 * phase; after some windows the performance variables must name the right rank. On a busy machine
 * the scheduler makes ranks late, too, by more than they sleep: if another rank is named, or
 * none, the times at which the ranks came must say so. Every result is checked. The job's ranks are
 * split into groups of 2, 3, 4, ..., which sleep at the same time.
 *
 *     late [--window W] [--count N] [--delay MS]
 *
 *     late --stragglers R,S,..
 *
 * W is coll_strag_window. With --stragglers a duplicate of MPI_COMM_WORLD follows another, on which
 * R, S, .. are late in all calls (none: no rank is; R+S: both, S by half as much); sums are
 * rounded, and the number of different results is printed.
 */
#include "common.h"

#include <math.h>
#include <time.h>
#include <unistd.h>

/* Windows of a phase, with the call after each. */
enum { NO_RANK = -1, WINDOWS = 8 };

/* From a rank's call to its return, in seconds of a clock that all share. */
struct stay {
    double came, left;
};

static struct {
    MPI_Comm group;
    int window, count;
    double delay; /* seconds */
    double *input, *output;
    struct stay *stays; /* in a phase's calls */
    long call;
} job;

static void sleep_for(double seconds)
{
    struct timespec time = {(time_t)seconds, (long)(1e9 * (seconds - (double)(time_t)seconds))};
    nanosleep(&time, NULL);
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static double uniform(int rank, long call)
{
    return (double)(test_value(rank, (uint64_t)call) >> 11) * 0x1p-53;
}

/* Values whose sum is exact in any order. @param[out] left  when it ended */
static void allreduce(MPI_Comm comm, double *left)
{
    int rank, n;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &n);
    for (int i = 0; i < job.count; i++)
        job.input[i] = (double)(rank + 1) * (double)(i % 1000 + job.call % 7);
    TEST_MPI(MPI_Allreduce(job.input, job.output, job.count, MPI_DOUBLE, MPI_SUM, comm));
    *left = now();
    long wrong = 0;
    for (int i = 0; i < job.count; i++)
        wrong +=
            job.output[i] != (double)n * (double)(n + 1) / 2 * (double)(i % 1000 + job.call % 7);
    TEST_CHECK(wrong == 0, "call %ld: %ld elements are wrong", job.call, wrong);
    job.call++;
}

struct phase {
    const char *what;
    int late, other; /* both late in nine of ten calls, equally */
    bool noise;      /* every rank is late by a random time */
    int expect;
};

/* @param stays    of all ranks, rank by rank
 * @param[out] by  how much this rank came after all others, and how much shorter it stayed, which
 * is what strag sees of it; seconds
 * @return how long it stayed */
static double compare(const struct stay *stays, int n, int rank, int call, double by[2])
{
    const int calls = WINDOWS * job.window;
    const struct stay *own = &stays[rank * calls + call];
    const double took = own->left - own->came;
    by[0] = by[1] = HUGE_VAL;
    for (int r = 0; r < n; r++) {
        const struct stay *stay = &stays[r * calls + call];
        if (r == rank)
            continue;
        by[0] = fmin(by[0], own->came - stay->came);
        by[1] = fmin(by[1], stay->left - stay->came - took);
    }
    return took;
}

/* @return the share of two windows' calls, from `first` on, in which this rank came last, that much
 *         after the others; with `shorter`, in which its stay was shorter, too, by a fifth */
static double share_last(const struct stay *stays, int n, int rank, double behind, bool shorter,
                         int first)
{
    const int calls = 2 * job.window;
    int last = 0;
    for (int c = first; c < first + calls; c++) {
        double by[2];
        const double took = compare(stays, n, rank, c, by);
        last += by[0] >= behind && (!shorter || (by[1] >= behind && by[1] > 0.2 * took));
    }
    return (double)last / calls;
}

/* Did the machine make another rank late than those that slept? Half of what strag names must be
 * there to see; and whom it misses, must not have been last often enough (observe.c: in nearly all
 * of two windows' calls). All ranks call it. @param named  by strag; NO_RANK: none is */
static bool disturbed(MPI_Comm comm, const struct phase *phase, int named, double delay)
{
    const int calls = WINDOWS * job.window, bytes = calls * (int)sizeof(struct stay);
    int n;
    bool hidden = phase->expect == NO_RANK, seen = named == NO_RANK;
    TEST_MPI(MPI_Comm_size(comm, &n));
    struct stay *stays = test_allocate((size_t)n * (size_t)bytes);
    TEST_MPI(MPI_Allgather(job.stays, bytes, MPI_BYTE, stays, bytes, MPI_BYTE, comm));
    for (int first = 0; first + 2 * job.window <= calls; first += job.window) {
        if (phase->expect != NO_RANK)
            hidden |= share_last(stays, n, phase->expect, job.delay / 4, true, first) < 0.9;
        if (named != NO_RANK)
            seen |= share_last(stays, n, named, delay / 2, false, first) >= 1.0 / 3;
    }
    free(stays);
    return hidden && seen;
}

/* More processes than processors are a little late without a delay. */
static void check(MPI_Comm comm, const struct phase *phase, long found)
{
    int rank, n;
    TEST_MPI(MPI_Comm_rank(comm, &rank));
    TEST_MPI(MPI_Comm_size(comm, &n));
    const int named = (int)test_variable_read("coll_strag_late_rank", comm);
    const double delay = test_variable_read("coll_strag_late_delay", comm);
    bool right = named == phase->expect;
    if (phase->expect == NO_RANK && named != NO_RANK)
        right = delay < job.delay / 4;
    const bool excused = disturbed(comm, phase, named, delay);
    if (!right && excused) {
        if (rank == 0)
            printf("late: %d ranks: %s: disturbed by the machine; rank %d is late by %g s\n", n,
                   phase->what, named, delay);
        return;
    }
    TEST_CHECK(right, "%s: rank %d is the straggler, by %g s, not %d", phase->what, named, delay,
               phase->expect);
    if (rank == 0 && phase->expect != NO_RANK)
        printf("late: %d ranks: %s: rank %d found after %ld calls, %.1f windows\n", n, phase->what,
               named, found, (double)found / job.window);
}

static void run(MPI_Comm comm, const struct phase *phase)
{
    long found = 0;
    int rank;
    TEST_MPI(MPI_Comm_rank(comm, &rank));
    for (int c = 0; c < WINDOWS * job.window; c++) {
        bool late = c % 10 != 7 && (rank == phase->late || rank == phase->other);
        if (late || phase->noise)
            sleep_for(phase->noise ? job.delay * uniform(test.rank, job.call) : job.delay);
        job.stays[c].came = now();
        allreduce(comm, &job.stays[c].left);
        if (!found && (int)test_variable_read("coll_strag_late_rank", comm) == phase->expect)
            found = c + 1;
    }
    check(comm, phase, found);
}

/* One after another, on a communicator of their own, whose ranks are in reverse order. */
static void run_phases(const struct phase *phases, size_t nphases)
{
    MPI_Comm comm;
    int rank;
    TEST_MPI(MPI_Comm_rank(job.group, &rank));
    TEST_MPI(MPI_Comm_split(job.group, 0, -rank, &comm));
    for (size_t p = 0; p < nphases; p++)
        run(comm, &phases[p]);
    TEST_MPI(MPI_Comm_free(&comm));
}

static void run_group(int n)
{
    const int last = n - 1, other = n / 2 == last ? 0 : n / 2;
    const struct phase changes[] = {
        {"all equal", NO_RANK, NO_RANK, false, NO_RANK},
        {"the last rank", last, NO_RANK, false, last},
        {"still the last rank", last, NO_RANK, false, last},
        {"another one", other, NO_RANK, false, other},
        {"none any more", NO_RANK, NO_RANK, false, NO_RANK},
    };
    const struct phase noise[] = {{"noise", NO_RANK, NO_RANK, true, NO_RANK},
                                  {"more noise", NO_RANK, NO_RANK, true, NO_RANK}};
    const struct phase both[] = {{"two, equally", 0, last, false, NO_RANK},
                                 {"still two", 0, last, false, NO_RANK}};
    run_phases(changes, sizeof changes / sizeof *changes);
    run_phases(noise, sizeof noise / sizeof *noise);
    if (n > 2)
        run_phases(both, sizeof both / sizeof *both);
}

/* Groups of 2, 3, 4, ... ranks; those that are left over are the last one. */
static void run_groups(void)
{
    int n = 2, first = 0;
    while (first + n <= test.rank && first + 2 * n + 1 <= test.n)
        first += n++;
    TEST_MPI(MPI_Comm_split(MPI_COMM_WORLD, first, test.rank, &job.group));
    TEST_MPI(MPI_Comm_size(job.group, &n));
    run_group(n);
    TEST_MPI(MPI_Comm_free(&job.group));
}

/* ---- Bits ---- */

enum { BITS_WINDOWS = 5, HASHES_MAX = 8 };

/* @param delay  of this rank
 * @param[out] found  after how many calls there is a straggler; 0: there was none
 * @return the number of different results of these calls */
static int count_results(MPI_Comm comm, double delay, int calls, uint64_t hashes[HASHES_MAX],
                         int *found)
{
    int nhashes = 0;
    *found = 0;
    for (int i = 0; i < job.count; i++)
        job.input[i] = (double)test_value(test.rank, (uint64_t)i) * 0x1p-60;
    for (int c = 0; c < calls; c++) {
        if (delay > 0)
            sleep_for(delay);
        TEST_MPI(MPI_Allreduce(job.input, job.output, job.count, MPI_DOUBLE, MPI_SUM, comm));
        const uint64_t hash = test_hash(job.output, (size_t)job.count * sizeof *job.output);
        int known = 0;
        while (known < nhashes && hashes[known] != hash)
            known++;
        if (known == nhashes && nhashes < HASHES_MAX)
            hashes[nhashes++] = hash;
        if (!*found && test_variable_read("coll_strag_late_rank", comm) >= 0)
            *found = c + 1;
    }
    return nhashes;
}

/* By how much this rank is late: R+S+.. */
static double delay_in(const char *name)
{
    double delay = job.delay, own = 0;
    char *list = strdup(name), *rest = NULL;
    for (char *rank = strtok_r(list, "+", &rest); rank; rank = strtok_r(NULL, "+", &rest)) {
        if (strcmp(rank, "none") != 0 &&
            test_number("stragglers", rank, 0, test.n - 1) == test.rank)
            own = delay;
        delay /= 2;
    }
    free(list);
    return own;
}

/* On a duplicate; and on one with fewer calls than it takes to find a straggler. */
static void run_straggler(const char *name)
{
    const double delay = delay_in(name);
    uint64_t hashes[HASHES_MAX];
    char text[64];
    MPI_Comm comm, brief;
    TEST_MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    TEST_MPI(MPI_Comm_dup(MPI_COMM_WORLD, &brief));
    test_pass_first_calls(comm);
    test_pass_first_calls(brief);
    snprintf(text, sizeof text, "straggler %s", name);
    TEST_MPI(MPI_Comm_set_name(comm, text));
    int found, brief_found;
    int results = count_results(comm, delay, BITS_WINDOWS * job.window, hashes, &found);
    if (test.rank == 0)
        printf(
            "late: straggler %s: found after %d calls; %d different results, the first %016llx\n",
            name, found, results, (unsigned long long)hashes[0]);
    count_results(brief, delay, job.window - 2, hashes, &brief_found);
    TEST_MPI(MPI_Comm_free(&brief));
    TEST_MPI(MPI_Comm_free(&comm));
}

static void run_stragglers(const char *text)
{
    char *list = strdup(text), *rest = NULL;
    for (char *name = strtok_r(list, ",", &rest); name; name = strtok_r(NULL, ",", &rest))
        run_straggler(name);
    free(list);
}

int main(int argc, char **argv)
{
    const char *window = "10", *count = "32768", *delay = "20", *stragglers = "";
    const struct test_option options[] = {{"window", &window},
                                          {"count", &count},
                                          {"delay", &delay},
                                          {"stragglers", &stragglers},
                                          {NULL, NULL}};
    test_start(&argc, &argv, "late", MPI_THREAD_SINGLE, options);
    job.window = (int)test_number("window", window, 2, 4096);
    job.count = (int)test_number("count", count, 1, 100000000);
    job.delay = 1e-3 * (double)test_number("delay", delay, 0, 10000);
    job.input = test_allocate((size_t)job.count * sizeof *job.input);
    job.output = test_allocate((size_t)job.count * sizeof *job.output);
    job.stays = test_allocate((size_t)(WINDOWS * job.window) * sizeof *job.stays);
    if (*stragglers)
        run_stragglers(stragglers);
    else
        run_groups();
    free(job.input);
    free(job.output);
    free(job.stays);
    return test_finish();
}
