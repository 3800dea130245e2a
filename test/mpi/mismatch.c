/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One rank calls MPI_Allreduce with another count than the others, which MPI forbids. Through
 * shared memory such calls return on every rank, some with an error, and the correct calls after
 * them have correct results, whatever the wrong ones have left behind. So do those of
 * MPI_Iallreduce, one at a time or several; MPI_Allreduce_init fails on all ranks.
 *
 * Most of these errors the ranks see in their messages. If blocks are empty on some of the ranks
 * only, or a call is beyond 4 KiB on some only, the longest one that takes turns with the root,
 * each may wait for another: such a call ends when it has stood still.
 *
 * A call of no elements Open MPI does not show to its components: the rank has left out a call.
 * The others get an error when it makes the next one with another count, or frees the communicator.
 *
 * A rank may call MPI_Allreduce_init where others call MPI_Allreduce: an error on all ranks.
 *
 * Where calls are watched, a call that counts for the watch on some ranks only puts the samples
 * that they send each other out of step: then later calls may fail, too.
 *
 *     mismatch [--algorithms A,B,..]     each pinned on a communicator in turn (direct)
 *              [--watched N]             none is pinned: N communicators with one wrong call each,
 *                                        the first, the second, .. of the calls that are watched
 *              [--later error]           between hosts, where calls may fail after any wrong one
 *              [--requests 1]            calls of MPI_Allreduce_init only
 */
#include "common.h"

enum { WRONG = 8, RIGHT = 3, LONGEST = 100000 };

static double *values, *sums;

/* A correct call. */
static void call_right(MPI_Comm comm, int count, const char *when)
{
    const double ranks = test.n * (test.n - 1) / 2.0;
    for (int i = 0; i < count; i++)
        values[i] = test.rank + i;
    int code = MPI_Allreduce(values, sums, count, MPI_DOUBLE, MPI_SUM, comm);
    if (!TEST_CHECK(code == MPI_SUCCESS, "%d elements, %s: error %d", count, when, code))
        return;
    int wrong = 0;
    for (int i = 0; i < count; i++)
        wrong += sums[i] != ranks + (double)i * test.n;
    TEST_CHECK(wrong == 0, "%d elements, %s: %d are wrong", count, when, wrong);
}

/* @return whether it is an error, which must be of the right class */
static int is_error(int code)
{
    int class = MPI_SUCCESS;
    MPI_Error_class(code, &class);
    TEST_CHECK(class == MPI_SUCCESS || class == MPI_ERR_TRUNCATE, "error class %d", class);
    return code != MPI_SUCCESS;
}

/* Each returns calls of this rank that returned an error. @param other  of one rank, in turn */

static int call_wrong(MPI_Comm comm, int count, int other)
{
    int errors = 0;
    for (int i = 0; i < WRONG; i++) {
        const int mine = test.rank == i % test.n ? other : count;
        errors += is_error(MPI_Allreduce(values, sums, mine, MPI_DOUBLE, MPI_SUM, comm));
    }
    return errors;
}

static int begin_wrong(MPI_Comm comm, int count, int other)
{
    MPI_Request requests[WRONG];
    int errors = 0;
    for (int i = 0; i < WRONG; i++) {
        const int mine = test.rank == i % test.n ? other : count;
        MPI_Iallreduce(values, sums, mine, MPI_DOUBLE, MPI_SUM, comm, &requests[i]);
        for (int j = i - 3; i % 4 == 3 && j <= i; j++) /* four at a time */
            errors += is_error(MPI_Wait(&requests[j], MPI_STATUS_IGNORE));
    }
    return errors;
}

/* Only all ranks together find these: here each of them has an error, also between hosts. */
static int make_wrong(MPI_Comm comm, int count, int other)
{
    int errors = 0;
#ifdef TEST_HAVE_PERSISTENT
    for (int i = 0; i < WRONG / 2; i++) {
        const int mine = test.rank == i % test.n ? other : count;
        MPI_Request request;
        const int code = TEST_PERSISTENT(Allreduce_init)(values, sums, mine, MPI_DOUBLE, MPI_SUM,
                                                         comm, MPI_INFO_NULL, &request);
        TEST_CHECK(is_error(code), "a request of %d elements, and of %d on a rank", count, other);
        errors += code != MPI_SUCCESS;
    }
#else
    errors = WRONG;
#endif
    return errors;
}

