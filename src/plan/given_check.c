/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Is a user plan well formed? Sizes are checked first, so that nothing below takes much memory or
 * time; then groups, and each rank's operations. Whether it is an allreduce, verify proves.
 */
#include "plan/given.h"

#include <stdlib.h>

static int refuse_size(struct strag_error *err, const char *what, int64_t most)
{
    return strag_fail(err, STRAG_ERR_ARGUMENT, "%s: at most %lld are accepted", what,
                      (long long)most);
}

static int check_head(const struct strag_given_head *head, struct strag_error *err)
{
    if (head->n < 1 || head->n > STRAG_GIVEN_RANKS_MAX)
        return strag_fail(err, STRAG_ERR_ARGUMENT, "n = %d ranks; 1 to %d are accepted", head->n,
                          STRAG_GIVEN_RANKS_MAX);
    if (head->blocks < 1 || head->blocks > STRAG_GIVEN_BLOCKS_MAX)
        return strag_fail(err, STRAG_ERR_ARGUMENT, "%d blocks; 1 to %d are accepted", head->blocks,
                          STRAG_GIVEN_BLOCKS_MAX);
    if (head->n == 1 && head->blocks != 1)
        return strag_fail(err, STRAG_ERR_ARGUMENT, "%d blocks; a single rank has 1", head->blocks);
    if ((int64_t)head->n * head->blocks > STRAG_GIVEN_HELD_MAX)
        return refuse_size(err, "ranks times blocks", STRAG_GIVEN_HELD_MAX);
    if (head->chain < 0 || head->before < 0)
        return strag_fail(err, STRAG_ERR_ARGUMENT, "a claim below 0");
    if (head->waits && (head->straggler < 0 || head->straggler >= head->n))
        return strag_fail(err, STRAG_ERR_ARGUMENT, "straggler %d; with %d ranks it is 0 to %d",
                          head->straggler, head->n, head->n - 1);
    return STRAG_OK;
}

static int check_numerators(const struct strag_given *given, struct strag_error *err)
{
    const int64_t *numerator = given->numerator, denominator = given->head.denominator;
    const int blocks = given->head.blocks;
    if (!numerator)
        return STRAG_OK;
    if (denominator < 1 || denominator > INT64_C(1) << 62)
        return strag_fail(err, STRAG_ERR_ARGUMENT, "denominator %lld; 1 to 2^62 is accepted",
                          (long long)denominator);
    if (numerator[0] != 0 || numerator[blocks] != denominator)
        return strag_fail(err, STRAG_ERR_ARGUMENT,
                          "numerators begin with 0 and end with the denominator");
    for (int b = 0; b < blocks; b++)
        if (numerator[b] > numerator[b + 1])
            return strag_fail(err, STRAG_ERR_ARGUMENT, "numerators ascend; the one at %d does not",
                              b + 1);
    return STRAG_OK;
}

/* Record the group's index for each of its ranks. */
static int check_group(struct strag_given *given, int g, struct strag_error *err)
{
    const struct strag_given_group *group = &given->group[g];
    const int n = given->head.n;
    if (group->first < 0 || group->count < 1 || group->step < 1 ||
        group->first + (group->count - 1) * (int64_t)group->step >= n)
        return strag_fail(err, STRAG_ERR_ARGUMENT,
                          "group %d: ranks from %d, %d of them in steps of %d, are not all of 0 to "
                          "%d",
                          g, group->first, group->count, group->step, n - 1);
    for (int j = 0; j < group->count; j++) {
        int32_t *of = &given->group_of[group->first + j * group->step];
        if (*of >= 0)
            return strag_fail(err, STRAG_ERR_ARGUMENT, "rank %d is there twice",
                              group->first + j * group->step);
        *of = g;
    }
    return STRAG_OK;
}

static int check_groups(struct strag_given *given, struct strag_error *err)
{
    const int n = given->head.n;
    int status = STRAG_OK;
    free(given->group_of);
    given->group_of = malloc((size_t)n * sizeof *given->group_of);
    if (!given->group_of)
        return strag_fail(err, STRAG_ERR_MEMORY, "out of memory for a plan of %d ranks", n);
    for (int rank = 0; rank < n; rank++)
        given->group_of[rank] = -1;
    for (int g = 0; status == STRAG_OK && g < given->head.groups; g++)
        status = check_group(given, g, err);
    for (int rank = 0; status == STRAG_OK && rank < n; rank++)
        if (given->group_of[rank] < 0)
            status =
                strag_fail(err, STRAG_ERR_ARGUMENT,
                           "rank %d is missing; all ranks from 0 to %d are needed", rank, n - 1);
    return status;
}

