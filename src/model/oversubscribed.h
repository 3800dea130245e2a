/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Oversubscribed hosts: more ranks than processors, in shared memory. The cost model does not cover
 * them: a rank that waits yields its processor, and gets it back after all other ranks of that
 * processor have had their turn.
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
 * Into how many blocks to cut a vector for the algorithm with `fewest_switches` (direct).
 *
 * @return 1 to n; never fewer for a longer vector
 */
int strag_oversubscribed_blocks(const struct strag_oversubscribed *oversubscribed, size_t bytes);

/**
 * Make the table with these numbers of blocks.
 *
 * @param algorithm  with `fewest_switches`
 * @param from       bytes; shorter vectors are left to the previous component
 */
void strag_oversubscribed_table(const struct strag_oversubscribed *oversubscribed,
                                const struct strag_algorithm *algorithm, size_t from,
                                struct strag_table *table);

#endif
