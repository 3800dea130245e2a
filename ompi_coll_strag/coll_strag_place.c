/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rank 0: the topology of a communicator, from coll_strag_layout, coll_strag_torus or
 * SLURM_TOPOLOGY_ADDR (machine/job.h). What is wrong with the first two is warned of once.
 */
#include "coll_strag.h"

/* The file of coll_strag_layout, read once. @return NULL: it is of no use, and that was said */
static const struct strag_layout *read_layout(void)
{
    mca_coll_strag_component_t *component = &mca_coll_strag_component;
    struct strag_error err;
    pthread_mutex_lock(&component->files_lock);
    if (!component->layout_read) {
        component->layout_read = true;
        if (strag_layout_read(component->layout_file, &component->layout, &err) != STRAG_OK)
            coll_strag_warn(COLL_STRAG_WARN_LAYOUT, component->layout_file, err.text);
    }
    const struct strag_layout *layout = component->layout;
    pthread_mutex_unlock(&component->files_lock);
    return layout;
}

struct strag_topology *coll_strag_place(ompi_communicator_t *comm,
                                        const struct strag_rank_location *ranks)
{
    const mca_coll_strag_component_t *component = &mca_coll_strag_component;
    struct strag_topology *topology = NULL;
    struct strag_error why;
    struct strag_job job = {.ranks = ranks, .n = ompi_comm_size(comm)};
    job.part = job.n < ompi_comm_size(&ompi_mpi_comm_world.comm);
    job.layout = component->layout_file[0] ? read_layout() : component->grid;
    if (component->layout_file[0])
        job.source = job.layout ? STRAG_JOB_ON_FILE : STRAG_JOB_FLAT;
    else if (component->grid)
        job.source = STRAG_JOB_ON_GRID;
    else
        job.source = STRAG_JOB_BY_ADDRESSES;
    (void)strag_job_place(&job, &topology, &why);
    if (why.text[0] && job.source == STRAG_JOB_ON_FILE)
        coll_strag_warn(COLL_STRAG_WARN_LAYOUT, component->layout_file, why.text);
    else if (why.text[0] && job.source == STRAG_JOB_ON_GRID)
        coll_strag_warn(COLL_STRAG_WARN_TORUS, component->torus_text, why.text);
    else if (why.text[0])
        coll_strag_tell("coll:strag: %s: %s%s", comm->c_name,
                        topology ? "SLURM_TOPOLOGY_ADDR is of no use: " : "", why.text);
    return topology;
}

void coll_strag_files_free(void)
{
    mca_coll_strag_component_t *component = &mca_coll_strag_component;
    strag_layout_free(component->grid);
    strag_layout_free(component->layout);
    strag_rules_free(component->rules);
    component->grid = component->layout = NULL;
    component->rules = NULL;
    component->layout_read = component->rules_read = false;
}
