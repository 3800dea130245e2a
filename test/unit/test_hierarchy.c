/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The other algorithms for trees: blueconnect, leaders, hierarchical-doubling. Proved on all small
 * trees and on random ones; their rounds, bytes and messages as their files say.
 */
#include "algorithms/tree.h"
#include "exhaust.h"
#include "trees.h"

static const char *const names[] = {"blueconnect", "leaders", "hierarchical-doubling"};

/* ---- Proofs ---- */

static struct strag_measure prove(const char *name, const struct strag_topology *topology)
{
    return support_verified(name, &(struct strag_problem){.n = topology->n, .topology = topology});
}

TEST(all_small_trees)
{
    struct rng rng = {support_seed("all small trees")};
    struct trees trees = trees_create(support_cases(7) >= 1000 ? TREES_LEAVES_MAX : 7);
    for (int shape = 1; shape < trees.count; shape++) {
        int *ranks = trees_ranks(&rng, trees.list[shape].leaves);
        struct strag_topology *topology = trees_build(&trees, shape, shape % 2, ranks);
        for (int a = 0; a < 3; a++)
            prove(names[a], topology);
        strag_topology_free(topology);
        free(ranks);
    }
    trees_free(&trees);
}

TEST(random_trees)
{
    struct rng rng = {support_seed("random trees")};
    for (long cases = support_cases(30); cases > 0; cases--) {
        int n = 2 + (int)rng_below(&rng, 99);
        int *ranks = trees_ranks(&rng, n);
        struct strag_topology *topology = trees_random(&rng, n, 1 + (int)rng_below(&rng, 6), ranks);
        for (int a = 0; a < 3; a++)
            prove(names[a], topology);
        strag_topology_free(topology);
        free(ranks);
    }
}

/* ---- Rounds and bytes ---- */

struct expected {
    const char *tree;
    int rounds, blocks;
    double sent_max, sent_total;
};

static void assert_measured(const char *name, const struct expected *expected)
{
    struct strag_topology *topology = machine_tree(expected->tree);
    const struct strag_measure measure = prove(name, topology);
    assert_int_equal(measure.rounds, expected->rounds);
    assert_int_equal(measure.blocks, expected->blocks);
    assert_near(measure.sent_max, expected->sent_max);
    assert_near(measure.sent_total, expected->sent_total);
    strag_topology_free(topology);
}

