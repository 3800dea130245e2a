/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The four butterflies (torus-doubling, torus-halving, bine, bine-latency): proved on tori of many
 * shapes, with one port and with all, and held to the numbers of butterfly.h; what is refused.
 */
#include "machines.h"
#include "support.h"

static const enum strag_network torus = STRAG_NETWORK_TORUS;

static const struct butterfly {
    const char *name;
    bool whole;
} butterflies[] = {
    {"torus-doubling", true}, {"torus-halving", false}, {"bine", false}, {"bine-latency", true}};

enum { BUTTERFLIES = sizeof butterflies / sizeof *butterflies };

/* ---- The numbers of butterfly.h ---- */

struct sizes {
    int dims, steps, folds, active;
};

static void add_size(struct sizes *sizes, int size)
{
    int log = 0;
    if (size < 2)
        return;
    while (2 << log <= size)
        log++;
    sizes->dims++;
    sizes->steps += log;
    sizes->folds += size != 1 << log;
    sizes->active <<= log;
}

static struct sizes sizes_of(const struct strag_topology *topology, int n)
{
    struct sizes sizes = {0, 0, 0, 1};
    if (!topology || !topology->box)
        add_size(&sizes, n);
    else
        for (int d = 0; d < topology->box->dims; d++)
            add_size(&sizes, topology->box->size[d]);
    return sizes;
}

static void prove(const struct butterfly *butterfly, const struct strag_problem *problem, int parts)
{
    const struct sizes sizes = sizes_of(problem->topology, problem->n);
    const struct strag_measure measure = support_verified(butterfly->name, problem);
    double p = sizes.active;
    assert_int_equal(measure.rounds, (butterfly->whole ? 1 : 2) * sizes.steps + 2 * sizes.folds);
    assert_int_equal(measure.blocks, parts * (butterfly->whole ? 1 : sizes.active));
    assert_near(measure.sent_max, (butterfly->whole ? sizes.steps : 2 * (p - 1) / p) + sizes.folds);
    assert_near(measure.sent_total,
                2 * (problem->n - p) + (butterfly->whole ? p * sizes.steps : 2 * (p - 1)));
}

/* All four, with one port, with all, and with as many as they choose themselves: all, on a grid. */
static void prove_all(struct strag_topology *topology)
{
    int all = 2 * sizes_of(topology, topology->n).dims;
    struct strag_problem problem = {.n = topology->n, .topology = topology};
    for (int b = 0; b < BUTTERFLIES; b++) {
        problem.ports = 1;
        prove(&butterflies[b], &problem, 1);
        problem.ports = all;
        prove(&butterflies[b], &problem, all);
        problem.ports = 0;
        prove(&butterflies[b], &problem, topology->box ? all : 1);
    }
    strag_topology_free(topology);
}

static void in_one_dimension(void **state)
{
    (void)state;
    for (int n = 2; n <= 36; n++) {
        char dims[40];
        snprintf(dims, sizeof dims, "%d", n);
        prove_all(machine_grid(torus, n % 3 > 0, dims, NULL, 1));
    }
}

static void in_two_dimensions(void **state)
{
    (void)state;
    for (int cells = 1; cells < 64; cells++) {
        char dims[40];
        snprintf(dims, sizeof dims, "%dx%d", 1 + cells % 8, 1 + cells / 8);
        prove_all(machine_grid(torus, true, dims, NULL, 1));
    }
}

static void in_three_dimensions(void **state)
{
    (void)state;
    for (int cells = 1; cells < 64; cells++) {
        char dims[40];
        snprintf(dims, sizeof dims, "%dx%dx%d", 1 + cells % 4, 1 + cells / 4 % 4, 1 + cells / 16);
        prove_all(machine_grid(torus, true, dims, NULL, 1));
    }
}

static void of_other_shapes(void **state)
{
    (void)state;
    static const char *const dims[] = {"2x2x2x2x2x2", "3x5x7", "16x4", "1x12", "2x1x3x1x2"};
    for (size_t i = 0; i < sizeof dims / sizeof *dims; i++) {
        prove_all(machine_grid(torus, true, dims[i], NULL, 1));
        prove_all(machine_grid(STRAG_NETWORK_HYPERX, true, dims[i], NULL, 1));
    }
    prove_all(machine_grid(STRAG_NETWORK_HAMMINGMESH, false, "4x8", "2x2", 1));
}