/* @param other  count of one rank @param least  errors that there are on all ranks together */
static void call_wrong_and_right(MPI_Comm comm, int count, int other,
                                 int (*wrong)(MPI_Comm comm, int count, int other), int least,
                                 const char *when)
{
    int errors = wrong(comm, count, other), all;
    for (int i = 0; i < RIGHT; i++)
        call_right(comm, count, when);
    TEST_MPI(MPI_Reduce(&errors, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD));
    TEST_CHECK(test.rank != 0 || all >= least, "%d errors instead of %d %s", all, least, when);
}

/* One rank leaves out a call, since its count is 0, and makes the next one, if there is one. */
static void leave_out(const char *algorithm, bool next)
{
    const bool me = test.rank == test.n - 1;
    MPI_Comm comm = test_pinned(MPI_COMM_WORLD, algorithm);
    TEST_MPI(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    call_right(comm, 300, "before");
    int errors = is_error(MPI_Allreduce(values, sums, me ? 0 : 300, MPI_DOUBLE, MPI_SUM, comm));
    if (next)
        errors += is_error(MPI_Allreduce(values, sums, 600, MPI_DOUBLE, MPI_SUM, comm));
    TEST_MPI(MPI_Comm_free(&comm));
    TEST_CHECK(me || errors > 0, "no error, though a rank has left out a call");
}

/* One rank calls MPI_Allreduce_init, and the others MPI_Allreduce with the same vector. */
static void call_init(const char *algorithm)
{
#ifdef TEST_HAVE_PERSISTENT
    MPI_Comm comm = test_pinned(MPI_COMM_WORLD, algorithm);
    MPI_Request request = MPI_REQUEST_NULL;
    int code;
    TEST_MPI(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    call_right(comm, 300, "before");
    if (test.rank == test.n - 1)
        code = TEST_PERSISTENT(Allreduce_init)(values, sums, 300, MPI_DOUBLE, MPI_SUM, comm,
                                               MPI_INFO_NULL, &request);
    else
        code = MPI_Allreduce(values, sums, 300, MPI_DOUBLE, MPI_SUM, comm);
    TEST_CHECK(is_error(code), "no error, though a rank has called MPI_Allreduce_init");
    TEST_MPI(MPI_Comm_free(&comm));
#else
    (void)algorithm;
#endif
}

static const struct {
    int count, other;
} counts[] = {{5, 6},     {300, 331},   {3000, 3301}, {LONGEST, LONGEST * 11 / 10},
              {1, 2},     {5, 1},       {4, 300},     {500, 600}, /* on both sides of 4 KiB */
              {3000, 10}, {10, LONGEST}};
enum { COUNTS = sizeof counts / sizeof *counts };

#ifdef TEST_HAVE_PERSISTENT
/* A correct persistent call. */
static void start_right(MPI_Comm comm, int count)
{
    MPI_Request request;
    for (int i = 0; i < count; i++)
        values[i] = i;
    TEST_MPI(TEST_PERSISTENT(Allreduce_init)(values, sums, count, MPI_DOUBLE, MPI_SUM, comm,
                                             MPI_INFO_NULL, &request));
    TEST_MPI(MPI_Start(&request));
    TEST_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    TEST_CHECK(sums[count - 1] == (count - 1.0) * test.n, "a persistent call: %g", sums[count - 1]);
    TEST_MPI(MPI_Request_free(&request));
}

/* The last rank's request is the previous component's, which knows nothing of the others': these
 * have an error, of whatever class, since one may hear of the other's first.
 * @param stays  it has the communicator until then, or frees it at once */
static void make_mixed(bool stays)
{
    MPI_Comm comm;
    MPI_Request request = MPI_REQUEST_NULL;
    const bool me = test.rank == test.n - 1;
    TEST_MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    TEST_MPI(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    const int code = TEST_PERSISTENT(Allreduce_init)(values, sums, me ? 10 : LONGEST, MPI_DOUBLE,
                                                     MPI_SUM, comm, MPI_INFO_NULL, &request);
    TEST_CHECK((code != MPI_SUCCESS) == !me, "a request of 80 bytes on a rank, of more on others");
    if (request != MPI_REQUEST_NULL)
        TEST_MPI(MPI_Request_free(&request));
    if (stays)
        TEST_MPI(MPI_Barrier(MPI_COMM_WORLD));
    TEST_MPI(MPI_Comm_free(&comm));
}
#endif

/* Only calls of MPI_Allreduce_init are wrong. */
static void run_requests(void)
{
#ifdef TEST_HAVE_PERSISTENT
    MPI_Comm comm = test_pinned(MPI_COMM_WORLD, "ring");
    TEST_MPI(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    for (int c = 0; c < COUNTS; c++) {
        call_wrong_and_right(comm, counts[c].count, counts[c].other, make_wrong, WRONG / 2 * test.n,
                             "after wrong persistent ones");
        start_right(comm, counts[c].count);
    }
    TEST_MPI(MPI_Comm_free(&comm));
    make_mixed(true);
    make_mixed(false);
#endif
}

static void run_pinned(const char *algorithm)
{
    MPI_Comm comm = test_pinned(MPI_COMM_WORLD, algorithm);
    const struct test_counters before = test_counters_read();
    for (int i = 0; i < 2 * LONGEST; i++)
        values[i] = i;
    TEST_MPI(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    /* Open MPI 4.1 asks that one about requests */
    TEST_MPI(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    for (int c = 0; c < COUNTS; c++) {
        const int count = counts[c].count, other = counts[c].other;
        call_right(comm, count, "before");
        call_wrong_and_right(comm, count, other, call_wrong, WRONG, "after wrong ones");
        call_wrong_and_right(comm, count, other, begin_wrong, WRONG,
                             "after wrong nonblocking ones");
        call_wrong_and_right(comm, count, other, make_wrong, WRONG / 2 * test.n,
                             "after wrong persistent ones");
    }
    TEST_CHECK(test_counters_read().calls > before.calls, "%s did not run", algorithm);
    TEST_MPI(MPI_Comm_free(&comm));
    leave_out(algorithm, false);
    leave_out(algorithm, true);
    call_init(algorithm);
}

/* Long enough to be watched. @param other  of one rank, once @param strict  later calls are right
 */
static void call_watched(int before, int other, bool strict)
{
    enum { LONG = 20000, LATER = 24 };
    MPI_Comm comm;
    TEST_MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    TEST_MPI(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    test_pass_first_calls(comm);
    for (int i = 0; i < before; i++)
        call_right(comm, LONG, "watched");
    const int wrong = test.rank == before % test.n ? other : LONG;
    const int code = MPI_Allreduce(values, sums, wrong, MPI_DOUBLE, MPI_SUM, comm);
    /* who waits for samples gets MPI_ERR_OTHER */
    int errors = strict ? is_error(code) : code != MPI_SUCCESS, all;
    for (int i = 0; i < LATER && strict; i++)
        call_right(comm, LONG, "after a wrong one");
    for (int i = 0; i < LATER && !strict; i++) {
        for (int k = 0; k < LONG; k++)
            values[k] = i;
        const int later = MPI_Allreduce(values, sums, LONG, MPI_DOUBLE, MPI_SUM, comm);
        TEST_CHECK(later != MPI_SUCCESS || sums[LONG - 1] == (double)i * test.n,
                   "call %d after one of %d elements: %g", i, other, sums[LONG - 1]);
    }
    TEST_MPI(MPI_Comm_free(&comm));
    TEST_MPI(MPI_Reduce(&errors, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD));
    TEST_CHECK(test.rank != 0 || all > 0, "no error, though a call had %d elements", other);
}

/* @param memory  all that counts on all ranks is given up in its place */
static void run_watched(int communicators, bool memory)
{
    TEST_MPI(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    for (int before = 0; before < communicators; before++) {
        call_watched(before, 1, false);
        if (memory)
            call_watched(before, 22000, true);
    }
}

int main(int argc, char **argv)
{
    const char *algorithms = "direct", *watched = "0", *later = "right", *requests = "0";
    const struct test_option options[] = {{"algorithms", &algorithms},
                                          {"watched", &watched},
                                          {"later", &later},
                                          {"requests", &requests},
                                          {NULL, NULL}};
    test_start(&argc, &argv, "mismatch", MPI_THREAD_SINGLE, options);
    values = test_allocate(2 * LONGEST * sizeof *values);
    sums = test_allocate(2 * LONGEST * sizeof *sums);
    const int communicators = (int)test_number("watched", watched, 0, 100);
    run_watched(communicators, strcmp(later, "right") == 0);
    char *list = strdup(algorithms), *rest = NULL;
    const bool only_requests = test_number("requests", requests, 0, 1) == 1;
    if (only_requests)
        run_requests();
    for (char *name = strtok_r(list, ",", &rest); name && !communicators && !only_requests;
         name = strtok_r(NULL, ",", &rest))
        run_pinned(name);
    free(list);
    free(values);
    free(sums);
    return test_finish();
}
