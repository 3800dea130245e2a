/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is learnt from calls: long enough on one communicator for an experiment to end, then some
 * calls each on a dup of it and on one with its ranks in another order. Every result is checked;
 * learn.sh reads what strag says of it.
 *
 *     learn [--count N] [--calls N]
 */
#include "common.h"

#include <stdlib.h>

enum { MORE_CALLS = 100 };

static struct {
    int count;
    double *input, *output;
} job;

/* Values whose sum is exact in any order. */
static void allreduce(MPI_Comm comm, int call)
{
    int rank, n;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &n);
    for (int i = 0; i < job.count; i++)
        job.input[i] = (double)(rank + 1) * (double)(i % 1000 + call % 7);
    TEST_MPI(MPI_Allreduce(job.input, job.output, job.count, MPI_DOUBLE, MPI_SUM, comm));
    long wrong = 0;
    for (int i = 0; i < job.count; i++)
        wrong += job.output[i] != (double)n * (double)(n + 1) / 2 * (double)(i % 1000 + call % 7);
    TEST_CHECK(wrong == 0, "call %d: %ld elements are wrong", call, wrong);
}

static void run(MPI_Comm comm, const char *name, int calls)
{
    TEST_MPI(MPI_Comm_set_name(comm, name));
    for (int call = 0; call < calls; call++)
        allreduce(comm, call);
}

int main(int argc, char **argv)
{
    const char *count = "8192", *calls = "200";
    const struct test_option options[] = {{"count", &count}, {"calls", &calls}, {NULL, NULL}};
    MPI_Comm first, second, third;
    test_start(&argc, &argv, "learn", MPI_THREAD_SINGLE, options);
    job.count = (int)test_number("count", count, 1, 100000000);
    job.input = test_allocate((size_t)job.count * sizeof *job.input);
    job.output = test_allocate((size_t)job.count * sizeof *job.output);
    TEST_MPI(MPI_Comm_dup(MPI_COMM_WORLD, &first));
    run(first, "first", (int)test_number("calls", calls, 1, 100000));
    TEST_MPI(MPI_Comm_dup(first, &second));
    run(second, "second", MORE_CALLS);
    TEST_MPI(MPI_Comm_split(first, 0, -test.rank, &third));
    run(third, "third", MORE_CALLS);
    TEST_MPI(MPI_Comm_free(&third));
    TEST_MPI(MPI_Comm_free(&second));
    TEST_MPI(MPI_Comm_free(&first));
    free(job.input);
    free(job.output);
    return test_finish();
}
