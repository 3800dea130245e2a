/* SPDX-License-Identifier: BSD-3-Clause */
#include "model.h"

/* Messages within a host, and reducing: as strag-tune measured them with 2 and 4 ranks. Reducing a
 * byte takes as long as copying it. (Whole operations, which run in order, take less through
 * shared memory; but algorithms overtake each other where they should.) */
static const struct local {
    double alpha, bandwidth; /* seconds, bytes per second */
} over_pml = {4e-6, 16e9}, over_shm = {0.4e-6, 20e9};

struct strag_sourced_model coll_strag_make_model(const struct strag_topology *topology, bool shared)
{
    const double *number = coll_strag_settings.number;
    const struct local *local = shared ? &over_shm : &over_pml;
    struct strag_model standard =
        strag_model_default(topology ? topology->network : STRAG_NETWORK_TREE);
    standard.local_alpha = local->alpha;
    standard.local_bandwidth = standard.reduce_bandwidth = local->bandwidth;
    struct strag_sourced_model made = strag_model_sourced(&standard);
    for (int id = 0; id < STRAG_MODEL_NUMBERS; id++)
        if (number[id] >= 0)
            strag_model_set(&made, id, number[id], STRAG_FROM_USER);
    return made;
}
