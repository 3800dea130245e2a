/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What to run for which size, where nothing is known of the network and all links are alike.
 */
#ifndef STRAG_SELECT_H
#define STRAG_SELECT_H

#include "algorithm.h"

/* One algorithm for vectors below a size, another from there on. */
struct strag_choice {
    size_t limit; /* bytes */
    const struct strag_algorithm *below, *above;
};

/**
 * Choose by the algorithms' own claims. With alpha the time of a message, and sending a byte and
 * combining a byte both taking beta, an algorithm takes
 *
 *     T(s) = rounds * alpha + (sent + combined) * s * beta
 *
 * Below the size where both take the same time recursive doubling wins (it combines all that it
 * receives), above it circulant (it combines half of what it receives).
 *
 * @param n              ranks, at least 2
 * @param latency_bytes  alpha / beta: the bytes that pass while one message is under way
 */
struct strag_choice strag_select(int n, double latency_bytes);

#endif
