/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A binomial tree over a group of members, numbered from 0: reducing whole vectors onto member 0,
 * and broadcasting them from there. For 6 members:
 *
 *     step     0                1          2
 *     reduce   1->0 3->2 5->4   2->0       4->0
 *     step     0                1          2
 *     bcast    0->4             0->2       0->1 2->3 4->5
 *
 * ceil(log2 size) steps each.
 */
#ifndef STRAG_BINOMIAL_H
#define STRAG_BINOMIAL_H

#include "algorithms/skips.h"
#include "plan/algorithm.h"

/**
 * Find a member's partner in a step of the reduction. The broadcast has the same pairs, in the
 * opposite order and direction.
 *
 * @param[out] sends  true if the member sends, false if it receives
 * @return the partner, or -1 if there is none
 */
static inline int strag_binomial_partner(int size, int member, int step, bool *sends)
{
    int64_t distance = INT64_C(1) << step;
    if (member % distance)
        return -1; /* it has sent before */
    *sends = member / distance % 2;
    if (*sends)
        return (int)(member - distance);
    return member + distance < size ? (int)(member + distance) : -1;
}

/** Append a member's message in a round; `sends` is as above, `peer` the partner's rank. */
static inline void strag_binomial_round(bool sends, bool broadcast, int round, int peer, int blocks,
                                        struct strag_builder *builder)
{
    enum strag_kind comes = broadcast ? STRAG_RECV : STRAG_RECV_REDUCE;
    strag_stage(builder, broadcast ? "broadcast" : "reduce");
    strag_cyclic(builder, sends != broadcast ? STRAG_SEND : comes, round, peer, 0, blocks);
}

/** How many members a member sends to in the broadcast. */
static inline int strag_binomial_children(int size, int member)
{
    int children = 0;
    for (int64_t distance = 1; distance < size && member % (2 * distance) == 0; distance *= 2)
        children += member + distance < size;
    return children;
}

#endif
