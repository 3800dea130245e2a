/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One rank calls MPI_Allreduce with another count than the others, which MPI forbids. Through
 * shared memory such calls return on every rank, some with an error, and the correct calls after
 * them have correct results, whatever the wrong ones have left behind. So do those of
 * MPI_Iallreduce, one at a time or several, and starts of persistent ones.
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

/* @return whether it is an error, which must be of the right class */
static int is_error(int code)
{
    int class = MPI_SUCCESS;
    MPI_Error_class(code, &class);
    TEST_CHECK(class == MPI_SUCCESS || class == MPI_ERR_TRUNCATE, "error class %d", class);
    return code != MPI_SUCCESS;
}

/* Each returns calls of this rank that returned an error. @param longer  of one rank, in turn */

static int call_wrong(MPI_Comm comm, int count, int longer)
{
    int errors = 0;
    for (int i = 0; i < WRONG; i++) {
        const int mine = test.rank == i % test.n ? longer : count;
        errors += is_error(MPI_Allreduce(values, sums, mine, MPI_DOUBLE, MPI_SUM, comm));
    }
    return errors;
}

static int begin_wrong(MPI_Comm comm, int count, int longer)
{
    MPI_Request requests[WRONG];
    int errors = 0;
    for (int i = 0; i < WRONG; i++) {
        const int mine = test.rank == i % test.n ? longer : count;
        MPI_Iallreduce(values, sums, mine, MPI_DOUBLE, MPI_SUM, comm, &requests[i]);
        for (int j = i - 3; i % 4 == 3 && j <= i; j++) /* four at a time */
            errors += is_error(MPI_Wait(&requests[j], MPI_STATUS_IGNORE));
    }
    return errors;
}

static int start_wrong(MPI_Comm comm, int count, int longer)
{
    int errors = 0;
#ifdef TEST_HAVE_PERSISTENT
    for (int i = 0; i < WRONG / 3; i++) {
        const int mine = test.rank == i % test.n ? longer : count;
        MPI_Request request;
        TEST_MPI(TEST_PERSISTENT(Allreduce_init)(values, sums, mine, MPI_DOUBLE, MPI_SUM, comm,
                                                 MPI_INFO_NULL, &request));
        for (int start = 0; start < 3 && request != MPI_REQUEST_NULL; start++) {
            TEST_MPI(MPI_Start(&request));
            errors += is_error(MPI_Wait(&request, MPI_STATUS_IGNORE));
        }
        if (request != MPI_REQUEST_NULL) /* Open MPI frees it after an error */
            TEST_MPI(MPI_Request_free(&request));
    }
#else
    (void)comm;
    (void)count;
    (void)longer;
    errors = WRONG;
#endif
    return errors;
}

/* @param least  so many errors there are on all ranks together */
static void call_wrong_and_right(MPI_Comm comm, int count,
                                 int (*wrong)(MPI_Comm comm, int count, int longer), int least,
                                 const char *when)
{
    int errors = wrong(comm, count, count + count / 10 + 1), all;
    for (int i = 0; i < RIGHT; i++)
        call_right(comm, count, when);
    TEST_MPI(MPI_Reduce(&errors, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD));
    TEST_CHECK(test.rank != 0 || all >= least, "%d errors instead of %d %s", all, least, when);
}

static void run_pinned(const char *algorithm)
{
    static const int counts[] = {5, 300, 3000, LONGEST};
    MPI_Comm comm = test_pinned(MPI_COMM_WORLD, algorithm);
    const struct test_counters before = test_counters_read();
    for (int i = 0; i < 2 * LONGEST; i++)
        values[i] = i;
    TEST_MPI(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    /* Open MPI 4.1 asks that one about requests */
    TEST_MPI(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        call_right(comm, counts[c], "before");
        call_wrong_and_right(comm, counts[c], call_wrong, WRONG, "after wrong ones");
        call_wrong_and_right(comm, counts[c], begin_wrong, WRONG, "after wrong nonblocking ones");
        call_wrong_and_right(comm, counts[c], start_wrong, WRONG / 3,
                             "after wrong persistent ones");
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
