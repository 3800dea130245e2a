/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One rank is stopped (SIGSTOP) in the midst of a call, for a while, and goes on (SIGCONT): the
 * results of this call and of those after it are right on all ranks. It is stopped
 *
 *     in an operator    of the call: it stops itself there (ring: every rank reduces)
 *     while it waits    for the other ranks, which come later: from outside
 *
 *     stopped [--seconds N] [--stops N] [--fault 0|1]
 *
 * --seconds  that each stop lasts (default 1)
 * --stops    how many, of 4: a short call and a long one, each way (default 4)
 * --fault    1: the stopped rank does not stop at all, which must be noticed
 *
 * Each rank has a companion, forked before MPI_Init, that stops it and lets it go on.
 */
#include "common.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <unistd.h>

enum { AFTER = 3 }; /* calls after one with a stop */

static MPI_Comm ring; /* MPI_COMM_WORLD's ranks, with that algorithm */
static MPI_Op sum;
static unsigned seconds = 1; /* that a stop lasts */

/* What a rank asks its companion for. */
enum wish {
    STOPS_ITSELF = 'o', /* wait until the rank has stopped */
    STOP_IT = 'w',      /* stop the rank while it waits */
    IN_VAIN = 'n',      /* do neither: the test's own test */
};

/* Soon after its call has begun. Microseconds. */
enum { UNTIL_STOP = 150000 };

static int wishes[2] = {-1, -1}; /* a pipe to the companion */
static bool stops_in_operator;   /* in the next one of this rank's */

/* ---- The companion ---- */

/* Is the process stopped, all of it? */
static bool is_stopped(pid_t process)
{
    char path[64], text[512] = "";
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)process);
    FILE *file = fopen(path, "r");
    if (NULL == file)
        return false;
    const size_t length = fread(text, 1, sizeof(text) - 1, file);
    fclose(file);
    text[length] = '\0';
    const char *name_end = strrchr(text, ')');
    return NULL != name_end && 'T' == name_end[1 + (' ' == name_end[1])];
}

/* Serve the rank's wishes until it ends. */
static void accompany(pid_t rank)
{
    char wish;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    close(wishes[1]);
    while (getppid() == rank && 1 == read(wishes[0], &wish, 1)) {
        if (IN_VAIN == wish)
            continue;
        if (STOP_IT == wish) {
            usleep(UNTIL_STOP);
            kill(rank, SIGSTOP);
        }
        while (getppid() == rank && !is_stopped(rank))
            usleep(1000);
        sleep(seconds);
        kill(rank, SIGCONT);
    }
    _exit(0);
}

/* Before MPI_Init, which a fork must not follow; and before the options are read by it. */
static void start_companion(int argc, char **argv)
{
    const pid_t rank = getpid();
    for (int i = 1; i + 1 < argc; i++)
        if (0 == strcmp(argv[i], "--seconds"))
            seconds = (unsigned)atoi(argv[i + 1]);
    if (0 != pipe(wishes)) {
        perror("stopped: pipe");
        exit(1);
    }
    const pid_t companion = fork();
    if (companion < 0) {
        perror("stopped: fork");
        exit(1);
    }
    if (0 == companion)
        accompany(rank);
    close(wishes[0]);
}

static void ask(enum wish wish)
{
    const char text = (char)wish;
    if (1 != write(wishes[1], &text, 1))
        test_die("the companion does not listen");
}

/* ---- Calls ---- */

/* A sum; not Open MPI's, so that it can stop in it. */
static void stopping_sum(void *in, void *inout, int *length, MPI_Datatype *type)
{
    const unsigned *left = in;
    unsigned *right = inout;
    for (int i = 0; i < *length; i++)
        right[i] += left[i];
    if (stops_in_operator) {
        stops_in_operator = false;
        raise(SIGSTOP);
    }
}

static unsigned element(int rank, int call, int i)
{
    return (unsigned)i * 2654435761u + (unsigned)(rank * 1000003 + call * 10007);
}

