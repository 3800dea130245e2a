/* SPDX-License-Identifier: BSD-3-Clause */
#include "heritage.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static struct {
    pthread_mutex_t lock;              /* of all that follows, and of all counts of references */
    struct coll_strag_heritage *first; /* those that are valid and have an id; not references */
    int key;                           /* of the attribute; MPI_KEYVAL_INVALID: not yet */
} state = {.lock = PTHREAD_MUTEX_INITIALIZER, .key = MPI_KEYVAL_INVALID};

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

/* And who is on this host. */
static void free_topology(struct coll_strag_heritage *heritage)
{
    if (heritage->part) {
        coll_strag_part_release(heritage->part);
        return;
    }
    strag_topology_free(heritage->topology);
    free(heritage->packed);
    free(heritage->lane_of);
}

void coll_strag_heritage_take_part(struct coll_strag_heritage *heritage,
                                   struct coll_strag_part *part)
{
    heritage->part = part;
    heritage->topology = part->topology;
    heritage->numbered_as_origin = part->as_origin;
    if (!part->as_origin && !part->topology) {
        heritage->packed = part->packed;
        heritage->packed_bytes = part->packed_bytes;
    }
    heritage->lane_of = part->lane_of;
}

void coll_strag_heritage_drop_part(struct coll_strag_heritage *heritage)
{
    free_topology(heritage);
    coll_strag_heritage_release(heritage->origin);
    heritage->part = NULL;
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
        free_topology(heritage);
        if (heritage->id)
            coll_strag_parts_forget(heritage->id);
        strag_compact_free(&heritage->vpids);
        free(heritage->jobids);
        free(heritage);
        heritage = origin;
    }
}

void coll_strag_heritage_publish(struct coll_strag_heritage *heritage)
{
    pthread_mutex_lock(&state.lock);
    const bool already = heritage->valid;
    heritage->valid = true;
    if (heritage->id && !already) {
        heritage->next = NULL;
        struct coll_strag_heritage **link = &state.first;
        while (*link) /* the oldest one comes first: most ranks have that */
            link = &(*link)->next;
        *link = heritage;
    }
    pthread_mutex_unlock(&state.lock);
}

/* ---- Dups ---- */

/* Nothing is allocated here, so that no rank can be the only one that fails. */
static int copied(MPI_Comm comm, int key, void *extra, void *value, void *copy, int *flag)
{
    struct coll_strag_heritage *heritage = value;
    (void)comm;
    (void)key;
    (void)extra;
    *flag = heritage->valid && heritage->for_dups && !heritage->keyed;
    if (*flag)
        *(void **)copy = coll_strag_heritage_retain(heritage);
    return MPI_SUCCESS;
}

static int deleted(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm;
    (void)key;
    (void)extra;
    coll_strag_heritage_release(value);
    return MPI_SUCCESS;
}

bool coll_strag_is_dup(const ompi_communicator_t *comm)
{
    return NULL != strstr(comm->c_name, " DUP FROM ");
}

static int find_key(void)
{
    int made = MPI_KEYVAL_INVALID;
    pthread_mutex_lock(&state.lock);
    const int key = state.key;
    pthread_mutex_unlock(&state.lock);
    if (key != MPI_KEYVAL_INVALID ||
        PMPI_Comm_create_keyval(copied, deleted, &made, NULL) != MPI_SUCCESS)
        return key;
    pthread_mutex_lock(&state.lock);
    const bool late = state.key != MPI_KEYVAL_INVALID; /* another thread has made one */
    if (!late)
        state.key = made;
    const int found = state.key;
    pthread_mutex_unlock(&state.lock);
    if (late)
        PMPI_Comm_free_keyval(&made);
    return found;
}

bool coll_strag_heritage_attach(struct coll_strag_heritage *heritage, ompi_communicator_t *comm)
{
    const int key = find_key();
    void *before = NULL;
    int flag = 0;
    if (key == MPI_KEYVAL_INVALID)
        return false;
    /* Where there is no memory for the new one, there must be none of the parent's, either. */
    if (PMPI_Comm_get_attr(comm, key, (void *)&before, &flag) == MPI_SUCCESS && flag)
        PMPI_Comm_delete_attr(comm, key);
    if (PMPI_Comm_set_attr(comm, key, coll_strag_heritage_retain(heritage)) == MPI_SUCCESS)
        return true;
    coll_strag_heritage_release(heritage);
    return false;
}

struct coll_strag_heritage *coll_strag_heritage_of(ompi_communicator_t *comm)
{
    void *value = NULL;
    int flag = 0;
    pthread_mutex_lock(&state.lock);
    const int key = state.key;
    pthread_mutex_unlock(&state.lock);
    if (key == MPI_KEYVAL_INVALID || PMPI_Comm_get_attr(comm, key, (void *)&value, &flag) != 0 ||
        !flag)
        return NULL;
    return coll_strag_heritage_retain(value);
}

/* Those of communicators that were never freed are not looked at any more. */
void coll_strag_heritage_close(void)
{
    state.first = NULL;
    state.key = MPI_KEYVAL_INVALID;
}

/* ---- Others ---- */

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

struct coll_strag_heritage *coll_strag_heritage_find(ompi_communicator_t *comm, int32_t *rank_of)
{
    pthread_mutex_lock(&state.lock);
    struct coll_strag_heritage *heritage = state.first;
    while (heritage && !covers(heritage, comm, rank_of))
        heritage = heritage->next;
    if (heritage)
        heritage->refs++;
    pthread_mutex_unlock(&state.lock);
    return heritage;
}
