/* SPDX-License-Identifier: BSD-3-Clause */
#include "plan/plan_store.h"

#include <pthread.h>
#include <stdlib.h>

struct stored {
    struct stored *next;
    const struct strag_algorithm *algorithm;
    int blocks, root; /* as in struct strag_problem */
    struct strag_plan *plan;
};

struct strag_plan_store {
    pthread_mutex_t lock; /* protects all that follows */
    int refs;
    struct stored *first;
};

struct strag_plan_store *strag_plan_store_create(void)
{
    struct strag_plan_store *store = calloc(1, sizeof *store);
    if (store && pthread_mutex_init(&store->lock, NULL) != 0) {
        free(store);
        return NULL;
    }
    if (store)
        store->refs = 1;
    return store;
}

struct strag_plan_store *strag_plan_store_retain(struct strag_plan_store *store)
{
    pthread_mutex_lock(&store->lock);
    store->refs++;
    pthread_mutex_unlock(&store->lock);
    return store;
}

void strag_plan_store_release(struct strag_plan_store *store)
{
    if (!store)
        return;
    pthread_mutex_lock(&store->lock);
    const bool last = --store->refs == 0;
    pthread_mutex_unlock(&store->lock);
    if (!last)
        return;
    while (store->first) {
        struct stored *stored = store->first;
        store->first = stored->next;
        strag_plan_free(stored->plan);
        free(stored);
    }
    pthread_mutex_destroy(&store->lock);
    free(store);
}

/* The caller has the lock. */
static const struct strag_plan *find(const struct strag_plan_store *store,
                                     const struct strag_algorithm *algorithm, int blocks, int root)
{
    const struct stored *stored = store->first;
    while (stored &&
           (stored->algorithm != algorithm || stored->blocks != blocks || stored->root != root))
        stored = stored->next;
    return stored ? stored->plan : NULL;
}

const struct strag_plan *strag_plan_store_find(struct strag_plan_store *store,
                                               const struct strag_algorithm *algorithm, int blocks,
                                               int root)
{
    pthread_mutex_lock(&store->lock);
    const struct strag_plan *plan = find(store, algorithm, blocks, root);
    pthread_mutex_unlock(&store->lock);
    return plan;
}

/* The caller has the lock. */
static int make(struct strag_plan_store *store, const struct strag_algorithm *algorithm,
                const struct strag_problem *problem, int rank, const struct strag_plan **plan,
                struct strag_error *err)
{
    struct stored *stored = calloc(1, sizeof *stored);
    if (!stored)
        return strag_fail(err, STRAG_ERR_MEMORY, "out of memory for a plan");
    const int status = strag_plan_create(algorithm, problem, rank, &stored->plan, err);
    if (status != STRAG_OK) {
        free(stored);
        return status;
    }
    stored->algorithm = algorithm;
    stored->blocks = problem->blocks;
    stored->root = problem->root;
    stored->next = store->first;
    store->first = stored;
    *plan = stored->plan;
    return STRAG_OK;
}

int strag_plan_store_make(struct strag_plan_store *store, const struct strag_algorithm *algorithm,
                          const struct strag_problem *problem, int rank,
                          const struct strag_plan **plan, bool *made, struct strag_error *err)
{
    int status = STRAG_OK;
    pthread_mutex_lock(&store->lock);
    const struct strag_plan *there = find(store, algorithm, problem->blocks, problem->root);
    if (there)
        *plan = there;
    else
        status = make(store, algorithm, problem, rank, plan, err);
    *made = !there && status == STRAG_OK;
    pthread_mutex_unlock(&store->lock);
    return status;
}
