/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From an algorithm and a problem to an instance, and to the plans of its ranks.
 */
#include "plan/algorithm.h"

#include "base/units.h"

#include <stdlib.h>

/* The checks of a problem that are the same for every algorithm. */
static int check_problem(const struct strag_problem *problem, struct strag_error *err)
{
    int n = problem->n;
    if (n < 1)
        return strag_fail(err, STRAG_ERR_ARGUMENT, "n = %d; must be at least 1", n);
    if (problem->ports < 0)
        return strag_fail(err, STRAG_ERR_ARGUMENT, "ports = %d; at least 1, or 0 for any number",
                          problem->ports);
    if (problem->topology && problem->topology->n != n)
        return strag_fail(err, STRAG_ERR_ARGUMENT, "n = %d on a topology of %s", n,
                          strag_units_count(problem->topology->n, "rank").text);
    if (problem->root < 0 || problem->root >= n)
        return strag_fail(err, STRAG_ERR_ARGUMENT, "root %d; with %s it is 0 to %d", problem->root,
                          strag_units_count(n, "rank").text, n - 1);
    return strag_state_check(problem->state, n, err);
}

/* ---- Instances ---- */

static int check_blocks(const struct strag_instance *instance, struct strag_error *err)
{
    int given = instance->problem.blocks, blocks = instance->claim.blocks;
    if (given && given != blocks)
        return strag_fail(err, STRAG_ERR_UNSUPPORTED, "%s cuts the vector of %s into %s, not %d",
                          instance->algorithm->name,
                          strag_units_count(instance->problem.n, "rank").text,
                          strag_units_count(blocks, "block").text, given);
    return STRAG_OK;
}

/* A single rank has nothing to do, whatever the algorithm. */
static int make_claim(struct strag_instance *instance, struct strag_error *err)
{
    const struct strag_algorithm *algorithm = instance->algorithm;
    if (instance->problem.n == 1) {
        instance->claim = (struct strag_claim){.blocks = 1, .ports = 1};
        return check_blocks(instance, err);
    }
    if (algorithm->share && !instance->problem.shared) {
        int status = algorithm->share(&instance->problem, &instance->shared, err);
        if (status != STRAG_OK)
            return status;
        instance->problem.shared = instance->shared;
    }
    if (algorithm->prepare) {
        int status = algorithm->prepare(&instance->problem, &instance->prepared, err);
        if (status != STRAG_OK)
            return status;
        instance->problem.prepared = instance->prepared;
    }
    algorithm->claim(&instance->problem, &instance->claim);
    return check_blocks(instance, err);
}

static int make_shape(struct strag_instance *instance, struct strag_error *err)
{
    struct strag_bounds bounds = {.blocks = instance->claim.blocks,
                                  .denominator = instance->claim.blocks};
    if (instance->algorithm->bounds && instance->problem.n > 1) {
        bounds.numerator = calloc((size_t)bounds.blocks + 1, sizeof *bounds.numerator);
        if (!bounds.numerator)
            return strag_fail(err, STRAG_ERR_MEMORY, "out of memory for %d blocks", bounds.blocks);
        instance->algorithm->bounds(&instance->problem, &bounds);
    }
    instance->shape = (struct strag_shape){
        .algorithm = instance->algorithm->name,
        .n = instance->problem.n,
        .rounds = instance->claim.rounds,
        .bounds = bounds,
        .in_step = instance->claim.in_step,
    };
    return STRAG_OK;
}

bool strag_algorithm_suits(const struct strag_algorithm *algorithm, const struct strag_state *state)
{
    return !algorithm->needs_straggler || (state && state->nstragglers > 0);
}

/* Can the algorithm plan the problem? */
static int check_algorithm(const struct strag_problem *problem, struct strag_error *err)
{
    const struct strag_algorithm *algorithm = problem->algorithm;
    if (problem->n > 1 && !strag_algorithm_suits(algorithm, problem->state))
        return strag_fail(err, STRAG_ERR_UNSUPPORTED,
                          "%s is for a rank that arrives late, and none is named", algorithm->name);
    if (problem->root != 0 && !algorithm->rooted)
        return strag_fail(err, STRAG_ERR_UNSUPPORTED, "%s has no root, and %d was given",
                          algorithm->name, problem->root);
    return algorithm->check ? algorithm->check(problem, err) : STRAG_OK;
}

int strag_instance_open(struct strag_instance *instance, const struct strag_algorithm *algorithm,
                        const struct strag_problem *problem, struct strag_error *err)
{
    *instance = (struct strag_instance){.algorithm = algorithm, .problem = *problem};
    instance->problem.algorithm = algorithm;
    int status = check_problem(problem, err);
    if (status == STRAG_OK)
        status = check_algorithm(&instance->problem, err);
    if (status == STRAG_OK)
        status = make_claim(instance, err);
    if (status == STRAG_OK)
        status = make_shape(instance, err);
    if (status != STRAG_OK)
        strag_instance_close(instance);
    return status;
}

