/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Recursive doubling on a torus, for short vectors and for long ones: pairs that are 1, 2, 4, ...
 * hosts apart, one dimension after the other at each distance. On 4 x 4 hosts, who meets whom, as
 * coordinates that differ:
 *
 *     round    0          1          2          3
 *              x ^ 1      y ^ 1      x ^ 2      y ^ 2
 *
 * torus-doubling swaps whole vectors; the result is complete after these rounds. torus-halving
 * swaps halves of the remaining blocks, so that the longest messages go to neighbours, and then
 * goes the same way back. butterfly.h has the blocks, the ports, the folds, and the numbers.
 *
 * (Sack and Gropp, "Collective algorithms for multiported torus networks";
 * the mirrored parts are those of De Sensi et al., "Swing", section 4.)
 */
#include "algorithms/butterfly.h"
#include "algorithms/tree.h"

static const struct strag_butterfly doubling = {.whole = true,
                                                .peer = strag_butterfly_peer,
                                                .half = strag_butterfly_half},
                                    halving = {.peer = strag_butterfly_peer,
                                               .half = strag_butterfly_half};

const struct strag_algorithm strag_torus_doubling = {
    .name = "torus-doubling",
    .summary = "recursive doubling, dimensions in turn; for short vectors on a torus",
    .rounds = "sum(log2 d_i) (+2 per d_i != 2^k)",
    .sent = "sum(log2 d_i) (+1 per d_i != 2^k)",
    .form = &doubling,
    .check = strag_butterfly_check,
    .adds_nothing = strag_tree_is_one_switch,
    .choices = strag_butterfly_choices,
    .claim = strag_butterfly_claim,
    .build = strag_butterfly_build,
};

const struct strag_algorithm strag_torus_halving = {
    .name = "torus-halving",
    .summary = "recursive halving and doubling, dimensions in turn, near ranks first",
    .rounds = "2 sum(log2 d_i) (+2 per d_i != 2^k)",
    .sent = "2(p-1)/p (+1 per d_i != 2^k)",
    .form = &halving,
    .check = strag_butterfly_check,
    .adds_nothing = strag_tree_is_one_switch,
    .choices = strag_butterfly_choices,
    .claim = strag_butterfly_claim,
    .build = strag_butterfly_build,
};
