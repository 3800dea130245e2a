/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One rank's call fails, wherever that may be: no later call of any rank has a wrong result and
 * MPI_SUCCESS, and none waits for ever. Each case makes a communicator, has one place fail
 * (failing.c, which is preloaded) in a series of calls on it and on its dup, blocking, nonblocking
 * and persistent, short and long, and checks whatever came with MPI_SUCCESS. Cases go on until the
 * series has no more places.
 *
 *     errors --what memory|making|post|request
 *                                        what fails, ...
 *            [--rank R]                  ... and on which rank (1)
 *            [--on 1]                    all places after it, too
 *            [--comm dup|split|key]      what the communicators are (dup)
 *            [--first K] [--step S]      the places K, K + S, ... (1, 1)
 *            [--bytes B]                 of the long vectors (100000)
 *            [--elements one]            each vector is one long element (many)
 *            [--calls N]                 blocking calls before each series (0)
 *            [--many N]                  nonblocking ones once one has set the dup up, which is
 *                                        where places begin (0); of 24 strag runs some
 *            [--freed 1]                 a nonblocking call alone, whose communicator is freed
 *                                        before it is waited for
 *            [--last N]                  N blocking calls alone, of which the last one fails, and
 *                                        how long MPI_Comm_free takes after it
 *            [--world 1]                 MPI_COMM_WORLD has been set up by a call three times as
 *                                        long, so that the others' setup is derived from it
 *            [--limit T]                 seconds that a case may take (200)
 */
#include "common.h"
#include "failing.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SHORT = 6, MIDDLE = 400, STARTS = 2, BURST = 3, MANY = 100 };

static size_t longest; /* numbers */
static MPI_Op add;     /* of elements of many numbers; MPI_OP_NULL: each is an element */
static double *values, *sums;
static int number; /* of the call in this case: every call has other values */
static int many;   /* calls of --many */
static bool freed; /* --freed */
static int last;   /* --last */
static struct {
    const char *what;
    int rank;
    long place;
    bool on;
} fault;
static int errors;      /* of this rank in this case */
static int after_right; /* right results after the first error */
static long all_errors, recovered;
static char doing[256], place[128];

/* ---- A case that does not end ---- */

static void give_up(int signal)
{
    static const char text[] = " does not end\n";
    if (write(STDERR_FILENO, doing, strlen(doing)) < 0 ||
        write(STDERR_FILENO, text, sizeof text - 1) < 0)
        _exit(2);
    _exit(1);
}

static void note(const char *what, int call)
{
    snprintf(doing, sizeof doing, "errors: rank %d of %d: %s: call %d, %s", test.rank, test.n,
             place, call, what);
}

/* ---- Calls ---- */

/* The operator of `add`. */
static void add_numbers(void *in, void *out, int *count, MPI_Datatype *type)
{
    int bytes;
    TEST_MPI(MPI_Type_size(*type, &bytes));
    for (size_t i = 0; i < (size_t)*count * (size_t)bytes / sizeof *values; i++)
        ((double *)out)[i] += ((double *)in)[i];
}

/* A vector as MPI gets it. */
struct vector {
    int count;
    MPI_Datatype type;
    MPI_Op op;
};

static struct vector vector_of(size_t count)
{
    struct vector vector = {(int)count, MPI_DOUBLE, MPI_SUM};
    if (add == MPI_OP_NULL)
        return vector;
    TEST_MPI(MPI_Type_contiguous((int)count, MPI_DOUBLE, &vector.type));
    TEST_MPI(MPI_Type_commit(&vector.type));
    return (struct vector){1, vector.type, add};
}

/* Calls that have been begun keep it. */
static void let_go(struct vector *vector)
{
    if (add != MPI_OP_NULL)
        TEST_MPI(MPI_Type_free(&vector->type));
}

static double value_of(int rank, int call, size_t element)
{
    return (double)(1 + (rank * 7 + call * 13) % 101) + (double)(element % 17);
}

static void fill(double *vector, int call, size_t count)
{
    for (size_t i = 0; i < count; i++)
        vector[i] = value_of(test.rank, call, i);
}

