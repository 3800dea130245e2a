/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks do not come to a call of MPI_Allreduce, or come with another vector; stuck.sh looks at what
 * the others say of that.
 *
 *     stuck --away HOW [--who R,R..] [--call KIND] [--count N] [--until FILE] [--healthy N]
 *           [--late US] [--later right|error]
 *
 * --away     what the ranks --who do meanwhile:
 *                compute, recv    they compute; they are in MPI, but in no collective
 *                stop             they have stopped themselves (SIGSTOP)
 *                barrier, bcast   they are in another collective: the job never ends
 *                zero             they have called with no elements, which Open MPI does not show
 *                                 to its components, and are in MPI, but in no collective
 *                size, next       they call with twice as many elements; they have left out a call,
 *                                 and go on to the next one, with as many. That must be an error on
 *                                 the ranks that wait; after `size` the next calls are right, or
 * with
 *                --later error that or an error
 *                free             they have left out a call, and free the communicator
 *                setup            they leave MPI in the midst of a setup that a nonblocking call
 *                                 has begun, at five points of it; then the others begin more
 *                                 calls than they may before it is done. Rank 0 answers every
 *                                 --late microseconds
 *                nothing          they are like the others
 * --until    how long: until the file exists (stopped: until somebody lets them go on)
 * --call     blocking, nonblocking, persistent
 * --count    elements of a double (8192)
 * --healthy  calls before (40); each rank comes late to one of eight of them, by up to --late
 * (2000) microseconds. 0: the communicator has not been set up
 */
#include "common.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char *away = "compute", *until = "", *kind = "blocking", *later = "right";
static double *values, *sums;
static int count;
static MPI_Comm comm;
static MPI_Request persistent = MPI_REQUEST_NULL;

static int is_away(const char *how)
{
    return strcmp(away, how) == 0;
}

/* @param who  "3,5" @return whether this rank is among them */
static bool is_among(const char *who)
{
    bool is = false;
    char *end;
    for (const char *next = who; *next; next = *end ? end + 1 : end) {
        const long rank = strtol(next, &end, 10);
        if (end == next || (*end && *end != ',') || rank < 0 || rank >= test.n)
            test_die("--who %s: ranks from 0 to %d, between commas", who, test.n - 1);
        is = is || rank == test.rank;
    }
    return is;
}

/* ---- Calls ---- */

static int start_persistent(void)
{
#ifdef TEST_HAVE_PERSISTENT
    if (persistent == MPI_REQUEST_NULL)
        TEST_MPI(TEST_PERSISTENT(Allreduce_init)(values, sums, count, MPI_DOUBLE, MPI_SUM, comm,
                                                 MPI_INFO_NULL, &persistent));
    TEST_MPI(MPI_Start(&persistent));
    return MPI_Wait(&persistent, MPI_STATUS_IGNORE);
#else
    test_die("this Open MPI has no persistent collectives");
    return MPI_ERR_OTHER;
#endif
}

/* @return its code */
static int call(int elements)
{
    MPI_Request request;
    if (strcmp(kind, "persistent") == 0 && elements == count)
        return start_persistent();
    if (strcmp(kind, "nonblocking") != 0)
        return MPI_Allreduce(values, sums, elements, MPI_DOUBLE, MPI_SUM, comm);
    const int code = MPI_Iallreduce(values, sums, elements, MPI_DOUBLE, MPI_SUM, comm, &request);
    return code == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : code;
}

/* Of this kind. */
static unsigned long long calls_of_strag(void)
{
    if (strcmp(kind, "blocking") == 0)
        return test_counters_read().calls;
    return test_counter_read(strcmp(kind, "persistent") == 0 ? "coll_strag_persistent"
                                                             : "coll_strag_nonblocking");
}

static void check(int code)
{
    TEST_CHECK(code == MPI_SUCCESS, "error %d", code);
    for (int i = 0; i < count && code == MPI_SUCCESS; i++)
        TEST_CHECK(sums[i] == test.n * (test.n - 1) / 2.0, "element %d is %g", i, sums[i]);
}

static void call_healthily(long calls, long late)
{
    for (long i = 0; i < calls; i++) {
        if (late > 0 && rand() % 8 == 0)
            usleep((useconds_t)(rand() % late));
        check(call(count));
    }
    TEST_CHECK(calls == 0 || calls_of_strag() > 0, "strag has run no %s call", kind);
}

/* ---- Away ---- */

