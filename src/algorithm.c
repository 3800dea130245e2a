/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of algorithms. Adding one is a file, a line in local.mk, and two lines here.
 */
#include "algorithm.h"

#include <stdio.h>
#include <string.h>

extern const struct strag_algorithm strag_recursive_doubling;
extern const struct strag_algorithm strag_circulant;
extern const struct strag_algorithm strag_recursive_halving;
extern const struct strag_algorithm strag_ring;
extern const struct strag_algorithm strag_torus_doubling;
extern const struct strag_algorithm strag_torus_halving;
extern const struct strag_algorithm strag_bine_latency;
extern const struct strag_algorithm strag_bine;
extern const struct strag_algorithm strag_bucket;
extern const struct strag_algorithm strag_hamiltonian;

/* Where two are equally good by the model the first one is chosen. */
const struct strag_algorithm *const strag_algorithms[] = {
    &strag_recursive_doubling,
    &strag_circulant,
    &strag_recursive_halving,
    &strag_ring,
    &strag_torus_doubling,
    &strag_torus_halving,
    &strag_bine_latency,
    &strag_bine,
    &strag_bucket,
    &strag_hamiltonian,
    NULL,
};

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
    char names[160];
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
    for (int i = 0; state && i < state->nlate; i++) {
        if (state->late[i].rank < 0 || state->late[i].rank >= n)
            return strag_fail(err, STRAG_ERR_ARGUMENT, "late rank %d; with %d ranks it is 0 to %d",
                              state->late[i].rank, n, n - 1);
    }
    return STRAG_OK;
}

int strag_algorithm_claim(const struct strag_algorithm *algorithm,
                          const struct strag_problem *problem, struct strag_claim *claim,
                          struct strag_error *err)
{
    struct strag_claim mine;
    int status = check_problem(problem, err);
    if (status == STRAG_OK && algorithm->check)
        status = algorithm->check(problem, err);
    if (status != STRAG_OK)
        return status;
    if (problem->n == 1)
        mine = (struct strag_claim){.rounds = 0, .blocks = 1, .sent_max = 0, .one_ported = true};
    else
        algorithm->claim(problem, &mine);
    if (problem->blocks && problem->blocks != mine.blocks)
        return strag_fail(err, STRAG_ERR_UNSUPPORTED,
                          "%s cuts the vector of %d ranks into %d block%s; %d is not possible",
                          algorithm->name, problem->n, mine.blocks, mine.blocks == 1 ? "" : "s",
                          problem->blocks);
    if (claim)
        *claim = mine;
    return STRAG_OK;
}

struct strag_shape strag_algorithm_shape(const struct strag_algorithm *algorithm,
                                         const struct strag_problem *problem,
                                         const struct strag_claim *claim)
{
    return (struct strag_shape){
        .algorithm = algorithm->name,
        .n = problem->n,
        .rounds = claim->rounds,
        .bounds = {.blocks = claim->blocks, .denominator = claim->blocks},
    };
}

int strag_plan_create(const struct strag_algorithm *algorithm, const struct strag_problem *problem,
                      int rank, struct strag_plan **plan, struct strag_error *err)
{
    struct strag_claim claim;
    int status = strag_algorithm_claim(algorithm, problem, &claim, err);
    if (status != STRAG_OK)
        return status;
    if (rank < 0 || rank >= problem->n)
        return strag_fail(err, STRAG_ERR_ARGUMENT, "rank %d; with %d ranks it is 0 to %d", rank,
                          problem->n, problem->n - 1);
    const struct strag_shape shape = strag_algorithm_shape(algorithm, problem, &claim);
    struct strag_builder *builder = strag_builder_create(&shape, rank);
    if (!builder)
        return strag_fail(err, STRAG_ERR_MEMORY, "out of memory for the plan of rank %d of %d",
                          rank, problem->n);
    if (problem->n > 1)
        algorithm->build(problem, rank, builder);
    return strag_builder_finish(builder, plan, err);
}

int strag_algorithm_alike(const struct strag_algorithm *algorithm,
                          const struct strag_problem *problem, int round)
{
    return algorithm->alike ? algorithm->alike(problem, round) : 1;
}

int strag_plan_create_all(const struct strag_algorithm *algorithm,
                          const struct strag_problem *problem, struct strag_plan **plans,
                          struct strag_error *err)
{
    for (int rank = 0; rank < problem->n; rank++) {
        int status = strag_plan_create(algorithm, problem, rank, &plans[rank], err);
        if (status != STRAG_OK) {
            strag_plan_free_all(plans, rank);
            return status;
        }
    }
    return STRAG_OK;
}

void strag_plan_free_all(struct strag_plan **plans, int n)
{
    for (int rank = 0; rank < n; rank++) {
        strag_plan_free(plans[rank]);
        plans[rank] = NULL;
    }
}
