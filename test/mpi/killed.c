/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One rank dies by SIGKILL amid calls of MPI_Allreduce. The others continue calling, until
 *
 *     killed           mpirun ends them, as it does with any program;
 *     killed --return  the call returns an error, if mpirun lets them survive.
 *
 * It is the last rank, between two calls, or
 *
 *     --rank R --after MICROSECONDS    that rank, wherever it is then
 *
 * That is after MPI_Init, while it makes communicators, uses and frees them; with --return, amid
 * calls on MPI_COMM_WORLD alone, after the first four of each size.
 *
 * Nobody dies with --rank -1: then all ends after 2 seconds with exit status 3. Otherwise ranks go
 * on until they see the death: signals.sh has the time limit.
 */
#include <errno.h>
#include <math.h>
#include <mpi.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

enum { CALLS = 200, COUNT = 1 << 18, NOBODY = -1, NO_ONE_DIED = 3 };

static const int counts[] = {1, 40, 3000, 20000, COUNT};
enum { SIZES = sizeof(counts) / sizeof(counts[0]) };

static double values[COUNT], sums[COUNT];

static struct {
    bool returns; /* errors */
    int victim;
    long after; /* microseconds; below 0: between two calls */
} options = {.victim = -2, .after = -1};

static void read_options(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--return") == 0) {
            options.returns = true;
        } else if (strcmp(argv[i], "--rank") == 0 && i + 1 < argc) {
            options.victim = atoi(argv[++i]);
        } else if (strcmp(argv[i], "--after") == 0 && i + 1 < argc) {
            options.after = atol(argv[++i]);
        } else {
            fprintf(stderr, "killed: %s: unknown, or its value is missing\n", argv[i]);
            exit(1);
        }
    }
}

static void die(int signal)
{
    kill(getpid(), SIGKILL);
}

/* @return whether there is a timer. Some time must be left: 0 would be none. */
static bool arm(long microseconds)
{
    const long left = microseconds > 0 ? microseconds : 1;
    const struct itimerval timer = {.it_value = {left / 1000000, left % 1000000}};
    return signal(SIGALRM, die) != SIG_ERR && setitimer(ITIMER_REAL, &timer, NULL) == 0;
}

static int allreduce(int count, MPI_Comm comm)
{
    return MPI_Allreduce(values, sums, count, MPI_DOUBLE, MPI_SUM, comm);
}

/* Calls until there is an error. @param mine  this rank dies, between two calls */
static int call_on_world(bool mine, double end)
{
    const bool one_size = options.after < 0;
    int error = MPI_SUCCESS;
    for (int call = 0; error == MPI_SUCCESS && MPI_Wtime() < end; call++) {
        if (mine && call == CALLS) {
            fprintf(stderr, "killed: the last rank dies\n");
            raise(SIGKILL);
        }
        error = allreduce(one_size ? COUNT : counts[call % SIZES], MPI_COMM_WORLD);
    }
    return error;
}

/* The same, on communicators that are made meanwhile. */
static int call_on_others(double end)
{
    int error = MPI_SUCCESS;
    while (error == MPI_SUCCESS && MPI_Wtime() < end) {
        MPI_Comm comm;
        error = MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        for (int i = 0; error == MPI_SUCCESS && i < 3 * SIZES; i++)
            error = allreduce(counts[i % SIZES], comm);
        if (error == MPI_SUCCESS)
            error = MPI_Comm_free(&comm);
    }
    return error;
}

/* All ranks have what they need for calls on MPI_COMM_WORLD, the watch as well, which begins with
 * the third long call: Open MPI's messages, by which these are set up, notice no death. */
static int set_up(void)
{
    int error = MPI_SUCCESS;
    for (int i = 0; error == MPI_SUCCESS && i < 4 * SIZES; i++)
        error = allreduce(counts[i % SIZES], MPI_COMM_WORLD);
    return error == MPI_SUCCESS ? MPI_Barrier(MPI_COMM_WORLD) : error;
}

int main(int argc, char **argv)
{
    int rank, n, error = MPI_SUCCESS;
    read_options(argc, argv);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    const bool nobody = options.victim == NOBODY, timed = options.after >= 0;
    const bool mine = rank == (options.victim < NOBODY ? n - 1 : options.victim);
    if (options.returns)
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (options.returns && timed)
        error = set_up();
    if (mine && timed && !arm(options.after))
        error = MPI_ERR_OTHER;
    const double start = MPI_Wtime(), end = nobody ? start + 2 : HUGE_VAL;
    if (error == MPI_SUCCESS)
        error =
            timed && !options.returns ? call_on_others(end) : call_on_world(mine && !timed, end);
    fprintf(stderr, "killed: rank %d: %s after %.0f s\n", rank,
            error == MPI_SUCCESS ? "no error" : "an error", MPI_Wtime() - start);
    _exit(nobody ? NO_ONE_DIED : error == MPI_SUCCESS);
}
