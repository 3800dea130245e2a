/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Swing, all forms: proved on machines of many shapes, with one port and with all, one rank on a
 * host and several; with the rounds and bytes that swing.c states. The ranges grow with
 * STRAG_CASES.
 */
#include "algorithms/torus.h"
#include "machines.h"
#include "support.h"

static const enum strag_network torus = STRAG_NETWORK_TORUS, hyperx = STRAG_NETWORK_HYPERX,
                                boards = STRAG_NETWORK_HAMMINGMESH;

/* ---- What swing.c says ---- */

static int log2_ceil(int n)
{
    int log = 0;
    while (1 << log < n)
        log++;
    return log;
}

/* A machine: hosts in dimensions, g ranks on each. */
struct shape {
    int dims, steps, local; /* steps: sum of ceil(log2 size); local: g */
    int size[STRAG_DIMS_MAX];
};

static struct shape shape_of(const struct strag_problem *problem)
{
    const struct strag_topology *topology = problem->topology;
    const struct strag_box *box = topology ? topology->box : NULL;
    struct shape shape = {.local =
                              topology && topology->ranks_per_host ? topology->ranks_per_host : 1};
    for (int d = 0; box && d < box->dims; d++) {
        shape.steps += log2_ceil(box->size[d]);
        if (box->size[d] > 1)
            shape.size[shape.dims++] = box->size[d];
    }
    if (!box) {
        shape.dims = problem->n > shape.local;
        shape.steps = log2_ceil(problem->n / shape.local);
        shape.size[0] = problem->n / shape.local;
    }
    return shape;
}

static void prove_bandwidth(const struct strag_problem *problem, int parts)
{
    struct shape shape = shape_of(problem);
    struct strag_measure measure = support_verified("swing", problem);
    int n = problem->n;
    assert_int_equal(measure.rounds, 2 * (shape.steps + log2_ceil(shape.local)));
    assert_int_equal(measure.blocks, n * parts);
    assert_near(measure.sent_max, 2.0 * (n - 1) / n);
    assert_near(measure.sent_total, 2.0 * (n - 1));
    assert_near(measure.reduce_max, 1.0 * (n - 1) / n);
}

/* With one part a rank sends a message per step among hosts, at most; with mirrored ones no more in
 * the mean. */
static void prove_latency(const struct strag_problem *problem, int parts)
{
    struct shape shape = shape_of(problem);
    struct strag_measure measure = support_verified("swing-latency", problem);
    int g = shape.local;
    double most = (shape.steps + 2.0 * (g - 1)) / g;
    assert_int_equal(measure.rounds, shape.steps + 2 * log2_ceil(g));
    assert_int_equal(measure.blocks, g * parts);
    assert_true(measure.sent_max <= most + 1e-9);
    if (parts == 1)
        assert_near(measure.sent_max, most);
}

/* The steps before a list of odd size comes, at most this many, if the dimensions take turns. */
static int even_steps(const struct shape *shape, int start, int most)
{
    int size[STRAG_DIMS_MAX], done[STRAG_DIMS_MAX] = {0};
    memcpy(size, shape->size, sizeof size);
    for (int s = 0, d = start; s < most; d = (d + 1) % shape->dims) {
        if (done[d]++ == log2_ceil(shape->size[d]))
            done[d]--;
        else if (size[d] % 2)
            return s;
        else
            size[d] /= 2, s++;
    }
    return most;
}

/* With k of q steps dividing, or fewer: the form of this many blocks. @return how many */
static int prove_partial(int quarters, const struct strag_problem *problem, int parts)
{
    struct shape shape = shape_of(problem);
    struct strag_problem form = *problem;
    int g = shape.local, q = shape.steps, k = (q * quarters + 2) / 4;
    for (int start = 0; k < q && start < (parts == 1 ? 1 : shape.dims); start++)
        k = shape.dims ? even_steps(&shape, start, k) : k;
    int blocks = k < q ? g << k : problem->n;
    double most = (2.0 * (blocks - 1) + q - k) / blocks;
    form.blocks = blocks * parts;
    struct strag_measure measure = support_verified("swing", &form);
    assert_int_equal(measure.rounds, q + k + 2 * log2_ceil(g));
    assert_int_equal(measure.blocks, form.blocks);
    assert_true(measure.sent_max <= most + 1e-9);
    if (parts == 1)
        assert_near(measure.sent_max, most);
    return form.blocks;
}

/* If ports are left open, n blocks are the form with one, unless another form has as many. If it
 * is among the choices it is proved, and taken off. */
