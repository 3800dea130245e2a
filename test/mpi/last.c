/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Another rank comes last in each call, and who does is not waited for: calls of random lengths on
 * two communicators, before which one rank, all of them or none sleep; also while a nonblocking
 * collective of the user's is pending, and a receive of the user's for any message. All ranks
 * must have the same bits, and the right ones; of the calls some must have gone ahead, all must
 * end; and the receive gets what the user sends, and nothing else.
 *
 *     last [--calls N] [--delay US] [--ahead 0|1] [--promised 0|1]
 *
 * --ahead     0: none must have gone ahead (1)
 * --promised  1: the communicators get mpi_assert_no_any_source, and have no receive for any
 *             message (0)
 */
#include "common.h"

#include <time.h>

enum { COUNT_MAX = 40000, BATCH = 64, COMMS = 2 };

static struct {
    long calls, delay;
    bool promised; /* mpi_assert_no_any_source, from the first calls on */
    MPI_Comm comms[COMMS];
    MPI_Request any[COMMS]; /* receives from any rank, with any tag */
    int received[COMMS];
    double *input, *output;
    uint64_t hashes[2 * BATCH]; /* of results, and their complements */
} job;

/* The same on all ranks. */
static uint64_t drawn(uint64_t what, long call)
{
    return test_mix(test.seed ^ test_mix(what << 48 ^ (uint64_t)call));
}

/* A third of the calls: one rank is late; another third: all, few of them much; else nobody. */
static void come_late(long call)
{
    const uint64_t kind = drawn(1, call) % 3, own = test_value(test.rank, (uint64_t)call);
    long us = 0;
    if (kind == 0 && (int)(drawn(2, call) % (uint64_t)test.n) == test.rank)
        us = (long)(own % (uint64_t)(2 * job.delay + 1));
    else if (kind == 1)
        us = (long)(own % (uint64_t)(job.delay + 1)) / (own % 4096 < 1024 ? 1 : 20);
    if (us > 0)
        nanosleep(&(struct timespec){us / 1000000, us % 1000000 * 1000}, NULL);
}

/* Rounded, so that its bits depend on the order. */
static double value(int rank, long call, int i)
{
    return (double)(rank + 1) / (double)(3 + (i + call) % 1009);
}

static uint64_t hash(const double *values, int count)
{
    uint64_t hash = 14695981039346656037u;
    for (int i = 0; i < count; i++) {
        uint64_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        hash = (hash ^ bits) * 1099511628211u;
    }
    return hash;
}

static void allreduce(long call)
{
    static const int limits[] = {300, 4000, COUNT_MAX, COUNT_MAX};
    MPI_Comm comm = job.comms[drawn(3, call) % COMMS];
    const int count = 1 + (int)(drawn(4, call) % (uint64_t)limits[drawn(5, call) % 4]);
    const int sum = test.n * (test.n + 1) / 2;
    int mine = test.rank, all = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    for (int i = 0; i < count; i++)
        job.input[i] = value(test.rank, call, i);
    if (drawn(6, call) % 8 == 0)
        TEST_MPI(MPI_Iallreduce(&mine, &all, 1, MPI_INT, MPI_SUM, comm, &request));
    TEST_MPI(MPI_Allreduce(job.input, job.output, count, MPI_DOUBLE, MPI_SUM, comm));
    TEST_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    long wrong = 0;
    for (int i = 0; i < count; i++) {
        const double expected = (double)sum / (double)(3 + (i + call) % 1009);
        const double error = job.output[i] - expected;
        wrong += !(error < 1e-13 * expected && error > -1e-13 * expected);
    }
    TEST_CHECK(wrong == 0, "call %ld: %ld of %d elements are wrong", call, wrong, count);
    job.hashes[2 * (call % BATCH)] = hash(job.output, count);
    job.hashes[2 * (call % BATCH) + 1] = ~hash(job.output, count);
}

/* The largest hash is the smallest one. */
static void compare(void)
{
    uint64_t most[2 * BATCH];
    TEST_MPI(MPI_Reduce(job.hashes, most, 2 * BATCH, MPI_UINT64_T, MPI_MAX, 0, MPI_COMM_WORLD));
    for (int i = 0; i < BATCH && test.rank == 0; i++)
        TEST_CHECK(most[2 * i] == ~most[2 * i + 1], "the ranks have different bits");
    memset(job.hashes, 0, sizeof job.hashes);
    for (int i = 0; i < BATCH; i++)
        job.hashes[2 * i + 1] = ~job.hashes[2 * i];
}

