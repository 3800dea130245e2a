/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs to be reported (coll_strag_report); report.sh compares what is said with the truth.
 *
 *     report [--calls N] [--bytes B] [--late RANK] [--delay MS] [--name NAME]
 *
 * On a duplicate of MPI_COMM_WORLD, called NAME ("late"), a rank (-1: none) is late in N calls of B
 * bytes. All ranks note by the host's clock when they come: the truth is printed ("truth:
 * ...").
 *
 * Other modes:
 *
 *     kinds     blocking, nonblocking and persistent calls, on a duplicate, on halves of
 *               MPI_COMM_WORLD, and on MPI_COMM_SELF, some of them freed
 *     room      80 persistent requests at a time, each started once
 *     circle    three ranks, of which each two have a communicator; each rank begins with another
 *               one, and none is freed
 *     keys      info keys: a report where none is wanted otherwise, and the reverse
 *     crossed   several communicators, freed in another order on each rank
 *     missing   rank 0 frees a communicator, the others only when the file --until, which gets the
 *               job's output, has a line of rank 0's that says so
 *     after     each rank frees a communicator when the one before it has
 */
#include "common.h"

#include <time.h>
#include <unistd.h>

enum { NO_RANK = -1, REQUESTS = 80 };

static struct {
    long calls, bytes;
    const char *until;
    int late;
    double delay; /* seconds */
    const char *name;
    char *input, *output;
} job;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* What this process has got of processors. */
static double processor_seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void come_late(double seconds)
{
    struct timespec time = {(time_t)seconds, (long)(1e9 * (seconds - (double)(time_t)seconds))};
    nanosleep(&time, NULL);
}

static void allreduce(MPI_Comm comm)
{
    TEST_MPI(MPI_Allreduce(job.input, job.output, (int)job.bytes, MPI_CHAR, MPI_SUM, comm));
    TEST_CHECK(job.output[0] == job.output[job.bytes - 1], "elements differ");
}

/* ---- A late rank ---- */

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The true properties of a job. */
struct truth {
    double lost; /* how long the median rank waited for the last one, in all */
    double cost; /* of that, where the last one was the late rank */
    int last;    /* calls in which it was */
};

/* @param arrivals  all ranks', [rank][call] */
static struct truth find_truth(const double *arrivals)
{
    double *sorted = test_allocate((size_t)test.n * sizeof *sorted);
    struct truth truth = {0, 0, 0};
    for (long c = 0; c < job.calls; c++) {
        for (int r = 0; r < test.n; r++)
            sorted[r] = arrivals[r * job.calls + c];
        qsort(sorted, (size_t)test.n, sizeof *sorted, ascending);
        const double latest = sorted[test.n - 1], lost = latest - sorted[(test.n - 1) / 2];
        truth.lost += lost;
        if (job.late < 0 || arrivals[job.late * job.calls + c] < latest)
            continue;
        truth.cost += lost;
        truth.last++;
    }
    free(sorted);
    return truth;
}

static void run_late(void)
{
    MPI_Comm comm;
    double *arrivals = test_allocate((size_t)job.calls * sizeof *arrivals), *all = NULL;
    const int calls = (int)job.calls;
    if (test.rank == 0)
        all = test_allocate((size_t)test.n * (size_t)job.calls * sizeof *all);
    TEST_MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    TEST_MPI(MPI_Comm_set_name(comm, job.name));
    TEST_MPI(MPI_Barrier(comm));
    const double start = now();
    for (int c = 0; c < calls; c++) {
        if (test.rank == job.late)
            come_late(job.delay);
        arrivals[c] = now();
        allreduce(comm);
    }
    const double seconds = now() - start;
    TEST_MPI(MPI_Gather(arrivals, calls, MPI_DOUBLE, all, calls, MPI_DOUBLE, 0, comm));
    TEST_MPI(MPI_Comm_free(&comm));
    if (test.rank == 0) {
        const struct truth truth = find_truth(all);
        printf("truth: lost %.6f of %.6f, by rank %d %.6f in %d calls\n", truth.lost, seconds,
               job.late, truth.cost, truth.last);
    }
    free(arrivals);
    free(all);
}

/* ---- Others ---- */

