/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Trivance, all forms: proved on machines of many shapes, with one port and with all, one rank on a
 * host and several; with the rounds and bytes that trivance.c states. The ranges grow with
 * STRAG_CASES.
 */
#include "algorithms/torus.h"
#include "machines.h"
#include "plan/verify.h"
#include "support.h"

static const enum strag_network torus = STRAG_NETWORK_TORUS;

static int log3_ceil(int n)
{
    int log = 0;
    for (int power = 1; power < n; power *= 3)
        log++;
    return log;
}

static bool is_power_of_3(int n)
{
    while (n % 3 == 0)
        n /= 3;
    return n == 1;
}

static void assert_near(double a, double b)
{
    if (!(a - b < 1e-9 && b - a < 1e-9))
        fail_msg("%.12g is not %.12g", a, b);
}

static struct strag_measure verified(const char *name, const struct strag_problem *problem)
{
    struct strag_error err = {""};
    struct strag_measure measure = {0};
    if (strag_verify(support_algorithm(name), problem, &measure, NULL, &err) != STRAG_OK)
        fail_msg("%s n=%d ports=%d blocks=%d: %s", name, problem->n, problem->ports,
                 problem->blocks, err.text);
    return measure;
}

/* A machine as trivance sees it. */
struct shape {
    int steps, local_steps, local;
    bool powers; /* of three, all dimensions, and one rank on a host */
};

static struct shape shape_of(const struct strag_problem *problem)
{
    const struct strag_torus t = strag_torus_of(problem);
    struct shape shape = {
        .local_steps = log3_ceil(t.local), .local = t.local, .powers = t.local == 1};
    for (int d = 0; d < t.dims; d++) {
        shape.steps += log3_ceil(t.size[d]);
        shape.powers = shape.powers && is_power_of_3(t.size[d]) && t.wrap[d];
    }
    return shape;
}

static void prove_forms(const struct strag_problem *problem, const struct shape *shape)
{
    int blocks[STRAG_CHOICES_MAX];
    int choices = strag_algorithm_choices(support_algorithm("trivance"), problem, blocks);
    assert_in_range(choices, 1, 4);
    for (int c = 1; c < choices; c++) {
        struct strag_problem form = *problem;
        form.blocks = blocks[c];
        assert_true(blocks[c] > blocks[c - 1]);
        struct strag_measure measure = verified("trivance", &form);
        assert_int_equal(measure.blocks, blocks[c]);
        assert_in_range(measure.rounds, shape->steps + 2 * shape->local_steps + 1,
                        2 * (shape->steps + shape->local_steps) - 1);
    }
}

static void prove(const struct strag_problem *problem)
{
    const struct shape shape = shape_of(problem);
    const int n = problem->n;
    struct strag_measure all = verified("trivance", problem);
    assert_int_equal(all.rounds, 2 * (shape.steps + shape.local_steps));
    assert_int_equal(all.blocks % n, 0);
    assert_near(all.sent_total, 2.0 * (n - 1));
    struct strag_measure none = verified("trivance-latency", problem);
    assert_int_equal(none.rounds, shape.steps + 2 * shape.local_steps);
    assert_int_equal(none.blocks % shape.local, 0);
    if (shape.powers) {
        assert_near(all.sent_max, 2.0 * (n - 1) / n);
        assert_near(all.reduce_max, 1.0 * (n - 1) / n);
        assert_near(none.sent_max, 2.0 * shape.steps);
    }
    prove_forms(problem, &shape);
}

/* With one port, and with as many as it chooses itself. */
static void prove_machine(struct strag_topology *topology)
{
    struct strag_problem problem = {.n = topology->n, .ports = 1, .topology = topology};
    if (problem.n > 1) {
        prove(&problem);
        problem.ports = 0;
        prove(&problem);
    }
    strag_topology_free(topology);
}

static void in_one_dimension(void **state)
{
    (void)state;
    int most = (int)support_cases(60);
    for (int n = 2; n <= most && n <= 300; n++) {
        char dims[16];
        snprintf(dims, sizeof dims, "%d", n);
        prove(&(struct strag_problem){.n = n});
        prove_machine(machine_grid(torus, true, dims, NULL, 1));
    }
}

static void in_two_dimensions(void **state)
{
    (void)state;
    int most = (int)support_cases(9);
    for (int x = 1; x <= most && x <= 20; x++) {
        for (int y = 1; y <= most && y <= 20; y++) {
            char dims[16];
            snprintf(dims, sizeof dims, "%dx%d", x, y);
            prove_machine(machine_grid(torus, true, dims, NULL, 1));
            prove_machine(machine_grid(torus, false, dims, NULL, 1));
        }
    }
}

static void of_other_shapes(void **state)
{
    (void)state;
    static const char *const dims[] = {"3x3x3",   "4x4x4", "2x3x4",       "5x3x2",   "3x3x3x3",
                                       "4x4x4x4", "3x5x7", "2x2x2x2x2x2", "2x1x3x1", "9x9x2"};
    for (size_t i = 0; i < sizeof dims / sizeof *dims; i++) {
        prove_machine(machine_grid(torus, true, dims[i], NULL, 1));
        prove_machine(machine_grid(STRAG_NETWORK_HYPERX, false, dims[i], NULL, 1));
    }
    prove_machine(machine_grid(STRAG_NETWORK_HAMMINGMESH, false, "4x6", "2x3", 1));
}

