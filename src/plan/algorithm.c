/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of algorithms. Adding one is a file, a line in local.mk, and two lines here.
 */
#include "plan/algorithm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const struct strag_algorithm strag_recursive_doubling;
extern const struct strag_algorithm strag_circulant;
extern const struct strag_algorithm strag_recursive_halving;
extern const struct strag_algorithm strag_ring;
extern const struct strag_algorithm strag_bucket;
extern const struct strag_algorithm strag_swing;
extern const struct strag_algorithm strag_swing_latency;
extern const struct strag_algorithm strag_swing_quarter;
extern const struct strag_algorithm strag_swing_half;
extern const struct strag_algorithm strag_swing_most;
extern const struct strag_algorithm strag_bine;
extern const struct strag_algorithm strag_bine_latency;
extern const struct strag_algorithm strag_torus_halving;
extern const struct strag_algorithm strag_torus_doubling;
extern const struct strag_algorithm strag_hamiltonian;
extern const struct strag_algorithm strag_flexreduce;
extern const struct strag_algorithm strag_flexreduce_pipelined;
extern const struct strag_algorithm strag_hierarchical_doubling;
extern const struct strag_algorithm strag_blueconnect;
extern const struct strag_algorithm strag_leaders;
extern const struct strag_algorithm strag_direct;
extern const struct strag_algorithm strag_straggler_pipeline;
extern const struct strag_algorithm strag_stragglar;
extern const struct strag_algorithm strag_broadcast_after;
extern const struct strag_algorithm strag_optcc;
extern const struct strag_algorithm strag_weighted;

/* Where two are equally good by the model the first one is chosen. */
const struct strag_algorithm *const strag_algorithms[] = {
    &strag_recursive_doubling,
    &strag_circulant,
    &strag_recursive_halving,
    &strag_ring,
    &strag_bucket,
    &strag_swing,
    &strag_swing_latency,
    &strag_swing_quarter,
    &strag_swing_half,
    &strag_swing_most,
    &strag_bine,
    &strag_bine_latency,
    &strag_torus_halving,
    &strag_torus_doubling,
    &strag_hamiltonian,
    &strag_flexreduce,
    &strag_flexreduce_pipelined,
    &strag_hierarchical_doubling,
    &strag_blueconnect,
    &strag_leaders,
    &strag_direct,
    &strag_straggler_pipeline, /* the forms that wait for a late rank: only where that gains */
    &strag_stragglar,
    &strag_broadcast_after,
    &strag_optcc,
    &strag_weighted,
    NULL,
};

_Static_assert(sizeof strag_algorithms / sizeof *strag_algorithms - 1 <= STRAG_ALGORITHMS_MAX,
               "STRAG_ALGORITHMS_MAX is too small");

char *strag_algorithm_names(char *buffer, size_t size)
{
    size_t used = 0;
    if (size)
        buffer[0] = '\0';
    for (int i = 0; strag_algorithms[i] && used < size; i++) {
        int length =
            snprintf(buffer + used, size - used, "%s%s", i ? ", " : "", strag_algorithms[i]->name);
        used += length > 0 ? (size_t)length : 0;
    }
    return buffer;
}

const struct strag_algorithm *strag_algorithm_find(const char *name, struct strag_error *err)
{
    for (int i = 0; strag_algorithms[i]; i++) {
        if (strcmp(strag_algorithms[i]->name, name) == 0)
            return strag_algorithms[i];
    }
    char names[STRAG_NAMES_MAX];
    strag_fail(err, STRAG_ERR_ARGUMENT, "unknown algorithm '%.40s'; there are: %s", name,
               strag_algorithm_names(names, sizeof names));
    return NULL;
}

