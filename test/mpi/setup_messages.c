/* SPDX-License-Identifier: BSD-3-Clause */
/* A job whose only messages of its own are those of one call of 4 bytes. */
#include <mpi.h>

#include <stdio.h>

int main(int argc, char **argv)
{
    int mine, sum = 0, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &mine);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (sum != ranks * (ranks - 1) / 2)
        fprintf(stderr, "setup_messages: rank %d has %d\n", mine, sum);
    MPI_Finalize();
    return sum != ranks * (ranks - 1) / 2;
}
