/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The program that strangers.sh runs where ranks do not all have the same strag: allreduces from 4
 * bytes to 1.2 MB on MPI_COMM_WORLD, on its ranks backwards, and on the even and the odd ones, all
 * elements checked. Short calls come first, so that some ranks might hand them on while others do
 * not.
 */
#include "suite.h"

/* 40 calls are more than are handed on before a communicator looks at the other ranks. */
static void run(MPI_Comm comm, const char *name)
{
    suite_allreduce(comm, name, 1, 1);
    suite_allreduce(comm, name, 1000, 40);
    suite_allreduce(comm, name, 20000, 3);
    suite_allreduce(comm, name, 300000, 2);
    suite_persistent(comm, name, 20000);
}

int main(int argc, char **argv)
{
    MPI_Comm backwards, half;
    test_start(&argc, &argv, "strangers", MPI_THREAD_SINGLE, NULL);
    run(MPI_COMM_WORLD, "MPI_COMM_WORLD");
    TEST_MPI(MPI_Comm_split(MPI_COMM_WORLD, 0, -test.rank, &backwards));
    run(backwards, "backwards");
    TEST_MPI(MPI_Comm_split(MPI_COMM_WORLD, test.rank % 2, test.rank, &half));
    run(half, test.rank % 2 ? "odd" : "even");
    TEST_MPI(MPI_Comm_free(&half));
    TEST_MPI(MPI_Comm_free(&backwards));
    return test_finish();
}
