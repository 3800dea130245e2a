/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * FlexReduce's plans: proved on all small trees and on random ones; what they send over every
 * uplink, to the last digit; the same whatever order ranks are mapped in; overlap of the levels;
 * run by engines.
 */
#include "algorithms/flex_plan.h"
#include "machines.h"
#include "model/cost.h"
#include "plan/verify.h"
#include "trees.h"
#include "world.h"

#include <math.h>

/* ---- What crosses the uplinks ---- */

/* The part of the vector that goes up from a node of the tree, and down to it. */
struct crossing {
    double up, down;
};

struct plans {
    struct strag_problem problem;
    struct strag_instance instance;
    struct strag_plan **list;
    struct strag_flex *flex;    /* in the algorithm's form, with equal shares */
    struct crossing *crossings; /* [gather][level][node]: while that level is at work */
};

static struct plans plans_in_blocks(const char *algorithm, const struct strag_topology *topology,
                                    int blocks)
{
    struct strag_error err = {""};
    struct plans plans = {.problem = {.n = topology->n, .topology = topology, .blocks = blocks}};
    struct strag_tree *tree = NULL;
    bool split = strcmp(algorithm, "flexreduce") != 0;
    plans.list = calloc((size_t)topology->n, sizeof(struct strag_plan *));
    assert_non_null(plans.list);
    if (strag_instance_open(&plans.instance, support_algorithm(algorithm), &plans.problem, &err) !=
            STRAG_OK ||
        support_create_all(plans.instance.algorithm, &plans.problem, plans.list, &err) != STRAG_OK)
        fail_msg("%s", err.text);
    assert_int_equal(strag_tree_create(&plans.problem, &tree, &err), STRAG_OK);
    assert_int_equal(
        strag_flex_create(tree, (struct strag_flex_form){.split = split}, &plans.flex, &err),
        STRAG_OK);
    plans.crossings =
        calloc(2 * (size_t)tree->levels * (size_t)tree->nnodes, sizeof *plans.crossings);
    assert_non_null(plans.crossings);
    return plans;
}

static struct plans plans_of(const char *algorithm, const struct strag_topology *topology)
{
    return plans_in_blocks(algorithm, topology, 0);
}

static void plans_free(struct plans *plans)
{
    support_plans_free(plans->list, plans->problem.n);
    strag_instance_close(&plans->instance);
    strag_flex_free(plans->flex);
    free(plans->crossings);
}

static struct crossing *crossing_at(const struct plans *plans, bool gather, int level, int node)
{
    const struct strag_tree *tree = plans->flex->tree;
    return &plans->crossings[(gather * tree->levels + level) * tree->nnodes + node];
}

/* The level that is at work in a round. */
static int level_of(const struct strag_tree *tree, int rounds, int round, bool *gather)
{
    *gather = round >= rounds / 2;
    int t = *gather ? rounds - 1 - round : round, level = 0;
    for (; t >= tree->degree[level] - 1; level++)
        t -= tree->degree[level] - 1;
    return level;
}

static void cross(const struct plans *plans, int from, const struct strag_op *op)
{
    const struct strag_tree *tree = plans->flex->tree;
    const struct strag_bounds *bounds = &plans->instance.shape.bounds;
    bool gather;
    int level = 0; /* they are not distinguished while they overlap */
    gather = false;
    if (strcmp(plans->instance.algorithm->name, "flexreduce") == 0)
        level = level_of(tree, plans->instance.claim.rounds, op->round, &gather);
    double part =
        (double)(bounds->numerator[op->first + op->count] - bounds->numerator[op->first]) /
        (double)bounds->denominator;
    int a = tree->leaf_at[tree->position_of[from]];
    int b = tree->leaf_at[tree->position_of[op->peer]];
    while (a != b) { /* a parent stands before its children */
        if (a > b) {
            crossing_at(plans, gather, level, a)->up += part;
            a = tree->nodes[a].parent;
        } else {
            crossing_at(plans, gather, level, b)->down += part;
            b = tree->nodes[b].parent;
        }
    }
}

