/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What ranks say of their calls in shared memory, threads standing for ranks: each enters calls
 * while the others read, at any moment, what it has said. A call whose parts belong to different
 * numbers would end a healthy call with an error.
 */
#include "shm/entered.h"
#include "shm_ranks.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

enum { RANKS_MOST = 5 };

static struct {
    struct shm_ranks ranks;
    int calls;
    uint64_t seed;
    pthread_barrier_t begin;
    atomic_int running; /* ranks that have calls left */
    atomic_ulong said;  /* calls of which a rank has said why they end */
} job;

/* What a rank tells of itself; each number depends on the call's. */
struct reader {
    int rank;
    uint64_t latest[RANKS_MOST]; /* the highest number that was read of a rank */
    long found, torn, backwards, others;
};

static uint64_t bytes_of(int rank, uint64_t number)
{
    return scramble(number * RANKS_MOST + (uint64_t)rank);
}

static uint64_t what_of(int rank, uint64_t number)
{
    return ~bytes_of(rank, number);
}

static void read_one(struct reader *reader, int rank, struct rng *rng)
{
    const struct strag_shm *shm = job.ranks.views[reader->rank];
    struct strag_shm_entered call;
    const uint64_t number = reader->latest[rank] + rng_below(rng, 3);
    const uint64_t last = strag_shm_entered(shm, strag_shm_index(shm, rank), number, &call);
    if (call.number != 0) {
        reader->found++;
        reader->others += call.number != number;
        reader->torn += call.bytes != bytes_of(rank, number) || call.what != what_of(rank, number);
        reader->backwards += last < number;
    }
    if (last > reader->latest[rank])
        reader->latest[rank] = last;
}

static void enter(int rank, uint64_t number)
{
    strag_shm_enter_call(job.ranks.views[rank], number, bytes_of(rank, number),
                         what_of(rank, number));
}

static void *run_rank(void *argument)
{
    struct reader *reader = argument;
    struct rng rng = {job.seed + (uint64_t)reader->rank};
    pthread_barrier_wait(&job.begin);
    for (int call = 1; call <= job.calls; call++) {
        enter(reader->rank, (uint64_t)call);
        if (rng_one_in(&rng, 4))
            sched_yield();
        for (int rank = 0; rank < job.ranks.n; rank++)
            read_one(reader, rank, &rng);
    }
    atomic_fetch_sub(&job.running, 1);
    while (atomic_load(&job.running) > 0) {
        for (int rank = 0; rank < job.ranks.n; rank++)
            read_one(reader, rank, &rng);
        sched_yield();
    }
    for (int rank = 0; rank < job.ranks.n; rank++)
        read_one(reader, rank, &rng);
    return NULL;
}

static void run(int n, bool file, struct reader *readers, void *rank_runs(void *reader))
{
    pthread_t threads[RANKS_MOST];
    const struct shm_host_options options = {.file = file};
    shm_ranks_create(&job.ranks, n, &options);
    atomic_store(&job.running, n);
    assert_int_equal(pthread_barrier_init(&job.begin, NULL, (unsigned)n), 0);
    for (int rank = 0; rank < n; rank++) {
        readers[rank] = (struct reader){.rank = rank};
        assert_int_equal(pthread_create(&threads[rank], NULL, rank_runs, &readers[rank]), 0);
    }
    for (int rank = 0; rank < n; rank++)
        pthread_join(threads[rank], NULL);
    pthread_barrier_destroy(&job.begin);
    shm_ranks_free(&job.ranks);
}

TEST(a_call_is_read_whole_or_not_at_all)
{
    job.seed = support_seed("shared memory entered");
    job.calls = (int)support_cases(20000);
    for (int n = 2; n <= RANKS_MOST; n++) {
        struct reader readers[RANKS_MOST];
        run(n, n % 2 == 0, readers, run_rank);
        for (int r = 0; r < n; r++) {
            assert_int_equal(readers[r].torn, 0);
            assert_int_equal(readers[r].others, 0);
            assert_int_equal(readers[r].backwards, 0);
            assert_true(readers[r].found >= job.calls / 3); /* of its own calls at least */
            for (int rank = 0; rank < n; rank++)
                assert_int_equal(readers[r].latest[rank], job.calls);
        }
    }
}

