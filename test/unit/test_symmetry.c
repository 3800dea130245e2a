/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One rank that stands for others, and one round for others of its kind: the estimates are those of
 * all ranks and all rounds, for every algorithm, on machines of equal parts and on others.
 */
#include "algorithms/table.h"
#include "model/symmetry.h"

#include "exhaust.h"
#include "machines.h"
#include "model/cost.h"
#include "support.h"

#include <math.h>
#include <string.h>

static const struct strag_slow one_slow[] = {{1, 2}}, three_slow[] = {{4, 1.5}, {0, 3}, {2, 3}},
                               hardly[] = {{1, 1.01}};
static const struct strag_straggler one_late[] = {{1, 1e-4}};
static const struct strag_state states[] = {
    {.nslow = 0},
    {.nslow = 1, .slow = one_slow},
    {.nslow = 3, .slow = three_slow},
    {.nslow = 1, .slow = hardly},
    {.nstragglers = 1, .straggler = one_late},
    {.nslow = 1, .slow = one_slow, .nstragglers = 1, .straggler = one_late},
};

/* What was found to be equivalent: so that nothing can be right by not being used. */
struct found {
    int profiles, ranks, rounds;
};

static struct strag_profile *profile_of(const struct strag_algorithm *algorithm,
                                        const struct strag_problem *problem,
                                        const struct strag_model *model)
{
    struct strag_profile *profile = NULL;
    struct strag_error err;
    int status = strag_profile_create(algorithm, problem, model, &profile, &err);
    if (status != STRAG_OK && status != STRAG_ERR_UNSUPPORTED)
        fail_msg("%s, n = %d: %s", algorithm->name, problem->n, err.text);
    return profile;
}

static int rounds_of(const struct strag_profile *profile)
{
    int rounds = 0;
    for (int p = 0; p < profile->nparts; p++)
        rounds += profile->parts[p].repeats;
    return rounds;
}

static void compare(const struct strag_algorithm *algorithm, const struct strag_problem *problem,
                    const struct strag_model *model, struct found *found)
{
    struct strag_algorithm plain = *algorithm;
    plain.like = NULL;
    plain.kind = NULL;
    struct strag_profile *one = profile_of(algorithm, problem, model);
    struct strag_profile *all = profile_of(&plain, problem, model);
    assert_int_equal(one == NULL, all == NULL);
    for (double bytes = 1; one && bytes < 1e12; bytes *= 7) {
        double mine = strag_profile_seconds(one, bytes), theirs = strag_profile_seconds(all, bytes);
        if (fabs(mine - theirs) > 1e-11 * theirs)
            fail_msg("%s, n = %d, %d blocks, %g bytes: %.15g s instead of %.15g s", algorithm->name,
                     problem->n, problem->blocks, bytes, mine, theirs);
    }
    if (one) {
        assert_int_equal(rounds_of(one), rounds_of(all));
        assert_true(one->busiest <= all->busiest * (1 + 1e-9));
        if (one->nparts == all->nparts)
            assert_true(fabs(one->busiest - all->busiest) < 0.1 * all->busiest);
        found->profiles++;
        found->rounds += one->nparts < all->nparts;
    }
    strag_profile_free(one);
    strag_profile_free(all);
}

static bool has_like(const struct strag_algorithm *algorithm, const struct strag_problem *problem,
                     const struct strag_model *model)
{
    struct strag_instance instance;
    struct strag_links *links;
    struct strag_symmetry symmetry;
    struct strag_error err;
    if (strag_instance_open(&instance, algorithm, problem, &err) != STRAG_OK)
        return false;
    assert_int_equal(strag_links_create(problem->topology, model, problem->state, &links, &err),
                     STRAG_OK);
    assert_int_equal(strag_symmetry_open(&instance, links, &symmetry, &err), STRAG_OK);
    bool found = symmetry.rank != NULL;
    for (int r = 0; found && r < problem->n; r++)
        assert_int_equal(symmetry.rank[symmetry.rank[r]], symmetry.rank[r]);
    strag_symmetry_close(&symmetry);
    strag_links_free(links);
    strag_instance_close(&instance);
    return found;
}