static void cross_all(struct plans *plans)
{
    for (int rank = 0; rank < plans->problem.n; rank++) {
        for (int i = 0; i < plans->list[rank]->nops; i++) {
            if (plans->list[rank]->ops[i].kind == STRAG_SEND)
                cross(plans, rank, &plans->list[rank]->ops[i]);
        }
    }
}

/* Of what the leaves below a node get at a level, the part that none of them holds before. */
static double handed_over(const struct strag_flex *flex, int level, int index)
{
    const struct strag_tree_node *node = &flex->tree->nodes[index];
    int64_t strange = 0;
    for (int b = 0; b < flex->blocks; b++) {
        bool held = false, got = false;
        for (int p = node->first_leaf; p < node->first_leaf + node->leaves; p++) {
            int nheld, ngot;
            const struct strag_flex_range *before = strag_flex_own(flex, level, p, false, &nheld);
            const struct strag_flex_range *after = strag_flex_own(flex, level, p, true, &ngot);
            held |= nheld && before->first <= b && b < before->end;
            got |= ngot && after->first <= b && b < after->end;
        }
        strange += got && !held ? flex->cuts[b + 1] - flex->cuts[b] : 0;
    }
    return (double)strange / (double)flex->whole;
}

/* Like the cost model: while its parent's level is at work an uplink carries (d-1)/d of the vector
 * each way; at a level above, (d-1)/d of what the levels in between have left. If a leaf gets
 * what it did not hold, that is handed over besides, below the node at work. @return whether there
 * was such a thing */
static bool check_uplink(const struct plans *plans, int index)
{
    const struct strag_tree *tree = plans->flex->tree;
    double left = 1;
    bool more = false;
    for (int i = tree->nodes[index].parent; i >= 0; i = tree->nodes[i].parent) {
        int degree = tree->nodes[i].children, level = tree->nodes[i].level;
        double modelled = left * (degree - 1) / degree;
        double extra = i == tree->nodes[index].parent ? 0 : handed_over(plans->flex, level, index);
        for (int gather = 0; gather < 2; gather++) {
            const struct crossing *crossing = crossing_at(plans, gather, level, index);
            if (fabs(crossing->up - modelled - extra) > 1e-9 ||
                fabs(crossing->down - modelled - extra) > 1e-9)
                fail_msg("n=%d, node %d, level %d: %.12g up, %.12g down; the model says %.12g and "
                         "%.12g handed over",
                         tree->n, index, level, crossing->up, crossing->down, modelled, extra);
        }
        more |= extra > 0;
        left /= degree;
    }
    return more;
}

/* Prove the plans, and check what crosses every uplink. @return was anything handed over? */
static bool check_tree(const struct strag_topology *topology)
{
    struct strag_error err = {""};
    struct strag_measure measure;
    struct strag_claim claim;
    struct plans plans = plans_of("flexreduce", topology);
    const struct strag_tree *tree = plans.flex->tree;
    int rounds = 0;
    bool more = false;
    assert_int_equal(strag_instance_claim(&plans.instance, &claim, &err), STRAG_OK);
    if (strag_verify_plans(plans.list, topology->n, &claim, &measure, NULL, &err) != STRAG_OK)
        fail_msg("n=%d: %s", topology->n, err.text);
    for (int level = 0; level < tree->levels; level++)
        rounds += 2 * (tree->degree[level] - 1);
    assert_int_equal(measure.rounds, rounds);
    cross_all(&plans);
    for (int i = 1; i < tree->nnodes; i++)
        more |= check_uplink(&plans, i);
    plans_free(&plans);
    return more;
}

/* The pipelined form, with this many segments. */
static void verify_pipelined(const struct strag_topology *topology, int segments)
{
    struct strag_error err = {""};
    struct strag_problem problem = {.n = topology->n, .topology = topology};
    struct strag_flex *flex = NULL;
    struct strag_tree *tree = NULL;
    assert_int_equal(strag_tree_create(&problem, &tree, &err), STRAG_OK);
    assert_int_equal(strag_flex_create(tree, (struct strag_flex_form){true, true}, &flex, &err),
                     STRAG_OK);
    problem.blocks = flex->blocks * segments;
    strag_flex_free(flex);
    (void)support_verified("flexreduce-pipelined", &problem);
}

