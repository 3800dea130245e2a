/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * FlexReduce's planning: the paper's example to the range, portions, calls and their bound
 * (equation 12), the time (equation 6), shares by rates, rounding where no denominator is small
 * enough.
 */
#include "algorithms/flex_shares.h"
#include "flex_cost.h"
#include "machines.h"
#include "model/cost.h"
#include "trees.h"

#include <math.h>

static const struct strag_flex_form paper = {false, false}, split = {false, true},
                                    by_rates = {true, true};

/* What is freed together. */
struct planned {
    struct strag_topology *topology;
    struct strag_problem problem;
    struct strag_flex *flex;
};

static struct planned plan_problem(struct strag_topology *topology, const struct strag_state *state,
                                   struct strag_flex_form form)
{
    struct strag_error err = {""};
    struct planned planned = {
        .topology = topology,
        .problem = {.n = topology->n, .topology = topology, .state = state},
    };
    struct strag_tree *tree = NULL;
    assert_int_equal(strag_tree_create(&planned.problem, &tree, &err), STRAG_OK);
    assert_int_equal(strag_flex_create(tree, form, &planned.flex, &err), STRAG_OK);
    return planned;
}

static struct planned plan_text(const char *text)
{
    return plan_problem(machine_tree(text), NULL, paper);
}

static void planned_free(struct planned *planned)
{
    strag_flex_free(planned->flex);
    strag_topology_free(planned->topology);
}

/* The only range of a position before a level (or after the last). */
static struct strag_flex_range range_of(const struct strag_flex *flex, int level, int position)
{
    int count;
    bool after = level == flex->tree->levels;
    const struct strag_flex_range *own =
        strag_flex_own(flex, level - after, position, after, &count);
    assert_int_equal(count, 1);
    assert_int_equal(own->position, position);
    return *own;
}

/* A position's range before a level must be [begin, end), out of the vector's items. */
static void assert_range(const struct strag_flex *flex, int level, int position, int items,
                         int begin, int end)
{
    struct strag_flex_range range = range_of(flex, level, position);
    assert_int_equal(flex->cuts[range.first] * items, begin * flex->whole);
    assert_int_equal(flex->cuts[range.end] * items, end * flex->whole);
}

/* ---- The paper's example ---- */

/* Fig. 2: leaves D E | F G H, 12 items. */
TEST(the_papers_ranges)
{
    static const int local[5][2] = {{0, 6}, {6, 12}, {0, 4}, {4, 8}, {8, 12}};
    static const int global[5][2] = {{2, 5}, {7, 10}, {0, 2}, {5, 7}, {10, 12}};
    struct planned planned = plan_text("2,3");
    assert_int_equal(planned.flex->tree->levels, 2);
    assert_int_equal(planned.flex->whole, 12);
    for (int p = 0; p < 5; p++) {
        assert_range(planned.flex, 0, p, 12, 0, 12);
        assert_range(planned.flex, 1, p, 12, local[p][0], local[p][1]);
        assert_range(planned.flex, 2, p, 12, global[p][0], global[p][1]);
    }
    planned_free(&planned);
}

/* A call: these items, from its two holders. */
struct call {
    int owner, begin, end;
    int holder[2];
};

/* Fig. 2 (e): the calls of the root's level. */
TEST(the_papers_calls)
{
    static const struct call calls[] = {{2, 0, 2, {0, 2}},  {0, 2, 4, {0, 2}},  {0, 4, 5, {0, 3}},
                                        {3, 5, 6, {0, 3}},  {3, 6, 7, {1, 3}},  {1, 7, 8, {1, 3}},
                                        {1, 8, 10, {1, 4}}, {4, 10, 12, {1, 4}}};
    static const int per_leaf[] = {2, 2, 1, 2, 1};
    struct planned planned = plan_text("2,3");
    const struct strag_flex *flex = planned.flex;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        struct strag_flex_range range = {0, 0, 0}, overlap;
        while (flex->cuts[range.first] < calls[i].begin)
            range.first++;
        while (flex->cuts[range.end] < calls[i].end)
            range.end++;
        for (int c = 0; c < 2; c++) {
            struct strag_flex_search search = strag_flex_search(flex, 1, 1 + c, false, range);
            assert_true(strag_flex_next(&search, &overlap));
            assert_int_equal(overlap.position, calls[i].holder[c]);
            assert_int_equal(overlap.first, range.first);
            assert_int_equal(overlap.end, range.end);
            assert_false(strag_flex_next(&search, &overlap));
            bool owns = c == (calls[i].owner >= 2);
            search = strag_flex_search(flex, 1, 1 + c, true, range);
            assert_int_equal(strag_flex_next(&search, &overlap), owns);
            if (owns)
                assert_int_equal(overlap.position, calls[i].owner);
        }
    }
    for (int p = 0; p < 5; p++)
        assert_int_equal(strag_flex_calls(flex, 1, p), per_leaf[p]);
    planned_free(&planned);
}