static void begin_and_wait(MPI_Comm comm)
{
    MPI_Request request;
    TEST_MPI(
        MPI_Iallreduce(job.input, job.output, (int)job.bytes, MPI_CHAR, MPI_SUM, comm, &request));
    TEST_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

static void start_some(MPI_Comm comm, int starts)
{
#ifdef TEST_HAVE_PERSISTENT
    MPI_Request request;
    TEST_MPI(TEST_PERSISTENT(Allreduce_init)(job.input, job.output, (int)job.bytes, MPI_CHAR,
                                             MPI_SUM, comm, MPI_INFO_NULL, &request));
    for (int s = 0; s < starts; s++) {
        TEST_MPI(MPI_Start(&request));
        TEST_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    TEST_MPI(MPI_Request_free(&request));
#else
    for (int s = 0; s < starts; s++)
        begin_and_wait(comm);
#endif
}

static void run_kinds(void)
{
    MPI_Comm dup, half, quiet;
    TEST_MPI(MPI_Comm_dup(MPI_COMM_WORLD, &dup));
    TEST_MPI(MPI_Comm_dup(MPI_COMM_WORLD, &quiet));
    TEST_MPI(MPI_Comm_split(MPI_COMM_WORLD, test.rank % 2, test.rank, &half));
    TEST_MPI(MPI_Comm_set_name(dup, "all kinds"));
    TEST_MPI(MPI_Comm_set_name(quiet, "quiet"));
    TEST_MPI(MPI_Comm_set_name(half, test.rank % 2 ? "odd" : "even"));
    for (int c = 0; c < 5; c++)
        allreduce(dup);
    for (int c = 0; c < 7; c++)
        begin_and_wait(dup);
    start_some(dup, 3);
    for (int c = 0; c < 4 + test.rank % 2; c++)
        allreduce(half);
    allreduce(MPI_COMM_SELF);
    TEST_MPI(MPI_Comm_free(&dup));
    TEST_MPI(MPI_Comm_free(&quiet)); /* the halves are left to MPI_Finalize */
}

/* More requests at the same time than there is room for in shared memory: each is started once. */
static void run_room(void)
{
    MPI_Comm comm;
    MPI_Request requests[REQUESTS];
    TEST_MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    TEST_MPI(MPI_Comm_set_name(comm, "full"));
#ifdef TEST_HAVE_PERSISTENT
    for (int r = 0; r < REQUESTS; r++) {
        TEST_MPI(TEST_PERSISTENT(Allreduce_init)(job.input, job.output, (int)job.bytes, MPI_CHAR,
                                                 MPI_SUM, comm, MPI_INFO_NULL, &requests[r]));
        TEST_MPI(MPI_Start(&requests[r]));
        TEST_MPI(MPI_Wait(&requests[r], MPI_STATUS_IGNORE));
    }
    for (int r = 0; r < REQUESTS; r++)
        TEST_MPI(MPI_Request_free(&requests[r]));
#endif
    TEST_MPI(MPI_Comm_free(&comm));
}

static void run_circle(void)
{
    MPI_Comm pair[3];
    MPI_Request request[2];
    for (int p = 0; p < 3; p++) {
        const bool in = test.rank == p || test.rank == (p + 1) % 3;
        TEST_MPI(MPI_Comm_split(MPI_COMM_WORLD, in ? 1 : MPI_UNDEFINED, (test.rank - p + 3) % 3,
                                &pair[p]));
    }
    for (int i = 0; i < 2; i++)
        TEST_MPI(MPI_Iallreduce(job.input, job.output + i, 1, MPI_CHAR, MPI_SUM,
                                pair[(test.rank + 2 * i) % 3], &request[i]));
    TEST_MPI(MPI_Waitall(2, request, MPI_STATUSES_IGNORE));
}

static void call_with_key(const char *name, const char *value, bool later)
{
    MPI_Comm comm;
    MPI_Info info;
    TEST_MPI(MPI_Info_create(&info));
    TEST_MPI(MPI_Info_set(info, "coll_strag_report", value));
    if (later) {
        TEST_MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
        TEST_MPI(MPI_Comm_set_info(comm, info));
    } else {
        TEST_MPI(MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm));
    }
    TEST_MPI(MPI_Info_free(&info));
    TEST_MPI(MPI_Comm_set_name(comm, name));
    for (int c = 0; c < 11; c++)
        allreduce(comm);
    TEST_MPI(MPI_Comm_free(&comm));
}

static void run_keys(void)
{
    call_with_key("on", "1", false);
    call_with_key("on later", "1", true);
    call_with_key("off", "0", false);
}

/* Rank 0's first one ends when the others are in the end of their second one; their notes are too
 * long to be sent before rank 0 asks for them. */
static void run_crossed(void)
{
    MPI_Comm comms[2];
    for (int i = 0; i < 2; i++)
        TEST_MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]));
    for (int c = 0; c < 4000; c++)
        for (int i = 0; i < 2; i++)
            allreduce(comms[i]);
    const int first = test.rank == 0;
    const double start = processor_seconds(); /* ranks that wait poll */
    TEST_MPI(MPI_Comm_free(&comms[first]));
    TEST_MPI(MPI_Comm_free(&comms[!first]));
    TEST_CHECK(processor_seconds() - start < 10, "communicators waited for each other");
}

