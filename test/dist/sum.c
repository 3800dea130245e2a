/* SPDX-License-Identifier: BSD-3-Clause */
/* The smallest program that shows an allreduce: ranks 1 .. n summed. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, mine, sum = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    mine = rank + 1;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("sum %d\n", sum);
    }
    return MPI_Finalize() == MPI_SUCCESS ? 0 : 1;
}
