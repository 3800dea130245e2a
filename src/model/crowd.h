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
 * @return 1 to n; never fewer for a longer vector
 */
int strag_crowd_blocks(const struct strag_crowd *crowd, size_t bytes);

/**
 * Below so many bytes ranks that exchange in a few rounds (recursive doubling and its likes) are
 * thought to take at most two thirds of that: there are so many processors that one rank's messages
 * take longer than all others' rounds. Such sizes are the cost model's.
 *
 * @return 0: none are, as with 1 and 2 processors always
 */
size_t strag_crowd_exchanges_below(const struct strag_crowd *crowd);

/**
 * Make that the table.
 *
 * @param algorithm  with `fewest_switches`
 * @param from       bytes; shorter vectors are left to the previous component
 * @param modelled   the cost model's table, for sizes that are its; NULL: it is not wanted
 */
void strag_crowd_table(const struct strag_crowd *crowd, const struct strag_algorithm *algorithm,
                       size_t from, const struct strag_table *modelled, struct strag_table *table);

#endif
