/* SPDX-License-Identifier: BSD-3-Clause */
#include "plan/show_rounds.h"

#include <stdlib.h>

enum {
    FEW = 24,     /* rounds that are all shown */
    LIKE = 4,     /* rounds like the one before that are all shown */
    MOST = 40,    /* columns */
    AT_ENDS = 18, /* of these at each end, where there would be more */
};

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 29;
}

/* @param[out] like  [round]: equal numbers, equal messages */
static void compare(struct strag_plan *const *plans, int count, uint64_t *like)
{
    for (int p = 0; p < count; p++) {
        const struct strag_plan *plan = plans[p];
        for (const struct strag_op *op = plan->ops; op < plan->ops + plan->nops; op++) {
            uint64_t *hash = &like[op->round];
            *hash = mix(*hash, (uint64_t)plan->rank << 8 | op->kind);
            *hash = mix(*hash, (uint64_t)op->peer << 32 | (uint32_t)op->count);
        }
    }
}

static int add(struct strag_column *columns, int ncolumns, struct strag_column column)
{
    columns[ncolumns] = column;
    return ncolumns + 1;
}

/* Of each row of like rounds the first two and the last. */
static int leave_out_like(const uint64_t *like, int rounds, struct strag_column *columns)
{
    int ncolumns = 0;
    for (int first = 0, end; first < rounds; first = end) {
        for (end = first + 1; end < rounds && like[end] == like[first];)
            end++;
        const bool some = rounds > FEW && end - first > LIKE;
        for (int r = first; r < (some ? first + 2 : end); r++)
            ncolumns = add(columns, ncolumns, (struct strag_column){.round = r});
        if (some) {
            ncolumns =
                add(columns, ncolumns, (struct strag_column){first + 2, end - first - 3, true});
            ncolumns = add(columns, ncolumns, (struct strag_column){.round = end - 1});
        }
    }
    return ncolumns;
}

/* What is between the first columns and the last becomes one. */
static int leave_out_middle(struct strag_column *columns, int ncolumns)
{
    const int last = ncolumns - AT_ENDS;
    if (ncolumns <= MOST)
        return ncolumns;
    columns[AT_ENDS].left_out = columns[last].round - columns[AT_ENDS].round;
    columns[AT_ENDS].same = false;
    for (int c = 0; c < AT_ENDS; c++)
        columns[AT_ENDS + 1 + c] = columns[last + c];
    return 2 * AT_ENDS + 1;
}

int strag_show_rounds(struct strag_plan *const *plans, int count, struct strag_column **columns)
{
    const int rounds = plans[0]->rounds;
    uint64_t *like = calloc((size_t)rounds + 1, sizeof *like);
    int ncolumns = 0;
    *columns = calloc((size_t)rounds + 1, sizeof **columns);
    if (like && *columns) {
        compare(plans, count, like);
        ncolumns = leave_out_middle(*columns, leave_out_like(like, rounds, *columns));
    } else {
        free(*columns);
        *columns = NULL;
    }
    free(like);
    return ncolumns;
}
