/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * flexreduce-direct: proved over a whole range of hosts, trees, slow links and numbers of segments;
 * what it says of rounds and bytes; that its levels overlap; and where it is chosen.
 */
#include "machines.h"
#include "model/cost.h"
#include "model/select.h"
#include "support.h"

#include <math.h>

static const struct strag_algorithm *algorithm(void)
{
    return support_algorithm("flexreduce-direct");
}

/* All counts of segments that are compared. */
static void prove_choices(const struct strag_problem *problem, int levels)
{
    int blocks[STRAG_CHOICES_MAX];
    const int choices = strag_algorithm_choices(algorithm(), problem, blocks);
    assert_in_range(choices, 1, STRAG_CHOICES_MAX);
    for (int c = 0; c < choices; c++) {
        struct strag_problem cut = *problem;
        cut.blocks = blocks[c];
        const struct strag_measure measure = support_verified("flexreduce-direct", &cut);
        if (c == 0)
            assert_int_equal(measure.rounds, 2 * levels);
        else
            assert_true(measure.rounds > 2 * levels);
    }
}

TEST(equal_hosts_take_two_rounds)
{
    for (int n = 2; n <= 256; n += n < 40 ? 1 : 27) {
        const struct strag_problem problem = {.n = n};
        const struct strag_measure measure = support_verified("flexreduce-direct", &problem);
        assert_int_equal(measure.rounds, 2);
        assert_float_equal(measure.sent_max, 2.0 * (n - 1) / n, 1e-12);
        if (n <= 20)
            prove_choices(&problem, 1);
    }
}

TEST(slow_links_are_proved_with_all_counts_of_segments)
{
    for (int n = 2; n <= 12; n++) {
        const struct strag_slow slow[] = {{n / 2, 1 + 0.37 * n}, {n - 1, 1.2}};
        const struct strag_state state_of_links = {.nslow = n > 4 ? 2 : 1, .slow = slow};
        const struct strag_problem problem = {.n = n, .state = &state_of_links};
        prove_choices(&problem, 1);
    }
}

TEST(trees_are_proved)
{
    static const struct {
        const char *tree;
        int levels;
    } trees[] = {{"2,3", 2},
                 {"3,3,4", 2},
                 {"4,4,4,1", 2},
                 {"1,5,2,7,3", 2},
                 {"((2,3),(4))", 3},
                 {"(((2,3),(1,4)),(5))", 4},
                 {"((1,1,1)@300,(1,1)@200,1@100)", 2},
                 {"((2,2,1)@30,(3)@10,(2,2)@20)@9", 3},
                 {"6", 1}};
    for (size_t i = 0; i < sizeof trees / sizeof *trees; i++) {
        struct strag_topology *topology = machine_tree(trees[i].tree);
        const struct strag_problem problem = {.n = topology->n, .topology = topology};
        prove_choices(&problem, trees[i].levels);
        strag_topology_free(topology);
    }
}

static double seconds(const struct strag_algorithm *of, const struct strag_problem *problem,
                      const struct strag_model *model, double bytes)
{
    struct strag_profile *profile;
    struct strag_error err = {""};
    if (strag_profile_create(of, problem, model, &profile, &err) != STRAG_OK)
        fail_msg("%s", err.text);
    const double found = strag_profile_seconds(profile, bytes);
    strag_profile_free(profile);
    return found;
}

/* The head's table: 5 hosts, one at half the rate. Very long vectors, so that nothing else counts.
 */
TEST(a_slow_link_carries_what_the_head_says)
{
    const struct strag_slow host = {0, 2};
    const struct strag_state slow = {.nslow = 1, .slow = &host};
    const struct strag_model model = machine_model(STRAG_NETWORK_TREE);
    const double bytes = 1e12, vector = 2 * bytes / model.bandwidth;
    struct strag_problem problem = {.n = 5, .state = &slow};
    int blocks[STRAG_CHOICES_MAX];
    assert_int_equal(strag_algorithm_choices(algorithm(), &problem, blocks), 16);
    problem.blocks = blocks[0];
    assert_float_equal(seconds(algorithm(), &problem, &model, bytes) / vector, 1.6, 1e-4);
    problem.blocks = blocks[1];
    assert_float_equal(seconds(algorithm(), &problem, &model, bytes) / vector, 1.5, 1e-4);
    problem.blocks = blocks[15];
    assert_float_equal(seconds(algorithm(), &problem, &model, bytes) / vector, 33.0 / 32, 1e-4);
}

