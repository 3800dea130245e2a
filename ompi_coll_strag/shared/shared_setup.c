/* SPDX-License-Identifier: BSD-3-Clause */
#include "shared_setup.h"

#include "compat/world.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static struct {
    pthread_mutex_t lock;                  /* of the list, and of all counts of references */
    struct coll_strag_shared_setup *first; /* published, with an id; the list has no references */
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- References ---- */

struct coll_strag_shared_setup *coll_strag_shared_setup_create(void)
{
    struct coll_strag_shared_setup *shared_setup = calloc(1, sizeof *shared_setup);
    if (NULL == shared_setup)
        return NULL;
    shared_setup->refs = 1;
    shared_setup->plans = strag_plan_store_create();
    if (shared_setup->plans)
        return shared_setup;
    free(shared_setup);
    return NULL;
}

int coll_strag_shared_setup_topology(const struct coll_strag_shared_setup *shared_setup,
                                     const struct strag_topology **topology,
                                     struct strag_topology **unpacked)
{
    const struct coll_strag_shared_setup *owner =
        shared_setup->numbered_as_origin ? shared_setup->origin : shared_setup;
    int status = STRAG_OK;
    *topology = owner->topology;
    *unpacked = NULL;
    if (owner->packed)
        status = strag_topology_unpack(owner->packed, owner->packed_bytes, unpacked, NULL);
    if (owner->packed)
        *topology = *unpacked;
    return status;
}

void coll_strag_shared_setup_forget_origin(struct coll_strag_shared_setup *shared_setup)
{
    strag_topology_free(shared_setup->topology);
    free(shared_setup->packed);
    free(shared_setup->lane_of);
    coll_strag_shared_setup_release(shared_setup->origin);
    shared_setup->origin = NULL;
    shared_setup->topology = NULL;
    shared_setup->packed = NULL;
    shared_setup->lane_of = NULL;
    shared_setup->numbered_as_origin = false;
}

/* The caller has the lock. */
static void take_off_list(const struct coll_strag_shared_setup *shared_setup)
{
    struct coll_strag_shared_setup **link = &state.first;
    while (*link && *link != shared_setup)
        link = &(*link)->next;
    if (*link)
        *link = shared_setup->next;
}

void coll_strag_shared_setup_release(struct coll_strag_shared_setup *shared_setup)
{
    while (shared_setup) {
        struct coll_strag_shared_setup *origin = shared_setup->origin;
        pthread_mutex_lock(&state.lock);
        const bool last = --shared_setup->refs == 0;
        if (last)
            take_off_list(shared_setup);
        pthread_mutex_unlock(&state.lock);
        if (!last)
            return;
        strag_plan_store_release(shared_setup->plans);
        strag_shm_hold_free(shared_setup->hold);
        free(shared_setup->given);
        strag_topology_free(shared_setup->topology);
        free(shared_setup->packed);
        free(shared_setup->lane_of);
        strag_compact_free(&shared_setup->vpids);
        free(shared_setup);
        shared_setup = origin;
    }
}

void coll_strag_shared_setup_publish(struct coll_strag_shared_setup *shared_setup)
{
    if (!shared_setup->id)
        return;
    pthread_mutex_lock(&state.lock);
    struct coll_strag_shared_setup **link = &state.first;
    while (*link) /* the oldest comes first: most ranks have it */
        link = &(*link)->next;
    *link = shared_setup;
    pthread_mutex_unlock(&state.lock);
}

/* Communicators that were never freed may have left some in the list. */
void coll_strag_shared_setup_close(void)
{
    state.first = NULL;
}

/* ---- Who has which ranks ---- */

bool coll_strag_shared_setup_identify(struct coll_strag_shared_setup *shared_setup,
                                      ompi_communicator_t *comm, uint64_t id)
{
    const int n = ompi_comm_size(comm);
    int32_t *vpids = malloc((size_t)n * sizeof *vpids);
    shared_setup->n = n;
    for (int rank = 0; vpids && rank < n; rank++)
        vpids[rank] = (int32_t)ompi_group_get_proc_name(comm->c_local_group, rank).vpid;
    const bool made = vpids && strag_compact_make(vpids, n, &shared_setup->vpids);
    free(vpids);
    shared_setup->id = made && coll_strag_is_of_this_job(comm) ? id : 0;
    return made;
}

static bool is_there(const struct coll_strag_shared_setup *shared_setup, int rank,
                     opal_process_name_t name)
{
    return name.jobid == OPAL_PROC_MY_NAME.jobid &&
           (int32_t)name.vpid == strag_compact_at(&shared_setup->vpids, rank);
}

/* Find a process's rank there. Most often it is as far from rank 0 as their numbers in the job are,
 * or follows `after`, the rank that was found before. @return -1 if it is not there */
static int rank_there(const struct coll_strag_shared_setup *shared_setup, opal_process_name_t name,
                      int after)
{
    const int n = shared_setup->n;
    const int32_t behind = (int32_t)name.vpid - strag_compact_at(&shared_setup->vpids, 0);
    const int guess = behind >= 0 && behind < n ? (int)behind : 0;
    if (is_there(shared_setup, guess, name))
        return guess;
    for (int i = 1; i <= n; i++) {
        const int rank = (after + i) % n;
        if (is_there(shared_setup, rank, name))
            return rank;
    }
    return -1;
}

static bool covers(const struct coll_strag_shared_setup *shared_setup, ompi_communicator_t *comm,
                   int32_t *rank_of)
{
    const int n = ompi_comm_size(comm);
    int last = n <= shared_setup->n ? 0 : -1;
    for (int rank = 0; last >= 0 && rank < n; rank++)
        rank_of[rank] = last =
            rank_there(shared_setup, ompi_group_get_proc_name(comm->c_local_group, rank), last);
    return last >= 0;
}

/* Does it have the communicator's ranks, in the same order? */
static bool is_of(const struct coll_strag_shared_setup *shared_setup, ompi_communicator_t *comm)
{
    const int n = ompi_comm_size(comm);
    int rank = 0;
    while (shared_setup->n == n && rank < n &&
           is_there(shared_setup, rank, ompi_group_get_proc_name(comm->c_local_group, rank)))
        rank++;
    return rank == n;
}

struct coll_strag_shared_setup *coll_strag_shared_setup_find(ompi_communicator_t *comm,
                                                             int32_t *rank_of, bool *same)
{
    const int n = ompi_comm_size(comm);
    struct coll_strag_shared_setup *found = NULL;
    *same = false;
    pthread_mutex_lock(&state.lock);
    for (struct coll_strag_shared_setup *one = state.first; one && !*same; one = one->next) {
        *same = is_of(one, comm);
        if (*same || (!found && covers(one, comm, rank_of)))
            found = one;
    }
    if (found)
        found->refs++;
    pthread_mutex_unlock(&state.lock);
    for (int rank = 0; *same && rank < n; rank++)
        rank_of[rank] = rank;
    return found;
}