int strag_instance_claim(const struct strag_instance *instance, struct strag_claim *claim,
                         struct strag_error *err)
{
    const struct strag_algorithm *algorithm = instance->algorithm;
    struct strag_claim whole = instance->claim;
    if (algorithm->sent_max && instance->problem.n > 1)
        whole.sent_max = algorithm->sent_max(&instance->problem);
    if (whole.sent_max < 0)
        return strag_fail(err, STRAG_ERR_MEMORY, "out of memory for what %d ranks send",
                          instance->problem.n);
    *claim = whole;
    return STRAG_OK;
}

void strag_instance_close(struct strag_instance *instance)
{
    if (instance->prepared)
        instance->algorithm->release(instance->prepared);
    strag_algorithm_unshare(instance->algorithm, instance->shared);
    free(instance->shape.bounds.numerator);
    *instance = (struct strag_instance){0};
}

void strag_instance_build(const struct strag_instance *instance, int rank,
                          struct strag_builder *builder)
{
    if (instance->problem.n > 1)
        instance->algorithm->build(&instance->problem, rank, builder);
}

/* @param alone  no other plan needs the shape's bounds, so the plan takes them */
static int make_plan(struct strag_instance *instance, int rank, bool alone,
                     struct strag_plan **plan, struct strag_error *err)
{
    int n = instance->problem.n;
    if (rank < 0 || rank >= n)
        return strag_fail(err, STRAG_ERR_ARGUMENT, "rank %d; with %d ranks it is 0 to %d", rank, n,
                          n - 1);
    struct strag_builder *builder = alone ? strag_builder_create_last(&instance->shape, rank)
                                          : strag_builder_create(&instance->shape, rank);
    if (!builder)
        return strag_fail(err, STRAG_ERR_MEMORY, "out of memory for the plan of rank %d of %d",
                          rank, n);
    strag_instance_build(instance, rank, builder);
    return strag_builder_finish(builder, plan, err);
}

int strag_instance_plan(const struct strag_instance *instance, int rank, struct strag_plan **plan,
                        struct strag_error *err)
{
    struct strag_instance same = *instance; /* make_plan moves nothing out of it */
    return make_plan(&same, rank, false, plan, err);
}

int strag_instance_same_rounds(const struct strag_instance *instance, int round, int *period)
{
    const struct strag_algorithm *algorithm = instance->algorithm;
    int rounds = 1;
    const int same =
        algorithm->same_rounds ? algorithm->same_rounds(&instance->problem, round, &rounds) : 1;
    if (period)
        *period = rounds;
    return same;
}

int strag_instance_single_rounds(const struct strag_instance *instance, int round, int most)
{
    int count = 0;
    while (count < most && round + count < instance->claim.rounds &&
           strag_instance_same_rounds(instance, round + count, NULL) == 1)
        count++;
    return count;
}

/* ---- In one go ---- */

int strag_algorithm_claim(const struct strag_algorithm *algorithm,
                          const struct strag_problem *problem, struct strag_claim *claim,
                          struct strag_error *err)
{
    struct strag_instance instance;
    int status = strag_instance_open(&instance, algorithm, problem, err);
    if (status != STRAG_OK)
        return status;
    if (claim)
        *claim = instance.claim;
    strag_instance_close(&instance);
    return STRAG_OK;
}

int strag_algorithm_share(const struct strag_algorithm *algorithm,
                          const struct strag_problem *problem, void **shared,
                          struct strag_error *err)
{
    struct strag_error refusal;
    struct strag_problem own = *problem;
    own.algorithm = algorithm;
    *shared = NULL;
    if (problem->n < 2 || !algorithm->share || check_problem(problem, &refusal) != STRAG_OK ||
        check_algorithm(&own, &refusal) != STRAG_OK)
        return STRAG_OK;
    return algorithm->share(&own, shared, err);
}

void strag_algorithm_unshare(const struct strag_algorithm *algorithm, void *shared)
{
    if (shared)
        algorithm->unshare(shared);
}

int strag_algorithm_choices(const struct strag_algorithm *algorithm,
                            const struct strag_problem *problem, int *blocks)
{
    struct strag_error refusal;
    struct strag_problem own = *problem;
    void *shared = NULL;
    own.algorithm = algorithm;
    blocks[0] = problem->blocks;
    if (problem->blocks || problem->n < 2 || !algorithm->choices ||
        check_problem(problem, &refusal) != STRAG_OK || check_algorithm(&own, &refusal) != STRAG_OK)
        return 1;
    if (algorithm->share && !own.shared) {
        int status = algorithm->share(&own, &shared, &refusal);
        if (status != STRAG_OK)
            return status;
        own.shared = shared;
    }
    int choices = algorithm->choices(&own, blocks);
    strag_algorithm_unshare(algorithm, shared);
    return choices;
}

int strag_plan_create(const struct strag_algorithm *algorithm, const struct strag_problem *problem,
                      int rank, struct strag_plan **plan, struct strag_error *err)
{
    struct strag_instance instance;
    int status = strag_instance_open(&instance, algorithm, problem, err);
    if (status != STRAG_OK)
        return status;
    status = make_plan(&instance, rank, true, plan, err);
    strag_instance_close(&instance);
    return status;
}

void strag_plan_free_all(struct strag_plan **plans, int n)
{
    for (int rank = 0; rank < n; rank++) {
        strag_plan_free(plans[rank]);
        plans[rank] = NULL;
    }
}