/* ---- All trees ---- */

/* What a position has after a level: the product of 1 / degree, exactly. */
static void check_portion(const struct strag_flex *flex, int level, int position)
{
    const struct strag_tree *tree = flex->tree;
    int count;
    const struct strag_flex_range *own = strag_flex_own(flex, level, position, true, &count);
    int64_t portion = 0, product = 1;
    for (int i = 0; i < count; i++)
        portion += strag_flex_length(flex, own[i]);
    for (int l = 0; l <= level; l++) {
        int above = strag_tree_ancestor(tree, l, position);
        product *= above < 0 ? 1 : tree->nodes[above].children;
    }
    assert_int_equal(portion * product, flex->whole);
}

/* Is a block among a position's ranges? */
static bool has_block(const struct strag_flex *flex, int level, int position, bool after, int block)
{
    int count;
    const struct strag_flex_range *own = strag_flex_own(flex, level, position, after, &count);
    for (int i = 0; i < count; i++) {
        if (own[i].first <= block && block < own[i].end)
            return true;
    }
    return false;
}

/* After a level every block belongs to one leaf below each of its nodes; in the split form to one
 * that had it before. */
static void check_blocks(const struct strag_flex *flex, const struct strag_tree_node *node,
                         bool inside)
{
    for (int b = 0; b < flex->blocks; b++) {
        int owners = 0;
        for (int p = node->first_leaf; p < node->first_leaf + node->leaves; p++) {
            bool owns = has_block(flex, node->level, p, true, b);
            owners += owns;
            if (owns && inside)
                assert_true(has_block(flex, node->level, p, false, b));
        }
        assert_int_equal(owners, 1);
    }
}

static void check_ranges(const struct strag_flex *flex, bool exact, bool inside)
{
    const struct strag_tree *tree = flex->tree;
    for (int i = 0; i < tree->nnodes; i++) {
        const struct strag_tree_node *node = &tree->nodes[i];
        if (node->children)
            check_blocks(flex, node, inside);
        for (int p = 0; exact && node->children && p < node->leaves; p++)
            check_portion(flex, node->level, node->first_leaf + p);
    }
}

/* @return the most calls that a position owns at one level */
static int check_calls(const struct strag_flex *flex)
{
    int most = 0;
    for (int level = 0; level < flex->tree->levels; level++) {
        for (int p = 0; p < flex->tree->n; p++) {
            int calls = strag_flex_calls(flex, level, p);
            int64_t bound = strag_flex_call_bound(flex, level, p);
            if (calls > bound)
                fail_msg("%d calls of position %d at level %d; the bound is %lld", calls, p, level,
                         (long long)bound);
            most = calls > most ? calls : most;
        }
    }
    return most;
}

TEST(all_small_trees)
{
    struct trees trees = trees_create(support_cases(8) >= 1000 ? TREES_LEAVES_MAX : 8);
    int *ranks = trees_ranks(NULL, TREES_LEAVES_MAX), most = 0;
    for (int shape = 1; shape < trees.count; shape++) {
        struct planned planned =
            plan_problem(trees_build(&trees, shape, shape % 2, ranks), NULL, paper);
        check_ranges(planned.flex, true, false);
        int calls = check_calls(planned.flex);
        most = calls > most ? calls : most;
        planned_free(&planned);
        planned = plan_problem(trees_build(&trees, shape, shape % 2, ranks), NULL, split);
        check_ranges(planned.flex, true, true);
        check_calls(planned.flex);
        planned_free(&planned);
    }
    /* The number of trees (A000669 in the encyclopedia of integer sequences). */
    static const int known[] = {0, 1, 1, 2, 5, 12, 33, 90, 261, 766, 2312, 7068, 21965};
    for (int l = 1; l <= TREES_LEAVES_MAX && trees.first[l + 1]; l++)
        assert_int_equal(trees.first[l + 1] - trees.first[l], known[l]);
    print_message("up to %d calls\n", most);
    assert_in_range(most, 4, 20); /* some trees do have many */
    free(ranks);
    trees_free(&trees);
}

