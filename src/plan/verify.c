/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The proof, in the order in which verify.h lists it. verify_plan.c checks the form and the hazards
 * of each plan; verify_match.c and verify_run.c check all plans together.
 */
#include "plan/verify.h"

#include "plan/verify_proof.h"

#include <stdlib.h>

/* ---- The result ---- */

/* The expression that a rank ends with in a block, or STRAG_EXPRESSION_MEMORY. */
static int32_t result_of(const struct strag_proof *proof, int rank, int block)
{
    const int32_t blocks = proof->blocks;
    if (proof->ranks == proof->n)
        return proof->held[(size_t)rank * (size_t)blocks + (size_t)block];
    const int64_t from = block - (int64_t)proof->shift * rank % blocks;
    return strag_expression_turn(proof->table, proof->held[(from + blocks) % blocks], rank);
}

static int check_block(const struct strag_proof *proof, int block)
{
    const int others = proof->ranks == proof->n ? proof->n : proof->n > 1 ? 2 : 1;
    int32_t result = STRAG_EXPRESSION_MEMORY;
    for (int rank = 0; rank < others; rank++) {
        const int32_t other = result_of(proof, rank, block);
        if (other == STRAG_EXPRESSION_MEMORY)
            return strag_proof_stopped(proof->effort, proof->err);
        if (other == result)
            continue;
        const int ranks = strag_expression_ranks(proof->table, other);
        if (ranks != proof->n)
            return strag_fail(proof->err, STRAG_ERR_FALSE,
                              "rank %d ends with %d of %d contributions in block %d", rank, ranks,
                              proof->n, block);
        if (rank > 0)
            return strag_fail(proof->err, STRAG_ERR_FALSE,
                              "rank %d sums up block %d in another order than rank 0, so its bits "
                              "may differ",
                              rank, block);
        result = other;
    }
    return STRAG_OK;
}

static int check_result(const struct strag_proof *proof)
{
    int status = STRAG_OK;
    for (int b = 0; status == STRAG_OK && b < proof->blocks; b++)
        status = check_block(proof, b);
    return status;
}

/* ---- The proof as a whole. ---- */

void strag_proof_free(struct strag_proof *proof)
{
    if (!proof)
        return;
    strag_expressions_free(proof->table);
    free(proof->held);
    free(proof->moved);
    free(proof);
}