static void prove_one_port(const struct strag_problem *problem, int *blocks, int *choices)
{
    struct strag_problem one = *problem;
    int found = 0;
    while (found < *choices && blocks[found] != problem->n)
        found++;
    one.blocks = problem->n;
    if (found == *choices)
        return;
    struct strag_measure measure = support_verified("swing", &one);
    one.blocks = 0;
    one.ports = 1;
    struct strag_measure pinned = support_verified("swing", &one);
    if (measure.rounds < pinned.rounds)
        return; /* another form */
    assert_int_equal(measure.rounds, pinned.rounds);
    assert_int_equal(measure.blocks, pinned.blocks);
    assert_near(measure.sent_max, pinned.sent_max);
    memmove(blocks + found, blocks + found + 1, (size_t)(*choices - found - 1) * sizeof *blocks);
    *choices -= 1;
}

/* The choices are all forms, each once, without the one that is swing-latency. */
static void prove(const struct strag_problem *problem, int parts)
{
    int blocks[STRAG_CHOICES_MAX], seen = 1, last = shape_of(problem).local * parts;
    int choices = strag_algorithm_choices(support_algorithm("swing"), problem, blocks);
    if (problem->ports == 0 && parts > 1)
        prove_one_port(problem, blocks, &choices);
    prove_bandwidth(problem, parts);
    prove_latency(problem, parts);
    assert_int_equal(blocks[0], 0);
    for (int quarters = 1; quarters <= 3; quarters++) {
        int form = prove_partial(quarters, problem, parts);
        if (form == last || form == problem->n * parts)
            continue;
        assert_true(seen < choices);
        assert_int_equal(blocks[seen++], form);
        last = form;
    }
    assert_int_equal(choices, seen);
}

/* With one port, with all, and with as many as Swing chooses itself: all, on a grid. */
static void prove_machine(struct strag_topology *topology)
{
    struct strag_problem problem = {.n = topology->n, .ports = 1, .topology = topology};
    int all = 2 * shape_of(&problem).dims;
    int own = topology->box && all ? all : 1;
    if (problem.n > 1) {
        prove(&problem, 1);
        problem.ports = 0;
        prove(&problem, own);
        problem.ports = all;
        if (all > own)
            prove(&problem, all);
    }
    strag_topology_free(topology);
}

/* ---- Machines ---- */

static void prove_grid(enum strag_network network, bool wrap, int ranks_per_host, int x, int y,
                       int z)
{
    char dims[40];
    snprintf(dims, sizeof dims, "%dx%dx%d", x, y, z);
    prove_machine(machine_grid(network, wrap, dims, NULL, ranks_per_host));
}

TEST(in_one_dimension)
{
    int most = (int)support_cases(70);
    for (int n = 2; n <= most && n <= 300; n++) {
        for (int ports = 0; ports <= 2; ports++) {
            const struct strag_problem problem = {.n = n, .ports = ports};
            prove(&problem, ports == 2 ? 2 : 1);
        }
    }
}

TEST(in_two_dimensions)
{
    int most = (int)support_cases(9);
    for (int x = 1; x <= most && x <= 20; x++) {
        for (int y = 1; y <= most && y <= 20; y++)
            prove_grid(torus, true, 1, x, y, 1);
    }
}

TEST(in_three_dimensions)
{
    int most = (int)support_cases(4);
    for (int x = 1; x <= most && x <= 7; x++) {
        for (int y = 1; y <= most && y <= 7; y++) {
            for (int z = 1; z <= most && z <= 7; z++)
                prove_grid(torus, true, 1, x, y, z);
        }
    }
}

TEST(of_other_shapes)
{
    static const char *const dims[] = {"2x2x2x2x2x2", "4x4x4x4",   "3x5x7",          "1x13",
                                       "17",          "2x1x3x1x2", "1x1x3x1x2x1x1x2"};
    for (size_t i = 0; i < sizeof dims / sizeof *dims; i++)
        prove_machine(machine_grid(torus, true, dims[i], NULL, 1));
}

TEST(on_other_networks)
{
    for (int cells = 0; cells < 27; cells++) {
        int x = 1 + cells % 3 * 2, y = 1 + cells / 3 % 3, z = 1 + cells / 9;
        prove_grid(torus, false, 1, x, y, z);
        prove_grid(hyperx, false, 1, x, y, z);
    }
    prove_machine(machine_grid(boards, false, "4x6", "2x3", 1));
    prove_machine(machine_grid(boards, false, "3x3x2", "3x1x2", 2));
}

