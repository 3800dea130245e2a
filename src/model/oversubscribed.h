/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Oversubscribed hosts: more ranks than processors, in shared memory. The cost model does not know
 * what a call takes there: a rank that waits gives its processor away, and gets it back after all
 * other ranks of that processor have had their turn.
 */
#ifndef STRAG_OVERSUBSCRIBED_H
#define STRAG_OVERSUBSCRIBED_H

#include "model/select.h"

struct strag_oversubscribed {
    int n;          /* ranks */
    int processors; /* that they share, at least 1 */
    size_t window;  /* bytes of messages that a rank may have in flight */
};

/**
 * Into how many blocks the algorithm with `fewest_switches` (direct) cuts a vector. One rank sums
 * up each block.
 *
 * @return 1 to n; never fewer for a longer vector
 */
int strag_oversubscribed_blocks(const struct strag_oversubscribed *oversubscribed, size_t bytes);

/**
 * The number of bytes below which algorithms with few rounds (recursive doubling and its likes) are
 * estimated at no more than two thirds of direct's time: with many processors, one rank's messages
 * take longer than all others' rounds. The cost model decides for these sizes.
 *
 * @return 0: none are, as with 1 and 2 processors always
 */
size_t strag_oversubscribed_exchanges_below(const struct strag_oversubscribed *oversubscribed);

/**
 * Make that the table.
 *
 * @param algorithm  with `fewest_switches`
 * @param from       bytes; shorter vectors are left to the previous component
 * @param modelled   the cost model's table, for sizes that are its; NULL: it is not wanted
 */
void strag_oversubscribed_table(const struct strag_oversubscribed *oversubscribed,
                                const struct strag_algorithm *algorithm, size_t from,
                                const struct strag_table *modelled, struct strag_table *table);

#endif
