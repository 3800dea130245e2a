/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls are watched under load: ranks arrive at random times, vectors are of all sizes, several
 * communicators alternate, the user's own nonblocking collectives are in flight on them, and
 * communicators are freed while watch updates are in flight. Every result is checked; nothing may
 * hang.
 *
 *     watch [--calls N] [--delay US]     N calls (default 1000), delays of up to US microseconds
 */
#include "common.h"

#include <time.h>

enum { COMMS = 4, COUNT_MAX = 60000, PENDING = 3 };

/* One communicator, and its operations in flight. */
struct place {
    MPI_Comm comm; /* MPI_COMM_NULL where this rank is not in it */
    int rank, n;
    uint64_t lifetime; /* calls until it is freed and made again */
    uint64_t calls;
    MPI_Request requests[PENDING];
    int64_t in[PENDING], out[PENDING];
};

static struct {
    long calls, delay;
    struct place places[COMMS];
    int *input, *output;
} job;

/* The same on all ranks. */
static uint64_t common_random(uint64_t what, uint64_t index)
{
    return test_mix(test.seed ^ test_mix(what << 40 ^ index));
}

/* Half of the calls without delay, most others a little late, few by all of the delay. */
static void come_late(long call)
{
    const uint64_t random = test_value(test.rank, (uint64_t)call);
    long nanoseconds = job.delay * 1000;
    if (random % 2 == 0 || nanoseconds == 0)
        return;
    nanoseconds = (long)((random >> 8) % (uint64_t)nanoseconds) / (random % 16 == 1 ? 1 : 20);
    nanosleep(&(struct timespec){nanoseconds / 1000000000, nanoseconds % 1000000000}, NULL);
}

/* The whole job, two halves, every other rank, and all in reverse order. */
static void open_place(int p)
{
    static uint64_t opened;
    struct place *place = &job.places[p];
    const int color[COMMS] = {0, test.rank < test.n / 2, test.rank % 2 ? MPI_UNDEFINED : 0, 0};
    const int key = p == COMMS - 1 ? -test.rank : test.rank;
    TEST_MPI(MPI_Comm_split(MPI_COMM_WORLD, color[p], key, &place->comm));
    place->lifetime = 20 + common_random(1, opened++) % 180;
    place->calls = 0;
    for (int i = 0; i < PENDING; i++)
        place->requests[i] = MPI_REQUEST_NULL;
    if (place->comm == MPI_COMM_NULL)
        return;
    TEST_MPI(MPI_Comm_rank(place->comm, &place->rank));
    TEST_MPI(MPI_Comm_size(place->comm, &place->n));
}

static void finish_pending(struct place *place, int i)
{
    if (place->requests[i] == MPI_REQUEST_NULL)
        return;
    TEST_MPI(MPI_Wait(&place->requests[i], MPI_STATUS_IGNORE));
    TEST_CHECK(place->out[i] == (int64_t)place->n * (place->n + 1) / 2,
               "a nonblocking allreduce gave %lld", (long long)place->out[i]);
}

/* A nonblocking collective of the user's, which other calls overtake. */
static void start_pending(struct place *place, int i)
{
    finish_pending(place, i);
    place->in[i] = place->rank + 1;
    TEST_MPI(MPI_Iallreduce(&place->in[i], &place->out[i], 1, MPI_INT64_T, MPI_SUM, place->comm,
                            &place->requests[i]));
}

static void allreduce(struct place *place, long call)
{
    static const int limits[] = {10, 1000, 16384, COUNT_MAX};
    const uint64_t random = common_random(2, (uint64_t)call);
    const int count = 1 + (int)((random >> 8) % (uint64_t)limits[random % 4]);
    const unsigned n = (unsigned)place->n, base = (unsigned)random;
    for (int i = 0; i < count; i++)
        job.input[i] = (int)(base + (unsigned)(place->rank + 1) * (unsigned)i);
    TEST_MPI(MPI_Allreduce(job.input, job.output, count, MPI_UNSIGNED, MPI_SUM, place->comm));
    long wrong = 0;
    for (int i = 0; i < count; i++)
        wrong += (unsigned)job.output[i] != n * base + n * (n + 1) / 2 * (unsigned)i;
    TEST_CHECK(wrong == 0, "call %ld: %ld of %d elements are wrong", call, wrong, count);
}

static void one_call(long call)
{
    const int p = (int)(common_random(3, (uint64_t)call) % COMMS);
    const uint64_t random = common_random(4, (uint64_t)call);
    struct place *place = &job.places[p];
    come_late(call);
    if (place->comm != MPI_COMM_NULL) {
        if (random % 8 == 0)
            start_pending(place, (int)((random >> 8) % PENDING));
        allreduce(place, call);
        if (random % 64 == 1)
            TEST_MPI(MPI_Barrier(place->comm));
    }
    if (++place->calls < place->lifetime)
        return;
    for (int i = 0; i < PENDING && place->comm != MPI_COMM_NULL; i++)
        finish_pending(place, i);
    if (place->comm != MPI_COMM_NULL)
        TEST_MPI(MPI_Comm_free(&place->comm));
    open_place(p);
}

int main(int argc, char **argv)
{
    const char *calls = "1000", *delay = "2000";
    const struct test_option options[] = {{"calls", &calls}, {"delay", &delay}, {NULL, NULL}};
    test_start(&argc, &argv, "watch", MPI_THREAD_SINGLE, options);
    job.calls = test_number("calls", calls, 1, 100000000);
    job.delay = test_number("delay", delay, 0, 1000000);
    job.input = test_allocate(COUNT_MAX * sizeof *job.input);
    job.output = test_allocate(COUNT_MAX * sizeof *job.output);
    for (int p = 0; p < COMMS; p++)
        open_place(p);
    for (long call = 0; call < job.calls; call++)
        one_call(call);
    /* Some are left to MPI_Finalize, with operations in flight. */
    for (int p = 0; p < COMMS; p++) {
        for (int i = 0; i < PENDING && job.places[p].comm != MPI_COMM_NULL; i++)
            finish_pending(&job.places[p], i);
    }
    free(job.input);
    free(job.output);
    return test_finish();
}
