/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * strag.h: reading a plan.
 */
#include "plan/plan.h"

int strag_plan_blocks(const struct strag_plan *plan)
{
    return plan->bounds.blocks;
}

int strag_plan_rounds(const struct strag_plan *plan)
{
    return plan->rounds;
}

int strag_plan_operations(const struct strag_plan *plan)
{
    return plan->nops;
}

bool strag_plan_operation(const struct strag_plan *plan, int index,
                          struct strag_operation *operation)
{
    if (index < 0 || index >= plan->nops)
        return false;
    const struct strag_op *op = &plan->ops[index];
    *operation = (struct strag_operation){
        .kind = op->kind,
        .peer = op->peer,
        .first = op->first,
        .count = op->count,
        .round = op->round,
        .own_left = op->own_left,
        .stage = plan->stages[op->stage],
    };
    return true;
}

const int32_t *strag_plan_waits(const struct strag_plan *plan, int index, int *length)
{
    *length = 0;
    return index >= 0 && index < plan->nops ? strag_plan_after(plan, index, length) : NULL;
}

size_t strag_plan_block_start(const struct strag_plan *plan, int block, size_t count)
{
    return strag_block_start(&plan->bounds, block, count);
}
