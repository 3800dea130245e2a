/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bucket: proved on boxes of many shapes, with one port and with all; its rounds and its messages
 * as bucket.c says; no link of a torus carries two messages at a time.
 */
#include "machines.h"
#include "model/network.h"
#include "support.h"

static const enum strag_network torus = STRAG_NETWORK_TORUS, hyperx = STRAG_NETWORK_HYPERX,
                                boards = STRAG_NETWORK_HAMMINGMESH;

static const struct strag_algorithm *bucket(void)
{
    return support_algorithm("bucket");
}

/* ---- The proof, and the numbers of the table in bucket.c ---- */

struct rings {
    int dims, sum, longest; /* of the dimensions with more than one cell; sum of (size - 1) */
};

static struct rings rings_of(const struct strag_box *box)
{
    struct rings rings = {0, 0, 0};
    for (int d = 0; d < box->dims; d++) {
        rings.dims += box->size[d] > 1;
        rings.sum += box->size[d] - 1;
        rings.longest = box->size[d] > rings.longest ? box->size[d] : rings.longest;
    }
    return rings;
}

static void prove(const struct strag_problem *problem, int parts, int rounds)
{
    const struct strag_measure measure = support_verified("bucket", problem);
    int n = problem->n;
    assert_int_equal(measure.n, n);
    assert_int_equal(measure.rounds, rounds);
    assert_int_equal(measure.blocks, n * parts);
    assert_near(measure.sent_max, 2.0 * (n - 1) / n);
    assert_near(measure.sent_total, 2.0 * (n - 1));
    assert_near(measure.reduce_max, 1.0 * (n - 1) / n);
}

/* With one port, with all, and with as many as bucket chooses itself: all, on a grid. */
static void prove_box(struct strag_topology *topology)
{
    assert_non_null(topology->box);
    struct rings rings = rings_of(topology->box);
    int all = 2 * rings.dims, rounds = 2 * rings.dims * (rings.longest - 1);
    struct strag_problem problem = {.n = topology->n, .ports = 1, .topology = topology};
    prove(&problem, 1, 2 * rings.sum);
    problem.ports = 0;
    prove(&problem, all > 0 ? all : 1, rounds);
    problem.ports = all;
    if (all > 0)
        prove(&problem, all, rounds);
    strag_topology_free(topology);
}

TEST(in_two_dimensions)
{
    for (int x = 1; x <= 8; x++) {
        for (int y = 1; y <= 8; y++) {
            char dims[40];
            snprintf(dims, sizeof dims, "%dx%d", x, y);
            prove_box(machine_grid(torus, true, dims, NULL, 1));
            prove_box(machine_grid(torus, false, dims, NULL, 1));
            prove_box(machine_grid(hyperx, false, dims, NULL, 1));
        }
    }
}

TEST(in_three_dimensions)
{
    for (int cells = 0; cells < 64; cells++) {
        char dims[40];
        snprintf(dims, sizeof dims, "%dx%dx%d", 1 + cells % 4, 1 + cells / 4 % 4, 1 + cells / 16);
        prove_box(machine_grid(torus, cells % 5 > 0, dims, NULL, 1));
    }
}

TEST(of_other_shapes)
{
    static const char *const dims[] = {"2x2x2x2", "3x5x2", "1x13", "17", "2x1x3x1x2", "16x2"};
    for (size_t i = 0; i < sizeof dims / sizeof *dims; i++)
        prove_box(machine_grid(torus, true, dims[i], NULL, 1));
}

TEST(on_boards)
{
    prove_box(machine_grid(boards, false, "4x6", "2x3", 1));
    prove_box(machine_grid(boards, false, "4x4", "1x1", 1));
    prove_box(machine_grid(boards, false, "3x3x2", "3x1x2", 1));
}

/* Boxes at random places of a torus, over its edges too; ranks in random order. */
TEST(on_a_part_of_a_torus)
{
    struct rng rng = {support_seed("a part of a torus")};
    for (long cases = support_cases(40); cases > 0; cases--)
        prove_box(machine_random_box("5x6x4", 1, 1, &rng));
}