TEST(with_several_ranks_on_a_host)
{
    for (int g = 2; g <= 5; g++) {
        prove_grid(torus, true, g, 4, 4, 1);
        prove_grid(torus, true, g, 3, 2, 1);
        prove_grid(torus, true, g, 1, 5, 1);
        prove_grid(torus, true, g, 3, 5, 1);
        prove_grid(torus, true, g, 4, 2, 1);
        prove_grid(torus, true, g, 1, 1, 1);
        prove_machine(machine_flat(6 * g, g));
        prove_machine(machine_flat(5 * g, g));
        prove_machine(machine_flat(7 * g, g));
    }
}

/* Hosts with unlike numbers of ranks: every rank counts as a host. */
TEST(on_trees)
{
    static const char *const trees[] = {"2,3", "(2,2),(2,2)", "((1,1),(1)),(1,1)", "4", "3,3,3"};
    for (size_t i = 0; i < sizeof trees / sizeof *trees; i++)
        prove_machine(machine_tree(trees[i]));
}

/* Boxes at random places of a torus, over its edges too, hosts in random order. */
TEST(on_a_part_of_a_torus)
{
    struct rng rng = {support_seed("a part of a torus")};
    for (long cases = support_cases(30); cases > 0; cases--)
        prove_machine(machine_random_box("5x6x4", 1, 1 + (int)rng_below(&rng, 3), &rng));
}

/* Hosts that fill no box of the grid are one line. */
TEST(on_scattered_hosts)
{
    struct strag_grid grid = machine_grid_of(torus, true, "4x4", NULL);
    struct strag_topology *topology = machine_hosts(&grid, (int[]){0, 5, 7, 10, 3}, 5, 2);
    assert_null(topology->box);
    prove_machine(topology);
}

/* ---- What is refused ---- */

static void assert_refused(const char *name, struct strag_topology *topology, int ports, int all)
{
    const struct strag_problem problem = {.n = topology->n, .ports = ports, .topology = topology};
    struct strag_error err = {""};
    struct strag_plan *plan = NULL;
    char why[120];
    snprintf(why, sizeof why,
             "%s drives up to 2 ports for each dimension with more than one host, here %d; not %d",
             name, all, ports);
    assert_int_equal(strag_plan_create(support_algorithm(name), &problem, 0, &plan, &err),
                     STRAG_ERR_UNSUPPORTED);
    assert_string_equal(err.text, why);
    assert_null(plan);
    strag_topology_free(topology);
}

/* A count of blocks that is no form's. @param accepted  what the message says */
static void assert_no_form(struct strag_topology *topology, int ports, int blocks,
                           const char *accepted)
{
    const struct strag_problem problem = {
        .n = topology->n, .blocks = blocks, .ports = ports, .topology = topology};
    struct strag_error err = {""};
    char why[120];
    snprintf(why, sizeof why, "swing cuts the vector of %d ranks into %s blocks, not %d", problem.n,
             accepted, blocks);
    assert_int_equal(strag_algorithm_claim(support_algorithm("swing"), &problem, NULL, &err),
                     STRAG_ERR_UNSUPPORTED);
    assert_string_equal(err.text, why);
    strag_topology_free(topology);
}

TEST(counts_that_are_no_form)
{
    assert_no_form(machine_grid(torus, true, "4x4", NULL, 1), 0, 5, "8, 16, 32 or 64");
    assert_no_form(machine_grid(torus, true, "4x4", NULL, 1), 1, 64, "2, 4, 8 or 16");
    assert_no_form(machine_flat(8, 1), 0, 1, "2, 4 or 8");
    assert_no_form(machine_flat(4, 1), 0, 3, "2 or 4");
    assert_no_form(machine_flat(2, 1), 0, 3, "1 or 2");
    assert_no_form(machine_flat(6, 6), 0, 3, "6");
    assert_no_form(machine_flat(7, 1), 0, 2, "1 or 7");
}

TEST(refusals)
{
    assert_refused("swing", machine_flat(4, 1), 3, 2);
    assert_refused("swing", machine_grid(torus, true, "3x3", NULL, 1), 5, 4);
    assert_refused("swing-latency", machine_grid(hyperx, true, "3x1x3x2", NULL, 2), 8, 6);
    assert_refused("swing", machine_flat(5, 1), 4, 2);
    assert_refused("swing-latency", machine_flat(4, 4), 2, 0);
}
