/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Does MPI_T_init_thread change the thread level of MPI? (doc/upstream/thread-level.md)
 *
 *     mpirun -np 1 upstream_thread_level      exit status 1: it does
 */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int before, after, tool;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &before);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &tool);
    MPI_Query_thread(&after);
    printf("upstream_thread_level: np 1: level %d before MPI_T_init_thread, %d after\n", before,
           after);
    MPI_T_finalize();
    MPI_Finalize();
    return before != after;
}