/* What is wrong with a problem, whatever the algorithm. */
static int check_problem(const struct strag_problem *problem, struct strag_error *err)
{
    const struct strag_state *state = problem->state;
    int n = problem->n;
    if (n < 1)
        return strag_fail(err, STRAG_ERR_ARGUMENT, "n = %d ranks; at least 1 is needed", n);
    if (problem->ports < 0)
        return strag_fail(err, STRAG_ERR_ARGUMENT, "%d ports; at least 1, or 0 for any number",
                          problem->ports);
    if (problem->topology && problem->topology->n != n)
        return strag_fail(err, STRAG_ERR_ARGUMENT, "n = %d ranks on a topology of %d", n,
                          problem->topology->n);
    if (problem->root < 0 || problem->root >= n)
        return strag_fail(err, STRAG_ERR_ARGUMENT, "root %d; with %d ranks it is 0 to %d",
                          problem->root, n, n - 1);
    for (int i = 0; state && i < state->nlate; i++) {
        if (state->late[i].rank < 0 || state->late[i].rank >= n)
            return strag_fail(err, STRAG_ERR_ARGUMENT, "late rank %d; with %d ranks it is 0 to %d",
                              state->late[i].rank, n, n - 1);
    }
    return STRAG_OK;
}

/* ---- Designs ---- */

static int check_blocks(const struct strag_design *design, struct strag_error *err)
{
    int given = design->problem.blocks, blocks = design->claim.blocks;
    if (given && given != blocks)
        return strag_fail(err, STRAG_ERR_UNSUPPORTED,
                          "%s cuts the vector of %d ranks into %d block%s; %d is not possible",
                          design->algorithm->name, design->problem.n, blocks,
                          blocks == 1 ? "" : "s", given);
    return STRAG_OK;
}

/* A single rank has nothing to do, whatever the algorithm. */
static int make_claim(struct strag_design *design, struct strag_error *err)
{
    const struct strag_algorithm *algorithm = design->algorithm;
    if (design->problem.n == 1) {
        design->claim = (struct strag_claim){.blocks = 1, .one_ported = true};
        return check_blocks(design, err);
    }
    if (algorithm->prepare) {
        int status = algorithm->prepare(&design->problem, &design->prepared, err);
        if (status != STRAG_OK)
            return status;
        design->problem.prepared = design->prepared;
    }
    algorithm->claim(&design->problem, &design->claim);
    return check_blocks(design, err);
}

static int make_shape(struct strag_design *design, struct strag_error *err)
{
    struct strag_bounds bounds = {.blocks = design->claim.blocks,
                                  .denominator = design->claim.blocks};
    if (design->algorithm->bounds && design->problem.n > 1) {
        bounds.numerator = calloc((size_t)bounds.blocks + 1, sizeof *bounds.numerator);
        if (!bounds.numerator)
            return strag_fail(err, STRAG_ERR_MEMORY, "out of memory for %d blocks", bounds.blocks);
        design->algorithm->bounds(&design->problem, &bounds);
    }
    design->shape = (struct strag_shape){
        .algorithm = design->algorithm->name,
        .n = design->problem.n,
        .rounds = design->claim.rounds,
        .bounds = bounds,
    };
    return STRAG_OK;
}

/* What of it the algorithm cannot do. */
static int check_algorithm(const struct strag_algorithm *algorithm,
                           const struct strag_problem *problem, struct strag_error *err)
{
    if (algorithm->needs_late && problem->n > 1 && !(problem->state && problem->state->nlate))
        return strag_fail(err, STRAG_ERR_UNSUPPORTED,
                          "%s is for a rank that arrives late, and none is named", algorithm->name);
    if (problem->root != 0 && !algorithm->rooted)
        return strag_fail(err, STRAG_ERR_UNSUPPORTED, "%s has no root; %d is not possible",
                          algorithm->name, problem->root);
    return algorithm->check ? algorithm->check(problem, err) : STRAG_OK;
}

