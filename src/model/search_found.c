/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/search_found.h"

#include "plan/verify.h"

#include <math.h>
#include <stdlib.h>

enum { NONE = STRAG_EDGE_NONE, UNITS = 64 };

/* ---- Plans of it ---- */

static const struct strag_found *found_of(const struct strag_problem *problem)
{
    return problem->prepared;
}

/* The rank's part in a message, if it has one: is it sent, and who is the other one? */
struct part {
    int peer;
    bool sends, present;
};

static struct part part_of(const struct strag_found *found, int block, enum strag_phase phase,
                           int leaf, int rank)
{
    const struct strag_edge *edge = &found->edge[block][phase][leaf];
    if (edge->other == NONE || (leaf != rank && edge->other != rank))
        return (struct part){.present = false};
    return (struct part){.peer = leaf == rank ? edge->other : leaf,
                         .sends = (leaf == rank) == (phase == STRAG_TO_ROOT),
                         .present = true};
}

/* Blocks that go between two ranks in a round are as many messages as ranges. */
static void build_pair(const struct strag_found *found, int rank, int peer, int round, bool sends,
                       enum strag_phase phase, struct strag_builder *builder)
{
    int first = 0, count = 0;
    for (int b = 0; b <= found->blocks; b++) {
        bool there = false;
        for (int leaf = 0; b < found->blocks && leaf < found->n && !there; leaf++) {
            struct part part = part_of(found, b, phase, leaf, rank);
            there = part.present && part.peer == peer && part.sends == sends &&
                    found->edge[b][phase][leaf].round == round;
        }
        if (there) {
            first = count ? first : b;
            count++;
            continue;
        }
        if (count && sends)
            strag_send(builder, round, peer, first, count);
        else if (count && phase == STRAG_TO_ROOT)
            strag_recv_reduce(builder, round, peer, first, count);
        else if (count)
            strag_recv(builder, round, peer, first, count);
        count = 0;
    }
}

static void found_build(const struct strag_problem *problem, int rank,
                        struct strag_builder *builder)
{
    const struct strag_found *found = found_of(problem);
    const struct strag_rounds wanted = strag_rounds_wanted(builder);
    strag_stage(builder, "found");
    for (int round = 0; round < found->rounds; round++) {
        for (int kind = 0; strag_is_wanted(wanted, round) && kind < 4; kind++) {
            for (int peer = 0; peer < found->n; peer++) {
                if (peer != rank)
                    build_pair(found, rank, peer, round, kind < 2, (enum strag_phase)(kind % 2),
                               builder);
            }
        }
    }
}

static void found_bounds(const struct strag_problem *problem, struct strag_bounds *bounds)
{
    const struct strag_found *found = found_of(problem);
    int64_t sum = 0;
    bounds->denominator = found->denominator;
    for (int b = 0; b <= found->blocks; b++) {
        bounds->numerator[b] = sum;
        sum += b < found->blocks ? found->units[b] : 0;
    }
}

static double found_sent_max(const struct strag_problem *problem)
{
    const struct strag_found *found = found_of(problem);
    double most = 0;
    for (int rank = 0; rank < found->n; rank++) {
        int64_t sent = 0;
        for (int b = 0; b < found->blocks; b++) {
            for (int p = 0; p < STRAG_PHASES; p++) {
                for (int leaf = 0; leaf < found->n; leaf++) {
                    struct part part = part_of(found, b, (enum strag_phase)p, leaf, rank);
                    sent += part.present && part.sends ? found->units[b] : 0;
                }
            }
        }
        most = fmax(most, (double)sent / (double)found->denominator);
    }
    return most;
}

static void found_claim(const struct strag_problem *problem, struct strag_claim *claim)
{
    const struct strag_found *found = found_of(problem);
    *claim = (struct strag_claim){.rounds = found->rounds, .blocks = found->blocks};
}

/* The problem brings it along as `shared`: there is one plan, and nothing to prepare. */
static int found_prepare(const struct strag_problem *problem, void **prepared,
                         struct strag_error *err)
{
    struct strag_found *copy = malloc(sizeof *copy);
    if (!copy)
        return strag_fail(err, STRAG_ERR_MEMORY, "out of memory for the plan that was found");
    *copy = *(const struct strag_found *)problem->shared;
    *prepared = copy;
    return STRAG_OK;
}

