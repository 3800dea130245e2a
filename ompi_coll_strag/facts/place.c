/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rank 0: the topology of a communicator, from coll_strag_layout, coll_strag_torus or the hosts'
 * own addresses (machine/job.h). One warning tells what cannot be used of the first two.
 */
#include "place.h"

#include "compat/world.h"
#include "files.h"
#include "user/log.h"
#include "user/settings.h"

struct strag_topology *coll_strag_make_topology(ompi_communicator_t *comm,
                                                const struct strag_rank_location *ranks)
{
    const struct coll_strag_settings *settings = &coll_strag_settings;
    struct strag_topology *topology = NULL;
    struct strag_error why;
    struct strag_job job = {.ranks = ranks, .n = ompi_comm_size(comm)};
    job.part = job.n < coll_strag_world_size();
    job.pattern = strag_names_pattern(settings->layout_file);
    if (settings->layout_file[0] && NULL == job.pattern)
        job.layout = coll_strag_layout();
    else
        job.layout = settings->grid;
    if (job.pattern)
        job.source = STRAG_JOB_BY_NAMES;
    else if (settings->layout_file[0])
        job.source = job.layout ? STRAG_JOB_ON_FILE : STRAG_JOB_FLAT;
    else if (settings->grid)
        job.source = STRAG_JOB_ON_GRID;
    else
        job.source = STRAG_JOB_BY_ADDRESSES;
    (void)strag_job_topology(&job, &topology, &why);
    if (why.text[0] && settings->layout_file[0])
        coll_strag_warn(COLL_STRAG_WARN_LAYOUT, settings->layout_file, why.text);
    else if (why.text[0] && job.source == STRAG_JOB_ON_GRID)
        coll_strag_warn(COLL_STRAG_WARN_TORUS, settings->grid_text, why.text);
    if (why.text[0])
        coll_strag_log(comm, "%s%s",
                       topology && job.source == STRAG_JOB_BY_ADDRESSES
                           ? "SLURM_TOPOLOGY_ADDR is ignored: "
                           : "",
                       why.text);
    return topology;
}
