/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_THREAD_MULTIPLE: several threads, each on a communicator of its own, reduce vectors of all
 * sizes at the same time; then some of them duplicate communicators, use and free them meanwhile.
 *
 *     threads [--rounds N] [--makers N]     vectors per thread (default 200), and threads
 *                                           that make communicators (default 1)
 */
#include "common.h"

#include <pthread.h>

#define THREADS   4
#define DUPS      25
#define COUNT_MAX 300000

struct worker {
    int index;
    int rounds;
    bool makes; /* communicators */
    MPI_Comm comm;
    unsigned *send, *receive;
    long wrong;                      /* results; each thread counts its own */
    unsigned long long calls, first; /* first: that its communicators have passed at first */
};

static bool first_are_delegated; /* no algorithm is pinned */

static unsigned value(int rank, int worker, int round, int index)
{
    return (unsigned)index * 2654435761u + (unsigned)(rank * 1000003 + worker * 10007 + round);
}

/* One allreduce whose size, in-place or not, and values follow from the round. */
static void allreduce(struct worker *worker, MPI_Comm comm, int round)
{
    static const int limits[] = {1, 10, 1000, 20000, COUNT_MAX};
    const uint64_t random = test_mix(test.seed + (uint64_t)(worker->index * 100003 + round));
    const int count = 1 + (int)((random >> 8) % (uint64_t)limits[random % 5]);
    const bool in_place = 0 != (random >> 7 & 1);
    const unsigned n = (unsigned)test.n;
    unsigned *input = in_place ? worker->receive : worker->send;

    for (int i = 0; i < count; i++)
        input[i] = value(test.rank, worker->index, round, i);
    TEST_MPI(MPI_Allreduce(in_place ? MPI_IN_PLACE : input, worker->receive, count, MPI_UNSIGNED,
                           MPI_SUM, comm));
    for (int i = 0; i < count; i++) {
        const unsigned want = n * value(0, worker->index, round, i) + n * (n - 1) / 2 * 1000003u;
        worker->wrong += want != worker->receive[i];
    }
    worker->calls += test.n > 1;
}

static void pass_first_calls(struct worker *worker, MPI_Comm comm)
{
    test_pass_first_calls(comm);
    worker->first += test.n > 1 ? 2 : 0;
}

static void reduce_many(struct worker *worker)
{
    for (int round = 0; round < worker->rounds; round++)
        allreduce(worker, worker->comm, round);
}

/* Duplicates of duplicates, so that a communicator's life overlaps with the other threads' work. */
static void duplicate_many(struct worker *worker)
{
    for (int round = 0; round < DUPS; round++) {
        MPI_Comm first, second;
        TEST_MPI(MPI_Comm_dup(worker->comm, &first));
        pass_first_calls(worker, first);
        allreduce(worker, first, round);
        TEST_MPI(MPI_Comm_dup(first, &second));
        pass_first_calls(worker, second);
        TEST_MPI(MPI_Comm_free(&first));
        allreduce(worker, second, round + DUPS);
        TEST_MPI(MPI_Comm_free(&second));
    }
}

static void *work(void *argument)
{
    struct worker *worker = argument;
    if (worker->makes)
        duplicate_many(worker);
    else
        reduce_many(worker);
    return NULL;
}

/* Run all threads, of which the first ones make communicators, and check what they report. */
static void run(struct worker *workers, int makers, const char *what)
{
    pthread_t threads[THREADS];
    const struct test_counters before = test_counters_read();
    for (int i = 0; i < THREADS; i++) {
        workers[i].wrong = 0;
        workers[i].calls = workers[i].first = 0;
        workers[i].makes = i < makers;
        if (0 != pthread_create(&threads[i], NULL, work, &workers[i]))
            test_die("no thread can be started");
    }
    unsigned long long calls = 0, first = 0;
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        TEST_CHECK(0 == workers[i].wrong, "%s: thread %d: %ld elements are wrong", what, i,
                   workers[i].wrong);
        calls += workers[i].calls;
        first += workers[i].first;
    }
    test_counters_moved(before, calls + (first_are_delegated ? 0 : first),
                        first_are_delegated ? first : 0, what);
}

int main(int argc, char **argv)
{
    const char *rounds = "200", *makers = "1";
    const struct test_option options[] = {{"rounds", &rounds}, {"makers", &makers}, {NULL, NULL}};
    test_start(&argc, &argv, "threads", MPI_THREAD_MULTIPLE, options);

    struct worker workers[THREADS];
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){.index = i};
        workers[i].rounds = (int)test_number("rounds", rounds, 1, 1000000);
        workers[i].send = test_allocate(COUNT_MAX * sizeof(unsigned));
        workers[i].receive = test_allocate(COUNT_MAX * sizeof(unsigned));
        TEST_MPI(MPI_Comm_dup(MPI_COMM_WORLD, &workers[i].comm));
        const struct test_counters before = test_counters_read();
        test_pass_first_calls(workers[i].comm);
        first_are_delegated = test_counters_read().delegated > before.delegated;
    }
    run(workers, 0, "allreduce in four threads");
    run(workers, (int)test_number("makers", makers, 1, THREADS), "dup next to allreduce");
    for (int i = 0; i < THREADS; i++) {
        TEST_MPI(MPI_Comm_free(&workers[i].comm));
        free(workers[i].send);
        free(workers[i].receive);
    }
    return test_finish();
}
