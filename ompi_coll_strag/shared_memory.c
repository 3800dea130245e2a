/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sharing memory among the ranks of a host, during a communicator's setup: the exchanges that
 * run/shared_memory.h asks for, and what the transport there needs of Open MPI.
 *
 *     find a place in the process's arena
 *     has each rank what it needs? (an allreduce)
 *     where are the arenas and places? (an allgather)
 *     map the arenas of the others on this host
 *     has each rank? (an allreduce)
 *
 * If one has not, all ranks go on over the PML alone. All know which rank that is, and why: it is
 * in the number of which the allreduce finds the least.
 */
#include "shared_memory.h"

#include "log.h"
#include "settings.h"
#include "transport.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

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

/* ---- The process ---- */

static pthread_mutex_t process_lock = PTHREAD_MUTEX_INITIALIZER;
static struct strag_shm_process *process; /* NULL: not yet */
static bool settles;                      /* progress does what settle says */

/* @return NULL: out of memory */
static struct strag_shm_process *find_process(void)
{
    pthread_mutex_lock(&process_lock);
    if (!process)
        process = strag_shm_process_create((int)opal_process_info.num_local_peers + 1,
                                           coll_strag_settings.shared_memory_size);
    pthread_mutex_unlock(&process_lock);
    return process;
}

/* What a communicator leaves behind until the other ranks have left it, too. */
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
        !strag_shm_process_is_settled(process)) /* to the end: this may be called by it */
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

/* ---- Setting up ---- */

/* A reason, and whose it is, in one number: above all of them if there is none. */
static int32_t encode(int rank, enum strag_shm_reason reason)
{
    return reason == STRAG_SHM_ABLE ? INT32_MAX : rank * STRAG_SHM_REASONS + (int32_t)reason;
}

/* Are all able? @param[in,out] reason  why this rank is not; then why the first one is not that is
 * not, @param[out] rank  and which that is */
static int agree(ompi_communicator_t *comm, const struct coll_strag_previous *previous,
                 enum strag_shm_reason *reason, int *rank)
{
    int32_t least = encode(ompi_comm_rank(comm), *reason);
    int code = coll_strag_minimum(previous, comm, &least, 1);
    bool able = least == INT32_MAX;
    *rank = able ? 0 : least / STRAG_SHM_REASONS;
    *reason = able ? STRAG_SHM_ABLE : (enum strag_shm_reason)(least % STRAG_SHM_REASONS);
    return code;
}

static int exchange(ompi_communicator_t *comm, const struct strag_shm_info *own,
                    struct strag_shm_info *infos)
{
    return comm->c_coll->coll_allgather(own, sizeof *own, MPI_BYTE, infos, sizeof *own, MPI_BYTE,
                                        comm, comm->c_coll->coll_allgather_module);
}

/* @param shm    NULL: this rank is out of memory
 * @param infos  [rank]: room, or NULL
 * @param[out] reason, rank  as agree says */
static int set_up(ompi_communicator_t *comm, const struct coll_strag_previous *previous,
                  struct strag_shm *shm, struct strag_shm_info *infos,
                  enum strag_shm_reason *reason, int *rank)
{
    struct strag_shm_info own;
    *reason = shm && infos ? strag_shm_make(shm, &own) : STRAG_SHM_NO_MEMORY;
    int code = agree(comm, previous, reason, rank);
    if (code != OMPI_SUCCESS || *reason != STRAG_SHM_ABLE)
        return code;
    code = exchange(comm, &own, infos);
    if (code != OMPI_SUCCESS)
        return code;
    *reason = strag_shm_join(shm, infos);
    return agree(comm, previous, reason, rank);
}

static void log_reason(ompi_communicator_t *comm, enum strag_shm_reason reason, int rank,
                       bool wanted)
{
    char text[256];
    snprintf(text, sizeof text, "rank %d could not: %s", rank, strag_shm_reason_text(reason));
    coll_strag_log(comm, "no shared memory: %s", text);
    if (wanted)
        coll_strag_warn(COLL_STRAG_WARN_NOT_SHARED, comm->c_name, text);
}

/* @return NULL: out of memory */
static struct strag_shm *create(ompi_communicator_t *comm, const uint8_t *lane_of, uint8_t lane)
{
    const struct strag_shm_host host = {pack, unpack, progress, opal_progress_yield_when_idle,
                                        opal_using_threads()};
    struct strag_shm_process *own = find_process();
    return lane_of && own ? strag_shm_create(own, &host, ompi_comm_size(comm), ompi_comm_rank(comm),
                                             lane_of, lane)
                          : NULL;
}

/* Up to so many ranks the answers are on the stack: no rank can be without room for them. */
enum { FEW_RANKS = 128 };

/* What no rank says before the exchange goes into its note.
 * @param infos  [rank]; NULL: this rank is out of memory, which all are told before */
static int rejoin(ompi_communicator_t *comm, const struct coll_strag_previous *previous,
                  struct strag_shm *shm, struct strag_shm_info *infos, bool *stop)
{
    const int n = ompi_comm_size(comm);
    struct strag_shm_info own;
    memset(&own, 0, sizeof own);
    own.note = *stop || !shm || strag_shm_make(shm, &own) != STRAG_SHM_ABLE;
    if (n > FEW_RANKS) {
        bool all;
        const int code = coll_strag_agree(previous, comm, !own.note && infos, &all);
        *stop = !all;
        if (code != OMPI_SUCCESS || *stop)
            return code;
    }
    const int code = exchange(comm, &own, infos);
    if (code != OMPI_SUCCESS)
        return code;
    *stop = false;
    for (int rank = 0; rank < n; rank++)
        *stop = *stop || infos[rank].note;
    return *stop || strag_shm_join(shm, infos) == STRAG_SHM_ABLE ? OMPI_SUCCESS : OMPI_ERROR;
}

int coll_strag_shared_memory_reconnect(ompi_communicator_t *comm,
                                       const struct coll_strag_previous *previous,
                                       const uint8_t *lane_of, uint8_t lane, bool *stop,
                                       struct strag_shm **shm)
{
    struct strag_shm_info few[FEW_RANKS], *infos = few;
    const int n = ompi_comm_size(comm);
    if (n > FEW_RANKS)
        infos = calloc((size_t)n, sizeof *infos);
    *shm = create(comm, lane_of, lane);
    const int code = rejoin(comm, previous, *shm, infos, stop);
    if (infos != few)
        free(infos);
    if (code == OMPI_SUCCESS && !*stop)
        return code;
    coll_strag_shared_memory_free(*shm);
    *shm = NULL;
    return code;
}

int coll_strag_shared_memory_connect(ompi_communicator_t *comm,
                                     const struct coll_strag_previous *previous,
                                     const uint8_t *lane_of, uint8_t lane, bool wanted,
                                     struct strag_shm **shm)
{
    const int n = ompi_comm_size(comm), me = ompi_comm_rank(comm);
    struct strag_shm_info *infos = calloc((size_t)n, sizeof *infos);
    enum strag_shm_reason reason;
    int rank = 0;
    *shm = create(comm, lane_of, lane);
    int code = set_up(comm, previous, *shm, infos, &reason, &rank);
    free(infos);
    if (code == OMPI_SUCCESS && reason == STRAG_SHM_ABLE)
        return code;
    coll_strag_shared_memory_free(*shm);
    *shm = NULL;
    if (code == OMPI_SUCCESS && me == 0)
        log_reason(comm, reason, rank, wanted);
    return code;
}