/* In the split form nothing is handed over: every uplink of the tree carries what the model says,
 * and no more. @return is it that form? */
static bool check_split(const struct strag_topology *topology)
{
    struct plans plans = plans_of("flexreduce-pipelined", topology);
    const struct strag_tree *tree = plans.flex->tree;
    bool split = plans.flex->split;
    cross_all(&plans);
    for (int index = 1; split && index < tree->nnodes; index++) {
        double left = 1, modelled = 0, up = 0, down = 0;
        for (int i = tree->nodes[index].parent; i >= 0; i = tree->nodes[i].parent) {
            modelled += 2 * left * (tree->nodes[i].children - 1) / tree->nodes[i].children;
            left /= tree->nodes[i].children;
        }
        for (int level = 0; level < 2 * tree->levels; level++) {
            up += crossing_at(&plans, false, level, index)->up;
            down += crossing_at(&plans, false, level, index)->down;
        }
        if (fabs(up - modelled) > 1e-9 || fabs(down - modelled) > 1e-9)
            fail_msg("n=%d, node %d: %.12g up, %.12g down; the model says %.12g", tree->n, index,
                     up, down, modelled);
    }
    plans_free(&plans);
    return split;
}

/* STRAG_CASES=1000 or more: up to 12 leaves. */
TEST(all_small_trees)
{
    struct trees trees = trees_create(support_cases(7) >= 1000 ? TREES_LEAVES_MAX : 7);
    int *ranks = trees_ranks(NULL, TREES_LEAVES_MAX), more = 0;
    for (int shape = 1; shape < trees.count; shape++) {
        struct strag_topology *topology = trees_build(&trees, shape, shape % 2, ranks);
        more += check_tree(topology);
        assert_true(check_split(topology));
        verify_pipelined(topology, 1 + shape % 4);
        strag_topology_free(topology);
    }
    print_message("%d trees, in %d something is handed over\n", trees.count - 1, more);
    assert_in_range(more, 1, trees.count - 2);
    free(ranks);
    trees_free(&trees);
}

TEST(random_trees)
{
    struct rng rng = {support_seed("random trees")};
    long cases = support_cases(30), split = 0;
    for (long c = 0; c < cases; c++) {
        int most = c % 10 ? 40 : 200, n = 2 + (int)rng_below(&rng, (unsigned)most - 1);
        if (cases >= 1000)
            n = 2 + (int)rng_below(&rng, 199);
        int *ranks = trees_ranks(&rng, n);
        struct strag_topology *topology = trees_random(&rng, n, 1 + (int)rng_below(&rng, 6), ranks);
        check_tree(topology);
        verify_pipelined(topology, n <= 40 ? 1 + (int)rng_below(&rng, 5) : 1);
        if (n <= 40)
            split += check_split(topology);
        strag_topology_free(topology);
        free(ranks);
    }
    print_message("%ld trees, of up to 40 leaves %ld in the split form\n", cases, split);
    assert_in_range(split, 1, cases);
}

/* ---- Any order of ranks ---- */

TEST(the_order_of_ranks_does_not_matter)
{
    struct rng rng = {support_seed("the order of ranks does not matter")};
    struct trees trees = trees_create(10);
    for (long cases = support_cases(40); cases > 0; cases--) {
        int shape = 1 + (int)rng_below(&rng, (unsigned)trees.count - 1);
        int n = trees.list[shape].leaves;
        int *by_slot = trees_ranks(NULL, n), *other = trees_ranks(&rng, n);
        struct strag_topology *a = trees_build(&trees, shape, true, by_slot);
        struct strag_topology *b = trees_build(&trees, shape, true, other);
        struct plans first = plans_of("flexreduce", a), second = plans_of("flexreduce", b);
        size_t crossings = 2 * (size_t)first.flex->tree->levels * (size_t)first.flex->tree->nnodes;
        cross_all(&first);
        cross_all(&second);
        assert_int_equal(first.instance.claim.rounds, second.instance.claim.rounds);
        assert_int_equal(first.flex->tree->nnodes, second.flex->tree->nnodes);
        for (size_t i = 0; i < crossings; i++) {
            assert_true(fabs(first.crossings[i].up - second.crossings[i].up) < 1e-9);
            assert_true(fabs(first.crossings[i].down - second.crossings[i].down) < 1e-9);
        }
        plans_free(&first);
        plans_free(&second);
        strag_topology_free(a);
        strag_topology_free(b);
        free(by_slot);
        free(other);
    }
    trees_free(&trees);
}

