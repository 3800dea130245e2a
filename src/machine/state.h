/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is wrong with a machine at the moment: ranks that arrive late, links that are slow.
 */
#ifndef STRAG_STATE_H
#define STRAG_STATE_H

/* A rank whose host's links to the network are `factor` times slower, all of them. */
struct strag_slow {
    int rank;
    double factor; /* at least 1; where a host is named twice, the larger one */
};

/* A rank that arrives `delay` seconds after the others. */
struct strag_straggler {
    int rank;
    double delay;
};

/* What differs from an ideal machine. All zero: nothing. */
struct strag_state {
    int nslow;
    const struct strag_slow *slow;
    int nstragglers;
    const struct strag_straggler *straggler;
};

#endif
