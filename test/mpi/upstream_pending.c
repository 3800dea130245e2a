/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Comm_free while an MPI_Iallreduce on it is pending, which MPI allows: the communicator is to
 * live until that has ended (doc/upstream/comm-free-pending.md).
 *
 *     mpirun -np 4 upstream_pending [COMMUNICATORS]
 *
 * Exit status 1: a result was wrong. It may crash or hang instead.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    const int communicators = argc > 1 ? atoi(argv[1]) : 1000;
    int rank, n, wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    for (int i = 0; i < communicators; i++) {
        int own = rank + i, sum = 0;
        MPI_Comm comm;
        MPI_Request request;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Iallreduce(&own, &sum, 1, MPI_INT, MPI_SUM, comm, &request);
        MPI_Comm_free(&comm);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        wrong += sum != n * i + n * (n - 1) / 2;
    }
    if (rank == 0)
        printf("upstream_pending: np %d: %d of %d results wrong\n", n, wrong, communicators);
    MPI_Finalize();
    return wrong > 0;
}
