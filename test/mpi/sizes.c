/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The program that params.sh runs with all kinds of parameters: allreduces of a few sizes, each
 * three times, on MPI_COMM_WORLD and on a duplicate, all elements checked. strag's counters are
 * printed for the script to judge:
 *
 *     sizes: calls 24, delegated 0
 *
 * With `--short N`: N allreduces of 1 KiB on MPI_COMM_WORLD instead.
 */
#include "suite.h"

#include <stdio.h>
#include <stdlib.h>

/* 4, 4000, 40000 and 1200000 bytes: auto delegates two of them and runs two. */
static const int counts[] = {1, 1000, 10000, 300000};

static void reduce(MPI_Comm comm, const char *name, int count, int rounds)
{
    struct suite suite = suite_create(comm, name, SUITE_BLOCKING, count);
    for (int round = 0; round < rounds; round++) {
        suite_fill(&suite, suite.send, suite.rank, round);
        suite_clear(suite.receive, suite.count);
        TEST_MPI(MPI_Allreduce(suite.send, suite.receive, suite.count, MPI_INT, MPI_SUM, comm));
        suite_check_sum(&suite, "Allreduce", suite.receive, suite.n, round);
    }
    suite_free(&suite);
}

static void run(MPI_Comm comm, const char *name)
{
    for (int k = 0; k < 4; k++)
        reduce(comm, name, counts[k], 3);
}

static void run_two(void)
{
    MPI_Comm dup;
    run(MPI_COMM_WORLD, "MPI_COMM_WORLD");
    TEST_MPI(MPI_Comm_dup(MPI_COMM_WORLD, &dup));
    TEST_MPI(MPI_Comm_set_name(dup, "the duplicate"));
    run(dup, "the duplicate");
    TEST_MPI(MPI_Comm_free(&dup));
}

int main(int argc, char **argv)
{
    const char *text = "0";
    const struct test_option options[] = {{"short", &text}, {NULL, NULL}};
    test_start(&argc, &argv, "sizes", MPI_THREAD_SINGLE, options);
    const int calls = (int)test_number("short", text, 0, 1000000);
    const struct test_counters before = test_counters_read();
    if (calls)
        reduce(MPI_COMM_WORLD, "MPI_COMM_WORLD", 256, calls);
    else
        run_two();
    const struct test_counters now = test_counters_read();
    if (0 == test.rank) {
        printf("sizes: calls %llu, delegated %llu\n", now.calls - before.calls,
               now.delegated - before.delegated);
    }
    return test_finish();
}
