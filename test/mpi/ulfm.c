/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Failures that the program repairs by itself (ULFM, mpirun --with-ft ulfm): an allreduce in which
 * ranks wait ends with the error that MPI promises, and the ranks that are left continue.
 *
 *     ulfm --case revoke [--rounds N]
 *         On duplicates of MPI_COMM_WORLD one rank revokes the communicator while the others are in
 *         a call, or in setup: MPI_ERR_REVOKED on all of them.
 *
 *     ulfm --case kill --victim R --after MICROSECONDS --kind KIND [--warm N]
 *         Rank R dies by SIGKILL so long after all have met, amid calls on MPI_COMM_WORLD:
 *         MPI_ERR_PROC_FAILED on all others. KIND is blocking, nonblocking or persistent; --warm N
 *         blocking calls come before (default 2: strag is set up).
 *
 * Both then agree on a number (MPIX_Comm_agree), make a communicator of the ranks that are left
 * (MPIX_Comm_shrink), and compare sums on it, and on a duplicate of it, with the right ones. A call
 * that ends with an error may take 10 s.
 *
 * Each rank that is left prints "ulfm: rank R: N checks, M failed": after a death MPI_COMM_WORLD is
 * of no use for that. It ends when MPI_Finalize has ended what is strag's; the rest of MPI_Finalize
 * waits for ever after some deaths, without strag, too.
 */
#include "common.h"

#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#if OMPI_MAJOR_VERSION >= 5
#include <mpi-ext.h>
#endif

#if defined(OMPI_HAVE_MPI_EXT_FTMPI) && OMPI_HAVE_MPI_EXT_FTMPI

enum { MOST = 200000 }; /* elements */

enum kind { BLOCKING, NONBLOCKING, PERSISTENT, KINDS };

static const char *const kind_names[KINDS] = {"blocking", "nonblocking", "persistent"};

static const int counts[] = {1, 3000, MOST};
enum { COUNTS = sizeof(counts) / sizeof(counts[0]) };

/* Enough for strag's first calls to be done, and its watch to have begun. */
enum { WARM = 40 };

enum { NOBODY = -1 };

static double longest_wait = 10; /* seconds; on a busy machine STRAG_TEST_SLOWER times as long */

static double values[MOST], sums[MOST];
static int pauses; /* so far, each of another length */

/* ---- Calls ---- */

static int init(int count, MPI_Comm comm, MPI_Request *request)
{
    return MPI_Allreduce_init(values, sums, count, MPI_DOUBLE, MPI_SUM, comm, MPI_INFO_NULL,
                              request);
}

/* It is active. */
static int complete(MPI_Request *request)
{
    int code = MPI_SUCCESS, done = 0;
    while (MPI_SUCCESS == code && !done)
        code = MPI_Test(request, &done, MPI_STATUS_IGNORE);
    return code;
}

static int start_and_complete(MPI_Request *request)
{
    int code = MPI_Start(request);
    if (MPI_SUCCESS == code)
        code = complete(request);
    if (MPI_SUCCESS == code) /* else Open MPI has freed it */
        code = MPI_Request_free(request);
    return code;
}

static int call(enum kind kind, int count, MPI_Comm comm)
{
    MPI_Request request;
    int code;
    switch (kind) {
    case NONBLOCKING:
        code = MPI_Iallreduce(values, sums, count, MPI_DOUBLE, MPI_SUM, comm, &request);
        return MPI_SUCCESS == code ? complete(&request) : code;
    case PERSISTENT:
        code = init(count, comm, &request);
        return MPI_SUCCESS == code ? start_and_complete(&request) : code;
    default:
        return MPI_Allreduce(values, sums, count, MPI_DOUBLE, MPI_SUM, comm);
    }
}

/* MPI_Finalize deletes this attribute of MPI_COMM_SELF after all others, as it was set first. */
static int end_here(MPI_Comm comm, int key, void *value, void *extra)
{
    printf("ulfm: rank %d: %ld checks, %ld failed\n", test.rank, test.checks, test.failures);
    fflush(stdout);
    _exit(test.failures > 0);
}

static int class_of(int code)
{
    int class = MPI_ERR_UNKNOWN;
    MPI_Error_class(code, &class);
    return class;
}

