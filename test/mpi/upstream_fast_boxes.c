/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Do all messages between two ranks arrive where several threads send at the same time?
 * (doc/upstream/fast-boxes.md)
 *
 * Each thread of rank 0 sends short messages to its partner on rank 1, on a communicator of its
 * own, and has an answer to every four of them. If no thread of a rank gets a message in 5 s of
 * processor time, in which they poll, one was lost.
 *
 *     mpirun -np 2 --mca pml ob1 upstream_fast_boxes [BURSTS]      of each thread
 *
 * Exit status 1: one was lost; 77: there are no such threads, or not two ranks.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { THREADS = 4, BURST = 4, BYTES = 16, SKIP = 77, LOST = 1 };

/* Of processor time: on a busy machine 5 s pass in which a rank gets none. */
static const double wait_limit = 5;

static int rank, bursts;

static struct worker {
    pthread_t thread;
    MPI_Comm comm;
    long received; /* atomic */
    int over;      /* atomic */
} workers[THREADS];

static void receive(struct worker *worker, char *message)
{
    MPI_Recv(message, BYTES, MPI_CHAR, 1 - rank, 0, worker->comm, MPI_STATUS_IGNORE);
    __atomic_add_fetch(&worker->received, 1, __ATOMIC_RELAXED);
}

static void *work(void *argument)
{
    struct worker *worker = argument;
    char message[BYTES];
    memset(message, 0, sizeof message);
    for (int burst = 0; burst < bursts; burst++) {
        if (rank == 1)
            for (int i = 0; i < BURST; i++)
                receive(worker, message);
        for (int i = 0; i < (rank == 0 ? BURST : 1); i++)
            MPI_Send(message, BYTES, MPI_CHAR, 1 - rank, 0, worker->comm);
        if (rank == 0)
            receive(worker, message);
    }
    __atomic_store_n(&worker->over, 1, __ATOMIC_RELEASE);
    return NULL;
}

/* @param[out] received  messages so far, of all threads */
static int all_over(long *received)
{
    int over = 1;
    *received = 0;
    for (int t = 0; t < THREADS; t++) {
        over = over && __atomic_load_n(&workers[t].over, __ATOMIC_ACQUIRE);
        *received += __atomic_load_n(&workers[t].received, __ATOMIC_RELAXED);
    }
    return over;
}

static double processor_seconds(void)
{
    struct timespec used;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return (double)used.tv_sec + 1e-9 * (double)used.tv_nsec;
}

static void wait_for_all(void)
{
    const struct timespec nap = {.tv_nsec = 10000000};
    double since = 0;
    long before = -1, received;
    while (!all_over(&received)) {
        if (received != before)
            since = processor_seconds();
        before = received;
        if (processor_seconds() - since > wait_limit) {
            printf("upstream_fast_boxes: np 2: rank %d waits for a message, %ld have arrived\n",
                   rank, received);
            fflush(stdout);
            MPI_Abort(MPI_COMM_WORLD, LOST);
        }
        nanosleep(&nap, NULL);
    }
}

int main(int argc, char **argv)
{
    int level, n;
    bursts = argc > 1 ? atoi(argv[1]) : 5000;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    if (level == MPI_THREAD_MULTIPLE && n == 2) {
        for (int t = 0; t < THREADS; t++)
            MPI_Comm_dup(MPI_COMM_WORLD, &workers[t].comm);
        for (int t = 0; t < THREADS; t++)
            if (pthread_create(&workers[t].thread, NULL, work, &workers[t]))
                MPI_Abort(MPI_COMM_WORLD, SKIP);
        wait_for_all();
        for (int t = 0; t < THREADS; t++) {
            pthread_join(workers[t].thread, NULL);
            MPI_Comm_free(&workers[t].comm);
        }
        if (rank == 0)
            printf("upstream_fast_boxes: np 2: all %ld messages have arrived\n",
                   (BURST + 1L) * THREADS * bursts);
    }
    MPI_Finalize();
    return level == MPI_THREAD_MULTIPLE && n == 2 ? 0 : SKIP;
}
