/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Notes of calls through shared memory, threads standing for ranks: rank 0 reads what the others
 * have written, and all see what it announces after the same call. A call here is a barrier: all
 * that notes need of one is that nobody ends it before all have come.
 */
#include "run/shared_memory_notes.h"
#include "shm_ranks.h"

#include <pthread.h>
#include <sched.h>

enum { CALLS = 400, RANKS_MOST = 8 };

static const struct shm_host_options polls = {.yields = false};

static struct {
    struct shm_ranks ranks;
    pthread_barrier_t call;
    uint64_t seed;
    bool announced[CALLS + 1];                     /* by rank 0: after this call */
    bool seen[RANKS_MOST][CALLS];                  /* by a rank */
    struct strag_shm_note read[RANKS_MOST][CALLS]; /* by rank 0 */
} job;

static double came_at(int rank, int call)
{
    return 5000 + call + 0.25 * rank; /* the time wraps on the way */
}

static float stayed(int rank, int call)
{
    return (float)(rank + 1) + (float)call / 1024;
}

static void read_up_to(int *read, int end)
{
    for (; *read < end; (*read)++) {
        for (int rank = 0; rank < job.ranks.n; rank++)
            job.read[rank][*read] = strag_shm_notes_read(job.ranks.views[0], rank, (uint64_t)*read);
    }
}

/* As many as may be left, or all that can be read; announcements after every other call at most. */
static void end_on_first(struct rng *rng, int call, int *read)
{
    if (call - *read >= STRAG_SHM_NOTES_BEHIND || rng_one_in(rng, 3))
        read_up_to(read, call);
    if (!job.announced[call] && rng_one_in(rng, 3)) {
        job.announced[call + 1] = true;
        strag_shm_notes_announce(job.ranks.views[0], (uint64_t)call + 1);
    }
}

static void *run_rank(void *argument)
{
    const int rank = *(const int *)argument;
    struct strag_shm *shm = job.ranks.views[rank];
    struct rng rng = {job.seed + (uint64_t)rank};
    int read = 0;
    for (int call = 0; call < CALLS; call++) {
        if (rng_one_in(&rng, 2))
            sched_yield();
        pthread_barrier_wait(&job.call);
        if (rng_one_in(&rng, 2))
            sched_yield();
        strag_shm_notes_add(shm, (uint64_t)call, came_at(rank, call), (double)stayed(rank, call));
        job.seen[rank][call] = strag_shm_notes_announced(shm, (uint64_t)call);
        if (rank == 0)
            end_on_first(&rng, call, &read);
    }
    pthread_barrier_wait(&job.call);
    if (rank == 0)
        read_up_to(&read, CALLS);
    return NULL;
}

static void run(int n, uint64_t seed)
{
    pthread_t threads[RANKS_MOST];
    int numbers[RANKS_MOST];
    memset(&job, 0, sizeof job);
    job.seed = seed;
    shm_ranks_create(&job.ranks, n, &polls);
    for (int rank = 0; rank < n; rank++)
        strag_shm_notes_open(job.ranks.views[rank], 17);
    for (int rank = 0; rank < n; rank++)
        assert_true(strag_shm_notes_are_possible(job.ranks.views[rank]));
    assert_int_equal(pthread_barrier_init(&job.call, NULL, (unsigned)n), 0);
    for (int rank = 0; rank < n; rank++) {
        numbers[rank] = rank;
        assert_int_equal(pthread_create(&threads[rank], NULL, run_rank, &numbers[rank]), 0);
    }
    for (int rank = 0; rank < n; rank++)
        pthread_join(threads[rank], NULL);
    pthread_barrier_destroy(&job.call);
    shm_ranks_free(&job.ranks);
}

static void rank_0_reads_all_notes(void **state)
{
    (void)state;
    const uint64_t seed = support_seed("shared memory notes");
    for (int n = 2; n <= RANKS_MOST; n += n < 4 ? 1 : 4) {
        run(n, seed + (uint64_t)n);
        int announced = 0;
        for (int call = 0; call < CALLS; call++) {
            announced += job.announced[call];
            for (int rank = 0; rank < n; rank++) {
                const struct strag_shm_note *note = &job.read[rank][call];
                const uint32_t apart = note->came - job.read[0][call].came;
                assert_int_equal(apart, rank * (STRAG_SHM_NOTE_UNITS / 4));
                assert_true(note->seconds == stayed(rank, call));
                assert_int_equal(job.seen[rank][call], job.announced[call]);
            }
        }
        assert_in_range(announced, CALLS / 10, CALLS / 2);
    }
}

static void unwritten_notes_are_unknown(void **state)
{
    (void)state;
    struct shm_ranks ranks;
    shm_ranks_create(&ranks, 3, &polls);
    struct strag_shm *first = ranks.views[0], *second = ranks.views[1];
    assert_false(strag_shm_notes_announced(second, 0));
    strag_shm_notes_add(first, 0, 1, 2);
    assert_true(strag_shm_notes_read(first, 0, 0).seconds == 2);
    assert_true(strag_shm_notes_read(first, 1, 0).seconds == 0);
    for (int call = 0; call <= STRAG_SHM_NOTES; call++)
        strag_shm_notes_add(second, (uint64_t)call, call, 3);
    assert_true(strag_shm_notes_read(first, 1, 0).seconds == 0); /* written over */
    assert_true(strag_shm_notes_read(first, 1, STRAG_SHM_NOTES).seconds == 3);
    assert_int_equal(strag_shm_notes_wanted(second), 0);
    strag_shm_notes_want(first, 77);
    assert_int_equal(strag_shm_notes_wanted(second), 77);
    shm_ranks_free(&ranks);
}

static void ranks_with_other_clocks_note_nothing(void **state)
{
    (void)state;
    struct shm_ranks ranks;
    shm_ranks_create(&ranks, 3, &polls);
    for (int rank = 0; rank < 3; rank++)
        strag_shm_notes_open(ranks.views[rank], rank == 2 ? 8 : 9);
    for (int rank = 0; rank < 3; rank++)
        assert_false(strag_shm_notes_are_possible(ranks.views[rank]));
    shm_ranks_free(&ranks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rank_0_reads_all_notes),
        cmocka_unit_test(unwritten_notes_are_unknown),
        cmocka_unit_test(ranks_with_other_clocks_note_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