/* Groups of hosts of any size, whose uplinks are as fast as their hosts' together, and hosts of
 * several ranks: levels overlap, so that little more time is needed than a ring takes. */
TEST(levels_overlap)
{
#define ONES_5  "1,1,1,1,1"
#define SIZES_7 "1@100,(1,1)@200,(1,1,1,1)@400"
#define CELL_21 "(" SIZES_7 "," SIZES_7 "," SIZES_7 ")@2100"
    static const char *const trees[] = {
        "((" ONES_5 ")@500,(" ONES_5 ",1,1,1,1)@900,(1,1)@200,(" ONES_5 "," ONES_5 "," ONES_5
        ",1)@1600)",
        "(" CELL_21 "," CELL_21 "," CELL_21 "," CELL_21 "," CELL_21 ")",
        "((4,4,4)@300,(4,4)@200,(4,4,4,4,4)@500)",
        "4,4,4,4,4,4,4,4",
    };
    const double bytes = 64 << 20;
    for (size_t i = 0; i < sizeof trees / sizeof *trees; i++) {
        struct strag_topology *topology = machine_tree(trees[i]);
        struct strag_problem problem = {.n = topology->n, .topology = topology};
        const struct strag_model model = machine_model(STRAG_NETWORK_TREE);
        const double ring = seconds(support_algorithm("ring"), &problem, &model, bytes);
        int blocks[STRAG_CHOICES_MAX];
        double least = INFINITY;
        const int choices = strag_algorithm_choices(algorithm(), &problem, blocks);
        for (int c = 0; c < choices; c++) {
            problem.blocks = blocks[c];
            least = fmin(least, seconds(algorithm(), &problem, &model, bytes));
        }
        if (!(least <= 1.1 * ring))
            fail_msg("%s: %g s, a ring takes %g s", trees[i], least, ring);
        strag_topology_free(topology);
    }
}

/* What its messages cost decides: with one host at half rate it runs at middle sizes where posting
 * takes little time, and nowhere where it takes as long as a latency. */
TEST(it_runs_where_it_is_faster)
{
    const struct strag_slow third = {3, 2};
    const struct strag_state slow = {.nslow = 1, .slow = &third};
    const struct strag_problem problem = {.n = 5, .state = &slow};
    for (int expensive = 0; expensive < 2; expensive++) {
        struct strag_model model = machine_model(STRAG_NETWORK_TREE);
        model.overhead = expensive ? model.alpha : model.alpha / 100;
        const struct strag_select_options options = {.quick = true};
        struct strag_selection *selection;
        struct strag_error err = {""};
        bool runs = false;
        if (strag_select(&problem, &model, &options, &selection, &err) != STRAG_OK)
            fail_msg("%s", err.text);
        for (int e = 0; e < selection->table.entries; e++)
            runs = runs || selection->table.entry[e].algorithm == algorithm();
        assert_int_equal(runs, !expensive);
        assert_true(expensive || strag_table_find(&selection->table, 64 << 10) == algorithm());
        strag_selection_free(selection);
    }
}

TEST(other_counts_of_blocks_are_refused)
{
    struct strag_error err = {""};
    const struct strag_problem problem = {.n = 4, .blocks = 7};
    assert_int_equal(strag_algorithm_claim(algorithm(), &problem, NULL, &err),
                     STRAG_ERR_UNSUPPORTED);
    assert_string_equal(err.text, "flexreduce-direct cuts this tree's vector into 4 blocks, or 2 "
                                  "to 512 times 4, not 7");
    const struct strag_problem many = {.n = 4000};
    assert_int_equal(strag_algorithm_claim(algorithm(), &many, NULL, &err), STRAG_ERR_UNSUPPORTED);
    assert_string_equal(err.text, "flexreduce-direct would send 31992000 messages or more, all "
                                  "ranks together; the limit is 4194304");
}
