/* SPDX-License-Identifier: BSD-3-Clause */
#include "heritage.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static struct {
    pthread_mutex_t lock;              /* of all that follows, and of all counts of references */
    struct coll_strag_heritage *first; /* those that are published and have an id; not references
                                        */
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- References ---- */

struct coll_strag_heritage *coll_strag_heritage_create(void)
{
    struct coll_strag_heritage *heritage = calloc(1, sizeof *heritage);
    if (NULL == heritage)
        return NULL;
    heritage->refs = 1;
    heritage->plans = strag_plan_store_create();
    if (heritage->plans)
        return heritage;
    free(heritage);
    return NULL;
}

struct coll_strag_heritage *coll_strag_heritage_retain(struct coll_strag_heritage *heritage)
{
    pthread_mutex_lock(&state.lock);
    heritage->refs++;
    pthread_mutex_unlock(&state.lock);
    return heritage;
}

int coll_strag_heritage_topology(const struct coll_strag_heritage *heritage,
                                 const struct strag_topology **topology,
                                 struct strag_topology **unpacked)
{
    const struct coll_strag_heritage *owner =
        heritage->numbered_as_origin ? heritage->origin : heritage;
    int status = STRAG_OK;
    *topology = owner->topology;
    *unpacked = NULL;
    if (owner->packed)
        status = strag_topology_unpack(owner->packed, owner->packed_bytes, unpacked, NULL);
    if (owner->packed)
        *topology = *unpacked;
    return status;
}

void coll_strag_heritage_forget_origin(struct coll_strag_heritage *heritage)
{
    strag_topology_free(heritage->topology);
    free(heritage->packed);
    free(heritage->lane_of);
    coll_strag_heritage_release(heritage->origin);
    heritage->origin = NULL;
    heritage->topology = NULL;
    heritage->packed = NULL;
    heritage->lane_of = NULL;
    heritage->numbered_as_origin = false;
}

/* The caller has the lock. */
static void take_off_list(const struct coll_strag_heritage *heritage)
{
    struct coll_strag_heritage **link = &state.first;
    while (*link && *link != heritage)
        link = &(*link)->next;
    if (*link)
        *link = heritage->next;
}

void coll_strag_heritage_release(struct coll_strag_heritage *heritage)
{
    while (heritage) {
        struct coll_strag_heritage *origin = heritage->origin;
        pthread_mutex_lock(&state.lock);
        const bool last = --heritage->refs == 0;
        if (last)
            take_off_list(heritage);
        pthread_mutex_unlock(&state.lock);
        if (!last)
            return;
        strag_plan_store_release(heritage->plans);
        strag_shm_hold_free(heritage->hold);
        free(heritage->given);
        strag_topology_free(heritage->topology);
        free(heritage->packed);
        free(heritage->lane_of);
        strag_compact_free(&heritage->vpids);
        free(heritage->jobids);
        free(heritage);
        heritage = origin;
    }
}

void coll_strag_heritage_publish(struct coll_strag_heritage *heritage)
{
    if (!heritage->id)
        return;
    pthread_mutex_lock(&state.lock);
    struct coll_strag_heritage **link = &state.first;
    while (*link) /* the oldest one comes first: most ranks have that */
        link = &(*link)->next;
    *link = heritage;
    pthread_mutex_unlock(&state.lock);
}

/* Those of communicators that were never freed are not looked at any more. */
void coll_strag_heritage_close(void)
{
    state.first = NULL;
}

/* ---- Who has which ranks ---- */

static opal_process_name_t name_there(const struct coll_strag_heritage *heritage, int rank)
{
    opal_process_name_t name = heritage->first;
    if (heritage->in_order)
        name.vpid += (uint32_t)rank;
    else
        name.vpid = (uint32_t)strag_compact_at(&heritage->vpids, rank);
    if (heritage->jobids)
        name.jobid = heritage->jobids[rank];
    return name;
}

/* Those that are not in order, or not of one job. @return false: out of memory */
static bool copy_names(struct coll_strag_heritage *heritage, ompi_communicator_t *comm,
                       bool together)
{
    const size_t n = (size_t)ompi_comm_size(comm);
    int32_t *vpids = malloc(n * sizeof *vpids);
    heritage->jobids = together ? NULL : malloc(n * sizeof *heritage->jobids);
    for (size_t rank = 0; rank < n; rank++) {
        const opal_process_name_t name = ompi_group_get_proc_name(comm->c_local_group, (int)rank);
        if (vpids)
            vpids[rank] = (int32_t)name.vpid;
        if (heritage->jobids)
            heritage->jobids[rank] = name.jobid;
    }
    const bool copied = vpids && (together || heritage->jobids) &&
                        strag_compact_make(vpids, (int)n, &heritage->vpids);
    free(vpids);
    return copied;
}

/* Where the names follow one another, as in MPI_COMM_WORLD, the first one says it all. */
bool coll_strag_heritage_note_names(struct coll_strag_heritage *heritage, ompi_communicator_t *comm)
{
    const opal_process_name_t first = ompi_group_get_proc_name(comm->c_local_group, 0);
    bool follow = true, together = true;
    heritage->first = first;
    for (int rank = 1; rank < ompi_comm_size(comm); rank++) {
        const opal_process_name_t name = ompi_group_get_proc_name(comm->c_local_group, rank);
        follow = follow && name.vpid == first.vpid + (uint32_t)rank;
        together = together && name.jobid == first.jobid;
    }
    heritage->in_order = follow && together;
    return heritage->in_order || copy_names(heritage, comm, together);
}

/* Most often a process's rank there is as far from rank 0 as their numbers in the job, or a little
 * behind the last one's. @return -1: it is not there */
static int rank_there(const struct coll_strag_heritage *heritage, opal_process_name_t name,
                      int after)
{
    const int n = heritage->n;
    const uint32_t behind = name.vpid - heritage->first.vpid;
    const int guess = behind < (uint32_t)n ? (int)behind : 0;
    if (opal_compare_proc(name_there(heritage, guess), name) == 0)
        return guess;
    for (int i = 1; i <= n; i++) {
        const int rank = (after + i) % n;
        if (opal_compare_proc(name_there(heritage, rank), name) == 0)
            return rank;
    }
    return -1;
}

static bool covers(const struct coll_strag_heritage *heritage, ompi_communicator_t *comm,
                   int32_t *rank_of)
{
    const int n = ompi_comm_size(comm);
    int last = n <= heritage->n ? 0 : -1;
    for (int rank = 0; last >= 0 && rank < n; rank++)
        rank_of[rank] = last =
            rank_there(heritage, ompi_group_get_proc_name(comm->c_local_group, rank), last);
    return last >= 0;
}

static bool is_identity(const int32_t *rank_of, int n)
{
    int rank = 0;
    while (rank < n && rank_of[rank] == rank)
        rank++;
    return rank == n;
}

struct coll_strag_heritage *coll_strag_heritage_find(ompi_communicator_t *comm, int32_t *rank_of,
                                                     bool *same)
{
    const int n = ompi_comm_size(comm);
    struct coll_strag_heritage *found = NULL;
    *same = false;
    pthread_mutex_lock(&state.lock);
    for (struct coll_strag_heritage *one = state.first; one && !*same; one = one->next) {
        if ((found && one->n != n) || !covers(one, comm, rank_of))
            continue;
        *same = one->n == n && is_identity(rank_of, n);
        if (!found || *same)
            found = one;
    }
    if (found) {
        found->refs++;
        (void)covers(found, comm, rank_of); /* another one may have been examined after it */
    }
    pthread_mutex_unlock(&state.lock);
    return found;
}
