/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The component's queues with threads, as with MPI_THREAD_MULTIPLE. For ThreadSanitizer.
 *
 * One process stands for all ranks of some communicators. A thread for each rank of each begins
 * calls, waits for some of them by calling progress, in any order, and frees each at once when it
 * is complete; other threads do nothing but progress. So any thread may run any rank's engine over
 * the loopback at any time, and complete any thread's call. In the end each thread closes its queue
 * and frees it when it may, while others still progress.
 */
#include "open_mpi.h"

#include "mpi/queue.h"

#include "loopback.h"
#include "run/engine.h"
#include "support.h"
#include "wires.h"

#include <pthread.h>
#include <sched.h>

enum { COMMS = 3, RANKS = 3, HELPERS = 2, CALLS = 40, AHEAD = 4, COUNT_MOST = 24 };

/* ---- Open MPI ---- */

bool opal_progress_yield_when_idle;

static bool threads; /* of the test at hand */
static int (*registered)(void);

bool opal_using_threads(void)
{
    return threads;
}

int opal_progress_register(int (*progress_)(void))
{
    __atomic_store_n(&registered, progress_, __ATOMIC_RELEASE);
    return OPAL_SUCCESS;
}

int opal_progress_unregister(int (*progress_)(void))
{
    __atomic_store_n(&registered, NULL, __ATOMIC_RELEASE);
    return OPAL_SUCCESS;
}

int opal_progress(void)
{
    int (*now)(void) = __atomic_load_n(&registered, __ATOMIC_ACQUIRE);
    const int done = now ? now() : 0;
    if (!done)
        sched_yield();
    return done;
}

/* ---- A rank of a communicator ---- */

/* Different plans, lengths and segments. */
static const struct {
    const char *algorithm;
    size_t count, segment;
} shapes[] = {{"ring", 24, 2}, {"recursive-doubling", 5, 5}, {"direct", 24, 3}};

enum { SHAPES = sizeof shapes / sizeof *shapes };

struct rank {
    int comm, number;
    ompi_communicator_t *communicator;
    struct coll_strag_queue *queue;
    struct strag_transport *endpoint;
    struct strag_engine *engines[SHAPES];
    struct rng rng;
    int wrong, failed;
    bool closed; /* atomic */
};

static struct {
    uint64_t seed;
    struct strag_plan **plans[SHAPES];
    struct strag_loopback *networks[COMMS];
    ompi_communicator_t communicators[COMMS];
    struct rank ranks[COMMS][RANKS];
    int left; /* ranks that have calls to begin or to wait for; atomic */
} world;

/* ---- A call: as a request, gone once it is complete ---- */

struct call {
    struct coll_strag_job job; /* first */
    struct rank *rank;
    int number, shape;
    bool begun, complete; /* the latter is atomic */
    int status;
    uint64_t input[COUNT_MOST], output[COUNT_MOST];
};

static uint64_t value(int comm, int rank, int call, size_t i)
{
    const uint64_t which = ((uint64_t)comm * RANKS + (uint64_t)rank) * CALLS + (uint64_t)call;
    return scramble(world.seed + which * COUNT_MOST + i);
}

static int start(struct call *call)
{
    struct rank *rank = call->rank;
    struct strag_call engine_call = {
        .input = call->input,
        .output = call->output,
        .count = shapes[call->shape].count,
        .extent = sizeof(uint64_t),
        .transport = rank->endpoint,
        .reducer = &wires_sums,
    };
    for (int l = 0; l < STRAG_LANES; l++)
        engine_call.lanes[l] =
            (struct strag_lane){.segment = shapes[call->shape].segment, .slots = 2};
    call->begun = true;
    return strag_engine_start(rank->engines[call->shape], &engine_call);
}

static bool call_progress(struct coll_strag_job *job)
{
    struct call *call = (struct call *)job;
    call->status = call->begun ? STRAG_OK : start(call);
    if (call->status == STRAG_OK)
        call->status = strag_engine_progress(call->rank->engines[call->shape]);
    return call->status != STRAG_PENDING;
}

static void call_over(struct coll_strag_job *job)
{
    __atomic_store_n(&((struct call *)job)->complete, true, __ATOMIC_RELEASE);
}

