/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rank does not come to a call of MPI_Allreduce, or comes with another vector; stuck.sh looks at
 * what the others say of that.
 *
 *     stuck --away compute|recv|stop|size [--who R] [--count N] [--until FILE] [--healthy N]
 *
 * --away     what rank --who does meanwhile: it computes; it is in MPI, but in no allreduce; it has
 *            stopped itself (SIGSTOP); or it calls with twice as many elements, which must be an
 *            error on the ranks that wait, and the calls after it right
 * --until    how long: until the file exists (stopped: until somebody lets it go on)
 * --count    elements of a double (8192)
 * --healthy  calls before, each rank coming late to some of them, by up to 2 ms (40)
 */
#include "common.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *away = "compute", *until = "";
static double *values, *sums;
static int count;

static int is_away(const char *how)
{
    return strcmp(away, how) == 0;
}

/* @return its code */
static int call(int elements)
{
    return MPI_Allreduce(values, sums, elements, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void check(int code)
{
    TEST_CHECK(code == MPI_SUCCESS, "error %d", code);
    for (int i = 0; i < count && code == MPI_SUCCESS; i++)
        TEST_CHECK(sums[i] == test.n * (test.n - 1) / 2.0, "element %d is %g", i, sums[i]);
}

static void stay_away(void)
{
    MPI_Request request;
    int value, done = 0;
    if (is_away("stop"))
        raise(SIGSTOP);
    if (!is_away("recv")) {
        while (access(until, F_OK) != 0)
            continue;
        return;
    }
    TEST_MPI(MPI_Irecv(&value, 1, MPI_INT, test.rank, 1, MPI_COMM_WORLD, &request));
    while (access(until, F_OK) != 0)
        TEST_MPI(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
    TEST_MPI(MPI_Cancel(&request));
    TEST_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

/* On one host all ranks' later calls are right; an error is not fatal here. */
static void call_with_another_size(int me)
{
    TEST_MPI(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    const int code = call(me ? 2 * count : count);
    int class = MPI_SUCCESS, errors = code != MPI_SUCCESS, all;
    MPI_Error_class(code, &class);
    TEST_CHECK(class == MPI_SUCCESS || class == MPI_ERR_TRUNCATE, "error class %d", class);
    for (int i = 0; i < 3; i++)
        check(call(count));
    TEST_MPI(MPI_Reduce(&errors, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD));
    TEST_CHECK(test.rank != 0 || all > 0, "no rank saw an error");
}

int main(int argc, char **argv)
{
    const char *who = "0", *elements = "8192", *healthy = "40";
    const struct test_option options[] = {{"away", &away},       {"who", &who},
                                          {"count", &elements},  {"until", &until},
                                          {"healthy", &healthy}, {NULL, NULL}};
    test_start(&argc, &argv, "stuck", MPI_THREAD_SINGLE, options);
    const int me = test.rank == (int)test_number("who", who, 0, test.n - 1);
    count = (int)test_number("count", elements, 1, 1000000);
    const long calls = test_number("healthy", healthy, 1, 1000000);
    values = test_allocate(2 * (size_t)count * sizeof *values);
    sums = test_allocate(2 * (size_t)count * sizeof *sums);
    for (int i = 0; i < 2 * count; i++)
        values[i] = test.rank;
    srand(1 + (unsigned)test.rank);
    for (long i = 0; i < calls; i++) {
        if (rand() % 8 == 0)
            usleep((useconds_t)(rand() % 2000));
        check(call(count));
    }
    TEST_CHECK(test_counters_read().calls > 0, "strag has run no call");
    if (is_away("size")) {
        call_with_another_size(me);
    } else {
        if (me) {
            printf("stuck: process %d\n", (int)getpid());
            fflush(stdout);
            stay_away();
        }
        check(call(count));
    }
    free(values);
    free(sums);
    return test_finish();
}