/* libnbc, which runs the calls that strag leaves to it, says MPI_ERR_OTHER if the failure is known
 * when it begins a round. */
static bool is_libnbc(enum kind kind, int warm)
{
    return test.expect_strag ? NONBLOCKING == kind && 0 == warm : BLOCKING != kind;
}

static void must_be(int code, int class, bool libnbc, double start, const char *what)
{
    const double seconds = MPI_Wtime() - start;
    char text[MPI_MAX_ERROR_STRING] = "";
    int length;
    MPI_Error_string(code, text, &length);
    TEST_CHECK(class_of(code) == class || (libnbc && MPI_ERR_OTHER == class_of(code)),
               "%s: error class %d, %d expected: %s", what, class_of(code), class, text);
    TEST_CHECK(seconds < longest_wait, "%s: it took %.1f s", what, seconds);
}

/* Rank r of the communicator has r + 1 + i % 3 at place i. */
static void compare_sums(MPI_Comm comm, enum kind kind, int count, const char *what)
{
    int rank, n, wrong = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &n);
    for (int i = 0; i < count; i++) {
        values[i] = rank + 1 + i % 3;
        sums[i] = -1;
    }
    TEST_MPI(call(kind, count, comm));
    for (int i = 0; i < count; i++)
        wrong += sums[i] != n * (n + 1) / 2 + n * (i % 3);
    TEST_CHECK(0 == wrong, "%s: %s, %d elements: %d sums are wrong", what, kind_names[kind], count,
               wrong);
}

static void compare_all_sums(MPI_Comm comm, const char *what)
{
    test_pass_first_calls(comm);
    const struct test_counters before = test_counters_read();
    int n;
    MPI_Comm_size(comm, &n);
    for (enum kind kind = BLOCKING; kind < KINDS; kind++)
        for (int c = 0; c < COUNTS; c++)
            compare_sums(comm, kind, counts[c], what);
    test_counters_moved(before, n > 1 ? KINDS * COUNTS : 0, 0, what);
}

/* Those that are left make a communicator of their own. @param victim  NOBODY: all are */
static void repair(MPI_Comm comm, int victim, const char *what)
{
    MPI_Comm shrunk, dup;
    const int left = NOBODY == victim ? test.n : test.n - 1;
    int n, flag = test.rank == (0 == victim) ? 6 : 7; /* of one rank that is left, and of others */
    const double start = MPI_Wtime();
    /* A death that not all ranks had acknowledged is an error, but flag is right all the same. */
    const int code = MPIX_Comm_agree(comm, &flag);
    TEST_CHECK(MPI_SUCCESS == code || MPI_ERR_PROC_FAILED == class_of(code),
               "%s: MPIX_Comm_agree: error class %d", what, class_of(code));
    TEST_CHECK(6 == flag, "%s: MPIX_Comm_agree: flag is %d", what, flag);
    TEST_MPI(MPIX_Comm_shrink(comm, &shrunk));
    MPI_Comm_size(shrunk, &n);
    TEST_CHECK(n == left, "%s: %d ranks are left, not %d", what, n, left);
    TEST_CHECK(MPI_Wtime() - start < 2 * longest_wait, "%s: to repair it took %.1f s", what,
               MPI_Wtime() - start);
    TEST_MPI(MPI_Comm_dup(shrunk, &dup));
    compare_all_sums(dup, "on a duplicate of those that are left");
    compare_all_sums(shrunk, "those that are left");
    TEST_MPI(MPI_Comm_free(&dup));
    TEST_MPI(MPI_Comm_free(&shrunk));
}

/* ---- Revoked ---- */