static struct call *begin_call(struct rank *rank, int number)
{
    struct call *call = calloc(1, sizeof *call);
    if (!call)
        abort();
    call->job = (struct coll_strag_job){.progress = call_progress, .over = call_over};
    call->rank = rank;
    call->number = number;
    call->shape = number % SHAPES;
    for (size_t i = 0; i < shapes[call->shape].count; i++)
        call->input[i] = value(rank->comm, rank->number, number, i);
    coll_strag_queue_add(rank->queue, &call->job);
    return call;
}

/* It is complete. */
static void end_call(struct call *call)
{
    struct rank *rank = call->rank;
    rank->failed += call->status != STRAG_OK;
    for (size_t i = 0; i < shapes[call->shape].count; i++) {
        uint64_t sum = 0;
        for (int r = 0; r < RANKS; r++)
            sum += value(rank->comm, r, call->number, i);
        rank->wrong += call->output[i] != sum;
    }
    free(call);
}

/* ---- Threads ---- */

static void closed(struct coll_strag_queue *queue)
{
    for (int c = 0; c < COMMS; c++) {
        for (int r = 0; r < RANKS; r++) {
            if (world.ranks[c][r].queue == queue)
                __atomic_store_n(&world.ranks[c][r].closed, true, __ATOMIC_RELEASE);
        }
    }
    free(queue);
}

/* Begins calls, at most this many ahead of the first that is not complete, and waits for any. */
static void *run_rank(void *argument)
{
    struct rank *rank = argument;
    struct call *open[AHEAD] = {NULL};
    int begun = 0, ended = 0;
    while (ended < CALLS) {
        const unsigned at = rng_below(&rank->rng, AHEAD);
        if (!open[at] && begun < CALLS)
            open[at] = begin_call(rank, begun++);
        if (!open[at])
            continue;
        while (!__atomic_load_n(&open[at]->complete, __ATOMIC_ACQUIRE) &&
               (begun == CALLS || rng_below(&rank->rng, 8) > 0))
            opal_progress();
        if (!__atomic_load_n(&open[at]->complete, __ATOMIC_ACQUIRE))
            continue;
        end_call(open[at]);
        open[at] = NULL;
        ended++;
    }
    coll_strag_queue_drain(rank->queue);
    coll_strag_queue_close(rank->queue, closed);
    __atomic_fetch_sub(&world.left, 1, __ATOMIC_RELEASE);
    return NULL;
}

/* A thread that is in MPI for something else. */
static void *help(void *argument)
{
    while (__atomic_load_n(&world.left, __ATOMIC_ACQUIRE) > 0)
        opal_progress();
    return NULL;
}

static void make_rank(int c, int r)
{
    struct rank *rank = &world.ranks[c][r];
    struct strag_error err;
    *rank = (struct rank){
        .comm = c,
        .number = r,
        .communicator = &world.communicators[c],
        .queue = malloc(sizeof *rank->queue),
        .endpoint = strag_loopback_endpoint(world.networks[c], r),
        .rng = {scramble(world.seed + (uint64_t)(c * RANKS + r))},
    };
    assert_non_null(rank->queue);
    coll_strag_queue_init(rank->queue, rank->communicator);
    for (int s = 0; s < SHAPES; s++)
        assert_int_equal(strag_engine_create(world.plans[s][r], 2, &rank->engines[s], &err),
                         STRAG_OK);
}

static void make_world(void)
{
    for (int s = 0; s < SHAPES; s++)
        world.plans[s] = support_plans(support_algorithm(shapes[s].algorithm), RANKS);
    for (int c = 0; c < COMMS; c++) {
        const struct strag_loopback_options options = {
            .seed = world.seed + (uint64_t)c, .max_delay = 2 * (unsigned)c, .eager = COUNT_MOST};
        world.communicators[c].references = 1;
        world.networks[c] = strag_loopback_create(RANKS, sizeof(uint64_t), &options);
        assert_non_null(world.networks[c]);
        for (int r = 0; r < RANKS; r++)
            make_rank(c, r);
    }
    world.left = COMMS * RANKS;
}

