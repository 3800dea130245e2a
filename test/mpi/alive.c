/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rank is late, but lives. Rank 0, which waits for it, can open no file, and so cannot find out
 * whether it does. The call ends with the right result.
 */
#include "common.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

enum { LATE = 3 /* seconds */, MOST = 100, COUNT = 50000 };

static int files[MOST], nfiles;

static void open_all_files(void)
{
    const struct rlimit limit = {MOST, MOST};
    setrlimit(RLIMIT_NOFILE, &limit);
    while (nfiles < MOST && (files[nfiles] = open("/dev/null", O_RDONLY)) >= 0)
        nfiles++;
}

static void allreduce(int factor)
{
    static double input[COUNT], output[COUNT];
    for (int i = 0; i < COUNT; i++)
        input[i] = factor * (test.rank + 1 + i % 7);
    TEST_MPI(MPI_Allreduce(input, output, COUNT, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    const int ranks = test.n * (test.n + 1) / 2;
    for (int i = 0; i < COUNT; i += 997)
        TEST_CHECK(output[i] == factor * (ranks + test.n * (i % 7)), "element %d is %g", i,
                   output[i]);
}

int main(int argc, char **argv)
{
    test_start(&argc, &argv, "alive", MPI_THREAD_SINGLE, NULL);
    for (int call = 1; call < 8; call++)
        allreduce(call);
    if (test.rank == 0)
        open_all_files();
    else
        sleep(LATE);
    allreduce(8);
    while (nfiles > 0)
        close(files[--nfiles]);
    return test_finish();
}
