/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sharing memory among the ranks of a host, during a communicator's setup: the exchanges that
 * run/shared_memory.h asks for, and what the transport there needs of Open MPI.
 *
 *     all                            set up; the lowest rank of each host makes a segment
 *     all                            has each rank what it needs? (an allreduce)
 *     all                            where are the segments? (an allgather)
 *     the others of each host        map theirs
 *     all                            has each rank? (an allreduce)
 *
 * If one has not, all ranks go on over the PML alone.
 */
#include "shared_memory.h"

#include "log.h"
#include "transport.h"

#include <stdlib.h>

/* ---- What the transport needs of Open MPI ---- */

static int pack(const void *type, void *packed, const void *elements, size_t count)
{
    bool done = coll_strag_pack((ompi_datatype_t *)(uintptr_t)type, elements, count, packed);
    return done ? STRAG_OK : STRAG_ERR_TRANSPORT;
}

static int unpack(const void *type, void *elements, const void *packed, size_t count)
{
    bool done = coll_strag_unpack((ompi_datatype_t *)(uintptr_t)type, elements, count, packed);
    return done ? STRAG_OK : STRAG_ERR_TRANSPORT;
}

static void progress(void)
{
    opal_progress();
}

struct strag_transport *coll_strag_shared_memory_begin(struct strag_shm *shm,
                                                       const struct coll_strag_reducer *reducer,
                                                       size_t size)
{
    bool contiguous = reducer->true_lb == 0 && reducer->extent == (ptrdiff_t)size &&
                      reducer->true_extent == reducer->extent &&
                      ompi_datatype_is_contiguous_memory_layout(reducer->dtype, 2);
    return strag_shm_begin(shm, reducer->dtype, size, contiguous,
                           contiguous && size <= COLL_STRAG_REDUCE_PIECE);
}

/* ---- Setting up ---- */

/* @param shm    NULL: this rank is not able
 * @param infos  [rank]: room */
static int set_up(ompi_communicator_t *comm, const struct coll_strag_previous *previous,
                  struct strag_shm *shm, struct strag_shm_info *infos, bool *all)
{
    struct strag_shm_info own;
    int code = coll_strag_agree(previous, comm, shm && infos && strag_shm_make(shm, &own), all);
    if (code == OMPI_SUCCESS && *all)
        code = comm->c_coll->coll_allgather(&own, sizeof own, MPI_BYTE, infos, sizeof own, MPI_BYTE,
                                            comm, comm->c_coll->coll_allgather_module);
    if (code == OMPI_SUCCESS && *all)
        code = coll_strag_agree(previous, comm, strag_shm_join(shm, infos), all);
    *all = *all && code == OMPI_SUCCESS;
    return code;
}

int coll_strag_shared_memory_connect(ompi_communicator_t *comm,
                                     const struct coll_strag_previous *previous,
                                     const uint8_t *lane_of, uint8_t lane, bool wanted,
                                     struct strag_shm **shm)
{
    const struct strag_shm_host host = {pack, unpack, progress, opal_progress_yield_when_idle};
    const int n = ompi_comm_size(comm), me = ompi_comm_rank(comm);
    struct strag_shm_info *infos = calloc((size_t)n, sizeof *infos);
    struct strag_shm *made = lane_of ? strag_shm_create(&host, n, me, lane_of, lane) : NULL;
    bool all = false;
    int code = set_up(comm, previous, made, infos, &all);
    free(infos);
    if (all) {
        strag_shm_seal(made);
    } else {
        strag_shm_free(made);
        made = NULL;
    }
    *shm = made;
    if (!all && wanted && me == 0)
        coll_strag_warn(COLL_STRAG_WARN_NOT_SHARED, comm->c_name, "a rank could not");
    return code;
}