static void check_and_free_world(void)
{
    for (int c = 0; c < COMMS; c++) {
        for (int r = 0; r < RANKS; r++) {
            struct rank *rank = &world.ranks[c][r];
            assert_int_equal(rank->failed, 0);
            assert_int_equal(rank->wrong, 0);
            assert_true(rank->closed);
            for (int s = 0; s < SHAPES; s++)
                strag_engine_free(rank->engines[s]);
        }
        assert_int_equal(strag_loopback_pending(world.networks[c]), 0);
        assert_int_equal(world.communicators[c].references, 1); /* queues hold none any more */
        strag_loopback_free(world.networks[c]);
    }
    for (int s = 0; s < SHAPES; s++)
        support_plans_free(world.plans[s], RANKS);
}

TEST(threads_progress_each_others_calls)
{
    const uint64_t seed = support_seed("test_queue");
    threads = true;
    for (long turn = 0; turn < support_cases(20); turn++) {
        pthread_t running[COMMS * RANKS + HELPERS];
        int count = 0;
        world.seed = scramble(seed + (uint64_t)turn);
        opal_progress_yield_when_idle = turn % 2;
        make_world();
        for (int h = 0; h < HELPERS; h++)
            assert_int_equal(pthread_create(&running[count++], NULL, help, NULL), 0);
        for (int i = 0; i < COMMS * RANKS; i++)
            assert_int_equal(pthread_create(&running[count++], NULL, run_rank,
                                            &world.ranks[i / RANKS][i % RANKS]),
                             0);
        while (count > 0)
            pthread_join(running[--count], NULL);
        check_and_free_world();
    }
    coll_strag_queues_close();
    assert_null(registered);
}

/* ---- One thread ---- */

/* All ranks of the communicators begin their calls in turn; nothing is waited for in between. */
TEST(one_thread_runs_all)
{
    static struct call *calls[COMMS][RANKS][CALLS];
    threads = false;
    world.seed = support_seed("test_queue");
    make_world();
    for (int i = 0; i < COMMS * RANKS * CALLS; i++) {
        const int c = i % COMMS, r = i / COMMS % RANKS, number = i / (COMMS * RANKS);
        calls[c][r][number] = begin_call(&world.ranks[c][r], number);
    }
    for (int i = 0; i < COMMS * RANKS * CALLS; i++) {
        struct call *call = calls[i % COMMS][i / COMMS % RANKS][i / (COMMS * RANKS)];
        while (!call->complete)
            opal_progress();
        end_call(call);
    }
    for (int i = 0; i < COMMS * RANKS; i++)
        coll_strag_queue_close(world.ranks[i / RANKS][i % RANKS].queue, closed);
    check_and_free_world();
    coll_strag_queues_close();
}

/* ---- The processor ---- */

/* A job that has something to do for some looks, then for some nothing, and is done. */
struct mover {
    struct coll_strag_job job; /* first */
    int moves, rests;
    bool over;
};

static bool mover_progress(struct coll_strag_job *job)
{
    struct mover *mover = (struct mover *)job;
    job->moved = mover->moves > 0;
    if (mover->moves > 0)
        mover->moves--;
    else
        mover->rests--;
    return mover->rests < 0;
}

static void mover_over(struct coll_strag_job *job)
{
    ((struct mover *)job)->over = true;
}

/* Open MPI gives the processor away where its progress finds nothing done: not before a rank has
 * done what it can. */
TEST(the_processor_is_kept_while_something_moves)
{
    ompi_communicator_t comm = {.references = 1};
    struct coll_strag_queue queue;
    struct mover mover = {
        .job = {.progress = mover_progress, .over = mover_over}, .moves = 4, .rests = 2};
    threads = false;
    opal_progress_yield_when_idle = true; /* one look each time */
    coll_strag_queue_init(&queue, &comm);
    coll_strag_queue_add(&queue, &mover.job); /* looks once */
    for (int look = 0; look < 3; look++)
        assert_int_equal(opal_progress(), 1);
    for (int look = 0; look < 2; look++)
        assert_int_equal(opal_progress(), 0);
    assert_false(mover.over);
    assert_int_equal(opal_progress(), 1);
    assert_true(mover.over);
    assert_int_equal(opal_progress(), 0);
    coll_strag_queues_close();
}