static const struct strag_algorithm found_algorithm = {
    .name = "found",
    .summary = "what strag search has found",
    .rounds = "",
    .sent = "",
    .prepare = found_prepare,
    .release = free,
    .claim = found_claim,
    .sent_max = found_sent_max,
    .build = found_build,
    .bounds = found_bounds,
};

static struct strag_problem problem_of(const struct strag_found *found)
{
    struct strag_problem problem = found->problem;
    problem.shared = found;
    problem.blocks = 0;
    return problem;
}

int strag_found_prove(const struct strag_found *found, struct strag_error *err)
{
    const struct strag_problem problem = problem_of(found);
    return strag_verify(&found_algorithm, &problem, NULL, NULL, err);
}

int strag_found_open(const struct strag_found *found, struct strag_instance *instance,
                     struct strag_error *err)
{
    struct strag_problem problem = problem_of(found);
    return strag_instance_open(instance, &found_algorithm, &problem, err);
}

void strag_found_free(struct strag_found *found)
{
    free(found);
}

/* ---- Taking an algorithm's plan apart ---- */

/* Note that a block goes between two ranks. @return whether it can be a tree's message */
static bool note_message(struct strag_found *found, int block, enum strag_phase phase, int leaf,
                         int other, int round)
{
    struct strag_edge *edge = &found->edge[block][phase][leaf];
    if (edge->other != NONE)
        return false;
    *edge = (struct strag_edge){(int16_t)other, (int16_t)round};
    return true;
}

/* One root for both trees, and all others have a message of each. */
static bool has_one_root(const struct strag_found *found, int block)
{
    int roots = 0;
    for (int r = 0; r < found->n; r++) {
        bool in = found->edge[block][STRAG_TO_ROOT][r].other == NONE;
        bool out = found->edge[block][STRAG_FROM_ROOT][r].other == NONE;
        if (in != out)
            return false;
        roots += in;
    }
    return roots == 1;
}

static bool take_plan(struct strag_found *found, const struct strag_plan *plan)
{
    for (int i = 0; i < plan->nops; i++) {
        const struct strag_op *op = &plan->ops[i];
        for (int b = op->first; b < op->first + op->count; b++) {
            bool good = true;
            if (op->kind == STRAG_RECV_REDUCE)
                good = note_message(found, b, STRAG_TO_ROOT, op->peer, plan->rank, op->round);
            else if (op->kind == STRAG_RECV)
                good = note_message(found, b, STRAG_FROM_ROOT, plan->rank, op->peer, op->round);
            else if (op->kind != STRAG_SEND)
                good = false;
            if (!good)
                return false;
        }
    }
    return true;
}

bool strag_found_take_apart(const struct strag_instance *instance, struct strag_plan *const *plans,
                            struct strag_found *found)
{
    const struct strag_bounds *bounds = &instance->shape.bounds;
    if (bounds->blocks > STRAG_SEARCH_BLOCKS_MAX ||
        instance->shape.rounds > STRAG_SEARCH_ROUNDS_MAX)
        return false;
    found->blocks = bounds->blocks;
    found->rounds = instance->shape.rounds;
    found->denominator = bounds->numerator ? bounds->denominator : (int64_t)UNITS * bounds->blocks;
    for (int b = 0; b < found->blocks; b++) {
        found->units[b] =
            bounds->numerator ? bounds->numerator[b + 1] - bounds->numerator[b] : UNITS;
        for (int r = 0; r < found->n; r++)
            found->edge[b][STRAG_TO_ROOT][r] = found->edge[b][STRAG_FROM_ROOT][r] =
                (struct strag_edge){NONE, 0};
    }
    bool trees = true;
    for (int r = 0; trees && r < found->n; r++)
        trees = take_plan(found, plans[r]);
    for (int b = 0; trees && b < found->blocks; b++)
        trees = has_one_root(found, b);
    return trees;
}
