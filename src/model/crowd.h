/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A crowd: ranks that share memory, and fewer processors than they are. What a call takes there the
 * cost model does not know: a rank that waits gives its processor away and comes back when all
 * others on it had their turn.
 */
#ifndef STRAG_CROWD_H
#define STRAG_CROWD_H

#include "model/select.h"

struct strag_crowd {
    int n;          /* ranks */
    int processors; /* that they share, at least 1 */
    size_t window;  /* bytes of messages that a rank may have under way */
};

/**
 * Into how many blocks the algorithm with `fewest_switches` (direct) cuts a vector: as many ranks
 * sum up.
 *
 * @return 1 to n; more for longer vectors
 */
int strag_crowd_blocks(const struct strag_crowd *crowd, size_t bytes);

/**
 * Make that the table.
 *
 * @param algorithm  with `fewest_switches`
 * @param from       bytes; shorter vectors are left to the previous component
 */
void strag_crowd_table(const struct strag_crowd *crowd, const struct strag_algorithm *algorithm,
                       size_t from, struct strag_table *table);

#endif
