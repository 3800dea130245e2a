/* SPDX-License-Identifier: BSD-3-Clause */
#include "teardown.h"

#include <pthread.h>

static struct {
    pthread_mutex_t lock; /* of first, and of what is in the list */
    struct coll_strag_teardown *first;
    bool attached; /* an attribute of MPI_COMM_SELF calls `deleted` in MPI_Finalize; atomic */
    bool ending;   /* it does so */
    bool ended;    /* it has done so */
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* One that has not been called. @param comm  NULL: any communicator's */
static struct coll_strag_teardown *take_next(const void *comm)
{
    pthread_mutex_lock(&state.lock);
    struct coll_strag_teardown *teardown = state.first;
    while (teardown && (teardown->called || (comm && teardown->comm != comm)))
        teardown = teardown->next;
    if (teardown)
        teardown->called = true;
    pthread_mutex_unlock(&state.lock);
    return teardown;
}

/* The value of MPI_COMM_SELF's attribute is NULL. */
static int deleted(MPI_Comm comm, int key, void *value, void *extra)
{
    struct coll_strag_teardown *teardown;
    (void)key;
    (void)extra;
    state.ending = state.ending || !value;
    while (!state.ended && (teardown = take_next(value ? comm : NULL)) != NULL)
        teardown->end(teardown);
    state.ended = state.ended || !value;
    return MPI_SUCCESS;
}

/* The key is gone with the attribute. */
static bool set_attribute(ompi_communicator_t *comm, void *value)
{
    int key;
    if (PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, deleted, &key, NULL) != MPI_SUCCESS)
        return false;
    bool set = PMPI_Comm_set_attr(comm, key, value) == MPI_SUCCESS;
    PMPI_Comm_free_keyval(&key);
    return set;
}

/* With sessions alone there is no MPI_COMM_SELF to speak of, and all communicators are freed. */
static void set_attribute_of_self(void)
{
    int initialized = 0;
    if (PMPI_Initialized(&initialized) == MPI_SUCCESS && initialized &&
        !__atomic_exchange_n(&state.attached, true, __ATOMIC_RELAXED))
        set_attribute(MPI_COMM_SELF, NULL);
}

bool coll_strag_teardown_open(ompi_communicator_t *comm)
{
    if (state.ended)
        return false;
    if (!__atomic_load_n(&state.attached, __ATOMIC_RELAXED))
        set_attribute_of_self();
    return set_attribute(comm, &state);
}

void coll_strag_teardown_attach(struct coll_strag_teardown *teardown, ompi_communicator_t *comm,
                                void (*end)(struct coll_strag_teardown *teardown))
{
    *teardown = (struct coll_strag_teardown){.end = end, .comm = comm, .attached = true};
    pthread_mutex_lock(&state.lock);
    teardown->next = state.first;
    state.first = teardown;
    pthread_mutex_unlock(&state.lock);
}

bool coll_strag_teardown_attach_last(struct coll_strag_teardown *teardown,
                                     void (*end)(struct coll_strag_teardown *teardown))
{
    if (state.ending || !__atomic_load_n(&state.attached, __ATOMIC_RELAXED))
        return false;
    *teardown = (struct coll_strag_teardown){.end = end, .comm = MPI_COMM_SELF, .attached = true};
    pthread_mutex_lock(&state.lock);
    struct coll_strag_teardown **link = &state.first;
    while (*link)
        link = &(*link)->next;
    *link = teardown;
    pthread_mutex_unlock(&state.lock);
    return true;
}

bool coll_strag_teardown_is_final(void)
{
    return state.ending;
}

void coll_strag_teardown_leave(struct coll_strag_teardown *teardown)
{
    if (!teardown->attached)
        return;
    pthread_mutex_lock(&state.lock);
    struct coll_strag_teardown **link = &state.first;
    while (*link && *link != teardown)
        link = &(*link)->next;
    if (*link)
        *link = teardown->next;
    pthread_mutex_unlock(&state.lock);
    teardown->attached = false;
}

void coll_strag_teardown_close(void)
{
    state.first = NULL;
    state.attached = state.ending = state.ended = false;
}
