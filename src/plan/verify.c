/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The proof, in the order in which verify.h lists it. The form and the hazards of each plan are
 * checked in verify_plan.c; what takes all plans together in verify_match.c and verify_run.c.
 */
#include "plan/verify.h"

#include "plan/verify_proof.h"

#include <stdlib.h>

/* ---- The result ---- */

static int check_result(struct strag_proof *proof)
{
    size_t blocks = (size_t)proof->blocks;
    for (int b = 0; b < proof->blocks; b++) {
        int32_t result = proof->held[b];
        int ranks = strag_expression_ranks(proof->table, result);
        if (ranks != proof->n)
            return strag_fail(proof->err, STRAG_ERR_FALSE,
                              "rank 0 ends with %d of %d contributions in block %d", ranks,
                              proof->n, b);
        for (int rank = 1; rank < proof->n; rank++) {
            int32_t other = proof->held[(size_t)rank * blocks + (size_t)b];
            if (other == result)
                continue;
            ranks = strag_expression_ranks(proof->table, other);
            if (ranks != proof->n)
                return strag_fail(proof->err, STRAG_ERR_FALSE,
                                  "rank %d ends with %d of %d contributions in block %d", rank,
                                  ranks, proof->n, b);
            return strag_fail(proof->err, STRAG_ERR_FALSE,
                              "rank %d sums up block %d in another order than rank 0, so its bits "
                              "may differ",
                              rank, b);
        }
    }
    return STRAG_OK;
}

/* ---- The proof as a whole. ---- */

void strag_proof_free(struct strag_proof *proof)
{
    if (!proof)
        return;
    strag_expressions_free(proof->table);
    free(proof->held);
    free(proof->left);
    free(proof->right);
    free(proof);
}

/* What only the run needs. */
static void free_run(struct strag_proof *proof)
{
    for (int rank = 0; proof->events && rank < proof->n; rank++) {
        for (int op = 0; proof->events[rank] && op < proof->plans[rank]->nops; op++)
            free(proof->events[rank][op].values);
        free(proof->events[rank]);
    }
    free(proof->events);
    free(proof->runners);
    free(proof->queue);
    proof->events = NULL;
    proof->runners = NULL;
    proof->queue = NULL;
    proof->plans = NULL;
    proof->progress = NULL;
    proof->err = NULL;
}

static int allocate_run(struct strag_proof *proof)
{
    size_t n = (size_t)proof->n, blocks = (size_t)proof->blocks;
    proof->table = strag_expressions_create(proof->n);
    proof->held = malloc(n * blocks * sizeof *proof->held);
    proof->events = calloc(n, sizeof *proof->events);
    proof->runners = calloc(n, sizeof *proof->runners);
    proof->queue = malloc(n * sizeof *proof->queue);
    if (!proof->table || !proof->held || !proof->events || !proof->runners || !proof->queue)
        return strag_proof_no_memory(proof->err);
    for (size_t rank = 0; rank < n; rank++) {
        proof->events[rank] = calloc((size_t)proof->plans[rank]->nops + 1, sizeof **proof->events);
        if (!proof->events[rank])
            return strag_proof_no_memory(proof->err);
        for (int op = 0; op < proof->plans[rank]->nops; op++)
            proof->events[rank][op].watchers = STRAG_PROOF_NONE;
        proof->runners[rank].ready = STRAG_PROOF_NONE;
        for (size_t b = 0; b < blocks; b++)
            proof->held[rank * blocks + b] = (int32_t)rank;
    }
    return STRAG_OK;
}

/* Lay the operands out in arrays for the caller. */
static int export_expressions(struct strag_proof *proof)
{
    int32_t count = strag_expression_count(proof->table) - proof->n;
    proof->left = malloc(((size_t)count + 1) * sizeof *proof->left);
    proof->right = malloc(((size_t)count + 1) * sizeof *proof->right);
    if (!proof->left || !proof->right)
        return strag_proof_no_memory(proof->err);
    for (int32_t i = 0; i < count; i++)
        strag_expression_operands(proof->table, proof->n + i, &proof->left[i], &proof->right[i]);
    return STRAG_OK;
}

/* What a watched proof does, one after the other. */
enum { PLANNING, CHECKING, MATCHING, RUNNING, STEPS };

