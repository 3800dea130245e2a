/* SPDX-License-Identifier: BSD-3-Clause */
#include "parts.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { PARTS = 8, RANKS_MAX = 256 };

static struct {
    pthread_mutex_t lock; /* of all that follows, and of the parts' references and plans */
    struct coll_strag_part *part[PARTS]; /* references */
    unsigned long long uses;
} kept = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void free_part(struct coll_strag_part *part)
{
    strag_topology_free(part->topology);
    strag_plan_store_release(part->plans);
    free(part->packed);
    free(part->lane_of);
    free(part->rank_of);
    free(part->state);
    free(part);
}

void coll_strag_part_release(struct coll_strag_part *part)
{
    if (!part)
        return;
    pthread_mutex_lock(&kept.lock);
    const bool last = --part->refs == 0;
    pthread_mutex_unlock(&kept.lock);
    if (last)
        free_part(part);
}

static bool is_of(const struct coll_strag_part *part, uint64_t origin, const int32_t *rank_of,
                  int n)
{
    return part && part->origin == origin && part->n == n &&
           memcmp(part->rank_of, rank_of, (size_t)n * sizeof *rank_of) == 0;
}

struct coll_strag_part *coll_strag_part_find(uint64_t origin, const int32_t *rank_of, int n)
{
    struct coll_strag_part *found = NULL;
    pthread_mutex_lock(&kept.lock);
    for (int p = 0; p < PARTS && !found; p++)
        if (is_of(kept.part[p], origin, rank_of, n))
            found = kept.part[p];
    if (found) {
        found->refs++;
        found->used = ++kept.uses;
    }
    pthread_mutex_unlock(&kept.lock);
    return found;
}

struct coll_strag_part *coll_strag_part_create(uint64_t origin, const int32_t *rank_of, int n)
{
    struct coll_strag_part *part = calloc(1, sizeof *part);
    if (!part)
        return NULL;
    part->refs = 1;
    part->origin = origin;
    part->n = n;
    if (n > RANKS_MAX) /* it will not be kept */
        return part;
    part->rank_of = malloc((size_t)n * sizeof *rank_of);
    part->state = malloc(sizeof *part->state);
    if (!part->rank_of || !part->state) {
        free_part(part);
        return NULL;
    }
    memcpy(part->rank_of, rank_of, (size_t)n * sizeof *rank_of);
    return part;
}

/* The one that was not used for longest makes room. */
void coll_strag_part_keep(struct coll_strag_part *part)
{
    int oldest = 0;
    if (!part->rank_of)
        return;
    pthread_mutex_lock(&kept.lock);
    for (int p = 1; p < PARTS && kept.part[oldest]; p++)
        if (!kept.part[p] || kept.part[p]->used < kept.part[oldest]->used)
            oldest = p;
    struct coll_strag_part *dropped = kept.part[oldest];
    part->refs++;
    part->used = ++kept.uses;
    kept.part[oldest] = part;
    pthread_mutex_unlock(&kept.lock);
    coll_strag_part_release(dropped);
}

/* The caller has the lock. */
static bool are_for(const struct coll_strag_part *part, const struct coll_strag_decision *decision)
{
    return part->plans && part->ports == decision->ports &&
           part->reproducible == decision->reproducible &&
           strag_state_is_same(part->state, &decision->state);
}

/* The caller has the lock. */
static void replace(struct coll_strag_part *part, const struct coll_strag_decision *decision,
                    struct strag_plan_store *plans)
{
    struct strag_plan_store *before = part->plans;
    part->plans = strag_plan_store_retain(plans);
    part->ports = decision->ports;
    part->reproducible = decision->reproducible;
    *part->state = decision->state;
    strag_plan_store_release(before);
}

struct strag_plan_store *coll_strag_part_plans(struct coll_strag_part *part,
                                               const struct coll_strag_decision *decision,
                                               struct strag_plan_store *plans)
{
    if (!part->state)
        return plans;
    pthread_mutex_lock(&kept.lock);
    if (are_for(part, decision)) {
        strag_plan_store_release(plans);
        plans = strag_plan_store_retain(part->plans);
    } else {
        replace(part, decision, plans);
    }
    pthread_mutex_unlock(&kept.lock);
    return plans;
}

/* @param all  or those of the origin alone */
static void forget(uint64_t origin, bool all)
{
    for (int p = 0; p < PARTS; p++) {
        struct coll_strag_part *dropped = NULL;
        pthread_mutex_lock(&kept.lock);
        if (kept.part[p] && (all || kept.part[p]->origin == origin)) {
            dropped = kept.part[p];
            kept.part[p] = NULL;
        }
        pthread_mutex_unlock(&kept.lock);
        coll_strag_part_release(dropped);
    }
}

void coll_strag_parts_forget(uint64_t origin)
{
    forget(origin, false);
}

void coll_strag_parts_close(void)
{
    forget(0, true);
}