/* A call has ended. @param code  of MPI_SUCCESS, or an error of a class of MPI's */
static void check(int code, const double *sum, int call, size_t count, const char *what)
{
    int class = MPI_ERR_UNKNOWN, wrong = 0;
    if (code != MPI_SUCCESS) {
        errors++;
        TEST_CHECK(code > 0 && MPI_Error_class(code, &class) == MPI_SUCCESS &&
                       class != MPI_SUCCESS && class <= MPI_ERR_LASTCODE,
                   "%s: call %d, %s: the error %d is none of MPI's", place, call, what, code);
        return;
    }
    after_right += errors > 0;
    for (size_t i = 0; i < count; i++) {
        double right = 0;
        for (int rank = 0; rank < test.n; rank++)
            right += value_of(rank, call, i);
        wrong += sum[i] != right;
    }
    TEST_CHECK(wrong == 0, "%s: call %d, %s: %d of %zu elements are wrong, such as %g", place, call,
               what, wrong, count, sum[0]);
}

static void call_blocking(MPI_Comm comm, size_t count, const char *what)
{
    const int call = number++;
    note(what, call);
    fill(values, call, count);
    memset(sums, 0, count * sizeof *sums);
    struct vector vector = vector_of(count);
    const int code = MPI_Allreduce(values, sums, vector.count, vector.type, vector.op, comm);
    let_go(&vector);
    check(code, sums, call, count, what);
}

/* Several at a time. */
static void call_nonblocking(MPI_Comm comm, size_t count, const char *what, int calls)
{
    MPI_Request requests[MANY];
    MPI_Status statuses[MANY];
    int codes[MANY], first = number;
    struct vector vector = vector_of(count);
    for (int i = 0; i < calls; i++) {
        const int call = number++;
        double *in = values + (size_t)i * count, *out = sums + (size_t)i * count;
        note(what, call);
        fill(in, call, count);
        memset(out, 0, count * sizeof *out);
        requests[i] = MPI_REQUEST_NULL;
        statuses[i].MPI_ERROR = MPI_SUCCESS;
        codes[i] =
            MPI_Iallreduce(in, out, vector.count, vector.type, vector.op, comm, &requests[i]);
    }
    let_go(&vector);
    const int code = MPI_Waitall(calls, requests, statuses);
    TEST_CHECK(code == MPI_SUCCESS || code == MPI_ERR_IN_STATUS, "%s: %s: MPI_Waitall returns %d",
               place, what, code);
    for (int i = 0; i < calls; i++) {
        if (codes[i] == MPI_SUCCESS && code != MPI_SUCCESS)
            codes[i] = statuses[i].MPI_ERROR;
        if (codes[i] == MPI_ERR_PENDING) /* neither complete nor failed, when another one failed */
            codes[i] = MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
        check(codes[i], sums + (size_t)i * count, first + i, count, what);
    }
}

static void call_persistent(MPI_Comm comm, size_t count, const char *what)
{
#ifdef TEST_HAVE_PERSISTENT
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status;
    struct vector vector = vector_of(count);
    note(what, number);
    int code = TEST_PERSISTENT(Allreduce_init)(values, sums, vector.count, vector.type, vector.op,
                                               comm, MPI_INFO_NULL, &request);
    let_go(&vector);
    for (int start = 0; start < STARTS; start++) {
        const int call = number++;
        note(what, call);
        fill(values, call, count);
        memset(sums, 0, count * sizeof *sums);
        if (code == MPI_SUCCESS)
            code = MPI_Start(&request);
        if (code == MPI_SUCCESS)
            code = MPI_Wait(&request, &status);
        check(code, sums, call, count, what);
    }
    if (request != MPI_REQUEST_NULL) /* Open MPI frees it after an error */
        TEST_MPI(MPI_Request_free(&request));
#else
    (void)comm, (void)count, (void)what;
    number += STARTS;
#endif
}

/* ---- A case ---- */

