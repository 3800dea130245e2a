/* SPDX-License-Identifier: BSD-3-Clause */
/* Who is late, and what the others do among themselves: the rounds of circulant.c for n - 1 ranks.
 */
#include "algorithms/late.h"

#include "algorithms/skips.h"

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

int strag_others_rounds(int n)
{
    int s[STRAG_SKIPS_MAX];
    return strag_skips(n - 1, s);
}

/* Node v + distance of n, for 0 < distance < n. */
static int up(int v, int distance, int n)
{
    return v < n - distance ? v + distance : v - (n - distance);
}

void strag_others_reduce_scatter(struct strag_builder *builder, int n, int straggler, int node,
                                 int round)
{
    int s[STRAG_SKIPS_MAX];
    struct strag_rounds wanted = strag_rounds_wanted(builder);
    for (int k = strag_skips(n - 1, s) - 1; k >= 0; k--, round++) {
        if (!strag_is_wanted(wanted, round))
            continue;
        int above = up(node, s[k], n - 1), below = up(node, n - 1 - s[k], n - 1);
        strag_cyclic(builder, STRAG_SEND, round, strag_other_rank(above, straggler), above,
                     s[k + 1] - s[k]);
        strag_cyclic(builder, STRAG_RECV_REDUCE, round, strag_other_rank(below, straggler), node,
                     s[k + 1] - s[k]);
    }
}

void strag_others_allgather(struct strag_builder *builder, int n, int straggler, int node,
                            int round)
{
    int s[STRAG_SKIPS_MAX];
    int q = strag_skips(n - 1, s);
    struct strag_rounds wanted = strag_rounds_wanted(builder);
    for (int k = 0; k < q; k++, round++) {
        if (!strag_is_wanted(wanted, round))
            continue;
        int above = up(node, s[k], n - 1), below = up(node, n - 1 - s[k], n - 1);
        strag_cyclic(builder, STRAG_SEND, round, strag_other_rank(below, straggler), node,
                     s[k + 1] - s[k]);
        strag_cyclic(builder, STRAG_RECV, round, strag_other_rank(above, straggler), above,
                     s[k + 1] - s[k]);
    }
}