static void with_several_ranks_on_a_host(void **state)
{
    (void)state;
    static const char *const dims[] = {"3x3", "4x4", "3x2", "1x5", "1x1"};
    for (int g = 2; g <= 5; g++) {
        for (size_t i = 0; i < sizeof dims / sizeof *dims; i++)
            prove_machine(machine_grid(torus, true, dims[i], NULL, g));
        prove_machine(machine_flat(6 * g, g));
        prove_machine(machine_flat(5 * g, g));
    }
    prove_machine(machine_tree("2,3"));
    prove_machine(machine_tree("(2,2),(2,2)"));
}

/* More hosts than where forms are evened out; none of them, as no rank stands for all. */
static void with_many_hosts(void **state)
{
    (void)state;
    struct strag_topology *topology = machine_grid(torus, true, "17x16", NULL, 1);
    const struct strag_problem problem = {.n = topology->n, .topology = topology};
    int blocks[STRAG_CHOICES_MAX];
    assert_int_equal(strag_algorithm_choices(support_algorithm("trivance"), &problem, blocks), 1);
    assert_int_equal(blocks[0], 2 * 27);
    assert_int_equal(verified("trivance", &problem).blocks, 2 * 17 * 16);
    strag_topology_free(topology);
}

/* Rank 4 of 9, as the head of trivance.c has it, and the sums of which the result is one. */
static void the_worked_example(void **state)
{
    (void)state;
    static const struct strag_op wanted[] = {
        {.kind = STRAG_SEND, .peer = 3, .first = 0, .count = 3},
        {.kind = STRAG_SEND, .peer = 5, .first = 6, .count = 3},
        {.kind = STRAG_RECV_REDUCE, .peer = 3, .first = 3, .count = 3},
        {.kind = STRAG_RECV_REDUCE, .peer = 5, .first = 3, .count = 3},
        {.kind = STRAG_SEND, .round = 1, .peer = 1, .first = 3, .count = 1},
        {.kind = STRAG_SEND, .round = 1, .peer = 7, .first = 5, .count = 1},
        {.kind = STRAG_RECV_REDUCE, .round = 1, .peer = 1, .first = 4, .count = 1},
        {.kind = STRAG_RECV_REDUCE, .round = 1, .peer = 7, .first = 4, .count = 1},
        {.kind = STRAG_SEND, .round = 2, .peer = 1, .first = 4, .count = 1},
        {.kind = STRAG_SEND, .round = 2, .peer = 7, .first = 4, .count = 1},
        {.kind = STRAG_RECV, .round = 2, .peer = 1, .first = 3, .count = 1},
        {.kind = STRAG_RECV, .round = 2, .peer = 7, .first = 5, .count = 1},
        {.kind = STRAG_SEND, .round = 3, .peer = 3, .first = 3, .count = 3},
        {.kind = STRAG_SEND, .round = 3, .peer = 5, .first = 3, .count = 3},
        {.kind = STRAG_RECV, .round = 3, .peer = 3, .first = 0, .count = 3},
        {.kind = STRAG_RECV, .round = 3, .peer = 5, .first = 6, .count = 3},
    };
    struct strag_plan *plan;
    struct strag_error err;
    const struct strag_problem problem = {.n = 9};
    assert_int_equal(strag_plan_create(support_algorithm("trivance"), &problem, 4, &plan, &err),
                     STRAG_OK);
    assert_int_equal(plan->nops, sizeof wanted / sizeof *wanted);
    for (int i = 0; i < plan->nops; i++) {
        const struct strag_op *got = &plan->ops[i], *want = &wanted[i];
        assert_int_equal(got->kind, want->kind);
        assert_int_equal(got->peer, want->peer);
        assert_int_equal(got->first, want->first);
        assert_int_equal(got->count, want->count);
        assert_int_equal(got->round, want->round);
    }
    strag_plan_free(plan);
}

static void the_result_of_the_latency_form(void **state)
{
    (void)state;
    struct strag_error err;
    struct strag_proof *proof;
    struct strag_expressions all;
    const struct strag_problem problem = {.n = 9};
    assert_int_equal(
        strag_verify(support_algorithm("trivance-latency"), &problem, NULL, &proof, &err),
        STRAG_OK);
    strag_proof_expressions(proof, &all);
    /* the three lists' sums, (0 + 3) + 6, (1 + 4) + 7, (2 + 5) + 8, in this order */
    int top = all.result[0] - 9;
    int lists[3] = {all.left[all.left[top] - 9], all.right[all.left[top] - 9], all.right[top]};
    for (int l = 0; l < 3; l++) {
        int sum = lists[l] - 9, pair = all.left[sum] - 9;
        assert_int_equal(all.left[pair], l);
        assert_int_equal(all.right[pair], l + 3);
        assert_int_equal(all.right[sum], l + 6);
    }
    strag_proof_free(proof);
}

static void other_counts_of_blocks_are_refused(void **state)
{
    (void)state;
    struct strag_topology *topology = machine_grid(torus, true, "9x9", NULL, 1);
    const struct strag_problem problem = {.n = 81, .blocks = 5, .topology = topology};
    struct strag_error err = {""};
    struct strag_plan *plan = NULL;
    assert_int_equal(strag_plan_create(support_algorithm("trivance"), &problem, 0, &plan, &err),
                     STRAG_ERR_UNSUPPORTED);
    assert_string_equal(err.text, "trivance cuts the vector of 81 ranks into 162 or 54 or 18 or 6 "
                                  "blocks; 5 is not possible");
    assert_null(plan);
    strag_topology_free(topology);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_one_dimension),
        cmocka_unit_test(in_two_dimensions),
        cmocka_unit_test(of_other_shapes),
        cmocka_unit_test(with_several_ranks_on_a_host),
        cmocka_unit_test(with_many_hosts),
        cmocka_unit_test(the_worked_example),
        cmocka_unit_test(the_result_of_the_latency_form),
        cmocka_unit_test(other_counts_of_blocks_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
