/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stragglers: which rank is detected, and when. Ranks sleep before their calls, depending on the
 * phase; after three windows the performance variables must name the right rank. Every result is
 * checked.
 *
 *     late [--window W] [--count N] [--delay MS] [--expect auto|none] [--bits 0|1] [--late R]
 *
 * W is coll_strag_window. With --expect none there must never be a straggler. --bits 1: rank R is
 * late in all of nine windows, sums are rounded, and the number of different results is printed.
 */
#include "common.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { NO_RANK = -1, WINDOWS = 3 };

static struct {
    int window, count;
    double delay; /* seconds */
    bool expect;
    double *input, *output;
    long call;
} job;

static void sleep_for(double seconds)
{
    struct timespec time = {(time_t)seconds, (long)(1e9 * (seconds - (double)(time_t)seconds))};
    nanosleep(&time, NULL);
}

static double uniform(int rank, long call)
{
    return (double)(test_value(rank, (uint64_t)call) >> 11) * 0x1p-53;
}

/* Values whose sum is exact in any order. */
static void allreduce(MPI_Comm comm)
{
    int rank, n;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &n);
    for (int i = 0; i < job.count; i++)
        job.input[i] = (double)(rank + 1) * (double)(i % 1000 + job.call % 7);
    TEST_MPI(MPI_Allreduce(job.input, job.output, job.count, MPI_DOUBLE, MPI_SUM, comm));
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

/* More processes than processors are a little late without a delay. */
static void check(MPI_Comm comm, const struct phase *phase, long found)
{
    int now = (int)test_variable_read("coll_strag_late_rank", comm);
    int expect = job.expect ? phase->expect : NO_RANK;
    if (expect == NO_RANK && now != NO_RANK && job.expect) {
        double delay = test_variable_read("coll_strag_late_delay", comm);
        TEST_CHECK(delay < job.delay / 4, "%s: rank %d is late by %g s", phase->what, now, delay);
        return;
    }
    TEST_CHECK(now == expect, "%s: rank %d is the straggler, not %d", phase->what, now, expect);
    if (test.rank == 0 && expect != NO_RANK)
        printf("late: np %d: %s: rank %d found after %ld calls, %.1f windows\n", test.n,
               phase->what, now, found, (double)found / job.window);
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
        allreduce(comm);
        if (!found && (int)test_variable_read("coll_strag_late_rank", comm) == phase->expect)
            found = c + 1;
    }
    check(comm, phase, found);
}

/* One after another, on a communicator of their own, whose ranks are in reverse order. */
static void run_phases(const struct phase *phases, size_t nphases)
{
    MPI_Comm comm;
    TEST_MPI(MPI_Comm_split(MPI_COMM_WORLD, 0, -test.rank, &comm));
    for (size_t p = 0; p < nphases; p++)
        run(comm, &phases[p]);
    TEST_MPI(MPI_Comm_free(&comm));
}

static void run_all(void)
{
    const int last = test.n - 1, other = test.n / 2 == last ? 0 : test.n / 2;
    const struct phase changes[] = {
        {"all alike", NO_RANK, NO_RANK, false, NO_RANK},
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
    if (test.n > 2)
        run_phases(both, sizeof both / sizeof *both);
}

/* ---- Bits ---- */

enum { BITS_WINDOWS = 9, HASHES_MAX = 8 };

static void count_results(int late)
{
    uint64_t hashes[HASHES_MAX];
    int nhashes = 0;
    for (int i = 0; i < job.count; i++)
        job.input[i] = (double)test_value(test.rank, (uint64_t)i) * 0x1p-60;
    for (int c = 0; c < BITS_WINDOWS * job.window; c++) {
        if (test.rank == late)
            sleep_for(job.delay);
        TEST_MPI(
            MPI_Allreduce(job.input, job.output, job.count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
        const uint64_t hash = test_hash(job.output, (size_t)job.count * sizeof *job.output);
        int known = 0;
        while (known < nhashes && hashes[known] != hash)
            known++;
        if (known == nhashes && nhashes < HASHES_MAX)
            hashes[nhashes++] = hash;
    }
    if (test.rank == 0)
        printf("late: %d different results, the first %016llx\n", nhashes,
               (unsigned long long)hashes[0]);
}

int main(int argc, char **argv)
{
    const char *window = "20", *count = "32768", *delay = "20", *expect = "auto", *bits = "0",
               *late = "0";
    const struct test_option options[] = {{"window", &window}, {"count", &count}, {"delay", &delay},
                                          {"expect", &expect}, {"bits", &bits},   {"late", &late},
                                          {NULL, NULL}};
    test_start(&argc, &argv, "late", MPI_THREAD_SINGLE, options);
    job.window = (int)test_number("window", window, 2, 4096);
    job.count = (int)test_number("count", count, 1, 100000000);
    job.delay = 1e-3 * (double)test_number("delay", delay, 0, 10000);
    job.expect = strcmp(expect, "auto") == 0;
    job.input = test_allocate((size_t)job.count * sizeof *job.input);
    job.output = test_allocate((size_t)job.count * sizeof *job.output);
    const int late_rank = (int)test_number("late", late, 0, test.n - 1);
    if (test_number("bits", bits, 0, 1) == 1)
        count_results(late_rank);
    else
        run_all();
    free(job.input);
    free(job.output);
    return test_finish();
}
