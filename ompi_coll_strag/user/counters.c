/* SPDX-License-Identifier: BSD-3-Clause */
#include "counters.h"

#include <string.h>

unsigned long long coll_strag_counters[STRAG_COUNTERS];

/* Open MPI reads the counters directly. */
void coll_strag_counters_register(const mca_base_component_t *component)
{
    for (int v = 0; v < STRAG_COUNTERS; v++)
        mca_base_component_pvar_register(
            component, strag_variables[v].name + strlen(STRAG_PREFIX), strag_variables[v].help,
            OPAL_INFO_LVL_4, MPI_T_PVAR_CLASS_COUNTER, MCA_BASE_VAR_TYPE_UNSIGNED_LONG_LONG, NULL,
            MPI_T_BIND_NO_OBJECT, MCA_BASE_PVAR_FLAG_READONLY | MCA_BASE_PVAR_FLAG_CONTINUOUS, NULL,
            NULL, NULL, &coll_strag_counters[v]);
}