/* Where the paper's ranges lie within the old ones the split form is the same. */
TEST(the_forms_agree)
{
    static const char *const texts[] = {"2,2", "2,3", "3,4", "4,4", "3,3,3", "3,3,4", "4,4,4", "5"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct planned a = plan_text(texts[i]);
        struct planned b = plan_problem(machine_tree(texts[i]), NULL, split);
        int levels = a.flex->tree->levels;
        assert_int_equal(a.flex->blocks, b.flex->blocks);
        for (int p = 0; p < a.flex->tree->n; p++) {
            struct strag_flex_range x = range_of(a.flex, levels, p),
                                    y = range_of(b.flex, levels, p);
            assert_int_equal(x.first, y.first);
            assert_int_equal(x.end, y.end);
        }
        planned_free(&a);
        planned_free(&b);
    }
}

/* Hosts of 1 and 4: the single rank gets what the others leave, each of which needs half of its
 * own range. */
TEST(a_range_is_split)
{
    struct planned planned = plan_problem(machine_tree("1,4"), NULL, split);
    const struct strag_flex *flex = planned.flex;
    int single = -1, count;
    for (int p = 0; p < 5; p++)
        single = strag_tree_ancestor(flex->tree, 0, p) < 0 ? p : single;
    const struct strag_flex_range *own = strag_flex_own(flex, 1, single, true, &count);
    static const int expected[3][2] = {{1, 2}, {3, 4}, {5, 7}};
    assert_int_equal(flex->whole, 8);
    assert_int_equal(count, 3);
    for (int i = 0; i < count; i++) {
        assert_int_equal(flex->cuts[own[i].first], expected[i][0]);
        assert_int_equal(flex->cuts[own[i].end], expected[i][1]);
    }
    assert_int_equal(strag_flex_calls(flex, 1, single), 4);
    planned_free(&planned);
}

/* Trees in which splitting would leave too many ranges: then there is one for each leaf. */
TEST(too_many_ranges)
{
    struct rng rng = {support_seed("too many ranges")};
    int *ranks = trees_ranks(NULL, 400), fell_back = 0;
    for (int tree = 0; tree < 10; tree++) {
        struct planned planned = plan_problem(trees_random(&rng, 400, 6, ranks), NULL, split);
        const struct strag_flex *flex = planned.flex;
        int levels = flex->tree->levels, ranges = flex->lists[3 * levels].at[400];
        fell_back += !flex->split;
        if (flex->split)
            assert_in_range(ranges, 400, 2500);
        else
            assert_int_equal(ranges, 400);
        planned_free(&planned);
    }
    assert_in_range(fell_back, 1, 9);
    free(ranks);
}

/* ---- Equation 6 ---- */

/* The model's uplinks, for every inner node of the tree. */
static double *bandwidths(const struct strag_tree *tree)
{
    double *bandwidth = malloc((size_t)tree->nnodes * sizeof *bandwidth);
    assert_non_null(bandwidth);
    for (int i = 0; i < tree->nnodes; i++)
        bandwidth[i] =
            tree->nodes[i].children ? strag_tree_uplink(tree, tree->nodes[i].first_child) : 0;
    return bandwidth;
}

static double equation_6(const char *text, double alpha, double bytes)
{
    struct planned planned = plan_text(text);
    double *bandwidth = bandwidths(planned.flex->tree);
    double seconds = strag_flex_seconds(planned.flex->tree, bytes, alpha, bandwidth);
    free(bandwidth);
    planned_free(&planned);
    return seconds;
}

static double estimate(const char *text, double alpha, double bytes)
{
    struct strag_error err = {""};
    struct strag_topology *topology = machine_tree(text);
    struct strag_model model = machine_model(STRAG_NETWORK_TREE);
    const struct strag_problem problem = {.n = topology->n, .topology = topology};
    struct strag_profile *profile = NULL;
    model.alpha = alpha;
    model.overhead = alpha; /* rounds wait for one another */
    assert_int_equal(
        strag_profile_create(support_algorithm("flexreduce"), &problem, &model, &profile, &err),
        STRAG_OK);
    double seconds = strag_profile_seconds(profile, bytes);
    strag_profile_free(profile);
    strag_topology_free(topology);
    return seconds;
}