/* All algorithms, all their block counts, all states. */
static struct found check_machine(struct strag_topology *topology)
{
    struct found found = {0};
    struct strag_model model = strag_model_default(topology->network);
    model.reduce_bandwidth = 16e9;
    model.local_alpha = 3e-7;
    for (size_t s = 0; s < sizeof states / sizeof *states; s++) {
        struct strag_problem problem = {
            .n = topology->n, .topology = topology, .state = &states[s]};
        if (s > 0 && topology->n < 5)
            continue;
        for (int a = 0; strag_algorithms[a]; a++) {
            int blocks[STRAG_CHOICES_MAX];
            problem.blocks = 0;
            found.ranks += has_like(strag_algorithms[a], &problem, &model);
            int choices = strag_algorithm_choices(strag_algorithms[a], &problem, blocks);
            for (int c = 0; c < choices; c++) {
                problem.blocks = blocks[c];
                compare(strag_algorithms[a], &problem, &model, &found);
            }
        }
    }
    strag_topology_free(topology);
    return found;
}

static void on_switches(void **state)
{
    (void)state;
    int most = support_cases(16), ranks = 0, rounds = 0;
    for (int n = 2; n <= most; n += support_is_short() ? 2 : 1) {
        for (int g = 1; g <= 4; g++) {
            struct found found = check_machine(machine_flat(n, g));
            assert_true(found.profiles > 0);
            ranks += found.ranks;
            rounds += found.rounds;
        }
    }
    assert_true(ranks > most && rounds > most / 2);
    /* Recursive doubling and halving, the two rows of swing, three of flexreduce, optcc and
     * weighted; with a straggler as well. */
    assert_int_equal(check_machine(machine_flat(32, 8)).ranks, 2 * 9);
}