/* In MPI until the file exists, or for ever. */
static void wait_in_mpi(void)
{
    MPI_Request request;
    int value, done = 0;
    TEST_MPI(MPI_Irecv(&value, 1, MPI_INT, test.rank, 1, MPI_COMM_WORLD, &request));
    while (access(until, F_OK) != 0)
        TEST_MPI(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
    TEST_MPI(MPI_Cancel(&request));
    TEST_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

static void stay_away(int root)
{
    if (is_away("stop"))
        raise(SIGSTOP);
    else if (is_away("barrier"))
        TEST_MPI(MPI_Barrier(comm));
    else if (is_away("bcast"))
        TEST_MPI(MPI_Bcast(values, count, MPI_DOUBLE, root, comm));
    else if (is_away("zero"))
        TEST_MPI(MPI_Allreduce(values, sums, 0, MPI_DOUBLE, MPI_SUM, comm));
    if (is_away("recv") || is_away("zero"))
        wait_in_mpi();
    while (is_away("compute") && access(until, F_OK) != 0)
        continue;
}

/* @return 1 if it is an error, which must be of the right class; else 0 */
static int is_error(int code)
{
    int class = MPI_SUCCESS;
    MPI_Error_class(code, &class);
    TEST_CHECK(class == MPI_SUCCESS || class == MPI_ERR_TRUNCATE ||
                   (class == MPI_ERR_OTHER && !strcmp(later, "error")),
               "error class %d", class);
    return code != MPI_SUCCESS;
}

/* An error is not fatal here. On one host all ranks' later calls are right, else right or an error.
 * @return errors */
static int call_wrongly(bool me)
{
    int errors = 0;
    TEST_MPI(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    TEST_MPI(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN)); /* 4.1 asks that one */
    if (is_away("size")) {
        errors += is_error(call(me ? 2 * count : count));
        for (int i = 0; i < 3; i++) {
            const int code = call(count);
            if (strcmp(later, "error") != 0 || !is_error(code))
                check(code);
        }
        return errors;
    }
    if (!me)
        errors += is_error(call(count));
    if (is_away("next"))
        errors += is_error(call(2 * count));
    return errors;
}

static void expect_errors(int errors, bool me)
{
    int all;
    TEST_CHECK(me || is_away("size") || errors > 0, "no error, though a rank has not called");
    TEST_MPI(MPI_Reduce(&errors, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD));
    TEST_CHECK(test.rank != 0 || all > 0, "no rank saw an error");
}

/* Open MPI makes progress. */
static void look(void)
{
    int there;
    TEST_MPI(MPI_Iprobe(MPI_ANY_SOURCE, 2, MPI_COMM_SELF, &there, MPI_STATUS_IGNORE));
}

static void wait_until(double time)
{
    const double seconds = time - MPI_Wtime();
    if (seconds > 0)
        usleep((useconds_t)(1e6 * seconds));
}

/* A setup that a nonblocking call begins, whose messages rank 0 answers once in a while. Ranks that
 * are `me` leave MPI between its answer `answers` and the next one, and come back much later than a
 * tick; the others begin more calls than may be begun before setup is done.
 * @param between  seconds between two answers */
static void set_up(bool me, int answers, double between)
{
    enum { MORE = 24, FIRST = 2, ANSWERS = 5 }; /* FIRST: calls that are delegated before setup */
    MPI_Request requests[1 + MORE];
    double *all = test_allocate((1 + MORE) * (size_t)count * sizeof *all);
    TEST_MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    for (int i = 0; i < FIRST; i++)
        TEST_MPI(MPI_Allreduce(values, sums, count, MPI_DOUBLE, MPI_SUM, comm));
    TEST_MPI(MPI_Barrier(comm));
    const double start = MPI_Wtime();
    TEST_MPI(MPI_Iallreduce(values, all, count, MPI_DOUBLE, MPI_SUM, comm, &requests[0]));
    const double leaves = start + between * ((me ? answers : ANSWERS) + 0.5);
    for (int a = 1; MPI_Wtime() < leaves; a++) {
        wait_until(test.rank == 0 ? start + between * a : 0);
        look();
    }
    wait_until(me ? start + between * (ANSWERS + 4) : 0);
    for (int i = 1; i <= MORE; i++)
        TEST_MPI(MPI_Iallreduce(values, all + i * count, count, MPI_DOUBLE, MPI_SUM, comm,
                                &requests[i]));
    TEST_MPI(MPI_Waitall(1 + MORE, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i <= MORE; i++)
        TEST_CHECK(all[i * count] == test.n * (test.n - 1) / 2.0, "call %d is %g", i,
                   all[i * count]);
    TEST_MPI(MPI_Comm_free(&comm));
    comm = MPI_COMM_WORLD;
    free(all);
}

/* For who measures how soon it is said. */
static void print_now(const char *what)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    printf("stuck: rank %d %s at %.3f, process %d\n", test.rank, what,
           (double)now.tv_sec + 1e-9 * (double)now.tv_nsec, (int)getpid());
    fflush(stdout);
}

static void run(bool me, long interval)
{
    const bool wrong = is_away("size") || is_away("next") || is_away("free");
    if (!is_away("nothing") && !is_away("setup"))
        print_now(me ? "is away" : "calls");
    if (wrong) {
        const int errors = call_wrongly(me);
        if (comm != MPI_COMM_WORLD)
            TEST_MPI(MPI_Comm_free(&comm));
        expect_errors(errors, me);
        return;
    }
    for (int answers = 0; is_away("setup") && answers < 5; answers++)
        set_up(me, answers, 1e-6 * (double)interval);
    if (me)
        stay_away((test.rank + 1) % test.n);
    check(call(count));
}

int main(int argc, char **argv)
{
    const char *who = "0", *elements = "8192", *healthy = "40", *late = "2000";
    const struct test_option options[] = {{"away", &away},       {"who", &who},     {"call", &kind},
                                          {"count", &elements},  {"until", &until}, {"late", &late},
                                          {"healthy", &healthy}, {"later", &later}, {NULL, NULL}};
    test_start(&argc, &argv, "stuck", MPI_THREAD_SINGLE, options);
    const bool me = is_among(who);
    (void)calls_of_strag(); /* it counts from here on */
    count = (int)test_number("count", elements, 1, 1000000);
    values = test_allocate(2 * (size_t)count * sizeof *values);
    sums = test_allocate(2 * (size_t)count * sizeof *sums);
    for (int i = 0; i < 2 * count; i++)
        values[i] = test.rank;
    comm = MPI_COMM_WORLD;
    if (is_away("next") || is_away("free"))
        TEST_MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    srand((unsigned)test.seed + (unsigned)test.rank);
    call_healthily(test_number("healthy", healthy, 0, 1000000),
                   test_number("late", late, 0, 10000000));
    run(me, test_number("late", late, 0, 10000000));
    if (persistent != MPI_REQUEST_NULL)
        TEST_MPI(MPI_Request_free(&persistent));
    free(values);
    free(sums);
    return test_finish();
}
