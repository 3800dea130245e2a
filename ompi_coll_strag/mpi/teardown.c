/* SPDX-License-Identifier: BSD-3-Clause */
#include "teardown.h"

#include <pthread.h>

static struct {
    pthread_mutex_t lock; /* of first, and of what is in the list */
    struct coll_strag_teardown *first;
    bool ending; /* it does so */
    bool ended;  /* it has done so */
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* One that has not been called. @param comm  NULL: any communicator's */
static struct coll_strag_teardown *take_next(const ompi_communicator_t *comm)
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

void coll_strag_teardown_run(const ompi_communicator_t *comm)
{
    struct coll_strag_teardown *teardown;
    state.ending = state.ending || !comm;
    while (!state.ended && (teardown = take_next(comm)) != NULL)
        teardown->end(teardown);
    state.ended = state.ended || !comm;
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
    state.ending = state.ended = false;
}