static int check_op(const struct strag_given *given, int o, struct strag_error *err)
{
    const struct strag_given_op *op = &given->op[o];
    if (op->kind > STRAG_RECV_REDUCE || op->stage >= given->head.nstages)
        return strag_fail(err, STRAG_ERR_ARGUMENT, "operation %d of all: no such kind or stage", o);
    if (op->count < 1 || op->count > given->head.blocks)
        return strag_fail(err, STRAG_ERR_ARGUMENT,
                          "operation %d of all: a count of %d blocks; 1 to %d are accepted", o,
                          op->count, given->head.blocks);
    return STRAG_OK;
}

/* Count operations and the blocks that they touch. Every sum stays far below 2^63. */
static int check_amount(struct strag_given *given, struct strag_error *err)
{
    int64_t operations = 0, touched = 0, most = 0;
    for (int g = 0; g < given->head.groups; g++) {
        const int64_t before = touched;
        for (int l = strag_given_loops_begin(given, g); l < given->group[g].end; l++) {
            const int64_t times = (int64_t)given->loop[l].times * given->group[g].count;
            if (given->loop[l].times < 1)
                return strag_fail(err, STRAG_ERR_ARGUMENT,
                                  "group %d: a loop of %d times; at least 1 is accepted", g,
                                  given->loop[l].times);
            if (given->loop[l].end == strag_given_ops_begin(given, l))
                return strag_fail(err, STRAG_ERR_ARGUMENT, "group %d: a loop without operations",
                                  g);
            for (int o = strag_given_ops_begin(given, l); o < given->loop[l].end; o++) {
                const int status = check_op(given, o, err);
                if (status != STRAG_OK)
                    return status;
                operations += times;
                if (operations > STRAG_GIVEN_OPERATIONS_MAX)
                    return refuse_size(err, "operations of all ranks", STRAG_GIVEN_OPERATIONS_MAX);
                touched += times * given->op[o].count;
                if (touched > STRAG_GIVEN_TOUCHED_MAX)
                    return refuse_size(err, "blocks of all operations", STRAG_GIVEN_TOUCHED_MAX);
            }
        }
        const int64_t own = (touched - before) / given->group[g].count;
        most = own > most ? own : most;
    }
    given->operations = operations;
    given->touched = touched;
    given->touched_most = most;
    return STRAG_OK;
}

struct checking {
    int rank, ops;
    const char *wrong;
    struct strag_op op; /* the last one */
};

static bool check_next(void *context, const struct strag_op *op)
{
    struct checking *checking = context;
    if (op->peer == checking->rank)
        checking->wrong = "the peer is the rank itself";
    else if (op->round < 0)
        checking->wrong = "a round out of range";
    else if (op->round < checking->op.round)
        checking->wrong = "a round before that of the operation before it";
    checking->op = *op;
    checking->ops++;
    return !checking->wrong;
}

/* @param[in,out] rounds  raised to the number of rounds of this rank */
static int check_rank(const struct strag_given *given, int rank, int *rounds,
                      struct strag_error *err)
{
    struct checking checking = {.rank = rank};
    strag_given_visit(given, rank, 0, check_next, &checking);
    if (checking.wrong)
        return strag_fail(err, STRAG_ERR_ARGUMENT,
                          "rank %d, operation %d (%s, peer %d, block %d): %s", rank,
                          checking.ops - 1, strag_kind_name((enum strag_kind)checking.op.kind),
                          checking.op.peer, checking.op.first, checking.wrong);
    if (checking.ops && checking.op.round >= *rounds)
        *rounds = checking.op.round + 1;
    return STRAG_OK;
}

static int check_ranks(struct strag_given *given, struct strag_error *err)
{
    struct strag_given_head *head = &given->head;
    const int kinds = strag_given_kinds(given);
    int rounds = 0, status = STRAG_OK;
    for (int rank = 0; status == STRAG_OK && rank < kinds; rank++)
        status = check_rank(given, rank, &rounds, err);
    if (status != STRAG_OK)
        return status;
    if (head->rounds && head->rounds != rounds)
        return strag_fail(err, STRAG_ERR_ARGUMENT, "there are %d rounds; it claims %d", rounds,
                          head->rounds);
    if (head->before > rounds)
        return strag_fail(err, STRAG_ERR_ARGUMENT, "%d rounds before a straggler, of %d",
                          head->before, rounds);
    head->rounds = rounds;
    return STRAG_OK;
}

int strag_given_close(struct strag_given *given, const struct strag_effort *most,
                      struct strag_error *err)
{
    int status = check_head(&given->head, err);
    if (status == STRAG_OK)
        status = check_numerators(given, err);
    if (status == STRAG_OK)
        status = check_groups(given, err);
    if (status == STRAG_OK)
        status = check_amount(given, err);
    if (status == STRAG_OK && most)
        status = strag_given_limit(given, most, err);
    if (status == STRAG_OK)
        status = check_ranks(given, err);
    return status;
}