/* Free what only the run needs. */
static void free_run(struct strag_proof *proof)
{
    for (int rank = 0; proof->events && rank < proof->ranks; rank++) {
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
    proof->effort = NULL;
    proof->progress = NULL;
    proof->err = NULL;
}

static int allocate_run(struct strag_proof *proof)
{
    const bool all = proof->ranks == proof->n;
    size_t ranks = (size_t)proof->ranks, blocks = (size_t)proof->blocks;
    proof->table = all ? strag_expressions_create(proof->n, proof->effort)
                       : strag_expressions_create_turned(proof->n, proof->effort);
    proof->held = malloc(ranks * blocks * sizeof *proof->held);
    proof->moved = malloc((all ? 1 : blocks) * sizeof *proof->moved);
    proof->events = calloc(ranks, sizeof *proof->events);
    proof->runners = calloc(ranks, sizeof *proof->runners);
    proof->queue = malloc(ranks * sizeof *proof->queue);
    if (!proof->table || !proof->held || !proof->moved || !proof->events || !proof->runners ||
        !proof->queue)
        return strag_proof_stopped(proof->effort, proof->err);
    for (size_t rank = 0; rank < ranks; rank++) {
        proof->events[rank] = calloc((size_t)proof->plans[rank]->nops + 1, sizeof **proof->events);
        if (!proof->events[rank])
            return strag_proof_stopped(proof->effort, proof->err);
        for (int op = 0; op < proof->plans[rank]->nops; op++)
            proof->events[rank][op].watchers = STRAG_PROOF_NONE;
        proof->runners[rank].ready = STRAG_PROOF_NONE;
        for (size_t b = 0; b < blocks; b++)
            proof->held[rank * blocks + b] = (int32_t)rank;
    }
    return STRAG_OK;
}

/* The steps of a proof, as its progress reports them. */
enum { PLANNING, CHECKING, MATCHING, RUNNING, STEPS };

static int check_plans(struct strag_proof *proof)
{
    int status = STRAG_OK;
    for (int rank = 0; status == STRAG_OK && rank < proof->ranks; rank++)
        status = strag_verify_form(proof->plans, proof->n, rank, proof->err);
    for (int rank = 0; status == STRAG_OK && rank < proof->ranks; rank++) {
        strag_progress_part(proof->progress, rank, proof->ranks);
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

/* @param asked  a proof with n, plans, ranks, shift, effort, progress and err set */
static int prove_plans(const struct strag_proof *asked, const struct strag_claim *claim,
                       struct strag_measure *measure, struct strag_proof **proof_out)
{
    struct strag_measure mine = {0};
    struct strag_error *err = asked->err;
    struct strag_proof *proof = malloc(sizeof *proof);
    if (!proof)
        return strag_proof_stopped(asked->effort, err);
    *proof = *asked;
    proof->blocks = proof->plans[0]->bounds.blocks;
    int status = prove(proof);
    if (status == STRAG_OK)
        status = strag_measure_plans(proof->plans, proof->ranks, proof->n, &mine, err);
    mine.chain = proof->chain;
    if (status == STRAG_OK && claim)
        status = strag_check_claim(proof->plans, proof->ranks, &mine, claim, err);
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
    struct strag_effort effort = strag_effort_any;
    const struct strag_proof asked = {
        .n = n, .ranks = n, .plans = plans, .effort = &effort, .err = err};
    return prove_plans(&asked, claim, measure, proof);
}

/* Make the plans, and count the effort of their waits, whose number only the plans tell. On failure
 * no plan is left. */
static int make_plans(const struct strag_instance *instance, const struct strag_proof *asked,
                      struct strag_plan **plans)
{
    int status = STRAG_OK;
    for (int rank = 0; status == STRAG_OK && rank < asked->ranks; rank++) {
        strag_progress_part(asked->progress, rank, asked->ranks);
        status = strag_instance_plan(instance, rank, &plans[rank], asked->err);
        const int64_t waits = status == STRAG_OK ? plans[rank]->ops[plans[rank]->nops].after : 0;
        if (!strag_effort_take(asked->effort, 0, waits * (int64_t)sizeof(int32_t)))
            status = strag_proof_stopped(asked->effort, asked->err);
    }
    if (status != STRAG_OK)
        strag_plan_free_all(plans, asked->ranks);
    return status;
}

int strag_verify_within(const struct strag_algorithm *algorithm,
                        const struct strag_problem *problem, struct strag_effort *effort,
                        const struct strag_progress *progress, struct strag_measure *measure,
                        struct strag_proof **proof, struct strag_error *err)
{
    struct strag_instance instance;
    strag_progress_step(progress, "planning", PLANNING, STEPS);
    int status = strag_instance_open(&instance, algorithm, problem, err);
    if (status != STRAG_OK)
        return status;
    struct strag_claim claim;
    struct strag_proof asked = {
        .n = problem->n, .ranks = problem->n, .effort = effort, .progress = progress, .err = err};
    if (!proof && algorithm->turns && algorithm->turns(&instance.problem, &asked.shift))
        asked.ranks = 1;
    struct strag_plan **plans = calloc((size_t)asked.ranks, sizeof *plans);
    asked.plans = plans;
    status =
        plans ? strag_instance_claim(&instance, &claim, err) : strag_proof_stopped(effort, err);
    if (status == STRAG_OK)
        status = make_plans(&instance, &asked, plans);
    if (status == STRAG_OK) {
        status = prove_plans(&asked, &claim, measure, proof);
        strag_plan_free_all(plans, asked.ranks);
    }
    free(plans);
    strag_instance_close(&instance);
    return status;
}

int strag_verify(const struct strag_algorithm *algorithm, const struct strag_problem *problem,
                 struct strag_measure *measure, struct strag_proof **proof, struct strag_error *err)
{
    struct strag_effort effort = strag_effort_any;
    return strag_verify_within(algorithm, problem, &effort, NULL, measure, proof, err);
}