/* The user promises not to receive from any rank, and does not; nor may strag then. */
static void promise(MPI_Comm comm)
{
    MPI_Info info;
    TEST_MPI(MPI_Info_create(&info));
    TEST_MPI(MPI_Info_set(info, "mpi_assert_no_any_source", "true"));
    TEST_MPI(MPI_Comm_set_info(comm, info));
    TEST_MPI(MPI_Info_free(&info));
}

static void open_comms(void)
{
    TEST_MPI(MPI_Comm_dup(MPI_COMM_WORLD, &job.comms[0]));
    TEST_MPI(MPI_Comm_split(MPI_COMM_WORLD, 0, -test.rank, &job.comms[1]));
    for (int c = 0; c < COMMS && !job.promised; c++)
        TEST_MPI(MPI_Irecv(&job.received[c], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, job.comms[c],
                           &job.any[c]));
}

/* Nothing has come by itself; then a message comes from the rank before. */
static void check_any(int c)
{
    const int sent = 1000 * c + test.rank;
    MPI_Status status;
    int rank, came;
    TEST_MPI(MPI_Barrier(job.comms[c]));
    TEST_MPI(MPI_Test(&job.any[c], &came, &status));
    if (!TEST_CHECK(!came, "the user's receive got a message with tag %d", status.MPI_TAG))
        test_die("a message was lost");
    TEST_MPI(MPI_Barrier(job.comms[c]));
    TEST_MPI(MPI_Comm_rank(job.comms[c], &rank));
    TEST_MPI(MPI_Send(&sent, 1, MPI_INT, (rank + 1) % test.n, 77, job.comms[c]));
    TEST_MPI(MPI_Wait(&job.any[c], &status));
    const int from = (rank + test.n - 1) % test.n, world = c == 1 ? test.n - 1 - from : from;
    TEST_CHECK(status.MPI_TAG == 77 && status.MPI_SOURCE == from &&
                   job.received[c] == 1000 * c + world,
               "the user's receive: tag %d, rank %d, %d", status.MPI_TAG, status.MPI_SOURCE,
               job.received[c]);
}

static void close_comms(long *calls, long *ahead)
{
    for (int c = 0; c < COMMS; c++) {
        *calls += (long)test_variable_read("coll_strag_last_calls", job.comms[c]);
        *ahead += (long)test_variable_read("coll_strag_last_ahead", job.comms[c]);
        if (!job.promised)
            check_any(c);
        TEST_MPI(MPI_Comm_free(&job.comms[c]));
    }
}

int main(int argc, char **argv)
{
    const char *calls = "1000", *delay = "1000", *expected = "1", *promised = "0";
    const struct test_option options[] = {{"calls", &calls},
                                          {"delay", &delay},
                                          {"ahead", &expected},
                                          {"promised", &promised},
                                          {NULL, NULL}};
    long agreed = 0, ahead = 0;
    test_start(&argc, &argv, "last", MPI_THREAD_SINGLE, options);
    job.calls = test_number("calls", calls, 1, 100000000);
    job.promised = test_number("promised", promised, 0, 1);
    job.delay = test_number("delay", delay, 0, 1000000);
    job.input = test_allocate(COUNT_MAX * sizeof *job.input);
    job.output = test_allocate(COUNT_MAX * sizeof *job.output);
    open_comms();
    for (long call = 0; call < job.calls; call++) {
        come_late(call);
        allreduce(call);
        if (call % BATCH == BATCH - 1)
            compare();
        if (job.promised && call % (job.calls / 2) == job.calls / 8) { /* while they are watched */
            for (int c = 0; c < COMMS; c++)
                promise(job.comms[c]);
        }
        if (call == job.calls / 2) { /* freed in the midst of it */
            close_comms(&agreed, &ahead);
            open_comms();
        }
    }
    compare();
    close_comms(&agreed, &ahead);
    if (test.rank == 0)
        printf("last: %ld calls, who is there was found out in %ld of these, %ld went ahead\n",
               job.calls, agreed, ahead);
    if (test_number("ahead", expected, 0, 1))
        TEST_CHECK(ahead > job.calls / 100, "%ld of %ld calls went ahead", ahead, job.calls);
    else
        TEST_CHECK(agreed == 0, "in %ld calls it was found out who is there", agreed);
    free(job.input);
    free(job.output);
    return test_finish();
}