static void allreduce(MPI_Comm comm, int count, int call, const char *when)
{
    unsigned *send = test_allocate((size_t)count * sizeof(*send));
    unsigned *receive = test_allocate((size_t)count * sizeof(*receive));
    const unsigned n = (unsigned)test.n;
    int wrong = 0;
    for (int i = 0; i < count; i++)
        send[i] = element(test.rank, call, i);
    TEST_MPI(MPI_Allreduce(send, receive, count, MPI_UNSIGNED, sum, comm));
    for (int i = 0; i < count; i++)
        wrong += n * element(0, call, i) + n * (n - 1) / 2 * 1000003u != receive[i];
    TEST_CHECK(0 == wrong, "%d elements, %s: %d are wrong", count, when, wrong);
    free(send);
    free(receive);
}

/* The other ranks begin the call when that process has been stopped. A slow machine may see a stop
 * when it has ended: then, too, they begin at last. */
static void wait_until_stopped(pid_t process)
{
    const double end = MPI_Wtime() + seconds + 30;
    while (!is_stopped(process) && MPI_Wtime() < end)
        usleep(1000);
}

/* One call with a stop, and some after it.
 * @param in_vain  the rank is not stopped */
static void stop(int stopped, int count, enum wish how, bool in_vain)
{
    const bool outside = STOP_IT == how;
    MPI_Comm comm = outside ? MPI_COMM_WORLD : ring;
    int process = (int)getpid();
    TEST_MPI(MPI_Bcast(&process, 1, MPI_INT, stopped, MPI_COMM_WORLD));
    TEST_MPI(MPI_Barrier(MPI_COMM_WORLD));
    const double start = MPI_Wtime();
    if (test.rank == stopped) {
        stops_in_operator = !outside && !in_vain;
        ask(in_vain ? IN_VAIN : how);
    } else if (outside && !in_vain) {
        wait_until_stopped((pid_t)process);
    }
    allreduce(comm, count, 0, outside ? "stopped while it waits" : "stopped in an operator");
    const double took = MPI_Wtime() - start;
    if (test.rank == stopped)
        TEST_CHECK(took >= seconds, "%d elements: rank %d was not stopped: %.3f s", count, stopped,
                   took);
    for (int i = 1; i <= AFTER; i++) {
        allreduce(comm, count, i, "after a stop");
        allreduce(MPI_COMM_WORLD, count, i, "after a stop, on MPI_COMM_WORLD");
    }
}

int main(int argc, char **argv)
{
    static const struct {
        int count;
        enum wish how;
    } stops[] = {{1, STOP_IT}, {600000, STOPS_ITSELF}, {600000, STOP_IT}, {1000, STOPS_ITSELF}};
    const char *text = "1", *number = "4", *fault = "0";
    const struct test_option options[] = {
        {"seconds", &text}, {"stops", &number}, {"fault", &fault}, {NULL, NULL}};
    start_companion(argc, argv);
    test_start(&argc, &argv, "stopped", MPI_THREAD_SINGLE, options);
    seconds = (unsigned)test_number("seconds", text, 1, 3600);
    const bool in_vain = 1 == test_number("fault", fault, 0, 1);
    TEST_MPI(MPI_Op_create(stopping_sum, 1, &sum));
    ring = test_pinned(MPI_COMM_WORLD, "ring");
    const struct test_counters before = test_counters_read();
    for (long s = 0; s < test_number("stops", number, 1, sizeof(stops) / sizeof(stops[0])); s++)
        stop((int)(((uint64_t)s + test.seed) % (uint64_t)test.n), stops[s].count, stops[s].how,
             in_vain);
    TEST_CHECK(!test.expect_strag || test_counters_read().calls > before.calls,
               "strag did not run");
    TEST_MPI(MPI_Comm_free(&ring));
    TEST_MPI(MPI_Op_free(&sum));
    close(wishes[1]);
    return test_finish();
}