/* ---- Unequal shares ---- */

/* Random rates on all uplinks, also such that slow nodes own nothing. */
TEST(shares_by_rates)
{
    struct rng rng = {support_seed("shares by rates")};
    struct strag_error err = {""};
    const struct strag_algorithm *pipelined = support_algorithm("flexreduce-pipelined");
    for (long cases = support_cases(30); cases > 0; cases--) {
        int n = 2 + (int)rng_below(&rng, 30);
        int *ranks = trees_ranks(&rng, n);
        struct strag_topology *topology = trees_random(&rng, n, 1 + (int)rng_below(&rng, 4), ranks);
        for (int i = 1; i < topology->nnodes; i++)
            topology->nodes[i].uplink = 1 + rng_below(&rng, 10);
        const struct strag_problem problem = {.n = n, .topology = topology};
        if (strag_verify(pipelined, &problem, NULL, NULL, &err) != STRAG_OK)
            fail_msg("n=%d: %s", n, err.text);
        strag_topology_free(topology);
        free(ranks);
    }
}

/* ---- Overlap ---- */

static double clocks(const char *algorithm, const char *tree, double local_gbit, size_t bytes)
{
    struct strag_error err = {""};
    struct strag_topology *topology = machine_tree(tree);
    struct strag_model model = machine_model(STRAG_NETWORK_TREE);
    const struct strag_problem problem = {.n = topology->n, .topology = topology};
    double seconds = 0;
    model.local_bandwidth = local_gbit * 1e9 / 8;
    if (strag_cost_clocks(support_algorithm(algorithm), &problem, &model, &bytes, 1, &seconds,
                          &err) != STRAG_OK)
        fail_msg("%s on %s: %s", algorithm, tree, err.text);
    strag_topology_free(topology);
    return seconds;
}

/* Two hosts with uplinks of 8 Gbit/s, and memory that is as fast: one level after the other takes
 * the sum of the phases, all together little more than the longest. */
TEST(local_phases_overlap_with_uplinks)
{
    const double vector = (double)(64 << 20) / 1e9; /* seconds on an uplink */
    double apart = clocks("flexreduce", "2@8,2@8", 16, 64 << 20);
    double together = clocks("flexreduce-pipelined", "2@8,2@8", 16, 64 << 20);
    assert_true(apart > vector * (1 + 2 * 0.5 / 2) * 0.999);
    assert_true(together > vector && together < vector * 1.05);
}

/* Hosts at 8, 8 and 4 Gbit/s: the bound is one vector at 4; equal shares take 4/3 of that. */
TEST(reduce_scatter_overlaps_with_allgather)
{
    const double bound = (double)(64 << 20) / 0.5e9;
    double equal = clocks("flexreduce", "2@8,2@8,2@4", 400, 64 << 20);
    double by_rates = clocks("flexreduce-pipelined", "2@8,2@8,2@4", 400, 64 << 20);
    assert_true(equal > bound * 4 / 3);
    assert_true(by_rates >= bound && by_rates < bound * 1.05);
}

/* In the middle all stages are active in every round: both ways over the uplinks, and local. */
TEST(stages_of_a_round)
{
    struct strag_topology *topology = machine_tree("2,3");
    struct plans plans = plans_of("flexreduce-pipelined", topology);
    const struct strag_plan *plan = plans.list[0];
    int segments = 32, period = 1, sent[2][2] = {{0}}; /* [over the uplink][allgather] */
    assert_int_equal(plan->rounds, (segments + 3) * period);
    for (int i = 0; i < plan->nops; i++) {
        const struct strag_op *op = &plan->ops[i];
        if (op->kind == STRAG_SEND && op->round == plan->rounds / 2)
            sent[!strag_topology_same_host(topology, 0, op->peer)]
                [strcmp(plan->stages[op->stage], "allgather") == 0]++;
    }
    assert_true(sent[0][0] && sent[0][1] && sent[1][0] && sent[1][1]);
    assert_int_equal(strag_instance_same_rounds(&plans.instance, 2, NULL), 1);
    assert_int_equal(strag_instance_same_rounds(&plans.instance, 3, NULL), 32 - 3);
    assert_int_equal(strag_instance_same_rounds(&plans.instance, 31, NULL), 1);
    assert_int_equal(strag_instance_same_rounds(&plans.instance, 34, NULL), 1);
    plans_free(&plans);
    strag_topology_free(topology);
}

