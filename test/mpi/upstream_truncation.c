/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * doc/upstream/truncation.md: bytes behind the buffer of a receive that is too short.
 *
 *     mpirun -np 2 --mca pml ob1 --mca btl self,vader upstream_truncation
 *
 * Prints how many are overwritten; exit status 1 if any are. The fault is Open MPI's.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SENT = 7, KEPT = 3 };

static int receive(char *buffer, int bytes)
{
    int overwritten = 0;
    memset(buffer, KEPT, 4 * (size_t)bytes);
    const int code = MPI_Recv(buffer, bytes, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = bytes; i < 4 * bytes; i++)
        overwritten += buffer[i] != KEPT;
    printf("%d bytes received of %d: code %d, %d bytes behind the buffer overwritten\n", bytes,
           2 * bytes, code, overwritten);
    return overwritten;
}

int main(int argc, char **argv)
{
    int rank, overwritten = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int bytes = 1 << 10; bytes <= 1 << 20; bytes *= 8) {
        char *buffer = malloc(4 * (size_t)bytes);
        if (!buffer)
            MPI_Abort(MPI_COMM_WORLD, 1);
        else if (rank == 1)
            overwritten += receive(buffer, bytes);
        else if (rank == 0) {
            memset(buffer, SENT, 2 * (size_t)bytes);
            MPI_Send(buffer, 2 * bytes, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
        }
        free(buffer);
    }
    MPI_Finalize();
    return overwritten > 0;
}