/* On symmetric trees 2 sum(d - 1) rounds, on others those of a ring. */
TEST(blueconnect_in_numbers)
{
    static const struct expected cases[] = {
        {"2,2,2", 2 * (1 + 2), 6, 10 / 6., 10},
        {"4,4", 2 * (3 + 1), 8, 14 / 8., 14},
        {"7", 2 * 6, 7, 12 / 7., 12},
        {"((3,3),(3,3),(3,3),(3,3),(3,3))", 2 * (2 + 1 + 4), 30, 58 / 30., 58},
        {"2,3", 2 * 4, 5, 8 / 5., 8},
        {"((2,2),2)", 2 * 5, 6, 10 / 6., 10},
        {"((1,1),(1,1,1))", 2 * 4, 5, 8 / 5., 8},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_measured("blueconnect", &cases[i]);
}

/* Binomial trees within hosts, a ring among them. */
TEST(leaders_in_numbers)
{
    static const struct expected cases[] = {
        {"2,3", 2 * 2 + 2, 2, 2 + 1, 2 * 3 + 2},
        {"4,4,4", 2 * 2 + 4, 3, 2 + 4 / 3., 2 * 9 + 4},
        {"1,1,1", 4, 3, 4 / 3., 4},
        {"6", 2 * 3, 1, 3, 2 * 5},
        {"((5,1),2)", 2 * 3 + 4, 3, 3 + 4 / 3., 2 * 5 + 4},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_measured("leaders", &cases[i]);
}

/* Up and down twice a logarithm, at the top once. */
TEST(doubling_in_numbers)
{
    static const struct expected cases[] = {
        {"8", 3, 1, 3, 24},
        {"4,4", 2 * 2 + 1, 1, 2 + 1, 2 * 6 + 2},
        {"2,3,3", 2 * 2 + 3, 1, 4, 2 * 5 + 4},
        {"((2,2),(2,3))", 2 * 2 + 2 * 1 + 1, 1, 3, 2 * 7 + 2},
        {"(1,((2,2),2))", 2 * 1 + 2 * 1 + 2 * 1 + 1, 1, 4, 2 * 5 + 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_measured("hierarchical-doubling", &cases[i]);
}

/* If blueconnect falls back, it is a ring, operation by operation. */
TEST(blueconnect_falls_back)
{
    struct strag_topology *topology = machine_tree("2,3");
    const struct strag_problem problem = {.n = 5, .topology = topology};
    for (int rank = 0; rank < 5; rank++) {
        struct strag_plan *a = support_plan("blueconnect", &problem, rank);
        struct strag_plan *b = support_plan("ring", &problem, rank);
        assert_int_equal(a->nops, b->nops);
        assert_memory_equal(a->ops, b->ops, (size_t)a->nops * sizeof *a->ops);
        strag_plan_free(a);
        strag_plan_free(b);
    }
    strag_topology_free(topology);
}

/* ---- Messages ---- */

struct message {
    enum strag_kind kind;
    int round, peer, first, count;
};

static void assert_messages(const char *name, const char *tree, int rank,
                            const struct message *expected, int count)
{
    struct strag_topology *topology = machine_tree(tree);
    const struct strag_problem problem = {.n = topology->n, .topology = topology};
    struct strag_plan *plan = support_plan(name, &problem, rank);
    assert_int_equal(plan->nops, count);
    for (int i = 0; i < count; i++) {
        assert_int_equal(plan->ops[i].kind, expected[i].kind);
        assert_int_equal(plan->ops[i].round, expected[i].round);
        assert_int_equal(plan->ops[i].peer, expected[i].peer);
        assert_int_equal(plan->ops[i].first, expected[i].first);
        assert_int_equal(plan->ops[i].count, expected[i].count);
    }
    strag_plan_free(plan);
    strag_topology_free(topology);
}

/* The tables in the three files. */
TEST(the_examples)
{
    static const struct message blueconnect[] = {
        {STRAG_SEND, 0, 1, 0, 3}, {STRAG_RECV_REDUCE, 0, 1, 3, 3},
        {STRAG_SEND, 1, 2, 3, 1}, {STRAG_RECV_REDUCE, 1, 4, 5, 1},
        {STRAG_SEND, 2, 2, 5, 1}, {STRAG_RECV_REDUCE, 2, 4, 4, 1},
        {STRAG_SEND, 3, 2, 4, 1}, {STRAG_RECV, 3, 4, 3, 1},
        {STRAG_SEND, 4, 2, 3, 1}, {STRAG_RECV, 4, 4, 5, 1},
        {STRAG_SEND, 5, 1, 3, 3}, {STRAG_RECV, 5, 1, 0, 3},
    };
    static const struct message leaders[] = {
        {STRAG_RECV_REDUCE, 0, 3, 0, 2}, {STRAG_RECV_REDUCE, 1, 4, 0, 2}, {STRAG_SEND, 2, 0, 1, 1},
        {STRAG_RECV_REDUCE, 2, 0, 0, 1}, {STRAG_SEND, 3, 0, 0, 1},        {STRAG_RECV, 3, 0, 1, 1},
        {STRAG_SEND, 4, 4, 0, 2},        {STRAG_SEND, 5, 3, 0, 2},
    };
    static const struct message doubling[] = {
        {STRAG_RECV_REDUCE, 0, 3, 0, 1}, {STRAG_RECV_REDUCE, 1, 4, 0, 1},
        {STRAG_RECV_REDUCE, 2, 0, 0, 1}, {STRAG_SEND, 3, 5, 0, 1},
        {STRAG_RECV_REDUCE, 3, 5, 0, 1}, {STRAG_SEND, 4, 0, 0, 1},
        {STRAG_SEND, 5, 4, 0, 1},        {STRAG_SEND, 6, 3, 0, 1},
    };
    assert_messages("blueconnect", "2,2,2", 0, blueconnect, 12);
    assert_messages("leaders", "2,3", 2, leaders, 8);
    assert_messages("hierarchical-doubling", "2,3,3", 2, doubling, 8);
}

/* In a round no more than one message crosses a host's or switch's uplink, up or down. */
TEST(doubling_shares_no_uplink)
{
    struct rng rng = {support_seed("doubling shares no uplink")};
    struct strag_error err = {""};
    for (long cases = support_cases(30); cases > 0; cases--) {
        int n = 2 + (int)rng_below(&rng, 60);
        int *ranks = trees_ranks(&rng, n);
        struct strag_topology *topology = trees_random(&rng, n, 4, ranks);
        const struct strag_problem problem = {.n = n, .topology = topology};
        struct strag_plan **plans = calloc((size_t)n, sizeof(struct strag_plan *));
        int *last = malloc(2 * (size_t)topology->nnodes * sizeof *last);
        assert_non_null(plans);
        assert_non_null(last);
        assert_int_equal(
            support_create_all(support_algorithm("hierarchical-doubling"), &problem, plans, &err),
            STRAG_OK);
        for (int round = 0; round < plans[0]->rounds; round++) {
            memset(last, 0, 2 * (size_t)topology->nnodes * sizeof *last);
            for (int r = 0; r < n; r++) {
                for (int i = 0; i < plans[r]->nops; i++) {
                    const struct strag_op *op = &plans[r]->ops[i];
                    if (op->round != round || op->kind != STRAG_SEND)
                        continue;
                    int top = support_ancestor(topology, r, op->peer);
                    for (int a = topology->leaf_node[r]; a != top; a = topology->nodes[a].parent)
                        assert_int_equal(last[2 * a]++, 0);
                    for (int b = topology->leaf_node[op->peer]; b != top;
                         b = topology->nodes[b].parent)
                        assert_int_equal(last[2 * b + 1]++, 0);
                }
            }
        }
        free(last);
        support_plans_free(plans, n);
        strag_topology_free(topology);
        free(ranks);
    }
}

/* ---- Identical rounds ---- */

static int runs(const char *name, const char *tree)
{
    struct strag_topology *topology = machine_tree(tree);
    const struct strag_problem problem = {.n = topology->n, .topology = topology};
    const int found = support_same_rounds(support_algorithm(name), &problem).runs;
    strag_topology_free(topology);
    return found;
}

TEST(runs_of_rounds)
{
    assert_int_equal(runs("blueconnect", "4,4,4,4,4"), 4);
    assert_int_equal(runs("blueconnect", "((3,3,3),(3,3,3))"), 6);
    assert_int_equal(runs("blueconnect", "4,4,4,3"), 2);
    assert_int_equal(runs("leaders", "4,3,2,4,1"), 2 + 2 + 2);
    assert_int_equal(runs("leaders", "1,1,1,1"), 2);
    assert_int_equal(runs("leaders", "5"), 6);
}

/* ---- Memory ---- */

struct wanted {
    const char *name;
    struct strag_problem problem;
};

static int make_plan(const void *what, struct strag_error *err, bool *made)
{
    const struct wanted *wanted = what;
    struct strag_plan *plan = NULL;
    int status =
        strag_plan_create(support_algorithm(wanted->name), &wanted->problem, 1, &plan, err);
    *made = plan != NULL;
    strag_plan_free(plan);
    return status;
}

static int make_choices(const void *what, struct strag_error *err, bool *made)
{
    const struct wanted *wanted = what;
    int blocks[STRAG_CHOICES_MAX];
    int count = strag_algorithm_choices(support_algorithm(wanted->name), &wanted->problem, blocks);
    *made = count > 0;
    return count > 0 ? STRAG_OK : strag_fail(err, count, "out of memory for choices");
}

TEST(memory_runs_out)
{
    static const char *const all[] = {"flexreduce", "flexreduce-pipelined", "blueconnect",
                                      "leaders", "hierarchical-doubling"};
    static const char *const trees[] = {"2,2", "2,3", "((1,4),3)", "(2@8,2@8,2@4)"};
    for (size_t t = 0; t < sizeof trees / sizeof *trees; t++) {
        struct strag_topology *topology = machine_tree(trees[t]);
        struct wanted wanted = {.problem = {.n = topology->n, .topology = topology}};
        for (size_t a = 0; a < sizeof all / sizeof *all; a++) {
            wanted.name = all[a];
            assert_true(exhaust(all[a], make_plan, &wanted) >= 8);
            wanted.problem.topology = NULL; /* one is made on the way */
            assert_true(exhaust(all[a], make_plan, &wanted) >= 8);
            wanted.problem.topology = topology;
        }
        wanted.name = "flexreduce-pipelined";
        assert_true(exhaust("choices", make_choices, &wanted) >= 10);
        strag_topology_free(topology);
    }
}
