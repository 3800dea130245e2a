/* SPDX-License-Identifier: BSD-3-Clause */
/* One thread per rank, each with its engine, its transport and its reducer. For ThreadSanitizer. */
#include "algorithms/table.h"
#include "run/engine.h"

#include "plan/verify.h"
#include "support.h"
#include "world.h"

#include <pthread.h>
#include <sched.h>

enum { RANKS_MAX = 8, SECONDS_MAX = 60 /* of processors, in one call */ };

/* Runs one rank. The assertions of cmocka belong to the main thread, so this one only notes. */
static void *run_rank(void *argument)
{
    struct member *member = argument;
    const double end = support_thread_seconds() + SECONDS_MAX;
    while (world_step(member) == STRAG_PENDING && support_thread_seconds() < end)
        sched_yield();
    if (member->status < 0)
        strag_loopback_kill(member->world->network, member->rank);
    return NULL;
}

static void run_threads(struct world *world)
{
    pthread_t threads[RANKS_MAX];
    for (int rank = 0; rank < world->n; rank++)
        assert_int_equal(pthread_create(&threads[rank], NULL, run_rank, &world->members[rank]), 0);
    for (int rank = 0; rank < world->n; rank++)
        assert_int_equal(pthread_join(threads[rank], NULL), 0);
}

static bool has_ended(const struct world *world)
{
    for (int rank = 0; rank < world->n; rank++) {
        if (world->members[rank].status == STRAG_PENDING)
            return false;
    }
    return true;
}

static struct call_options random_options(struct rng *rng)
{
    struct call_options options = world_options(rng_below(rng, 200));
    options.lanes[0].segment = 1 + rng_below(rng, 30);
    options.lanes[0].slots = 1 + (int)rng_below(rng, 4);
    options.host = (int)rng_below(rng, 4);
    options.in_place = rng_one_in(rng, 2);
    options.extent += rng_one_in(rng, 3) ? 5 : 0;
    options.polls = rng_one_in(rng, 2) ? 3 : 0;
    options.network.max_delay = rng_below(rng, 40);
    options.network.eager = rng_one_in(rng, 2) ? 4 : 0;
    return options;
}

/* Some calls with the same engines; when one fails on a rank, the next is whole again. */
static void run_calls(const struct strag_algorithm *algorithm, int n, int calls, struct rng *rng)
{
    struct strag_error err = {""};
    struct strag_proof *proof = NULL;
    struct strag_expressions expressions;
    struct strag_plan **plans = support_plans(algorithm, n);
    if (strag_verify_plans(plans, n, NULL, NULL, &proof, &err) != STRAG_OK)
        fail_msg("%s", err.text);
    strag_proof_expressions(proof, &expressions);
    struct world *world = world_create(plans, n, 1 + (int)rng_below(rng, 3));
    for (int call = 0; call < calls; call++) {
        struct call_options options = random_options(rng);
        bool fails = call % 3 == 1 && options.count >= (size_t)n;
        if (fails) {
            options.network.fail_rank = (int)rng_below(rng, (unsigned)n);
            options.network.fail_post = 1;
            options.network.fail_late = rng_one_in(rng, 2);
        }
        world_begin(world, &options, rng);
        run_threads(world);
        bool ended = has_ended(world);
        if (ended) {
            world_check_result(world, &expressions);
            world_check_clean(world);
        }
        if (fails && ended)
            assert_int_equal(world->members[options.network.fail_rank].status, STRAG_ERR_TRANSPORT);
        if (fails && ended && !world_problem(world))
            print_message("%s n=%d: a failure on rank %d\n", algorithm->name, n,
                          options.network.fail_rank);
        else
            world_assert_good(world, ended, "threads");
        world_end(world);
    }
    world_free(world);
    strag_proof_free(proof);
    support_plans_free(plans, n);
}

TEST(a_thread_per_rank)
{
    struct rng rng = {support_seed("test_threads")};
    int calls = (int)support_cases(support_is_short() ? 4 : 9);
    for (int a = 0; strag_algorithms[a]; a++) {
        static const int sizes[] = {2, 3, 5, RANKS_MAX};
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            run_calls(strag_algorithms[a], support_ranks(strag_algorithms[a], sizes[i]), calls,
                      &rng);
    }
}
