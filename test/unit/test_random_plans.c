/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random plans (random_plan.c): what verify accepts has to run, in the executor and in the engine
 * with as little temporary space as there can be; what it refuses is refused for a circle alone,
 * for the plans are an allreduce otherwise.
 */
#include "executor.h"
#include "plan/verify.h"
#include "random_plan.h"
#include "support.h"
#include "world.h"

static struct call_options random_options(struct rng *rng)
{
    struct call_options options = world_options(rng_below(rng, 60));
    options.lanes[0].segment = 1 + rng_below(rng, 8);
    options.lanes[0].slots = 1 + (int)rng_below(rng, 2);
    options.lanes[1].segment = 1 + rng_below(rng, 8);
    options.lanes[1].slots = 1 + (int)rng_below(rng, 2);
    options.network.in_place = rng_one_in(rng, 2);
    options.network.room = rng_one_in(rng, 2) ? 0 : 1 + (int)rng_below(rng, 8);
    options.one_in_place = rng_one_in(rng, 2);
    options.host = (int)rng_below(rng, 4);
    if (options.network.room && rng_one_in(rng, 2)) /* whole operations, for running in order */
        options.lanes[0].segment = options.lanes[1].segment = 60;
    options.in_place = rng_one_in(rng, 2);
    options.network.max_delay = rng_one_in(rng, 2) ? rng_below(rng, 30) : 0;
    return options;
}

static void run_in_engine(struct strag_plan *const *plans, int n, const struct strag_proof *proof,
                          struct rng *rng, const char *name)
{
    struct strag_expressions expressions;
    strag_proof_expressions(proof, &expressions);
    struct world *world = world_create(plans, n, 1 + (int)rng_below(rng, 3));
    for (int call = 0; call < 4; call++) {
        struct call_options options = random_options(rng);
        world_begin(world, &options, rng);
        world_run_well(world, &expressions, rng, name);
        world_end(world);
    }
    world_free(world);
}

TEST(what_is_accepted_runs)
{
    struct rng rng = {support_seed("test_random_plans")};
    long cases = support_cases(3000), accepted = 0;
    for (long i = 0; i < cases; i++) {
        char name[40];
        snprintf(name, sizeof name, "case %ld", i);
        int n = 2 + (int)rng_below(&rng, RANDOM_RANKS_MAX - 1);
        struct strag_plan **plans = random_plans(n, &rng);
        struct strag_proof *proof = NULL;
        struct strag_error err = {""};
        if (strag_verify_plans(plans, n, NULL, NULL, &proof, &err) == STRAG_OK) {
            accepted++;
            assert_int_equal(execute_often(plans, n, 8, &rng), OUTCOME_SUM);
            run_in_engine(plans, n, proof, &rng, name);
        } else {
            if (!strstr(err.text, "deadlock"))
                fail_msg("%s, n=%d: %s", name, n, err.text);
        }
        strag_proof_free(proof);
        support_plans_free(plans, n);
    }
    print_message("%ld plans, %ld accepted\n", cases, accepted);
    assert_in_range(accepted, cases / 4, cases);
}
