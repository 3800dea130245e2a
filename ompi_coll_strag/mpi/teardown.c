/* SPDX-License-Identifier: BSD-3-Clause */
#include "teardown.h"

#include "compat/attributes.h"
#include "compat/world.h"

#include <pthread.h>
#include <stdlib.h>

static struct {
    pthread_mutex_t lock; /* guards the next three, and what is in the list */
    int key;              /* of the attribute; MPI_KEYVAL_INVALID if there is none yet */
    bool self;            /* MPI_COMM_SELF has the attribute */
    struct coll_strag_teardown *first;
    bool ending; /* MPI_Finalize has deleted MPI_COMM_SELF's attribute */
    bool ended;  /* ... and all teardowns have been called */
} state = {.lock = PTHREAD_MUTEX_INITIALIZER, .key = MPI_KEYVAL_INVALID};

/* ---- What is attached ---- */

enum { BEGIN = 1, END };

/* @param comm  the communicator that is being freed; NULL if MPI_Finalize has been called */
static bool has_come(const struct coll_strag_teardown *teardown, const ompi_communicator_t *comm)
{
    return comm ? teardown->comm == comm : coll_strag_is_finalized(teardown->comm);
}

/* One whose time has come, and whose BEGIN or END has not been called. @param comm  see has_come */
static struct coll_strag_teardown *take_next(const ompi_communicator_t *comm, int what)
{
    pthread_mutex_lock(&state.lock);
    struct coll_strag_teardown *teardown = state.first;
    while (teardown && (teardown->called >= what || !has_come(teardown, comm)))
        teardown = teardown->next;
    if (teardown)
        teardown->called = what;
    pthread_mutex_unlock(&state.lock);
    return teardown;
}

/* Call the teardowns. @param comm  see has_come */
static void run(const ompi_communicator_t *comm)
{
    struct coll_strag_teardown *teardown;
    state.ending = state.ending || !comm;
    if (state.ended && (!comm || coll_strag_is_finalized(comm)))
        return;
    while ((teardown = take_next(comm, BEGIN)) != NULL)
        if (teardown->begin)
            teardown->begin(teardown);
    while ((teardown = take_next(comm, END)) != NULL)
        teardown->end(teardown);
    state.ended = state.ended || !comm;
}

void coll_strag_teardown_attach(struct coll_strag_teardown *teardown, ompi_communicator_t *comm,
                                void (*begin)(struct coll_strag_teardown *teardown),
                                void (*end)(struct coll_strag_teardown *teardown))
{
    *teardown =
        (struct coll_strag_teardown){.begin = begin, .end = end, .comm = comm, .attached = true};
    pthread_mutex_lock(&state.lock);
    teardown->next = state.first;
    state.first = teardown;
    pthread_mutex_unlock(&state.lock);
}

bool coll_strag_teardown_is_final(const ompi_communicator_t *comm)
{
    return state.ending && coll_strag_is_finalized(comm);
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
    state.ending = state.ended = state.self = false;
    state.key = MPI_KEYVAL_INVALID;
}

/* ---- Attributes ---- */

/* As Open MPI calls it. The user's pointer becomes NULL first, so that nothing new is begun. */
static int deleted(MPI_Comm comm, int key, void *value, void *extra)
{
    struct coll_strag_attribute *attribute = coll_strag_attribute_get(comm, key);
    (void)value;
    (void)extra;
    if (attribute->user)
        *attribute->user = NULL;
    run(comm == MPI_COMM_SELF ? NULL : comm);
    free(attribute);
    return MPI_SUCCESS;
}

/* @return NULL if out of memory */
static struct coll_strag_attribute *make(ompi_communicator_t *comm, int key)
{
    struct coll_strag_attribute *attribute = calloc(1, sizeof *attribute);
    if (attribute && coll_strag_attribute_set(comm, key, attribute))
        return attribute;
    free(attribute);
    return NULL;
}

/* Make the key, and MPI_COMM_SELF's attribute, unless they are there. */
static int find_key(void)
{
    pthread_mutex_lock(&state.lock);
    if (state.key == MPI_KEYVAL_INVALID)
        state.key = coll_strag_attribute_key(deleted);
    const int key = state.key;
    if (key != MPI_KEYVAL_INVALID && !state.self && coll_strag_will_finalize())
        state.self = NULL != make(MPI_COMM_SELF, key);
    pthread_mutex_unlock(&state.lock);
    return key;
}

void coll_strag_attribute_open(ompi_communicator_t *comm, struct coll_strag_attribute **user)
{
    const int key = find_key();
    struct coll_strag_attribute *attribute = key != MPI_KEYVAL_INVALID ? make(comm, key) : NULL;
    if (attribute)
        attribute->user = user;
    *user = attribute;
}

void coll_strag_attribute_leave(struct coll_strag_attribute *attribute)
{
    if (attribute)
        attribute->user = NULL;
}
