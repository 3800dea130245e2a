/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * recursive-multiplying: proved for every n and radix, in the rounds that recursive_multiplying.c
 * promises, what the ranks of its examples do, and when the model takes it.
 */
#include "machines.h"
#include "model/cost.h"
#include "model/select.h"
#include "plan/verify.h"
#include "support.h"

static const char *const name = "recursive-multiplying";

/* Rounds in which n ranks can meet in groups of 2 to k; INT32_MAX if n has another factor. The
 * longest way round: all orders of factors. */
static int fewest_rounds(int n, int k)
{
    int fewest = n == 1 ? 0 : INT32_MAX;
    for (int f = 2; f <= k; f++) {
        const int rest = n > 1 && n % f == 0 ? fewest_rounds(n / f, k) : INT32_MAX;
        if (rest < INT32_MAX && rest + 1 < fewest)
            fewest = rest + 1;
    }
    return fewest;
}

static int folded_rounds(int n, int k)
{
    int rounds = 2;
    for (; n >= k; n /= k)
        rounds++;
    return rounds;
}

static void prove(int n, int k)
{
    const struct strag_problem problem = {.n = n, .blocks = k};
    struct strag_measure measure;
    struct strag_error err = {""};
    if (strag_verify(support_algorithm(name), &problem, &measure, NULL, &err) != STRAG_OK)
        fail_msg("n = %d, radix %d: %s", n, k, err.text);
    const int exact = fewest_rounds(n, k), folded = folded_rounds(n, k);
    assert_int_equal(measure.rounds, exact < folded ? exact : folded);
    assert_int_equal(measure.blocks, k);
}

static void every_radix(void **state)
{
    (void)state;
    for (int k = 2; k <= 4; k++) {
        for (int n = 2; n <= 260; n++)
            prove(n, k);
        prove(729, k);
        prove(1000, k);
        prove(1024, k);
    }
}

static void is_refused(void **state)
{
    (void)state;
    static const int radices[] = {1, 5, 12};
    for (size_t i = 0; i < sizeof radices / sizeof *radices; i++) {
        const struct strag_problem problem = {.n = 12, .blocks = radices[i]};
        struct strag_error err = {""};
        assert_int_equal(strag_algorithm_claim(support_algorithm(name), &problem, NULL, &err),
                         STRAG_ERR_UNSUPPORTED);
        assert_non_null(strstr(err.text, "they are its radix, 2 to 4"));
    }
}

/* ---- The examples ---- */

struct step {
    int kind, round, peer;
    bool own_left;
};

static void assert_steps(int n, int rank, const struct step *steps, int count)
{
    const struct strag_problem problem = {.n = n};
    struct strag_plan *plan = NULL;
    struct strag_error err = {""};
    if (strag_plan_create(support_algorithm(name), &problem, rank, &plan, &err) != STRAG_OK)
        fail_msg("%s", err.text);
    assert_int_equal(plan->nops, count);
    for (int i = 0; i < count; i++) {
        assert_int_equal(plan->ops[i].kind, steps[i].kind);
        assert_int_equal(plan->ops[i].round, steps[i].round);
        assert_int_equal(plan->ops[i].peer, steps[i].peer);
        assert_int_equal(plan->ops[i].own_left, steps[i].own_left);
        assert_int_equal(plan->ops[i].first, 0);
        assert_int_equal(plan->ops[i].count, 4);
    }
    strag_plan_free(plan);
}

static void rank_1_of_12(void **state)
{
    (void)state;
    static const struct step steps[] = {
        {STRAG_SEND, 0, 3, false},       {STRAG_SEND, 0, 2, false},
        {STRAG_SEND, 0, 0, false},       {STRAG_RECV_REDUCE, 0, 0, false},
        {STRAG_RECV_HOLD, 0, 2, false},  {STRAG_RECV_JOIN, 0, 3, true},
        {STRAG_SEND, 1, 9, false},       {STRAG_SEND, 1, 5, false},
        {STRAG_RECV_REDUCE, 1, 5, true}, {STRAG_RECV_REDUCE, 1, 9, true},
    };
    assert_steps(12, 1, steps, sizeof steps / sizeof *steps);
}