/* One ring; with two ports one each way round. */
TEST(without_a_grid)
{
    for (int n = 2; n <= 24; n++) {
        struct strag_topology *trees[] = {NULL, machine_flat(n, 1), machine_flat(n, 3)};
        for (int t = 0; t < 3; t++) {
            for (int ports = 0; ports <= 2; ports++) {
                const struct strag_problem problem = {.n = n, .ports = ports, .topology = trees[t]};
                prove(&problem, ports == 2 ? 2 : 1, 2 * (n - 1));
            }
            strag_topology_free(trees[t]);
        }
    }
}

/* ---- The messages ---- */

struct plans {
    struct strag_problem problem;
    struct strag_instance instance;
    struct strag_plan **list;
    int rounds;
};

static struct plans plans_of(struct strag_topology *topology, int ports)
{
    struct strag_error err = {""};
    struct plans plans = {.problem = {.n = topology->n, .ports = ports, .topology = topology}};
    plans.list = calloc((size_t)topology->n, sizeof(struct strag_plan *));
    assert_non_null(plans.list);
    if (strag_instance_open(&plans.instance, bucket(), &plans.problem, &err) != STRAG_OK ||
        support_create_all(bucket(), &plans.problem, plans.list, &err) != STRAG_OK)
        fail_msg("%s", err.text);
    plans.rounds = plans.instance.claim.rounds;
    return plans;
}

static void plans_free(struct plans *plans, struct strag_topology *topology)
{
    support_plans_free(plans->list, plans->problem.n);
    strag_instance_close(&plans->instance);
    strag_topology_free(topology);
}

/* The example in bucket.c. */
TEST(the_example)
{
    static const struct strag_op expected[] = {
        {.kind = STRAG_SEND, .round = 0, .peer = 1, .first = 0, .count = 2},
        {.kind = STRAG_RECV_REDUCE, .round = 0, .peer = 2, .first = 4, .count = 2},
        {.kind = STRAG_SEND, .round = 1, .peer = 1, .first = 4, .count = 2},
        {.kind = STRAG_RECV_REDUCE, .round = 1, .peer = 2, .first = 2, .count = 2},
        {.kind = STRAG_SEND, .round = 2, .peer = 3, .first = 2, .count = 1},
        {.kind = STRAG_RECV_REDUCE, .round = 2, .peer = 3, .first = 3, .count = 1},
        {.kind = STRAG_SEND, .round = 3, .peer = 3, .first = 3, .count = 1},
        {.kind = STRAG_RECV, .round = 3, .peer = 3, .first = 2, .count = 1},
        {.kind = STRAG_SEND, .round = 4, .peer = 1, .first = 2, .count = 2},
        {.kind = STRAG_RECV, .round = 4, .peer = 2, .first = 0, .count = 2},
        {.kind = STRAG_SEND, .round = 5, .peer = 1, .first = 0, .count = 2},
        {.kind = STRAG_RECV, .round = 5, .peer = 2, .first = 4, .count = 2},
    };
    struct strag_topology *topology = machine_grid(torus, true, "3x2", NULL, 1);
    struct plans plans = plans_of(topology, 1);
    const struct strag_plan *plan = plans.list[0];
    assert_int_equal(plan->nops, 12);
    for (int i = 0; i < plan->nops; i++) {
        const struct strag_op *op = &plan->ops[i];
        assert_int_equal(op->kind, expected[i].kind);
        assert_int_equal(op->round, expected[i].round);
        assert_int_equal(op->peer, expected[i].peer);
        assert_int_equal(op->first, expected[i].first);
        assert_int_equal(op->count, expected[i].count);
        assert_string_equal(plan->stages[op->stage], i < 6 ? "reduce-scatter" : "allgather");
    }
    plans_free(&plans, topology);
}

/* Put a message on its links. On a torus it crosses one, or half of it each of two that lead to the
 * same neighbour. @param load  of each link, in messages */
static void load_links(struct strag_links *links, int from, int to, float *load, double *most)
{
    struct strag_hop hops[40];
    assert_in_range(links->longest, 1, 40);
    struct strag_route route = strag_links_route(links, from, to, hops);
    double total = 0;
    for (int h = 0; h < route.nhops; h++) {
        load[hops[h].link] += hops[h].share;
        total += hops[h].share;
        *most = load[hops[h].link] > *most ? load[hops[h].link] : *most;
    }
    assert_near(total, 1);
}