int strag_design_open(struct strag_design *design, const struct strag_algorithm *algorithm,
                      const struct strag_problem *problem, struct strag_error *err)
{
    *design = (struct strag_design){.algorithm = algorithm, .problem = *problem};
    int status = check_problem(problem, err);
    if (status == STRAG_OK)
        status = check_algorithm(algorithm, problem, err);
    if (status == STRAG_OK)
        status = make_claim(design, err);
    if (status == STRAG_OK)
        status = make_shape(design, err);
    if (status != STRAG_OK)
        strag_design_close(design);
    return status;
}

void strag_design_close(struct strag_design *design)
{
    if (design->prepared)
        design->algorithm->release(design->prepared);
    free(design->shape.bounds.numerator);
    *design = (struct strag_design){0};
}

void strag_design_build(const struct strag_design *design, int rank, struct strag_builder *builder)
{
    if (design->problem.n > 1)
        design->algorithm->build(&design->problem, rank, builder);
}

int strag_design_plan(const struct strag_design *design, int rank, struct strag_plan **plan,
                      struct strag_error *err)
{
    int n = design->problem.n;
    if (rank < 0 || rank >= n)
        return strag_fail(err, STRAG_ERR_ARGUMENT, "rank %d; with %d ranks it is 0 to %d", rank, n,
                          n - 1);
    struct strag_builder *builder = strag_builder_create(&design->shape, rank);
    if (!builder)
        return strag_fail(err, STRAG_ERR_MEMORY, "out of memory for the plan of rank %d of %d",
                          rank, n);
    strag_design_build(design, rank, builder);
    return strag_builder_finish(builder, plan, err);
}

int strag_design_alike(const struct strag_design *design, int round)
{
    const struct strag_algorithm *algorithm = design->algorithm;
    return algorithm->alike ? algorithm->alike(&design->problem, round) : 1;
}

int strag_design_period(const struct strag_design *design, int round)
{
    const struct strag_algorithm *algorithm = design->algorithm;
    return algorithm->period ? algorithm->period(&design->problem, round) : 1;
}

/* ---- In one go ---- */

int strag_algorithm_claim(const struct strag_algorithm *algorithm,
                          const struct strag_problem *problem, struct strag_claim *claim,
                          struct strag_error *err)
{
    struct strag_design design;
    int status = strag_design_open(&design, algorithm, problem, err);
    if (status != STRAG_OK)
        return status;
    if (claim)
        *claim = design.claim;
    strag_design_close(&design);
    return STRAG_OK;
}

int strag_algorithm_choices(const struct strag_algorithm *algorithm,
                            const struct strag_problem *problem, int *blocks)
{
    struct strag_error refusal;
    blocks[0] = problem->blocks;
    if (problem->blocks || problem->n < 2 || !algorithm->choices ||
        check_problem(problem, &refusal) != STRAG_OK ||
        check_algorithm(algorithm, problem, &refusal) != STRAG_OK)
        return 1;
    return algorithm->choices(problem, blocks);
}

int strag_plan_create(const struct strag_algorithm *algorithm, const struct strag_problem *problem,
                      int rank, struct strag_plan **plan, struct strag_error *err)
{
    struct strag_design design;
    int status = strag_design_open(&design, algorithm, problem, err);
    if (status != STRAG_OK)
        return status;
    status = strag_design_plan(&design, rank, plan, err);
    strag_design_close(&design);
    return status;
}

int strag_plan_create_all(const struct strag_algorithm *algorithm,
                          const struct strag_problem *problem, struct strag_plan **plans,
                          struct strag_error *err)
{
    struct strag_design design;
    int status = strag_design_open(&design, algorithm, problem, err);
    for (int rank = 0; status == STRAG_OK && rank < problem->n; rank++) {
        status = strag_design_plan(&design, rank, &plans[rank], err);
        if (status != STRAG_OK)
            strag_plan_free_all(plans, rank);
    }
    strag_design_close(&design);
    return status;
}

void strag_plan_free_all(struct strag_plan **plans, int n)
{
    for (int rank = 0; rank < n; rank++) {
        strag_plan_free(plans[rank]);
        plans[rank] = NULL;
    }
}