/* A plan of the tree that all counts of segments share: each count has the plans that it has
 * alone, and the last rank's takes the instance's bounds. */
TEST(counts_share_a_tree)
{
    struct strag_topology *topology = machine_tree("((3,2),(1,2,2))");
    const struct strag_algorithm *algorithm = support_algorithm("flexreduce-pipelined");
    struct strag_problem alone = {.n = topology->n, .topology = topology}, with = alone;
    int blocks[STRAG_CHOICES_MAX], same[STRAG_CHOICES_MAX];
    struct strag_error err;
    void *shared = NULL;
    assert_int_equal(strag_algorithm_share(algorithm, &alone, &shared, &err), STRAG_OK);
    assert_non_null(shared);
    with.shared = shared;
    int count = strag_algorithm_choices(algorithm, &alone, blocks);
    assert_int_equal(count, 13);
    assert_int_equal(strag_algorithm_choices(algorithm, &with, same), count);
    for (int c = 0; c < count; c++) {
        assert_int_equal(same[c], blocks[c]);
        alone.blocks = with.blocks = blocks[c];
        for (int rank = 0; rank < topology->n; rank++) {
            struct strag_plan *a = support_plan(algorithm->name, &alone, rank);
            struct strag_plan *b = support_plan(algorithm->name, &with, rank);
            assert_int_equal(a->nops, b->nops);
            assert_memory_equal(a->ops, b->ops, (size_t)a->nops * sizeof *a->ops);
            assert_int_equal(a->bounds.blocks, blocks[c]);
            assert_memory_equal(a->bounds.numerator, b->bounds.numerator,
                                ((size_t)blocks[c] + 1) * sizeof *a->bounds.numerator);
            strag_plan_free(a);
            strag_plan_free(b);
        }
    }
    strag_algorithm_unshare(algorithm, shared);
    strag_topology_free(topology);
}

/* Nothing is shared by algorithms that have nothing, or that refuse. */
TEST(nothing_to_share)
{
    struct strag_topology *torus = machine_grid(STRAG_NETWORK_TORUS, true, "3x3", NULL, 1);
    const struct strag_problem problem = {.n = torus->n, .topology = torus}, one = {.n = 1};
    struct strag_error err;
    void *shared = &err;
    assert_int_equal(strag_algorithm_share(support_algorithm("ring"), &problem, &shared, &err), 0);
    assert_null(shared);
    shared = &err;
    assert_int_equal(
        strag_algorithm_share(support_algorithm("flexreduce"), &problem, &shared, &err), STRAG_OK);
    assert_null(shared);
    shared = &err;
    assert_int_equal(strag_algorithm_share(support_algorithm("flexreduce"), &one, &shared, &err),
                     STRAG_OK);
    assert_null(shared);
    strag_algorithm_unshare(support_algorithm("ring"), NULL);
    strag_topology_free(torus);
}

/* @param segments  0: the algorithm's own choice */
static struct plans plans_in_segments(const struct strag_topology *topology, int segments)
{
    const struct strag_problem problem = {.n = topology->n, .topology = topology};
    int blocks[STRAG_CHOICES_MAX];
    assert_true(
        strag_algorithm_choices(support_algorithm("flexreduce-pipelined"), &problem, blocks) > 0);
    return plans_in_blocks("flexreduce-pipelined", topology, segments * blocks[0]);
}

