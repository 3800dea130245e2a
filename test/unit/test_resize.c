/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pipelines of more segments: the estimate that is made from one with fewer is that of the plan.
 */
#include "algorithms/table.h"

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

TEST(more_segments)
{
    static const char *const trees[] = {"((2,3),(4))", "(3,3,3)", "(5,2,1)", "((2,2),(2,2),(3))"};
    int resized[3] = {0};
    for (size_t i = 0; i < sizeof states / sizeof *states; i++) {
        for (size_t t = 0; t < sizeof trees / sizeof *trees; t++) {
            struct strag_topology *topology = machine_tree(trees[t]);
            const struct strag_problem problem = {
                .n = topology->n, .topology = topology, .state = &states[i]};
            resized[0] += resize_all(support_algorithm("flexreduce-pipelined"), &problem);
            strag_topology_free(topology);
        }
        for (int n = 2; n < 40; n++) {
            struct strag_topology *topology = machine_flat(n, 1 + n % 3);
            const struct strag_problem problem = {
                .n = n, .topology = topology, .state = &states[i]};
            if (states[i].nstragglers && !states[i].nslow)
                resized[1] += resize_all(support_algorithm("straggler-pipeline"), &problem);
            if (states[i].nslow && n > states[i].slow[0].rank)
                resized[2] += resize_all(support_algorithm("weighted"), &problem);
            strag_topology_free(topology);
        }
    }
    assert_true(resized[0] > 100);
    assert_true(resized[1] > 500);
    assert_true(resized[2] > 100);
}

TEST(plans_that_are_too_long)
{
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