static void check_links(struct strag_topology *topology, int ports)
{
    struct plans plans = plans_of(topology, ports);
    struct strag_model model = strag_model_default(topology->network);
    struct strag_links *links = NULL;
    struct strag_error err = {""};
    assert_int_equal(strag_links_create(topology, &model, NULL, &links, &err), STRAG_OK);
    for (int round = 0; round < plans.rounds; round++) {
        float *load = calloc((size_t)links->nlinks, sizeof *load);
        double most = 0;
        assert_non_null(load);
        for (int rank = 0; rank < topology->n; rank++) {
            const struct strag_plan *plan = plans.list[rank];
            for (int i = 0; i < plan->nops; i++) {
                if (plan->ops[i].round == round && plan->ops[i].kind == STRAG_SEND)
                    load_links(links, rank, plan->ops[i].peer, load, &most);
            }
        }
        if (!(most > 0 && most <= 1))
            fail_msg("n=%d ports=%d round %d: a link carries %g messages", topology->n, ports,
                     round, most);
        free(load);
    }
    strag_links_free(links);
    plans_free(&plans, topology);
}

TEST(links_are_not_shared)
{
    static const struct {
        const char *dims;
        int ports; /* all */
    } cases[] = {{"4x4", 4}, {"5x3", 4}, {"8x2", 4},   {"6", 2},       {"2x2x2", 6},
                 {"3x4", 4}, {"7x1", 2}, {"4x3x2", 6}, {"3x2x3x2", 8}, {"1x8x5", 4}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        check_links(machine_grid(torus, true, cases[i].dims, NULL, 1), 1);
        check_links(machine_grid(torus, true, cases[i].dims, NULL, 1), cases[i].ports);
    }
}

/* ---- Identical rounds ---- */

static int runs(struct strag_topology *topology, int ports)
{
    const struct strag_problem problem = {.n = topology->n, .ports = ports, .topology = topology};
    const int found = support_same_rounds(bucket(), &problem).runs;
    strag_topology_free(topology);
    return found;
}

/* A run for each phase; with all ports and unequal sizes, one for each size that ends in it. */
TEST(runs_of_rounds)
{
    static const struct {
        const char *dims;
        int all_ports, runs, runs_all;
    } cases[] = {{"5", 2, 2, 2},     {"4x4", 4, 4, 4},     {"5x3", 4, 4, 8},
                 {"2x6", 4, 4, 8},   {"2x3x5", 6, 6, 18},  {"4x4x2", 6, 6, 12},
                 {"3x1x3", 4, 4, 4}, {"2x2x2x2", 8, 8, 8}, {"7x2x7", 6, 6, 12}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *dims = cases[i].dims;
        assert_int_equal(runs(machine_grid(torus, true, dims, NULL, 1), 1), cases[i].runs);
        assert_int_equal(runs(machine_grid(torus, true, dims, NULL, 1), cases[i].all_ports),
                         cases[i].runs_all);
    }
    assert_int_equal(runs(machine_flat(9, 1), 1), 2);
    assert_int_equal(runs(machine_flat(9, 2), 2), 2);
}

/* ---- Some rounds only ---- */

TEST(rounds_that_are_wanted)
{
    struct strag_topology *topology = machine_grid(torus, true, "4x3", NULL, 1);
    const struct strag_problem problem = {.n = topology->n, .ports = 4, .topology = topology};
    support_some_rounds(bucket(), &problem);
    strag_topology_free(topology);
}

/* ---- What is refused ---- */

TEST(refusals)
{
    struct strag_grid grid = machine_grid_of(torus, true, "4x4", NULL);
    support_refused("bucket", machine_grid(torus, true, "3x3", NULL, 2), 0,
                    "bucket needs one rank per host, not 2");
    support_refused("bucket", machine_hosts(&grid, (int[]){0, 5}, 2, 1), 0,
                    "bucket needs hosts that fill a box of the torus");
    for (int ports = 5; ports <= 7; ports++) {
        char why[100];
        snprintf(why, sizeof why,
                 "bucket drives up to 2 ports for each dimension with more than one host, here 4; "
                 "not %d",
                 ports);
        support_refused("bucket", machine_grid(torus, true, "3x3", NULL, 1), ports, why);
    }
    support_refused(
        "bucket", machine_grid(hyperx, true, "3x1x3x2", NULL, 1), 8,
        "bucket drives up to 2 ports for each dimension with more than one host, here 6; not 8");
    support_refused(
        "bucket", machine_flat(5, 1), 4,
        "bucket drives up to 2 ports for each dimension with more than one host, here 2; not 4");
}