/* @param segments  0: its own choice */
static void check_same(const char *tree, int segments, int period)
{
    struct strag_topology *topology = machine_tree(tree);
    struct plans plans = plans_in_segments(topology, segments);
    const struct same_rounds same = support_same_rounds(plans.instance.algorithm, &plans.problem);
    assert_int_equal(same.period, period);
    assert_in_range(same.runs, 1, same.rounds - 1);
    plans_free(&plans);
    strag_topology_free(topology);
}

TEST(identical_rounds)
{
    check_same("2,3", 0, 1);
    check_same("2,3,3,1", 0, 3);
    check_same("((2,3,1),(2,2))", 0, 2);
    check_same("2,3", 9, 1);
    check_same("2,3,3,1", 12, 3);
    check_same("((2,3,1),(2,2))", 15, 2);
}

/* How long the segments are, in the shortest one's lengths. */
static void check_lengths(const char *tree, int segments, const char *expected)
{
    struct strag_topology *topology = machine_tree(tree);
    struct plans plans = plans_in_segments(topology, segments);
    const struct strag_bounds *bounds = &plans.instance.shape.bounds;
    const int unit = bounds->blocks / segments;
    const double first = strag_block_fraction(bounds, 0, unit);
    char text[128] = "";
    for (int s = 0; s < segments; s++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%.12g", s > 0 ? " " : "",
                 strag_block_fraction(bounds, s * unit, unit) / first);
    assert_string_equal(text, expected);
    struct strag_error err = {""};
    if (strag_verify(plans.instance.algorithm, &plans.problem, NULL, NULL, &err) != STRAG_OK)
        fail_msg("%s in %d segments: %s", tree, segments, err.text);
    plans_free(&plans);
    strag_topology_free(topology);
}

/* They grow and shrink, but for powers of two, and where there is one level only. */
TEST(lengths_of_segments)
{
    check_lengths("2,3", 1, "1");
    check_lengths("2,3", 2, "1 1");
    check_lengths("2,3", 3, "1 2 1");
    check_lengths("2,3", 4, "1 1 1 1");
    check_lengths("4,4", 5, "1 2 4 2 1");
    check_lengths("((2,3),(4))", 6, "1 2 4 4 2 1");
    check_lengths("3,3,4", 7, "1 2 4 4 4 2 1");
    check_lengths("3,3,4", 12, "1 2 4 4 4 4 4 4 4 4 2 1");
    check_lengths("1,1@8,1", 5, "1 1 1 1 1");
}

/* With the model's memory, four times as fast as links, they take less time than equal ones: the
 * pipeline is filled and emptied sooner. */
TEST(growing_segments_take_less_time)
{
    static const char *const trees[] = {"2,3", "3,3,4", "8,8,8,8", "((2,3),(4,4))"};
    const struct strag_model model = machine_model(STRAG_NETWORK_TREE);
    for (size_t t = 0; t < sizeof trees / sizeof *trees; t++) {
        struct strag_topology *topology = machine_tree(trees[t]);
        double seconds[2];
        for (int form = 0; form < 2; form++) {
            struct plans plans = plans_in_segments(topology, form ? 7 : 8);
            struct strag_profile *profile;
            struct strag_error err = {""};
            assert_int_equal(strag_profile_create(plans.instance.algorithm, &plans.problem, &model,
                                                  &profile, &err),
                             STRAG_OK);
            seconds[form] = strag_profile_seconds(profile, 4 << 20);
            strag_profile_free(profile);
            plans_free(&plans);
        }
        assert_true(seconds[1] < 0.99 * seconds[0]);
        strag_topology_free(topology);
    }
}

