/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The search for plans: what it finds is proved, costs what it says, and is never worse than what
 * it began with.
 */
#include "model/search.h"

#include "machines.h"
#include "model/cost.h"
#include "plan/verify.h"
#include "support.h"

#include <string.h>

static struct strag_search_result search(const struct strag_problem *problem,
                                         const struct strag_search_options *options)
{
    const struct strag_model model =
        strag_model_default(problem->topology ? problem->topology->network : STRAG_NETWORK_TREE);
    struct strag_search_result result;
    struct strag_error err = {""};
    if (strag_search(problem, &model, options, &result, &err) != STRAG_OK)
        fail_msg("n = %d: %s", problem->n, err.text);
    return result;
}

/* The estimate of the plan that was found, by the cost model itself; and the proof once more. */
static double price(const struct strag_problem *problem, const struct strag_found *found,
                    double bytes)
{
    struct strag_model model =
        strag_model_default(problem->topology ? problem->topology->network : STRAG_NETWORK_TREE);
    model.overhead = 0; /* the search knows of none */
    struct strag_instance instance;
    struct strag_profile *profile;
    struct strag_error err = {""};
    assert_int_equal(strag_found_open(found, &instance, &err), STRAG_OK);
    if (strag_verify(instance.algorithm, &instance.problem, NULL, NULL, &err) != STRAG_OK)
        fail_msg("n = %d: %s", problem->n, err.text);
    assert_int_equal(
        strag_profile_create(instance.algorithm, &instance.problem, &model, &profile, &err),
        STRAG_OK);
    double seconds = strag_profile_seconds(profile, bytes);
    strag_profile_free(profile);
    strag_instance_close(&instance);
    return seconds;
}

static void check(const struct strag_problem *problem, double bytes)
{
    const struct strag_search_options options = {
        .bytes = bytes, .seed = 1, .steps = 10 * support_cases(2000), .restarts = 2};
    struct strag_search_result result = search(problem, &options);
    double seconds = price(problem, result.plan, bytes);
    assert_true(result.found <= result.began * (1 + 1e-9));
    if (!(seconds > result.found * (1 - 1e-6) && seconds < result.found * (1 + 1e-6)))
        fail_msg("n = %d: the model says %.9g s, the search %.9g", problem->n, seconds,
                 result.found);
    print_message("n = %d: %s %.6g, found %.6g us\n", problem->n, result.from->name,
                  1e6 * result.began, 1e6 * result.found);
    strag_found_free(result.plan);
}

static void check_machine(struct strag_topology *topology)
{
    const struct strag_problem problem = {.n = topology->n, .topology = topology};
    check(&problem, 1 << 16);
    check(&problem, 1 << 22);
    strag_topology_free(topology);
}

static void what_is_found_is_a_plan(void **state)
{
    (void)state;
    static const struct strag_slow slow[] = {{1, 2}};
    const struct strag_state one_slow = {1, slow, 0, NULL};
    for (int n = 2; n <= 7; n++) {
        check(&(struct strag_problem){.n = n}, 1 << 16);
        check(&(struct strag_problem){.n = n, .state = &one_slow}, 1 << 20);
    }
    check_machine(machine_tree("2,3"));
    check_machine(machine_grid(STRAG_NETWORK_TORUS, true, "3x4", NULL, 1));
    check_machine(machine_grid(STRAG_NETWORK_TORUS, false, "2x3", NULL, 2));
}

/* On hosts of 2 and 3 ranks local messages can overlap with those on the uplinks at middle sizes,
 * too. */
static void something_is_found(void **state)
{
    (void)state;
    struct strag_topology *topology = machine_tree("2,3");
    const struct strag_problem problem = {.n = 5, .topology = topology};
    const struct strag_search_options options = {
        .bytes = 65536, .seed = 1, .steps = 100000, .restarts = 2};
    struct strag_search_result first = search(&problem, &options);
    struct strag_search_result second = search(&problem, &options);
    assert_true(first.found < 0.97 * first.began);
    assert_true(first.found == second.found && first.kept == second.kept);
    strag_found_free(first.plan);
    strag_found_free(second.plan);
    strag_topology_free(topology);
}

static void it_can_be_stopped(void **state)
{
    (void)state;
    const volatile int stop = 1;
    const struct strag_problem problem = {.n = 6};
    const struct strag_search_options options = {
        .bytes = 65536, .seed = 1, .steps = 1000000000, .restarts = 2, .stop = &stop};
    struct strag_search_result result = search(&problem, &options);
    assert_int_equal(result.tried, 0);
    assert_true(result.found == result.began);
    price(&problem, result.plan, 65536);
    strag_found_free(result.plan);
}

static void many_ranks_are_refused(void **state)
{
    (void)state;
    const struct strag_model model = strag_model_default(STRAG_NETWORK_TREE);
    const struct strag_search_options options = {.bytes = 1, .restarts = 1};
    struct strag_search_result result;
    struct strag_error err = {""};
    const struct strag_problem problem = {.n = 17}, one = {.n = 1};
    assert_int_equal(strag_search(&problem, &model, &options, &result, &err),
                     STRAG_ERR_UNSUPPORTED);
    assert_string_equal(err.text, "2 to 16 ranks are searched, not 17");
    assert_int_equal(strag_search(&one, &model, &options, &result, &err), STRAG_ERR_UNSUPPORTED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_found_is_a_plan),
        cmocka_unit_test(something_is_found),
        cmocka_unit_test(it_can_be_stopped),
        cmocka_unit_test(many_ranks_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
