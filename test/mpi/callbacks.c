/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Allreduces in callbacks of communicators' attributes, while Open MPI goes over these, and on
 * communicators that are freed before strag has been set up. All results are checked.
 *
 *     freed       in delete callbacks, of MPI_Comm_free: the communicator's first calls
 *     copied      in copy callbacks, of MPI_Comm_dup: the parent's first calls. Open MPI keeps a
 *                 communicator's attributes in a table that grows, with 15 of them for instance;
 *                 those that come later in it must be copied all the same
 *     in flight   freed right after the call that sets it up, which is nonblocking
 *     ended       in delete callbacks of MPI_COMM_SELF, of MPI_Finalize
 *
 *     callbacks [--least N]    strag runs N calls at least; 0: none
 */
#include "common.h"

enum { COUNT = 2000, TIMES = 2, ATTRIBUTES = 18, CALLS = 5 };

/* The calls that a callback makes, and whether it is to make any. */
static struct {
    bool blocking, armed;
    long made;   /* calls so far */
    long copied; /* attributes so far */
} callback;

/* Rank r contributes (r + 1) * (i + 1). Also in MPI_Finalize, when failures are not collected any
 * more: an error ends the job. */
static void use(MPI_Comm comm, bool blocking, const char *what)
{
    static long in[COUNT], out[COUNT];
    MPI_Request request;
    int rank, n;
    TEST_MPI(MPI_Comm_rank(comm, &rank));
    TEST_MPI(MPI_Comm_size(comm, &n));
    for (long i = 0; i < COUNT; i++) {
        in[i] = (rank + 1) * (i + 1);
        out[i] = 0;
    }
    if (blocking) {
        TEST_MPI(MPI_Allreduce(in, out, COUNT, MPI_LONG, MPI_SUM, comm));
    } else {
        TEST_MPI(MPI_Iallreduce(in, out, COUNT, MPI_LONG, MPI_SUM, comm, &request));
        TEST_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    for (long i = 0; i < COUNT; i++)
        if (out[i] != (long)n * (n + 1) / 2 * (i + 1))
            test_die("%s: element %ld is %ld", what, i, out[i]);
    test.checks++;
}

static int copy(MPI_Comm comm, int key, void *extra, void *value, void *made, int *flag)
{
    for (int c = 0; c < CALLS && callback.armed; c++, callback.made++)
        use(comm, callback.blocking, "in a copy callback");
    callback.armed = false; /* the first callback's calls are the communicator's first ones */
    callback.copied++;
    *(void **)made = value;
    *flag = 1;
    return MPI_SUCCESS;
}

static int delete_it(MPI_Comm comm, int key, void *value, void *extra)
{
    for (int c = 0; c < CALLS && callback.armed; c++, callback.made++)
        use(comm, callback.blocking, "in a delete callback");
    return MPI_SUCCESS;
}

static int make_key(void)
{
    int key;
    TEST_MPI(MPI_Comm_create_keyval(copy, delete_it, &key, NULL));
    return key;
}

/* A communicator that is no dup, and one that is a dup of it. @param attributes  of both */
static void make(MPI_Comm *comm, MPI_Comm *dup, int attributes, bool blocking, bool in_dup)
{
    static int value;
    callback.armed = false;
    callback.blocking = blocking;
    TEST_MPI(MPI_Comm_split(MPI_COMM_WORLD, 0, -test.rank, comm));
    for (int a = 0; a < attributes; a++) {
        int key = make_key();
        TEST_MPI(MPI_Comm_set_attr(*comm, key, &value));
        TEST_MPI(MPI_Comm_free_keyval(&key));
    }
    callback.armed = in_dup;
    TEST_MPI(MPI_Comm_dup(*comm, dup));
    callback.armed = false;
}

/* What a setup in flight still does it does now, in Open MPI's progress. */
static void make_progress(void)
{
    for (int i = 0; i < 3; i++)
        TEST_MPI(MPI_Barrier(MPI_COMM_WORLD));
}

/* @param used  the communicator is set up when it is duplicated */
static void freed(bool blocking, bool used)
{
    for (int t = 0; t < TIMES; t++) {
        MPI_Comm comm, dup, again;
        make(&comm, &dup, 2, blocking, false);
        if (used)
            use(comm, true, "before it is duplicated");
        TEST_MPI(MPI_Comm_dup(comm, &again));
        callback.armed = true;
        TEST_MPI(MPI_Comm_free(&again));
        TEST_MPI(MPI_Comm_free(&dup));
        TEST_MPI(MPI_Comm_free(&comm));
        callback.armed = false;
        make_progress();
    }
}

static void copied(bool blocking)
{
    for (int attributes = 1; attributes <= ATTRIBUTES; attributes++) {
        MPI_Comm comm, dup;
        const long before = callback.copied;
        make(&comm, &dup, attributes, blocking, true);
        TEST_CHECK(callback.copied - before == attributes, "%ld of %d attributes were copied",
                   callback.copied - before, attributes);
        use(dup, true, "the dup");
        use(comm, true, "its parent");
        TEST_MPI(MPI_Comm_free(&dup));
        TEST_MPI(MPI_Comm_free(&comm));
    }
}

static void in_flight(void)
{
    for (int t = 0; t < TIMES; t++) {
        MPI_Comm dup;
        TEST_MPI(MPI_Comm_dup(MPI_COMM_WORLD, &dup));
        test_pass_first_calls(dup);
        use(dup, false, "in flight");
        TEST_MPI(MPI_Comm_free(&dup));
    }
    make_progress();
}

/* The last setup may be in flight when MPI_Finalize goes on. */
static int end(MPI_Comm comm, int key, void *value, void *extra)
{
    use(MPI_COMM_WORLD, true, "MPI_COMM_WORLD, in MPI_Finalize");
    use(MPI_COMM_WORLD, false, "MPI_COMM_WORLD, in MPI_Finalize, nonblocking");
    for (int way = 0; way < 4; way++) {
        freed(way % 2, way / 2);
        in_flight();
    }
    MPI_Comm dup;
    TEST_MPI(MPI_Comm_dup(MPI_COMM_WORLD, &dup));
    test_pass_first_calls(dup);
    use(dup, false, "at the very end");
    TEST_MPI(MPI_Comm_free(&dup));
    return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    const char *least = "72";
    const struct test_option options[] = {{"least", &least}, {NULL, NULL}};
    test_start(&argc, &argv, "callbacks", MPI_THREAD_SINGLE, options);
    const unsigned long long wanted =
        (unsigned long long)test_number("least", least, 0, 4L * ATTRIBUTES);
    int key;
    const struct test_counters before = test_counters_read();
    TEST_MPI(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end, &key, NULL));
    TEST_MPI(MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL));
    for (int blocking = 0; blocking < 2; blocking++) {
        freed(blocking, false); /* MPI_COMM_WORLD is not set up, either */
        copied(blocking);
    }
    in_flight();
    use(MPI_COMM_WORLD, true, "MPI_COMM_WORLD");
    for (int blocking = 0; blocking < 2; blocking++) {
        freed(blocking, true);
        copied(blocking);
    }
    in_flight();
    TEST_CHECK(callback.made == 4 * (TIMES * 3 * 2 + ATTRIBUTES) * CALLS,
               "%ld calls were made in callbacks", callback.made);
    const struct test_counters now = test_counters_read();
    const unsigned long long ran = now.calls - before.calls;
    TEST_CHECK(wanted ? ran >= wanted : ran == 0, "strag ran %llu calls, not %llu", ran, wanted);
    return test_finish();
}
