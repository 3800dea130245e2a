/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One rank kills itself between two calls of MPI_Allreduce. The others continue calling, until
 *     killed           mpirun ends them, as it does with any program;
 *     killed --return  the call returns an error, if mpirun lets them survive.
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CALLS = 200, COUNT = 1 << 18 };

static double values[COUNT], sums[COUNT];

int main(int argc, char **argv)
{
    int rank, n, error = MPI_SUCCESS;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    if (argc > 1 && strcmp(argv[1], "--return") == 0)
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    double start = MPI_Wtime();
    for (int call = 0; error == MPI_SUCCESS && MPI_Wtime() < start + 60; call++) {
        if (rank == n - 1 && call == CALLS) {
            fprintf(stderr, "killed: rank %d dies\n", rank);
            raise(SIGKILL);
        }
        error = MPI_Allreduce(values, sums, COUNT, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    fprintf(stderr, "killed: rank %d: %s after %.0f s\n", rank,
            error == MPI_SUCCESS ? "no error" : "an error", MPI_Wtime() - start);
    _exit(error == MPI_SUCCESS);
}