/* By hand: hosts of one rank on switches. A rate of 80 Gbit/s is 1e10 bytes per second. */
TEST(the_papers_time)
{
    const double a = 1e-6, s = 1e6, w = 1e10;
    assert_near(equation_6("1@80,1@80,1@80", a, s), 2 * 2 * (a + s / (3 * w)));
    /* Two racks: of 2 and 3 hosts; the racks' uplinks are ten times slower, then as fast. */
    assert_near(equation_6("(1@80,1@80)@8,(1@80,1@80,1@80)@8", a, s),
                2 * (2 * (a + s / (3 * w)) + (a + s / (2 * 0.1 * w))));
    assert_near(equation_6("(1@80,1@80)@80,(1@80,1@80,1@80)@80", a, s),
                2 * (2 * (a + s / (3 * w)) + (a + s / (2 * w))));
    /* The racks' uplinks are ten times faster: then a host's limits the upper level too. */
    assert_near(equation_6("(1@80,1@80)@800,(1@80,1@80,1@80)@800", a, s),
                2 * (2 * (a + s / (3 * w)) + (a + s / (2 * 2 * w))));
}

/* The plan of a symmetric tree takes exactly that, round by round. */
TEST(the_plans_time)
{
    static const char *const texts[] = {
        "1@8,1@8,1@8,1@8,1@8",
        "(1@8,1@8,1@8)@2,(1@8,1@8,1@8)@2",
        "(1@8,1@8,1@8)@20,(1@8,1@8,1@8)@20",
        "((1@8,1@8)@4,(1@8,1@8)@4)@9,((1@8,1@8)@4,(1@8,1@8)@4)@9,((1@8,1@8)@4,(1@8,1@8)@4)@9",
        "((1@8,1@8)@14,(1@8,1@8)@14)@90,((1@8,1@8)@14,(1@8,1@8)@14)@90",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_near(estimate(texts[i], 1e-6, 1e6), equation_6(texts[i], 1e-6, 1e6));
        assert_near(estimate(texts[i], 5e-5, 1), equation_6(texts[i], 5e-5, 1));
    }
}

/* ---- Shares ---- */

static void assert_shares(const char *text, const struct strag_state *state, const double *expected)
{
    struct planned planned = plan_problem(machine_tree(text), state, by_rates);
    const struct strag_tree *tree = planned.flex->tree;
    const int64_t whole = INT64_C(1) << 50;
    int64_t shares[16], sum = 0;
    assert_in_range(tree->nodes[0].children, 2, 16);
    const struct strag_flex_hosts hosts = strag_flex_hosts(tree);
    strag_flex_shares(tree, 0, &hosts, whole, shares);
    for (int c = 0; c < tree->nodes[0].children; c++) {
        assert_near((double)shares[c] / (double)whole, expected[c]);
        sum += shares[c];
    }
    assert_int_equal(sum, whole);
    check_ranges(planned.flex, false, true);
    check_calls(planned.flex);
    planned_free(&planned);
}

/* Children may stand in another order than in the text: these are symmetric, or sorted by hand. */
TEST(shares_by_rates)
{
    const struct strag_slow slow = {.rank = 0, .factor = 2};
    const struct strag_state slowed = {.nslow = 1, .slow = &slow};
    static const double half[] = {0.5, 0.5}, third[] = {1 / 3., 1 / 3., 1 / 3.};
    assert_shares("2@100,3@10", NULL, half);
    assert_shares("2@100,3@100,1@100", NULL, third);
    assert_shares("2,3,1", NULL, third);
    assert_shares("2@100,3,1@50", NULL, third); /* not all are said */
    /* T = 2*2/2.5 < 1/0.5: the slow one owns nothing. */
    assert_shares("2@100,2@100,2@50", NULL, (double[]){0.5, 0.5, 0});
    assert_shares("2,2,2", &slowed, (double[]){0, 0.5, 0.5});
    assert_shares("2@90,2@90,2@90", &slowed, (double[]){0, 0.5, 0.5});
    /* Four, one at 80: T = 6/380; f = (T w - 1)/2. */
    assert_shares("1@100,1@100,1@100,1@80", NULL,
                  (double[]){11 / 38., 11 / 38., 11 / 38., 5 / 38.});
    /* A rank that is slower than numbers can tell. */
    const struct strag_slow slowest = {.rank = 0, .factor = INFINITY};
    assert_shares("2,2,2", &(struct strag_state){.nslow = 1, .slow = &slowest}, third);
    /* One alone is fast enough to own it all. */
    assert_shares("1@100,1@50,1@50", NULL, (double[]){1, 0, 0});
}

