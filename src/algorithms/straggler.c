/* SPDX-License-Identifier: BSD-3-Clause */
#include "algorithms/straggler.h"

int strag_awaited_straggler(const struct strag_problem *problem)
{
    const struct strag_state *state = problem->state;
    const struct strag_straggler *latest = NULL;
    for (int i = 0; state && i < state->nstragglers; i++) {
        const struct strag_straggler *straggler = &state->straggler[i];
        if (!latest || straggler->delay > latest->delay ||
            (straggler->delay == latest->delay && straggler->rank < latest->rank))
            latest = straggler;
    }
    return latest ? latest->rank : -1;
}

int strag_straggler_check_blocks(const struct strag_problem *problem, int multiple, int most,
                                 struct strag_error *err)
{
    if (problem->n > 1 && (problem->blocks > most || problem->blocks % multiple))
        return strag_fail(err, STRAG_ERR_UNSUPPORTED,
                          "%s cuts into a multiple of %d blocks, up to %d, not %d",
                          problem->algorithm->name, multiple, most, problem->blocks);
    return STRAG_OK;
}
