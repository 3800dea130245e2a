/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One MPI_Allreduce of SMPI, by the algorithm that its selector takes; prints the simulated seconds
 * from 0 to the end of the last rank.
 *
 * usage: selector BYTES
 *
 * SMPI gets to know that it replays a trace. It then neither copies nor adds anything, so that the
 * buffers need no memory; the times stay the same to the last digit.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, n;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    long bytes = argc == 2 ? strtol(argv[1], NULL, 10) : 0;
    if (bytes < (long)sizeof(float)) {
        fprintf(stderr, "usage: selector BYTES\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    smpi_replay_init("selector", rank, 0);
    static float send, receive; /* never touched */
    MPI_Allreduce(&send, &receive, (int)(bytes / (long)sizeof(float)), MPI_FLOAT, MPI_SUM,
                  MPI_COMM_WORLD);
    static int finished; /* all ranks live in one process */
    if (++finished == n)
        printf("%.12e\n", MPI_Wtime());
    MPI_Finalize();
    return 0;
}