/* The longer the vector, the more segments. */
TEST(segments_to_choose_from)
{
    struct strag_topology *topology = machine_tree("2,3");
    const struct strag_problem problem = {.n = 5, .topology = topology};
    static const int few[] = {1, 2, 3, 4, 5, 7, 8, 12, 16, 24, 32, 48, 64};
    const struct strag_algorithm *algorithm = support_algorithm("flexreduce-pipelined");
    int blocks[STRAG_CHOICES_MAX];
    assert_int_equal(strag_algorithm_choices(algorithm, &problem, blocks), 13);
    for (int i = 0; i < 13; i++)
        assert_int_equal(blocks[i], 8 * few[i]);
    strag_topology_free(topology);
    topology = machine_tree("1,1@8,1"); /* one level */
    const struct strag_problem flat = {.n = 3, .topology = topology};
    assert_int_equal(strag_algorithm_choices(algorithm, &flat, blocks), 5);
    for (int i = 0; i < 5; i++)
        assert_int_equal(blocks[i], blocks[0] << i);
    strag_topology_free(topology);
    topology = machine_flat(264, 8); /* many ranks */
    const struct strag_problem many = {.n = 264, .topology = topology};
    assert_int_equal(strag_algorithm_choices(algorithm, &many, blocks), 5);
    for (int i = 0; i < 5; i++)
        assert_int_equal(blocks[i], blocks[0] << i);
    strag_topology_free(topology);
    topology = machine_grid(STRAG_NETWORK_TORUS, true, "3x2", NULL, 1);
    const struct strag_problem torus = {.n = 6, .topology = topology};
    assert_int_equal(
        strag_algorithm_choices(support_algorithm("flexreduce-pipelined"), &torus, blocks), 1);
    assert_int_equal(blocks[0], 0);
    strag_topology_free(topology);
}

/* ---- By engines ---- */

static void run_tree(const char *algorithm, const char *tree, struct rng *rng)
{
    struct strag_error err = {""};
    struct strag_topology *topology = machine_tree(tree);
    struct plans plans = plans_of(algorithm, topology);
    struct strag_expressions expressions;
    struct strag_proof *proof = NULL;
    struct strag_claim claim;
    assert_int_equal(strag_instance_claim(&plans.instance, &claim, &err), STRAG_OK);
    if (strag_verify_plans(plans.list, topology->n, &claim, NULL, &proof, &err) != STRAG_OK)
        fail_msg("%s on %s: %s", algorithm, tree, err.text);
    strag_proof_expressions(proof, &expressions);
    struct world *world = world_create(plans.list, topology->n, 2);
    static const size_t counts[] = {0, 1, 7, 301};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        struct call_options options = world_options(counts[i]);
        options.lanes[0].segment = 1 + rng_below(rng, 20);
        options.lanes[0].slots = 1 + (int)rng_below(rng, 6);
        options.network.max_delay = rng_below(rng, 5);
        world_begin(world, &options, rng);
        world_run_well(world, &expressions, rng, algorithm);
        world_end(world);
    }
    world_free(world);
    strag_proof_free(proof);
    plans_free(&plans);
    strag_topology_free(topology);
}

TEST(engines_run_it)
{
    struct rng rng = {support_seed("engines run it")};
    static const char *const trees[] = {"2,3", "1,4", "((2,1),4),(3,(1,2))", "2@8,2@8,1@4"};
    for (size_t i = 0; i < sizeof trees / sizeof *trees; i++) {
        run_tree("flexreduce", trees[i], &rng);
        run_tree("flexreduce-pipelined", trees[i], &rng);
    }
}

/* ---- What is refused ---- */

static void assert_refused(const char *algorithm, struct strag_topology *topology, int blocks,
                           const char *why)
{
    struct strag_error err = {""};
    const struct strag_problem problem = {.n = topology->n, .topology = topology, .blocks = blocks};
    assert_int_equal(strag_algorithm_claim(support_algorithm(algorithm), &problem, NULL, &err),
                     STRAG_ERR_UNSUPPORTED);
    assert_string_equal(err.text, why);
    strag_topology_free(topology);
}

TEST(what_is_refused)
{
    assert_refused("flexreduce", machine_grid(STRAG_NETWORK_TORUS, true, "3x2", NULL, 1), 0,
                   "flexreduce needs a tree, not a torus");
    assert_refused("flexreduce", machine_tree("2,3"), 16,
                   "flexreduce cuts the vector of 5 ranks into 8 blocks, not 16");
    assert_refused(
        "flexreduce-pipelined", machine_tree("2,3"), 12,
        "flexreduce-pipelined cuts this tree's vector into 1 to 512 times 8 blocks, not 12");
    assert_refused(
        "flexreduce", machine_flat(1500, 1), 0,
        "flexreduce would send 4497000 messages or more, all ranks together; the limit is "
        "4194304");
}