static int check_plans(struct strag_proof *proof)
{
    int status = STRAG_OK;
    for (int rank = 0; status == STRAG_OK && rank < proof->n; rank++)
        status = strag_verify_form(proof->plans, proof->n, rank, proof->err);
    for (int rank = 0; status == STRAG_OK && rank < proof->n; rank++) {
        strag_progress_part(proof->progress, rank, proof->n);
        status = strag_verify_hazards(proof->plans[rank], proof->err);
        proof->operations += proof->plans[rank]->nops;
    }
    return status;
}

static int prove(struct strag_proof *proof)
{
    strag_progress_step(proof->progress, "checking", CHECKING, STEPS);
    int status = check_plans(proof);
    if (status == STRAG_OK)
        status = allocate_run(proof);
    strag_progress_step(proof->progress, "matching", MATCHING, STEPS);
    if (status == STRAG_OK)
        status = strag_proof_match(proof);
    strag_progress_step(proof->progress, "running", RUNNING, STEPS);
    if (status == STRAG_OK)
        status = strag_proof_run(proof);
    if (status == STRAG_OK)
        status = check_result(proof);
    return status;
}

static int prove_plans(struct strag_plan *const *plans, int n, const struct strag_claim *claim,
                       const struct strag_progress *progress, struct strag_measure *measure,
                       struct strag_proof **proof_out, struct strag_error *err)
{
    struct strag_measure mine = {0};
    struct strag_proof *proof = calloc(1, sizeof *proof);
    if (!proof)
        return strag_proof_no_memory(err);
    proof->n = n;
    proof->blocks = plans[0]->bounds.blocks;
    proof->plans = plans;
    proof->progress = progress;
    proof->err = err;
    int status = prove(proof);
    if (status == STRAG_OK)
        status = strag_measure_plans(plans, n, &mine, err);
    mine.chain = proof->chain;
    if (status == STRAG_OK && claim)
        status = strag_check_claim(plans, &mine, claim, err);
    if (status == STRAG_OK && proof_out)
        status = export_expressions(proof);
    free_run(proof);
    if (status == STRAG_OK && measure)
        *measure = mine;
    if (status == STRAG_OK && proof_out)
        *proof_out = proof;
    else
        strag_proof_free(proof);
    return status;
}

int strag_verify_plans(struct strag_plan *const *plans, int n, const struct strag_claim *claim,
                       struct strag_measure *measure, struct strag_proof **proof,
                       struct strag_error *err)
{
    return prove_plans(plans, n, claim, NULL, measure, proof, err);
}

static int verify(const struct strag_algorithm *algorithm, const struct strag_problem *problem,
                  const struct strag_progress *progress, struct strag_measure *measure,
                  struct strag_proof **proof, struct strag_error *err)
{
    struct strag_instance instance;
    strag_progress_step(progress, "planning", PLANNING, STEPS);
    int status = strag_instance_open(&instance, algorithm, problem, err);
    if (status != STRAG_OK)
        return status;
    struct strag_claim claim;
    struct strag_plan **plans = calloc((size_t)problem->n, sizeof *plans);
    const struct strag_ranks all = {0, problem->n};
    status = plans ? strag_instance_claim(&instance, &claim, err) : strag_proof_no_memory(err);
    if (status == STRAG_OK)
        status = strag_instance_plans(&instance, all, progress, plans, err);
    if (status == STRAG_OK) {
        status = prove_plans(plans, problem->n, &claim, progress, measure, proof, err);
        strag_plan_free_all(plans, problem->n);
    }
    free(plans);
    strag_instance_close(&instance);
    return status;
}

int strag_verify(const struct strag_algorithm *algorithm, const struct strag_problem *problem,
                 struct strag_measure *measure, struct strag_proof **proof, struct strag_error *err)
{
    return verify(algorithm, problem, NULL, measure, proof, err);
}

int strag_verify_watched(const struct strag_algorithm *algorithm,
                         const struct strag_problem *problem, const struct strag_progress *progress,
                         struct strag_measure *measure, struct strag_error *err)
{
    return verify(algorithm, problem, progress, measure, NULL, err);
}

void strag_proof_expressions(const struct strag_proof *proof, struct strag_expressions *expressions)
{
    *expressions = (struct strag_expressions){
        .n = proof->n,
        .nodes = strag_expression_count(proof->table),
        .left = proof->left,
        .right = proof->right,
        .result = proof->held, /* rank 0's; the others end with the same */
    };
}
