/* SPDX-License-Identifier: BSD-3-Clause */
#include "machine/state.h"

#include "base/units.h"

#include <math.h>

static int check_rank(const char *what, int rank, int n, struct strag_error *err)
{
    if (rank >= 0 && rank < n)
        return STRAG_OK;
    return strag_fail(err, STRAG_ERR_ARGUMENT, "%s %d; with %s it is 0 to %d", what, rank,
                      strag_units_count(n, "rank").text, n - 1);
}

int strag_state_check(const struct strag_state *state, int n, struct strag_error *err)
{
    int status = STRAG_OK;
    for (int i = 0; state && status == STRAG_OK && i < state->nstragglers; i++)
        status = check_rank("straggler", state->straggler[i].rank, n, err);
    for (int i = 0; state && status == STRAG_OK && i < state->nslow; i++) {
        const struct strag_slow *slow = &state->slow[i];
        status = check_rank("slow rank", slow->rank, n, err);
        if (status == STRAG_OK && (!(slow->factor >= 1) || isinf(slow->factor)))
            status = strag_fail(err, STRAG_ERR_ARGUMENT,
                                "rank %d is slower by a factor of %g; must be at least 1",
                                slow->rank, slow->factor);
    }
    return status;
}