static MPI_Comm make_comm(const char *kind)
{
    MPI_Comm comm;
    if (strcmp(kind, "dup") == 0)
        TEST_MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    else if (strcmp(kind, "split") == 0)
        TEST_MPI(MPI_Comm_split(MPI_COMM_WORLD, 0, -test.rank, &comm));
    else /* with a key of the watch all ranks are asked again */
        comm = test_with_key(MPI_COMM_WORLD, "coll_strag_slowdown", "0");
    if (strcmp(kind, "dup") == 0 || strcmp(kind, "split") == 0)
        test_pass_first_calls(comm);
    TEST_MPI(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    return comm;
}

/* From here on a place fails. */
static void begin_failing(void)
{
    if (test.rank == fault.rank)
        failing_begin(fault.what, fault.place, fault.on);
}

static void run_series(MPI_Comm comm, int calls)
{
    MPI_Comm dup;
    for (int i = 0; i < calls; i++)
        call_blocking(comm, i % 2 ? longest : MIDDLE, "blocking, before");
    call_blocking(comm, SHORT, "blocking, short");
    call_blocking(comm, longest, "blocking, long");
    call_nonblocking(comm, SHORT, "nonblocking, short", BURST);
    call_nonblocking(comm, longest, "nonblocking, long", BURST);
    call_persistent(comm, MIDDLE, "persistent");
    call_blocking(comm, MIDDLE, "blocking, middle");
    note("MPI_Comm_dup", number);
    TEST_MPI(MPI_Comm_dup(comm, &dup));
    call_blocking(dup, SHORT, "blocking, first on the dup");
    call_blocking(dup, SHORT, "blocking, second on the dup");
    if (many)
        begin_failing();
    call_nonblocking(dup, MIDDLE, "nonblocking, on the dup", BURST);
    call_blocking(comm, SHORT, "blocking, short again");
    call_blocking(dup, longest, "blocking, long, on the dup");
    call_nonblocking(dup, SHORT, "nonblocking, many on the dup", many);
    call_persistent(dup, longest, "persistent, long, on the dup");
    call_blocking(dup, SHORT, "blocking, short, on the dup");
    call_blocking(comm, longest, "blocking, long again");
    call_blocking(comm, SHORT, "blocking, the last one");
    note("MPI_Comm_free", number);
    TEST_MPI(MPI_Comm_free(&dup));
}

/* The communicator is freed before its nonblocking call is waited for. Open MPI 5 asks it for its
 * error handler after it has freed the request: so somebody must still keep it. */
static void run_freed(MPI_Comm comm)
{
    MPI_Comm dup, gone;
    MPI_Request request;
    TEST_MPI(MPI_Comm_dup(comm, &dup));
    test_pass_first_calls(dup);
    call_blocking(dup, MIDDLE, "blocking, on the dup");
    const int call = number++;
    note("nonblocking, on a communicator that is freed", call);
    fill(values, call, longest);
    begin_failing();
    int code = MPI_Iallreduce(values, sums, (int)longest, MPI_DOUBLE, MPI_SUM, dup, &request);
    const bool begun = code == MPI_SUCCESS;
    gone = dup;
    failing_keep(gone);
    TEST_MPI(MPI_Comm_free(&dup));
    if (begun)
        code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    check(code, sums, call, longest, "nonblocking, on a communicator that is freed");
    const bool kept = failing_let_go(gone);
    if (begun && code != MPI_SUCCESS)
        TEST_CHECK(kept, "%s: the communicator of a request with an error is gone", place);
}

/* One rank cannot send its samples of a window, and nobody makes another call, in which it would
 * hear of that: its parent waits for them when it frees the communicator. */
static void run_last(MPI_Comm comm)
{
    MPI_Comm dup;
    TEST_MPI(MPI_Comm_dup(comm, &dup));
    test_pass_first_calls(dup);
    for (int call = 1; call <= last; call++) {
        if (call == last)
            begin_failing();
        call_blocking(dup, MIDDLE, "blocking, watched");
    }
    const double start = MPI_Wtime();
    TEST_MPI(MPI_Comm_free(&dup));
    const double seconds = MPI_Wtime() - start;
    TEST_CHECK(seconds < 13, "%s: MPI_Comm_free takes %.1f s, more than 8", place, seconds);
    if (test.rank == 0 && fault.place == 1)
        TEST_CHECK(seconds > 1, "%s: MPI_Comm_free waits for nobody", place);
}

/* @return how many places there were on the rank */
static long run_case(const char *what, int rank, long failing, bool on, const char *kind, int calls)
{
    MPI_Comm comm = make_comm(kind);
    long places = 0;
    number = 1;
    errors = after_right = 0;
    snprintf(place, sizeof place, "%s, place %ld of rank %d", what, failing, rank);
    fault.what = what;
    fault.rank = rank;
    fault.place = failing;
    fault.on = on;
    if (!many && !freed && !last)
        begin_failing();
    if (freed)
        run_freed(comm);
    else if (last)
        run_last(comm);
    else
        run_series(comm, calls);
    if (test.rank == rank)
        places = failing_end();
    TEST_MPI(MPI_Comm_free(&comm));
    note("the end of the case", number);
    TEST_MPI(MPI_Bcast(&places, 1, MPI_LONG, rank, MPI_COMM_WORLD));
    return places;
}

static long run_cases(const char *what, int rank, bool on, const char *kind, int calls,
                      const long range[2], unsigned limit)
{
    long failing = range[0], places;
    do {
        alarm(limit);
        places = run_case(what, rank, failing, on, kind, calls);
        if (failing > places)
            TEST_CHECK(errors == 0, "%d errors in a case in which nothing failed", errors);
        all_errors += errors > 0;
        recovered += errors > 0 && after_right > 0;
        failing += range[1];
    } while (failing - range[1] <= places);
    alarm(0);
    return places;
}

int main(int argc, char **argv)
{
    const char *what = "memory", *rank = "1", *on = "0", *kind = "dup", *first = "1", *step = "1",
               *bytes = "100000", *elements = "many", *calls = "0", *more = "0", *world = "0",
               *gone = "0", *series = "0", *limit = "200";
    const struct test_option options[] = {
        {"what", &what},   {"rank", &rank},         {"on", &on},
        {"comm", &kind},   {"first", &first},       {"step", &step},
        {"bytes", &bytes}, {"calls", &calls},       {"many", &more},
        {"limit", &limit}, {"elements", &elements}, {"world", &world},
        {"freed", &gone},  {"last", &series},       {NULL, NULL}};
    test_start(&argc, &argv, "errors", MPI_THREAD_SINGLE, options);
    if (!failing_begin)
        test_die("failing.so is not preloaded");
    many = (int)test_number("many", more, 0, MANY);
    freed = test_number("freed", gone, 0, 1) == 1;
    last = (int)test_number("last", series, 0, 1000);
    longest = (size_t)test_number("bytes", bytes, 8, 1 << 26) / sizeof *values;
    values = test_allocate((longest + MIDDLE) * BURST * sizeof *values);
    sums = test_allocate((longest + MIDDLE) * BURST * sizeof *sums);
    add = MPI_OP_NULL;
    if (strcmp(elements, "one") == 0)
        TEST_MPI(MPI_Op_create(add_numbers, 1, &add));
    /* what belongs to a communicator's calls asks that one; what to a request, with 4.1, this one
     */
    TEST_MPI(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    signal(SIGALRM, give_up);
    snprintf(place, sizeof place, "before");
    const struct test_counters before = test_counters_read();
    if (test_number("world", world, 0, 1))
        call_blocking(MPI_COMM_WORLD, BURST * longest, "blocking, on MPI_COMM_WORLD");
    const long range[] = {test_number("first", first, 1, 1000000),
                          test_number("step", step, 1, 1000000)};
    const long places =
        run_cases(what, (int)test_number("rank", rank, 0, test.n - 1),
                  test_number("on", on, 0, 1) == 1, kind, (int)test_number("calls", calls, 0, 1000),
                  range, (unsigned)test_number("limit", limit, 1, 10000));
    long seen[2] = {all_errors, recovered}, all[2] = {0};
    TEST_MPI(MPI_Reduce(seen, all, 2, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD));
    TEST_CHECK(test_counters_read().calls > before.calls, "strag did not run");
    if (test.rank == 0)
        printf("errors: np %d: %s on rank %s%s, %s: %ld places, every %s from %s; ranks with an "
               "error in a case: %ld, with right results after it: %ld\n",
               test.n, what, rank, on[0] == '1' ? " and all after it" : "", kind, places, step,
               first, all[0], all[1]);
    if (add != MPI_OP_NULL)
        TEST_MPI(MPI_Op_free(&add));
    free(values);
    free(sums);
    return test_finish();
}