/* Of the last calls only, and only what was said. */
TEST(a_call_is_known_until_others_follow)
{
    const struct shm_host_options options = {.file = true};
    shm_ranks_create(&job.ranks, 3, &options);
    const struct strag_shm *reader = job.ranks.views[2];
    struct strag_shm_entered call;
    for (int rank = 0; rank < 3; rank++)
        assert_int_equal(strag_shm_index(reader, rank), rank);
    assert_int_equal(strag_shm_entered(reader, 0, 1, &call), 0);
    assert_int_equal(call.number, 0);
    enter(0, 1);
    enter(0, 5); /* those between had no shared memory yet */
    enter(0, 6);
    for (uint64_t number = 1; number <= 8; number++) {
        assert_int_equal(strag_shm_entered(reader, 0, number, &call), 6);
        assert_int_equal(call.number, number == 5 || number == 6 ? number : 0);
        if (call.number == 0)
            continue;
        assert_int_equal(call.bytes, bytes_of(0, number));
        assert_int_equal(call.what, what_of(0, number));
    }
    assert_int_equal(strag_shm_entered(reader, 1, 5, &call), 0); /* rank 1 has said nothing */
    assert_int_equal(call.number, 0);
    assert_int_equal(strag_shm_entered(job.ranks.views[0], 0, 6, &call), 6); /* its own */
    assert_int_equal(call.bytes, bytes_of(0, 6));
    shm_ranks_free(&job.ranks);
}

/* A new communicator may get memory that another one has used. */
TEST(another_communicator_says_nothing_yet)
{
    const struct shm_host_options options = {.file = true};
    struct shm_ranks first, second;
    struct strag_shm_entered call;
    shm_ranks_create(&job.ranks, 2, &options);
    shm_ranks_dup(&first, &job.ranks);
    for (int rank = 0; rank < 2; rank++) {
        const struct strag_shm_wait wait = {.ran = 1000, .number = 1, .said = 1};
        assert_int_equal(strag_shm_tells_why(first.views[rank], 1), rank == 0);
        enter(rank, 7);
        strag_shm_enter_call(first.views[rank], 1, 8, 3);
        strag_shm_say_wait(first.views[rank], &wait);
    }
    assert_int_equal(strag_shm_entered(first.views[1], 0, 7, &call), 1);
    shm_ranks_leave(&first);
    shm_ranks_dup(&second, &job.ranks);
    for (int rank = 0; rank < 2; rank++) {
        assert_int_equal(strag_shm_tells_why(second.views[rank], 1), rank == 0);
        assert_int_equal(strag_shm_entered(second.views[1 - rank], rank, 1, &call), 0);
        assert_int_equal(call.number, 0);
        assert_int_equal(strag_shm_read_wait(second.views[1 - rank], rank).ran, 0);
        assert_int_equal(strag_shm_entered(job.ranks.views[1 - rank], rank, 7, &call), 7);
    }
    shm_ranks_leave(&second);
    shm_ranks_free(&job.ranks);
}

TEST(a_rank_says_that_it_waits)
{
    const struct shm_host_options options = {.file = true};
    shm_ranks_create(&job.ranks, 3, &options);
    for (int rank = 0; rank < 3; rank++) {
        const struct strag_shm_wait none = strag_shm_read_wait(job.ranks.views[0], rank);
        assert_true(none.ran == 0 && none.number == 0 && none.claims == 0 && none.said == 0);
    }
    for (uint64_t said = 0; said < 3; said++) {
        const struct strag_shm_wait expected = {
            .ran = 500 + said, .number = 40, .claims = said % 2, .said = said};
        strag_shm_say_wait(job.ranks.views[1], &expected);
        for (int rank = 0; rank < 3; rank++) {
            const struct strag_shm_wait wait = strag_shm_read_wait(job.ranks.views[rank], 1);
            assert_int_equal(wait.ran, expected.ran);
            assert_int_equal(wait.number, expected.number);
            assert_int_equal(wait.claims, expected.claims);
            assert_int_equal(wait.said, expected.said);
        }
    }
    assert_int_equal(strag_shm_read_wait(job.ranks.views[0], 2).ran, 0);
    shm_ranks_free(&job.ranks);
}

static void *tell_why(void *argument)
{
    struct reader *reader = argument;
    struct strag_shm *shm = job.ranks.views[reader->rank];
    for (uint64_t call = 1; call <= (uint64_t)job.calls; call++) {
        pthread_barrier_wait(&job.begin);
        const bool tells = strag_shm_tells_why(shm, call);
        reader->found += tells;
        reader->others += strag_shm_tells_why(shm, call); /* not twice */
        reader->others += strag_shm_tells_why(shm, call - 1);
        atomic_fetch_add(&job.said, tells);
        pthread_barrier_wait(&job.begin);
        reader->torn += atomic_load(&job.said) != call;
    }
    return NULL;
}

/* Of ranks that ask at the same time one says why a call ends. */
TEST(one_rank_says_why)
{
    job.calls = (int)support_cases(2000);
    for (int n = 2; n <= RANKS_MOST; n++) {
        struct reader readers[RANKS_MOST];
        atomic_store(&job.said, 0);
        run(n, n % 2 == 0, readers, tell_why);
        for (int r = 0; r < n; r++) {
            assert_int_equal(readers[r].torn, 0);
            assert_int_equal(readers[r].others, 0);
        }
        assert_int_equal(atomic_load(&job.said), job.calls);
    }
}
