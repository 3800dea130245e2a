/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One rank calls MPI_Allreduce with another count than the others, which MPI forbids. Through
 * shared memory such calls return on every rank, some with an error, and the correct calls after
 * them have correct results, whatever the wrong ones have left behind.
 *
 * No count is so small that blocks are empty on some of the ranks only, and none is beyond 4 KiB on
 * some only, the longest call that takes turns with the root: then ranks may deadlock, which none
 * of them can detect.
 *
 *     mismatch [--algorithms A,B,..]     each pinned on a communicator in turn (direct)
 */
#include "common.h"

#include <stdlib.h>
#include <string.h>

enum { WRONG = 12, RIGHT = 5, LONGEST = 200000 };

static double *values, *sums;

/* A correct call. */
static void call_right(MPI_Comm comm, int count, const char *when)
{
    const double ranks = test.n * (test.n - 1) / 2.0;
    for (int i = 0; i < count; i++)
        values[i] = test.rank + i;
    int code = MPI_Allreduce(values, sums, count, MPI_DOUBLE, MPI_SUM, comm);
    if (!TEST_CHECK(code == MPI_SUCCESS, "%d elements, %s: error %d", count, when, code))
        return;
    int wrong = 0;
    for (int i = 0; i < count; i++)
        wrong += sums[i] != ranks + (double)i * test.n;
    TEST_CHECK(wrong == 0, "%d elements, %s: %d are wrong", count, when, wrong);
}

/* @return calls of this rank that returned an error */
static int call_wrong(MPI_Comm comm, int count, int longer)
{
    int errors = 0;
    for (int i = 0; i < WRONG; i++) {
        const int mine = test.rank == i % test.n ? longer : count;
        errors += MPI_Allreduce(values, sums, mine, MPI_DOUBLE, MPI_SUM, comm) != MPI_SUCCESS;
    }
    return errors;
}

static void run_pinned(const char *algorithm)
{
    static const int counts[] = {5, 300, 3000, LONGEST};
    MPI_Comm comm = test_pinned(MPI_COMM_WORLD, algorithm);
    const struct test_counters before = test_counters_read();
    for (int i = 0; i < 2 * LONGEST; i++)
        values[i] = i;
    TEST_MPI(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        int errors, all;
        call_right(comm, counts[c], "before");
        errors = call_wrong(comm, counts[c], counts[c] + counts[c] / 10 + 1);
        for (int i = 0; i < RIGHT; i++)
            call_right(comm, counts[c], "after wrong ones");
        TEST_MPI(MPI_Reduce(&errors, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD));
        TEST_CHECK(test.rank != 0 || all >= WRONG, "%d errors in %d wrong calls", all, WRONG);
    }
    TEST_CHECK(test_counters_read().calls > before.calls, "%s did not run", algorithm);
    TEST_MPI(MPI_Comm_free(&comm));
}

int main(int argc, char **argv)
{
    const char *algorithms = "direct";
    const struct test_option options[] = {{"algorithms", &algorithms}, {NULL, NULL}};
    test_start(&argc, &argv, "mismatch", MPI_THREAD_SINGLE, options);
    values = test_allocate(2 * LONGEST * sizeof *values);
    sums = test_allocate(2 * LONGEST * sizeof *sums);
    char *list = strdup(algorithms), *rest = NULL;
    for (char *name = strtok_r(list, ",", &rest); name; name = strtok_r(NULL, ",", &rest))
        run_pinned(name);
    free(list);
    free(values);
    free(sums);
    return test_finish();
}
