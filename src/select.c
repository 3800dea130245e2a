/* SPDX-License-Identifier: BSD-3-Clause */
#include "select.h"

struct strag_choice strag_select(int n, double latency_bytes)
{
    const struct strag_problem problem = {.n = n};
    struct strag_claim doubling, circulant;
    struct strag_choice choice = {
        .limit = 0,
        .below = strag_algorithm_find("recursive-doubling", NULL),
        .above = strag_algorithm_find("circulant", NULL),
    };
    if (strag_algorithm_claim(choice.below, &problem, &doubling, NULL) != STRAG_OK ||
        strag_algorithm_claim(choice.above, &problem, &circulant, NULL) != STRAG_OK)
        return choice;
    double rounds_saved = circulant.rounds - doubling.rounds;
    double bytes_added = 2 * doubling.sent_max - 1.5 * circulant.sent_max;
    if (rounds_saved > 0 && bytes_added > 0)
        choice.limit = (size_t)(latency_bytes * rounds_saved / bytes_added);
    return choice;
}
