/* SPDX-License-Identifier: BSD-3-Clause */
#include "attribute.h"

#include "compat/attributes.h"
#include "mpi/teardown.h"

#include <pthread.h>
#include <stdlib.h>

static struct {
    pthread_mutex_t lock; /* of what follows */
    int key;              /* MPI_KEYVAL_INVALID: not yet */
    bool self;            /* MPI_COMM_SELF has the attribute */
} state = {.lock = PTHREAD_MUTEX_INITIALIZER, .key = MPI_KEYVAL_INVALID};

/* ---- What Open MPI calls ---- */

/* What ends here finds that there is no attribute any more, and begins nothing new. */
static int deleted(MPI_Comm comm, int key, void *value, void *extra)
{
    struct coll_strag_attribute *attribute = coll_strag_attribute_get(comm, key);
    (void)value;
    (void)extra;
    if (attribute->user)
        *attribute->user = NULL;
    coll_strag_teardown_run(comm == MPI_COMM_SELF ? NULL : comm);
    free(attribute);
    return MPI_SUCCESS;
}

/* ---- Attributes ---- */

/* @return NULL: out of memory */
static struct coll_strag_attribute *make(ompi_communicator_t *comm, int key)
{
    struct coll_strag_attribute *attribute = calloc(1, sizeof *attribute);
    if (attribute && coll_strag_attribute_set(comm, key, attribute))
        return attribute;
    free(attribute);
    return NULL;
}

/* And MPI_COMM_SELF's attribute. */
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

void coll_strag_attribute_close(void)
{
    state.key = MPI_KEYVAL_INVALID;
    state.self = false;
}
