/* SPDX-License-Identifier: BSD-3-Clause */
#include "algorithms/table.h"

#include "base/text.h"

#include <string.h>

/* Every algorithm, once. Of two that are equally fast by the model, the first is chosen. */
/* clang-format off */
#define ALGORITHMS(row) \
    row(strag_recursive_doubling) \
    row(strag_circulant) \
    row(strag_recursive_halving) \
    row(strag_ring) \
    row(strag_swing_latency) \
    row(strag_swing) \
    row(strag_bine) \
    row(strag_bine_latency) \
    row(strag_bucket) \
    row(strag_torus_halving) \
    row(strag_torus_doubling) \
    row(strag_hamiltonian) \
    row(strag_flexreduce) \
    row(strag_flexreduce_pipelined) \
    row(strag_flexreduce_direct) \
    row(strag_hierarchical_doubling) \
    row(strag_blueconnect) \
    row(strag_leaders) \
    row(strag_direct) \
    row(strag_straggler_pipeline) \
    row(strag_straggler_trees) \
    row(strag_straggler_direct) \
    row(strag_stragglar) \
    row(strag_broadcast_after) \
    row(strag_optcc) \
    row(strag_weighted) \
    row(strag_torus_trees)
/* clang-format on */

#define DECLARE(algorithm) extern const struct strag_algorithm algorithm;
ALGORITHMS(DECLARE)

#define ADDRESS(algorithm) &algorithm,
const struct strag_algorithm *const strag_algorithms[] = {ALGORITHMS(ADDRESS) NULL};

_Static_assert(sizeof strag_algorithms / sizeof *strag_algorithms - 1 <= STRAG_ALGORITHMS_MAX,
               "STRAG_ALGORITHMS_MAX is too small");

char *strag_algorithm_names(char *buffer, size_t size)
{
    buffer[0] = '\0';
    for (int i = 0; strag_algorithms[i]; i++)
        strag_append(buffer, size, "%s%s", i ? ", " : "", strag_algorithms[i]->name);
    return buffer;
}

void strag_algorithms_offer(struct strag_nearest *nearest, const char *wrong)
{
    for (int i = 0; strag_algorithms[i]; i++)
        strag_nearest_offer(nearest, wrong, strag_algorithms[i]->name);
}

const struct strag_algorithm *strag_algorithm_find(const char *name, struct strag_error *err)
{
    for (int i = 0; strag_algorithms[i]; i++) {
        if (strcmp(strag_algorithms[i]->name, name) == 0)
            return strag_algorithms[i];
    }
    char names[STRAG_NAMES_MAX], meant[64];
    struct strag_nearest nearest = {NULL, 0};
    strag_algorithms_offer(&nearest, name);
    strag_fail(err, STRAG_ERR_ARGUMENT, "unknown algorithm '%.40s'%s; there are: %s", name,
               strag_nearest_text(&nearest, name, meant),
               strag_algorithm_names(names, sizeof names));
    return NULL;
}

const struct strag_algorithm *strag_algorithm_fewest_switches(void)
{
    int a = 0;
    while (strag_algorithms[a] && !strag_algorithms[a]->fewest_switches)
        a++;
    return strag_algorithms[a];
}

const struct strag_algorithm *strag_algorithm_any_straggler(void)
{
    int a = 0;
    while (strag_algorithms[a] && !strag_algorithms[a]->any_straggler)
        a++;
    return strag_algorithms[a];
}