static void ranks_of_10(void **state)
{
    (void)state;
    static const struct step third[] = {
        {STRAG_RECV_REDUCE, 0, 4, true}, {STRAG_RECV_REDUCE, 0, 5, true},
        {STRAG_SEND, 1, 8, false},       {STRAG_SEND, 1, 6, false},
        {STRAG_SEND, 1, 0, false},       {STRAG_RECV_REDUCE, 1, 0, false},
        {STRAG_RECV_HOLD, 1, 6, false},  {STRAG_RECV_JOIN, 1, 8, true},
        {STRAG_SEND, 2, 4, false},       {STRAG_SEND, 2, 5, false},
    };
    static const struct step ninth[] = {{STRAG_SEND, 0, 8, false}, {STRAG_RECV, 2, 8, false}};
    assert_steps(10, 3, third, sizeof third / sizeof *third);
    assert_steps(10, 9, ninth, sizeof ninth / sizeof *ninth);
}

/* ---- When it runs ---- */

static struct strag_table table_of(int n, double overhead, int blocks)
{
    const struct strag_problem problem = {.n = n, .blocks = blocks};
    const struct strag_select_options options = {.quick = true};
    struct strag_model model = strag_model_default(STRAG_NETWORK_TREE);
    struct strag_selection *selection;
    struct strag_error err;
    model.overhead = overhead * model.alpha;
    assert_int_equal(strag_select(&problem, &model, &options, &selection, &err), STRAG_OK);
    const struct strag_table table = selection->table;
    strag_selection_free(selection);
    return table;
}

/* What it takes is what its head says: a radix of 4 saves half of the latencies, and each of its
 * rounds has four overheads more. It runs if it is faster with twice the overhead, too. */
static void costs_what_it_says(void **state)
{
    (void)state;
    static const struct {
        double overhead;
        bool runs;
    } cases[] = {{.05, true}, {.1, true}, {.12, true}, {.13, false}, {.2, false}, {1, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct strag_problem problem = {.n = 64, .blocks = 4};
        struct strag_model model = strag_model_default(STRAG_NETWORK_TREE);
        struct strag_profile *profile;
        struct strag_error err;
        model.overhead = cases[i].overhead * model.alpha;
        assert_int_equal(
            strag_profile_create(support_algorithm(name), &problem, &model, &profile, &err),
            STRAG_OK);
        assert_float_equal(strag_profile_seconds(profile, 0) / model.alpha,
                           3 * (1 + 4 * cases[i].overhead), 1e-9);
        strag_profile_free(profile);
        const struct strag_table table = table_of(64, cases[i].overhead, 0);
        assert_int_equal(strag_table_find(&table, 8) == support_algorithm(name), cases[i].runs);
        assert_ptr_not_equal(strag_table_find(&table, 1 << 20), support_algorithm(name));
    }
}

/* Through a host's memory the model counts no overhead, so it does not know. */
static void not_within_hosts(void **state)
{
    (void)state;
    const struct strag_algorithm *algorithm = support_algorithm(name);
    struct strag_topology *hosts = machine_flat(8, 1), *ranks = machine_flat(8, 2);
    const struct strag_problem apart = {.n = 8, .topology = hosts},
                               together = {.n = 8, .topology = ranks};
    assert_false(algorithm->on_request(&apart));
    assert_true(algorithm->on_request(&together));
    strag_topology_free(hosts);
    strag_topology_free(ranks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_radix),        cmocka_unit_test(is_refused),
        cmocka_unit_test(rank_1_of_12),       cmocka_unit_test(ranks_of_10),
        cmocka_unit_test(costs_what_it_says), cmocka_unit_test(not_within_hosts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
