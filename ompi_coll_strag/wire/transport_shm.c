/* SPDX-License-Identifier: BSD-3-Clause */
#include "transport_shm.h"

#include "compat/failures.h"
#include "transport.h"
#include "user/settings.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* ---- Functions of Open MPI that the transport needs ---- */

static int pack(const void *type, void *packed, const void *elements, size_t count)
{
    ompi_datatype_t *dtype = (void *)(uintptr_t)type;
    return coll_strag_convert(true, dtype, elements, count, packed) ? STRAG_OK
                                                                    : STRAG_ERR_TRANSPORT;
}

static int unpack(const void *type, void *elements, const void *packed, size_t count)
{
    ompi_datatype_t *dtype = (void *)(uintptr_t)type;
    return coll_strag_convert(false, dtype, elements, count, packed) ? STRAG_OK
                                                                     : STRAG_ERR_TRANSPORT;
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

/* ---- The process ---- */

static pthread_mutex_t process_lock = PTHREAD_MUTEX_INITIALIZER;
static struct strag_shm_process *process; /* NULL until a communicator needs it */
static bool settles;                      /* settle is registered with opal_progress */

/* @return NULL if out of memory */
static struct strag_shm_process *find_process(void)
{
    pthread_mutex_lock(&process_lock);
    if (!process)
        process = strag_shm_process_create((int)opal_process_info.num_local_peers + 1,
                                           coll_strag_settings.shared_memory_size);
    pthread_mutex_unlock(&process_lock);
    return process;
}

/* Clean up after communicators that this rank has freed, once the other ranks have freed them. */
static int settle(void)
{
    if (strag_shm_process_is_settled(process))
        return 0;
    strag_shm_process_settle(process);
    return strag_shm_process_is_settled(process);
}

void coll_strag_shared_memory_free(struct strag_shm *shm)
{
    if (!shm)
        return;
    strag_shm_free(shm);
    pthread_mutex_lock(&process_lock);
    if (!settles &&
        !strag_shm_process_is_settled(process)) /* never unregistered: settle may call this */
        settles = opal_progress_register_lp(settle) == OPAL_SUCCESS;
    pthread_mutex_unlock(&process_lock);
}

void coll_strag_shared_memory_close(void)
{
    if (settles)
        opal_progress_unregister(settle);
    settles = false;
    strag_shm_process_free(process);
    process = NULL;
}

int coll_strag_shared_memory_lacking(const struct strag_shm_info *infos, int n)
{
    int rank = 0;
    while (rank < n && infos[rank].note == STRAG_SHM_ABLE)
        rank++;
    return rank;
}

struct strag_shm *coll_strag_shared_memory_create(ompi_communicator_t *comm, const uint8_t *lane_of,
                                                  struct strag_shm_info *info)
{
    const struct strag_shm_host host = {
        .pack = pack,
        .unpack = unpack,
        .progress = progress,
        .failed = coll_strag_failure_flag(comm),
        .yields = opal_progress_yield_when_idle,
        .threads = opal_using_threads(),
    };
    struct strag_shm_process *own = find_process();
    struct strag_shm *shm = lane_of && own
                                ? strag_shm_create(own, &host, ompi_comm_size(comm),
                                                   ompi_comm_rank(comm), lane_of, COLL_STRAG_MEMORY)
                                : NULL;
    memset(info, 0, sizeof *info); /* it is sent, padding included */
    info->note = (int32_t)(shm ? strag_shm_make(shm, info) : STRAG_SHM_NO_MEMORY);
    return shm;
}
