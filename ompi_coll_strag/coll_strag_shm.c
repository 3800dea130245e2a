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
#include "coll_strag.h"

#include "base/status.h"

#include <stdlib.h>

/* ---- What the transport needs of Open MPI ---- */

static int convert(const void *type, bool pack, void *packed, const void *elements, size_t count)
{
    ompi_datatype_t *dtype = (ompi_datatype_t *)(uintptr_t)type;
    size_t size;
    ompi_datatype_type_size(dtype, &size);
    struct iovec piece = {.iov_base = packed, .iov_len = count * size};
    uint32_t pieces = 1;
    size_t length = piece.iov_len;
    opal_convertor_t convertor;
    OBJ_CONSTRUCT(&convertor, opal_convertor_t);
    if (pack) {
        opal_convertor_copy_and_prepare_for_send(ompi_mpi_local_convertor, &dtype->super, count,
                                                 elements, 0, &convertor);
        opal_convertor_pack(&convertor, &piece, &pieces, &length);
    } else {
        opal_convertor_copy_and_prepare_for_recv(ompi_mpi_local_convertor, &dtype->super, count,
                                                 elements, 0, &convertor);
        opal_convertor_unpack(&convertor, &piece, &pieces, &length);
    }
    OBJ_DESTRUCT(&convertor);
    return length == count * size ? STRAG_OK : STRAG_ERR_TRANSPORT;
}

static int pack(const void *type, void *packed, const void *elements, size_t count)
{
    return convert(type, true, packed, elements, count);
}

static int unpack(const void *type, void *elements, const void *packed, size_t count)
{
    return convert(type, false, (void *)(uintptr_t)packed, elements, count);
}

static void progress(void)
{
    opal_progress();
}

struct strag_transport *coll_strag_shm_begin(struct strag_shm *shm, ompi_datatype_t *dtype,
                                             const struct coll_strag_reducer *reducer, size_t size)
{
    bool contiguous = reducer->true_lb == 0 && reducer->extent == (ptrdiff_t)size &&
                      reducer->true_extent == reducer->extent &&
                      ompi_datatype_is_contiguous_memory_layout(dtype, 2);
    const struct strag_shm_elements elements = {
        .size = size,
        .contiguous = contiguous,
        .in_place = contiguous && size <= COLL_STRAG_REDUCE_PIECE,
        .type = dtype,
    };
    return strag_shm_begin(shm, &elements);
}

/* ---- Setting up ---- */

/* Are all ranks able? Our own allreduce delegates what comes during setup. */
static int agree(const mca_coll_strag_module_t *module, ompi_communicator_t *comm, bool able,
                 bool *all)
{
    int mine = able, least = 0;
    int code = module->previous_allreduce(&mine, &least, 1, MPI_INT, MPI_MIN, comm,
                                          module->previous_allreduce_module);
    *all = code == OMPI_SUCCESS && least;
    return code;
}

/* @param shm    NULL: this rank is not able
 * @param infos  [rank]: room */
static int set_up(const mca_coll_strag_module_t *module, ompi_communicator_t *comm,
                  struct strag_shm *shm, struct strag_shm_info *infos, bool *all)
{
    struct strag_shm_info own;
    int code = agree(module, comm, shm && infos && strag_shm_make(shm, &own), all);
    if (code == OMPI_SUCCESS && *all)
        code = comm->c_coll->coll_allgather(&own, sizeof own, MPI_BYTE, infos, sizeof own, MPI_BYTE,
                                            comm, comm->c_coll->coll_allgather_module);
    if (code == OMPI_SUCCESS && *all)
        code = agree(module, comm, strag_shm_join(shm, infos), all);
    return code;
}

int coll_strag_shm_connect(mca_coll_strag_module_t *module, ompi_communicator_t *comm, bool able,
                           bool wanted)
{
    const struct strag_shm_host host = {pack, unpack, progress, opal_progress_yield_when_idle};
    const int n = ompi_comm_size(comm), me = ompi_comm_rank(comm);
    struct strag_shm_info *infos = calloc((size_t)n, sizeof *infos);
    struct strag_shm *shm =
        able ? strag_shm_create(&host, n, me, module->lane_of, COLL_STRAG_MEMORY) : NULL;
    bool all = false;
    int code = set_up(module, comm, shm, infos, &all);
    free(infos);
    if (code == OMPI_SUCCESS && all) {
        strag_shm_seal(shm);
        module->shm = shm;
    } else {
        strag_shm_free(shm);
    }
    if (!all && wanted && me == 0)
        coll_strag_warn(COLL_STRAG_WARN_NOT_SHARED, comm->c_name, "a rank could not");
    return code;
}
