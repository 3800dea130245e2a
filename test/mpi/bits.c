/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bits of many calls, as one number for each communicator: two jobs that print the same numbers
 * had the same bits in every call on every rank. Sums are rounded. Every rank sleeps for a random
 * time before every call, and one rank for longer before most of them; these times are another
 * job's if --delays is.
 *
 *     bits [--rounds N] [--late RANK] [--delay US] [--noise US] [--delays N]
 *
 * A round is a call of each kind and size on each communicator, one of which begins with a
 * nonblocking call.
 */
#include "common.h"

#include <math.h>
#include <time.h>

enum { BLOCKING, NONBLOCKING, PERSISTENT, KINDS };

static const int counts[] = {140000, 20000, 5000, 1000, 77, 1};
enum { COUNTS = sizeof counts / sizeof *counts };

static struct {
    int rounds, late, delay, noise, delays; /* microseconds */
    int calls;
    double *input, *output;
} job;

static void sleep_for(int microseconds)
{
    const struct timespec time = {microseconds / 1000000, microseconds % 1000000 * 1000L};
    nanosleep(&time, NULL);
}

static void come_late(void)
{
    const uint64_t random =
        test_mix(test_mix((uint64_t)job.delays << 32 | (uint64_t)test.rank) + (uint64_t)job.calls);
    const bool late = test.rank == job.late && random % 10 != 7;
    sleep_for(late ? job.delay : (int)(random / 16 % (uint64_t)(job.noise + 1)));
    job.calls++;
}

/* From 2^-10 to 2^10, so that nearly every sum is rounded. */
static void fill(int count)
{
    for (int i = 0; i < count; i++) {
        const uint64_t value = test_value(test.rank, (uint64_t)i);
        job.input[i] = ldexp((double)(value >> 11), (int)(value % 21) - 63);
    }
}

static void allreduce(int kind, int count, MPI_Comm comm)
{
    MPI_Request request;
    if (kind == BLOCKING) {
        TEST_MPI(MPI_Allreduce(job.input, job.output, count, MPI_DOUBLE, MPI_SUM, comm));
    } else if (kind == NONBLOCKING) {
        TEST_MPI(MPI_Iallreduce(job.input, job.output, count, MPI_DOUBLE, MPI_SUM, comm, &request));
        TEST_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
#ifdef TEST_HAVE_PERSISTENT
    if (kind == PERSISTENT) {
        TEST_MPI(TEST_PERSISTENT(Allreduce_init)(job.input, job.output, count, MPI_DOUBLE, MPI_SUM,
                                                 comm, MPI_INFO_NULL, &request));
        TEST_MPI(MPI_Start(&request));
        TEST_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
        TEST_MPI(MPI_Request_free(&request));
    }
#endif
}

/* One number of all ranks' numbers, printed by the job's first. */
static void print(const char *name, uint64_t hash)
{
    uint64_t *all = test_allocate((size_t)test.n * sizeof *all);
    TEST_MPI(MPI_Gather(&hash, 1, MPI_UINT64_T, all, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD));
    if (test.rank == 0)
        printf("bits: %s: %016llx\n", name,
               (unsigned long long)test_hash(all, (size_t)test.n * sizeof *all));
    free(all);
}

/* @param first  the kind of the first call  @param kinds  how many kinds there are, from 0 on */
static void run(const char *name, MPI_Comm comm, int first, int kinds)
{
    uint64_t hash = 0;
    for (int call = 0; call < job.rounds * COUNTS * kinds; call++) {
        const int count = counts[call / kinds % COUNTS];
        fill(count);
        come_late();
        allreduce((call + first) % kinds, count, comm);
        hash = test_mix(hash ^ test_hash(job.output, (size_t)count * sizeof *job.output));
    }
    print(name, hash);
}

static void run_split(const char *name, int color, int key, int first)
{
    MPI_Comm comm;
    TEST_MPI(MPI_Comm_split(MPI_COMM_WORLD, color, key, &comm));
    run(name, comm, first, KINDS);
    TEST_MPI(MPI_Comm_free(&comm));
}

int main(int argc, char **argv)
{
    const char *rounds = "3", *late = "0", *delay = "2000", *noise = "300", *delays = "1";
    const struct test_option options[] = {{"rounds", &rounds}, {"late", &late},
                                          {"delay", &delay},   {"noise", &noise},
                                          {"delays", &delays}, {NULL, NULL}};
    const size_t bytes = (size_t)counts[0] * sizeof *job.input;
    MPI_Comm dup;
    test_start(&argc, &argv, "bits", MPI_THREAD_SINGLE, options);
    job.rounds = (int)test_number("rounds", rounds, 1, 1000);
    job.late = (int)test_number("late", late, 0, test.n - 1);
    job.delay = (int)test_number("delay", delay, 0, 10000000);
    job.noise = (int)test_number("noise", noise, 0, 10000000);
    job.delays = (int)test_number("delays", delays, 0, 1000000);
    job.input = test_allocate(bytes);
    job.output = test_allocate(bytes);
    run_split("nonblocking first", 0, test.rank, NONBLOCKING);
    run("world", MPI_COMM_WORLD, BLOCKING, KINDS);
    TEST_MPI(MPI_Comm_dup(MPI_COMM_WORLD, &dup));
    run("dup", dup, BLOCKING, 1);
    TEST_MPI(MPI_Comm_free(&dup));
    run_split("reversed", 0, -test.rank, PERSISTENT);
    run_split("halves", test.rank % 2, 0, BLOCKING);
    free(job.input);
    free(job.output);
    return test_finish();
}
