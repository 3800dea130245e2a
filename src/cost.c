/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The alpha-beta estimate: the busiest rank of every round, summed over the rounds.
 *
 * One rank's plan is held at a time. The work is O(operations x sizes), the memory
 * O((rounds + blocks) x sizes): the slowest rank of each round so far, and where each block starts.
 */
#include "cost.h"

#include <stdlib.h>

const struct strag_model strag_model_default = {.alpha = 1e-6, .bandwidth = 100e9 / 8};

/* Seconds that one rank's link is busy in the round at hand. */
struct busy {
    double sending, receiving;
};

struct estimate {
    const struct strag_model *model;
    const size_t *bytes;
    size_t sizes, rounds, blocks;
    size_t *start;     /* [block][size]: where blocks start, in bytes */
    double *slowest;   /* [round][size]: seconds of the busiest rank */
    struct busy *busy; /* [size] */
};

static bool estimate_allocate(struct estimate *estimate)
{
    /* One round more: a lone rank has none, and calloc may refuse 0 bytes. */
    estimate->start = calloc(estimate->blocks + 1, estimate->sizes * sizeof *estimate->start);
    estimate->slowest = calloc(estimate->rounds + 1, estimate->sizes * sizeof *estimate->slowest);
    estimate->busy = calloc(estimate->sizes, sizeof *estimate->busy);
    return estimate->start && estimate->slowest && estimate->busy;
}

static void estimate_free(struct estimate *estimate)
{
    free(estimate->start);
    free(estimate->slowest);
    free(estimate->busy);
}

static void cut_blocks(struct estimate *estimate, const struct strag_bounds *bounds)
{
    for (size_t b = 0; b <= estimate->blocks; b++) {
        for (size_t s = 0; s < estimate->sizes; s++)
            estimate->start[b * estimate->sizes + s] =
                strag_block_start(bounds, (int)b, estimate->bytes[s]);
    }
}

static void add_message(struct estimate *estimate, const struct strag_op *op)
{
    const size_t *first = &estimate->start[(size_t)op->first * estimate->sizes];
    const size_t *end = &estimate->start[(size_t)(op->first + op->count) * estimate->sizes];
    for (size_t s = 0; s < estimate->sizes; s++) {
        if (end[s] == first[s])
            continue;
        double seconds =
            estimate->model->alpha + (double)(end[s] - first[s]) / estimate->model->bandwidth;
        if (op->kind == STRAG_SEND)
            estimate->busy[s].sending += seconds;
        else
            estimate->busy[s].receiving += seconds;
    }
}

/* The rank has done its last operation of the round: keep the slowest, and start anew. */
static void close_round(struct estimate *estimate, int round)
{
    double *slowest = &estimate->slowest[(size_t)round * estimate->sizes];
    for (size_t s = 0; s < estimate->sizes; s++) {
        struct busy busy = estimate->busy[s];
        double seconds = busy.sending > busy.receiving ? busy.sending : busy.receiving;
        if (seconds > slowest[s])
            slowest[s] = seconds;
        estimate->busy[s] = (struct busy){0, 0};
    }
}

/* A plan's rounds never decrease along its list. */
static void add_plan(struct estimate *estimate, const struct strag_plan *plan)
{
    for (int i = 0; i < plan->nops; i++) {
        add_message(estimate, &plan->ops[i]);
        if (i + 1 == plan->nops || plan->ops[i + 1].round != plan->ops[i].round)
            close_round(estimate, plan->ops[i].round);
    }
}

static int add_all_plans(struct estimate *estimate, const struct strag_algorithm *algorithm,
                         const struct strag_problem *problem, struct strag_error *err)
{
    for (int rank = 0; rank < problem->n; rank++) {
        struct strag_plan *plan;
        int status = strag_plan_create(algorithm, problem, rank, &plan, err);
        if (status != STRAG_OK)
            return status;
        if (rank == 0)
            cut_blocks(estimate, &plan->bounds);
        add_plan(estimate, plan);
        strag_plan_free(plan);
    }
    return STRAG_OK;
}

int strag_cost(const struct strag_algorithm *algorithm, const struct strag_problem *problem,
               const struct strag_model *model, const size_t *bytes, int sizes, double *seconds,
               struct strag_error *err)
{
    struct strag_claim claim;
    int status = strag_algorithm_claim(algorithm, problem, &claim, err);
    if (status != STRAG_OK)
        return status;
    struct estimate estimate = {
        .model = model,
        .bytes = bytes,
        .sizes = (size_t)sizes,
        .rounds = (size_t)claim.rounds,
        .blocks = (size_t)claim.blocks,
    };
    if (!estimate_allocate(&estimate))
        status = strag_fail(err, STRAG_ERR_MEMORY, "out of memory for %d rounds and %d sizes",
                            claim.rounds, sizes);
    else
        status = add_all_plans(&estimate, algorithm, problem, err);
    for (size_t s = 0; status == STRAG_OK && s < estimate.sizes; s++) {
        seconds[s] = 0;
        for (size_t r = 0; r < estimate.rounds; r++)
            seconds[s] += estimate.slowest[r * estimate.sizes + s];
    }
    estimate_free(&estimate);
    return status;
}