static void revoke_amid(enum kind kind, int count, int warm, int revoker)
{
    char what[128];
    MPI_Comm comm;
    MPI_Request request;
    snprintf(what, sizeof(what), "revoked after %d calls, %s, %d elements", warm, kind_names[kind],
             count);
    TEST_MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    for (int i = 0; i < warm; i++)
        compare_sums(comm, BLOCKING, i % 8 ? 1 : count, what);
    const bool prepared = PERSISTENT == kind && warm > 0;
    if (prepared)
        TEST_MPI(init(count, comm, &request));
    TEST_MPI(MPI_Barrier(MPI_COMM_WORLD)); /* the other one may be revoked in its end */
    const struct test_counters before = test_counters_read();
    const double start = MPI_Wtime();
    if (test.rank == revoker) {
        usleep((useconds_t)(test_mix(test.seed ^ (uint64_t)pauses) % 20000));
        TEST_MPI(MPIX_Comm_revoke(comm));
    }
    pauses++;
    const int code = prepared ? start_and_complete(&request) : call(kind, count, comm);
    must_be(code, MPI_ERR_REVOKED, is_libnbc(kind, warm), start, what);
    TEST_CHECK(!test.expect_strag || 0 == warm || test.rank == revoker ||
                   test_counters_read().calls == before.calls + 1,
               "%s: the call was not strag's", what);
    must_be(call(BLOCKING, 1, comm), MPI_ERR_REVOKED, false, start, what); /* so are all others */
    repair(comm, NOBODY, what);
    MPI_Comm_free(&comm);
}

static void revoke_all(int rounds)
{
    for (int round = 0; round < rounds; round++)
        for (enum kind kind = BLOCKING; kind < KINDS; kind++)
            for (int c = 0; c < COUNTS; c++)
                revoke_amid(kind, counts[c], (round + c + (int)kind) % 2 ? 0 : WARM,
                            (round + c + (int)kind) % test.n);
}

/* ---- Killed ---- */

static void die(int signal)
{
    kill(getpid(), SIGKILL);
}

static void kill_amid(enum kind kind, int warm, int victim, long after)
{
    char what[128];
    int code = MPI_SUCCESS;
    double start = 0;
    MPI_Comm comm = MPI_COMM_WORLD;
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    snprintf(what, sizeof(what), "rank %d killed after %ld us, %s", victim, after,
             kind_names[kind]);
    for (int i = 0; i < warm; i++)
        compare_sums(comm, BLOCKING, counts[i % COUNTS], what);
    TEST_MPI(MPI_Barrier(comm));
    if (test.rank == victim) {
        const struct itimerval timer = {.it_value = {after / 1000000, after % 1000000 + 1}};
        signal(SIGALRM, die);
        setitimer(ITIMER_REAL, &timer, NULL);
    }
    for (int i = 0; MPI_SUCCESS == code; i++) {
        start = MPI_Wtime();
        code = call(kind, counts[i % COUNTS], comm);
    }
    must_be(code, MPI_ERR_PROC_FAILED, is_libnbc(kind, warm), start, what);
    must_be(call(BLOCKING, 1, comm), MPI_ERR_PROC_FAILED, false, start, what);
    repair(comm, victim, what);
}

/* ---- All of it ---- */

static enum kind kind_of(const char *name)
{
    for (enum kind kind = BLOCKING; kind < KINDS; kind++)
        if (0 == strcmp(name, kind_names[kind]))
            return kind;
    test_die("--kind %s: unknown", name);
}

static int run(int argc, char **argv)
{
    const char *chosen = "revoke", *rounds = "1", *victim = "0", *after = "1000", *warm = "2",
               *kind = "blocking";
    const struct test_option options[] = {
        {"case", &chosen}, {"rounds", &rounds}, {"victim", &victim}, {"after", &after},
        {"warm", &warm},   {"kind", &kind},     {NULL, NULL}};
    test_start(&argc, &argv, "ulfm", MPI_THREAD_SINGLE, options);
    const char *slower = getenv("STRAG_TEST_SLOWER");
    int key, done = 1;
    if (NULL != slower)
        longest_wait *= (double)test_number("STRAG_TEST_SLOWER", slower, 1, 1000);
    TEST_MPI(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end_here, &key, NULL));
    TEST_MPI(MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL));
    if (0 == strcmp(chosen, "revoke"))
        revoke_all((int)test_number("rounds", rounds, 1, 1000));
    else
        kill_amid(kind_of(kind), (int)test_number("warm", warm, 0, 1000),
                  (int)test_number("victim", victim, 0, test.n - 1),
                  test_number("after", after, 0, 60000000));
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPIX_Comm_agree(MPI_COMM_WORLD, &done); /* who ends is dead for those that are not done yet */
    MPI_Finalize();
    return test.failures > 0;
}

#else

static int run(int argc, char **argv)
{
    puts("skipped: this version of Open MPI has no ULFM");
    return TEST_SKIP;
}

#endif

int main(int argc, char **argv)
{
    return run(argc, argv);
}
