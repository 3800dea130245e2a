/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls of a dup, which are watched once there were some. The broadcast of the first policy of the
 * dynamic regime fails on one rank (failing_bcast.c): its call returns that error, and nobody
 * watches from then on. That rank repeats the call, which is its next one; so the others, which
 * wait for it in the one before, get an error, too, and repeat theirs. From there on all goes on:
 * right results on all ranks, and nobody goes ahead.
 *
 *     policy --failing RANK    -1: none
 */
#include "common.h"

#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 40000, CALLS = 100 };

/* @return whether the call had to be repeated */
static bool allreduce(MPI_Comm comm, int call, double *in, double *out)
{
    long wrong = 0;
    for (int i = 0; i < COUNT; i++)
        in[i] = test.rank + call + i;
    const bool failed = MPI_Allreduce(in, out, COUNT, MPI_DOUBLE, MPI_SUM, comm) != MPI_SUCCESS;
    if (failed)
        TEST_MPI(MPI_Allreduce(in, out, COUNT, MPI_DOUBLE, MPI_SUM, comm));
    for (int i = 0; i < COUNT; i++) {
        const double sum = test.n * (double)(call + i) + test.n * (test.n - 1) / 2.0;
        wrong += out[i] < sum || out[i] > sum;
    }
    TEST_CHECK(wrong == 0, "call %d: %ld elements are wrong", call, wrong);
    return failed;
}

int main(int argc, char **argv)
{
    const char *failing = "-1";
    const struct test_option options[] = {{"failing", &failing}, {NULL, NULL}};
    MPI_Comm first, comm;
    int failed = 0;
    test_start(&argc, &argv, "policy", MPI_THREAD_SINGLE, options);
    const long where = test_number("failing", failing, -1, test.n - 1);
    double *in = test_allocate(COUNT * sizeof *in), *out = test_allocate(COUNT * sizeof *out);
    TEST_MPI(MPI_Comm_dup(MPI_COMM_WORLD, &first));
    allreduce(first, 0, in, out);
    TEST_MPI(MPI_Comm_dup(first, &comm));
    TEST_MPI(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    for (int call = 0; call < CALLS; call++)
        failed += allreduce(comm, call, in, out);
    TEST_CHECK(failed == (where >= 0), "%d calls failed", failed);
    const long agreed = (long)test_variable_read("coll_strag_last_calls", comm);
    TEST_CHECK((agreed > 0) == (where < 0), "in %ld calls it was found out who is there", agreed);
    TEST_MPI(MPI_Comm_free(&comm));
    TEST_MPI(MPI_Comm_free(&first));
    free(in);
    free(out);
    return test_finish();
}