static void on_tori(void **state)
{
    (void)state;
    static const char *const dims[] = {"4x4", "8x4", "16", "2x8"};
    static const char *const others[] = {"6x5", "2x2x2", "5", "1x4", "12x2"};
    for (size_t i = 0; i < sizeof dims / sizeof *dims; i += support_is_short() ? 3 : 1) {
        struct strag_topology *topology = machine_grid(STRAG_NETWORK_TORUS, true, dims[i], NULL, 1);
        /* Two rows of swing, two of bine, and bucket; with a straggler as well. */
        assert_int_equal(check_machine(topology).ranks, 2 * 5);
        assert_int_equal(
            check_machine(machine_grid(STRAG_NETWORK_TORUS, false, dims[i], NULL, 1)).ranks, 0);
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        check_machine(machine_grid(STRAG_NETWORK_TORUS, true, others[i], NULL, 1));
    check_machine(machine_grid(STRAG_NETWORK_TORUS, true, "4x4", NULL, 2));
    check_machine(machine_grid(STRAG_NETWORK_HYPERX, true, "4x4", NULL, 1));
    check_machine(machine_grid(STRAG_NETWORK_HAMMINGMESH, true, "8x8", "2x2", 1));
}

static void on_trees(void **state)
{
    (void)state;
    static const char *const equal[] = {"((4,4),(4,4))", "((2,2,2),(2,2,2))", "(1,1,1),(1,1,1)",
                                        "(((2,2),(2,2)),((2,2),(2,2)))"};
    static const char *const others[] = {"((2,3),(4))",
                                         "2,3,1",
                                         "1@40,1@100,1@100,1@100,1@100",
                                         "(1,1,1)@50,(1,1)@50",
                                         "1@98,1@100,1@100,1@100,1@60",
                                         "2@99,2@100,2@50,2@100",
                                         "1@1,1@2,1@3,1@4,1@5,1@6"};
    for (size_t i = 0; i < sizeof equal / sizeof *equal; i++)
        assert_true(check_machine(machine_tree(equal[i])).ranks >= 2);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_int_equal(check_machine(machine_tree(others[i])).ranks, 0);
}

/* Ranks that are interleaved over hosts are not in the order of the tree. */
static void in_another_order(void **state)
{
    (void)state;
    struct machine_nodes nodes = machine_parse("N(H(0 2 4 6) H(1 3 5 7))");
    assert_int_equal(check_machine(machine_finish(&nodes, NULL)).ranks, 0);
    nodes = machine_parse("N(H(P(0 1) P(2 3)) H(P(4 5) P(6 7)))");
    assert_true(check_machine(machine_finish(&nodes, NULL)).ranks >= 2);
}

/* A claim that is wrong is noticed here: ranks of a ring are not equivalent on a tree of switches.
 */
static int all_are_equivalent(const struct strag_problem *problem, enum strag_machine machine,
                              int rank)
{
    (void)problem, (void)machine, (void)rank;
    return 0;
}

static void a_wrong_claim_gives_other_times(void **state)
{
    (void)state;
    struct strag_topology *topology = machine_tree("((1,1),(1,1))");
    const struct strag_problem problem = {.n = 4, .topology = topology};
    struct strag_model model = strag_model_default(STRAG_NETWORK_TREE);
    struct strag_algorithm wrong = *support_algorithm("ring");
    model.hop_latency = 1e-6;
    wrong.like = all_are_equivalent;
    struct strag_profile *one = profile_of(support_algorithm("ring"), &problem, &model);
    struct strag_profile *other = profile_of(&wrong, &problem, &model);
    assert_true(strag_profile_seconds(one, 1) > strag_profile_seconds(other, 1) * 1.1 ||
                strag_profile_seconds(one, 1) * 1.1 < strag_profile_seconds(other, 1) ||
                fabs(one->busiest - other->busiest) > 0.1);
    strag_profile_free(one);
    strag_profile_free(other);
    strag_topology_free(topology);
}

static int try_profile(const void *what, struct strag_error *err, bool *made)
{
    const struct strag_slow slow[] = {{1, 2}};
    const struct strag_state one = {.nslow = 1, .slow = slow};
    const struct strag_model model = strag_model_default(STRAG_NETWORK_TREE);
    const struct strag_algorithm *algorithm = what;
    const struct strag_problem problem = {.n = 8, .state = algorithm->kind ? &one : NULL};
    struct strag_profile *profile = NULL;
    int status = strag_profile_create(algorithm, &problem, &model, &profile, err);
    *made = profile != NULL;
    strag_profile_free(profile);
    return status;
}

static void memory_runs_out(void **state)
{
    (void)state;
    assert_true(exhaust("an estimate of swing", try_profile, support_algorithm("swing")) > 10);
    assert_true(exhaust("an estimate of optcc", try_profile, support_algorithm("optcc")) > 15);
    assert_true(exhaust("an estimate of weighted", try_profile, support_algorithm("weighted")) >
                15);
}

/* ---- Pipelines of more segments ---- */

static int same_as_made(const struct strag_profile *resized,
                        const struct strag_algorithm *algorithm,
                        const struct strag_problem *problem, const struct strag_model *model)
{
    struct strag_profile *made = profile_of(algorithm, problem, model);
    assert_non_null(made);
    for (double bytes = 1; bytes < 1e12; bytes *= 30) {
        double seconds = strag_profile_seconds(made, bytes);
        if (fabs(strag_profile_seconds(resized, bytes) - seconds) > 1e-9 * seconds)
            fail_msg("%s, n = %d, %d blocks, %g bytes: resized %.12g s, made %.12g s",
                     algorithm->name, problem->n, problem->blocks, bytes,
                     strag_profile_seconds(resized, bytes), seconds);
    }
    strag_profile_free(made);
    return 1;
}

/* Which form a count of blocks has; negative: no other count tells what it takes. */
static int form_of(const struct strag_algorithm *algorithm, const struct strag_problem *problem,
                   int blocks)
{
    return algorithm->form_of ? algorithm->form_of(problem, blocks) : 0;
}

/* From every count of blocks to every other one of its form. @return how many could be had so */
static int resize_all(const struct strag_algorithm *algorithm, const struct strag_problem *problem)
{
    struct strag_model model = strag_model_default(problem->topology->network);
    int blocks[STRAG_CHOICES_MAX], found = 0;
    int choices = strag_algorithm_choices(algorithm, problem, blocks);
    struct strag_problem cut = *problem;
    struct strag_error err;
    void *shared;
    assert_int_equal(strag_algorithm_share(algorithm, problem, &shared, &err), STRAG_OK);
    cut.shared = shared;
    for (int from = 0; from < choices && blocks[from] <= 4096; from++) {
        cut.blocks = blocks[from];
        struct strag_profile *profile = profile_of(algorithm, &cut, &model);
        const int form = form_of(algorithm, &cut, blocks[from]);
        for (int to = 0; profile && to < choices && blocks[to] <= 4096; to++) {
            struct strag_profile *resized = NULL;
            if (form < 0 || form_of(algorithm, &cut, blocks[to]) != form)
                continue;
            cut.blocks = blocks[to];
            assert_int_equal(strag_profile_resize(profile, cut.blocks, 0, &resized, &err),
                             STRAG_OK);
            if (resized && to != from)
                found += same_as_made(resized, algorithm, &cut, &model);
            strag_profile_free(resized);
        }
        strag_profile_free(profile);
    }
    strag_algorithm_unshare(algorithm, shared);
    return found;
}

static void more_segments(void **state)
{
    (void)state;
    static const char *const trees[] = {"((2,3),(4))", "(3,3,3)", "(5,2,1)", "((2,2),(2,2),(3))"};
    int resized[2] = {0, 0};
    for (size_t i = 0; i < sizeof states / sizeof *states; i++) {
        for (size_t t = 0; t < sizeof trees / sizeof *trees; t++) {
            struct strag_topology *topology = machine_tree(trees[t]);
            const struct strag_problem problem = {
                .n = topology->n, .topology = topology, .state = &states[i]};
            resized[0] += resize_all(support_algorithm("flexreduce-pipelined"), &problem);
            strag_topology_free(topology);
        }
        for (int n = 2; n < 40 && states[i].nstragglers && !states[i].nslow; n++) {
            struct strag_topology *topology = machine_flat(n, 1 + n % 3);
            const struct strag_problem problem = {
                .n = n, .topology = topology, .state = &states[i]};
            resized[1] += resize_all(support_algorithm("straggler-pipeline"), &problem);
            strag_topology_free(topology);
        }
    }
    assert_true(resized[0] > 100);
    assert_true(resized[1] > 500);
}

static void plans_that_are_too_long(void **state)
{
    (void)state;
    struct strag_topology *topology = machine_tree("(3,3,3)");
    const struct strag_model model = strag_model_default(STRAG_NETWORK_TREE);
    const struct strag_algorithm *algorithm = support_algorithm("flexreduce-pipelined");
    int blocks[STRAG_CHOICES_MAX];
    struct strag_problem problem = {.n = 9, .topology = topology};
    assert_true(strag_algorithm_choices(algorithm, &problem, blocks) > 2);
    const int eight = 8 * blocks[0], sixteen = 2 * eight; /* segments of equal length */
    problem.blocks = eight;
    struct strag_profile *profile = profile_of(algorithm, &problem, &model), *resized = NULL;
    struct strag_error err = {""};
    profile->operations = 100;
    assert_int_equal(strag_profile_resize(profile, sixteen, 199, &resized, &err),
                     STRAG_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.text, "more than 199 operations"));
    assert_null(resized);
    assert_int_equal(strag_profile_resize(profile, sixteen, 200, &resized, &err), STRAG_OK);
    assert_int_equal(resized->operations, 200);
    strag_profile_free(resized);
    /* Half a segment more is something else. */
    assert_int_equal(strag_profile_resize(profile, eight + 1, 0, &resized, &err), STRAG_OK);
    assert_null(resized);
    strag_profile_free(profile);
    strag_topology_free(topology);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(on_switches),
        cmocka_unit_test(on_tori),
        cmocka_unit_test(on_trees),
        cmocka_unit_test(in_another_order),
        cmocka_unit_test(a_wrong_claim_gives_other_times),
        cmocka_unit_test(more_segments),
        cmocka_unit_test(plans_that_are_too_long),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
