/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exchanges within a host, in addition to those on the network: every rank of a host leads a part
 * of the vector, collects it from its siblings before it goes out, and gives it to them when it is
 * back.
 */
#ifndef STRAG_SIBLINGS_H
#define STRAG_SIBLINGS_H

#include "algorithms/uplinks.h"

/* A range of blocks, which every part has; parts begin `part` blocks apart. */
struct strag_strided {
    int first, count, part;
};

/** The range that is exchanged in one of `steps` steps; the first part begins at block `first`. */
static inline struct strag_strided strag_siblings_share(int first, int64_t part, int step,
                                                        int steps)
{
    int begin = (int)(step * part / steps), end = (int)((step + 1) * part / steps);
    return (struct strag_strided){first + begin, end - begin, (int)part};
}

/** Append an exchange: every rank gets its part of the blocks from its siblings, and reduces it;
 * or, if not `collect`, it gives its part to them. */
static inline void strag_siblings_exchange(const struct strag_uplinks *uplinks, int rank, int round,
                                           struct strag_strided blocks, bool collect,
                                           struct strag_builder *builder)
{
    int me = uplinks->index[rank], place = uplinks->place[rank], g = uplinks->ranks_per_host;
    strag_stage(builder, collect ? "collect" : "distribute");
    for (int i = 1; i < g; i++) {
        int to = (me + i) % g, from = (me + g - i) % g;
        strag_send(builder, round, strag_uplinks_rank(uplinks, place, to),
                   blocks.first + (collect ? to : me) * blocks.part, blocks.count);
        strag_cyclic(builder, collect ? STRAG_RECV_REDUCE : STRAG_RECV, round,
                     strag_uplinks_rank(uplinks, place, from),
                     blocks.first + (collect ? me : from) * blocks.part, blocks.count);
    }
}

#endif