/* Two switches with 2 hosts each and an uplink of .6 links, two with 4 and one of 4 links. For the
 * uplinks' sake the latter would own all of the vector, half each, in the time T = 1 / .6; but
 * their hosts would take 2 vectors' time. The uplinks take longer, too, until both take as long: f
 * = (.6 T - 1) / 2, and 2 - (1 - 2 (.5 - f)) / 4 = T. */
TEST(hosts_are_relieved)
{
    const char *text = "(1@100,1@100)@60,(1@100,1@100,1@100,1@100)@400,"
                       "(1@100,1@100)@60,(1@100,1@100,1@100,1@100)@400";
    struct planned planned = plan_problem(machine_tree(text), NULL, by_rates);
    const struct strag_tree *tree = planned.flex->tree;
    const struct strag_flex_hosts hosts = strag_flex_hosts(tree);
    const double time = 2.25 / 1.15, least = (.6 * time - 1) / 2;
    const int64_t whole = INT64_C(1) << 50;
    int64_t shares[4];
    assert_int_equal(hosts.count, 12);
    assert_float_equal(hosts.rate, 100e9 / 8, 1);
    assert_int_equal(tree->nodes[0].children, 4);
    strag_flex_shares(tree, 0, &hosts, whole, shares);
    for (int c = 0; c < 4; c++) {
        const double expected = c % 2 == 0 ? least : .5 - least;
        assert_float_equal((double)shares[c] / (double)whole, expected, 1e-4);
    }
    planned_free(&planned);
}

/* With its share every uplink carries (1 + (q-2) f), which none takes longer for than T. */
TEST(no_uplink_takes_longer)
{
    struct rng rng = {support_seed("no uplink takes longer")};
    for (long cases = support_cases(200); cases > 0; cases--) {
        struct machine_nodes nodes = machine_nodes_create();
        int q = 3 + (int)rng_below(&rng, 10);
        double sum = 0, least = INFINITY;
        for (int h = 0; h < q; h++) {
            int host = machine_node(&nodes, 0, STRAG_LEVEL_HOST);
            double rate = 1 + rng_below(&rng, 100);
            nodes.list[host].uplink = rate;
            sum += rate;
            least = rate < least ? rate : least;
            machine_rank(&nodes, host, h);
        }
        double time = fmax(2 * (q - 1) / sum, 1 / least);
        struct planned planned = plan_problem(machine_finish(&nodes, NULL), NULL, by_rates);
        const struct strag_tree *tree = planned.flex->tree;
        int64_t shares[16];
        const struct strag_flex_hosts hosts = strag_flex_hosts(tree);
        strag_flex_shares(tree, 0, &hosts, planned.flex->whole, shares);
        for (int c = 0; c < q; c++) {
            double share = (double)shares[c] / (double)planned.flex->whole;
            assert_true(shares[c] >= 0);
            assert_true((1 + (q - 2) * share) / strag_tree_uplink(tree, 1 + c) <=
                        time * (1 + 1e-9));
        }
        planned_free(&planned);
    }
}

/* ---- Rounding ---- */

/* Hosts of 2, 3, 5, .. ranks: the least common denominator is the product of these primes. */
TEST(cuts_are_rounded)
{
    static const char *const texts[] = {
        "2,3,5,7,11,13,17,19,23,29,31,37,41,43", /* 14 times their product is too much */
        "2,3,5,7,11,13,17,19,23,29,31,37,41",    /* 13 times fits */
    };
    struct planned rounded = plan_text(texts[0]), exact = plan_text(texts[1]);
    assert_int_equal(rounded.flex->whole, INT64_C(5342931457063200));
    assert_int_equal(exact.flex->whole, 13 * INT64_C(304250263527210));
    check_ranges(rounded.flex, false, false);
    check_ranges(exact.flex, true, false);
    for (int p = 0; p < rounded.flex->tree->n; p++) {
        int host = strag_tree_ancestor(rounded.flex->tree, 0, p);
        double product = 14. * rounded.flex->tree->nodes[host].children;
        struct strag_flex_range range = range_of(rounded.flex, 2, p);
        int64_t length = strag_flex_length(rounded.flex, range);
        assert_true(fabs((double)length - (double)rounded.flex->whole / product) <= 2);
    }
    planned_free(&rounded);
    planned_free(&exact);
}
