/* SPDX-License-Identifier: BSD-3-Clause */
/* A component with the name of coll/hcoll, which takes communicators, and does nothing. */
#include "../../ompi_coll_strag/compat/compat.h"

static int enable(mca_coll_base_module_t *module, ompi_communicator_t *comm)
{
    return OMPI_SUCCESS;
}

static mca_coll_base_module_t *query(ompi_communicator_t *comm, int *priority)
{
    mca_coll_base_module_t *module = OBJ_NEW(mca_coll_base_module_t);
    if (module)
        module->coll_module_enable = enable;
    *priority = 90;
    return module;
}

static int init(bool enable_progress_threads, bool enable_mpi_threads)
{
    return OMPI_SUCCESS;
}

OMPI_DECLSPEC mca_coll_base_component_t mca_coll_hcoll_component = {
    .collm_version =
        {
            COLL_STRAG_FRAMEWORK_VERSION,
            .mca_component_name = "hcoll",
            MCA_BASE_MAKE_VERSION(component, 1, 0, 0),
        },
    .collm_data = {MCA_BASE_METADATA_PARAM_CHECKPOINT},
    .collm_init_query = init,
    .collm_comm_query = query,
};