static bool is_missed(void)
{
    char line[256];
    bool found = false;
    FILE *file = fopen(job.until, "r");
    while (file && !found && fgets(line, sizeof line, file))
        found = strstr(line, "not called by: rank 1 ") != NULL;
    if (file)
        fclose(file);
    return found;
}

static void run_missing(void)
{
    MPI_Comm comm;
    TEST_MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    TEST_MPI(MPI_Comm_set_name(comm, "missing"));
    allreduce(comm);
    while (test.rank > 0 && !is_missed())
        usleep(20000);
    TEST_MPI(MPI_Comm_free(&comm));
}

/* Each rank frees it when the one before it has. */
static void run_after(void)
{
    MPI_Comm comm;
    int before = 0;
    TEST_MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    TEST_MPI(MPI_Comm_set_name(comm, "after"));
    allreduce(comm);
    if (test.rank > 0)
        TEST_MPI(
            MPI_Recv(&before, 1, MPI_INT, test.rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    const double start = MPI_Wtime();
    TEST_MPI(MPI_Comm_free(&comm));
    const double seconds = MPI_Wtime() - start;
    TEST_CHECK(seconds < 30, "MPI_Comm_free has waited for %.1f s", seconds);
    if (test.rank < test.n - 1)
        TEST_MPI(MPI_Send(&before, 1, MPI_INT, test.rank + 1, 0, MPI_COMM_WORLD));
}

int main(int argc, char **argv)
{
    const char *mode = "late", *calls = "100", *bytes = "262144", *late = "-1", *delay = "10",
               *until = "";
    const struct test_option options[] = {{"mode", &mode},   {"calls", &calls}, {"bytes", &bytes},
                                          {"late", &late},   {"delay", &delay}, {"name", &job.name},
                                          {"until", &until}, {NULL, NULL}};
    job.name = "late";
    test_start(&argc, &argv, "report", MPI_THREAD_SINGLE, options);
    job.calls = test_number("calls", calls, 1, 1000000);
    job.bytes = test_number("bytes", bytes, 1, 100000000);
    job.late = (int)test_number("late", late, NO_RANK, test.n - 1);
    job.delay = 1e-3 * (double)test_number("delay", delay, 0, 10000);
    job.until = until;
    job.input = test_allocate((size_t)job.bytes + 1);
    job.output = test_allocate((size_t)job.bytes + 1);
    memset(job.input, 1, (size_t)job.bytes + 1);
    if (strcmp(mode, "kinds") == 0)
        run_kinds();
    else if (strcmp(mode, "room") == 0)
        run_room();
    else if (strcmp(mode, "circle") == 0)
        run_circle();
    else if (strcmp(mode, "keys") == 0)
        run_keys();
    else if (strcmp(mode, "crossed") == 0)
        run_crossed();
    else if (strcmp(mode, "missing") == 0)
        run_missing();
    else if (strcmp(mode, "after") == 0)
        run_after();
    else
        run_late();
    free(job.input);
    free(job.output);
    return test_finish();
}