/* Boxes at random places of a torus; ranks in random order: the lower rank is not the lower cell.
 */
static void on_a_part_of_a_torus(void **state)
{
    (void)state;
    struct rng rng = {support_seed("a part of a torus")};
    for (long cases = support_cases(20); cases > 0; cases--)
        prove_all(machine_random_box("5x8x6", 2, 1, &rng));
}

static void without_a_grid(void **state)
{
    (void)state;
    for (int n = 2; n <= 20; n++) {
        prove_all(machine_flat(n, 1));
        prove_all(machine_flat(n, 3));
        for (int b = 0; b < BUTTERFLIES; b++)
            prove(&butterflies[b], &(struct strag_problem){.n = n}, 1);
    }
    prove_all(machine_tree("((1,3,2),(4,2))"));
}

/* Ranks are a ring in the order of the tree, whatever their numbers. */
static void in_the_order_of_the_tree(void **state)
{
    (void)state;
    struct machine_nodes nodes = machine_parse("N(H(0 2) H(1 3))");
    struct strag_topology *topology = machine_finish(&nodes, NULL);
    const struct strag_problem problem = {.n = 4, .topology = topology};
    for (int b = 0; b < BUTTERFLIES; b++) {
        struct strag_plan *plan = support_plan(butterflies[b].name, &problem, 0);
        bool near = false;
        for (int i = 0; i < plan->nops; i++)
            near = near || plan->ops[i].peer == 2;
        assert_true(near);
        /* The neighbour in the tree comes first, but where the farthest does. */
        int first = strcmp(butterflies[b].name, "bine-latency") == 0 ? 3 : 2;
        assert_int_equal(plan->ops[0].peer, first);
        strag_plan_free(plan);
    }
    strag_topology_free(topology);
}

/* ---- Some rounds only ---- */

static void rounds_that_are_wanted(void **state)
{
    (void)state;
    struct strag_topology *topology = machine_grid(torus, true, "6x4", NULL, 1);
    const struct strag_problem problem = {.n = topology->n, .topology = topology};
    for (int b = 0; b < BUTTERFLIES; b++)
        support_some_rounds(support_algorithm(butterflies[b].name), &problem);
    strag_topology_free(topology);
}

/* ---- What is refused ---- */

static void assert_refused(struct strag_topology *topology, int ports, const char *why)
{
    const struct strag_problem problem = {.n = topology->n, .ports = ports, .topology = topology};
    for (int b = 0; b < BUTTERFLIES; b++) {
        char text[200];
        struct strag_error err = {""};
        struct strag_plan *plan = NULL;
        snprintf(text, sizeof text, "%s %s", butterflies[b].name, why);
        assert_int_equal(
            strag_plan_create(support_algorithm(butterflies[b].name), &problem, 0, &plan, &err),
            STRAG_ERR_UNSUPPORTED);
        assert_string_equal(err.text, text);
        assert_null(plan);
    }
    strag_topology_free(topology);
}

static void refusals(void **state)
{
    (void)state;
    struct strag_grid grid = machine_grid_of(torus, true, "4x4", NULL);
    assert_refused(machine_grid(torus, true, "3x3", NULL, 2), 0, "needs one rank per host, not 2");
    assert_refused(machine_hosts(&grid, (int[]){0, 5}, 2, 1), 0,
                   "needs hosts that fill a box of the torus");
    assert_refused(
        machine_grid(torus, true, "3x1x3", NULL, 1), 6,
        "drives up to 2 ports for each dimension with more than one host, here 4; not 6");
    assert_refused(
        machine_flat(5, 1), 4,
        "drives up to 2 ports for each dimension with more than one host, here 2; not 4");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_one_dimension),
        cmocka_unit_test(in_two_dimensions),
        cmocka_unit_test(in_three_dimensions),
        cmocka_unit_test(of_other_shapes),
        cmocka_unit_test(on_a_part_of_a_torus),
        cmocka_unit_test(without_a_grid),
        cmocka_unit_test(in_the_order_of_the_tree),
        cmocka_unit_test(rounds_that_are_wanted),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
