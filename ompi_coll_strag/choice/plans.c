/* SPDX-License-Identifier: BSD-3-Clause */
#include "plans.h"

#include "user/log.h"
#include "user/settings.h"

#include <stdlib.h>

/* Messages in flight for one operation: one travels while another is reduced. */
enum { DEPTH = 2 };

struct coll_strag_plan {
    struct coll_strag_plan *next;
    const struct strag_algorithm *algorithm;
    int blocks, root;               /* as in struct strag_problem */
    struct strag_plan_store *store; /* holds a reference */
    const struct strag_plan *plan;
    struct strag_engine *engine;
};

static void log_calls(const struct coll_strag_plans *plans, const struct coll_strag_plan *plan)
{
    const struct strag_engine_counts counts = strag_engine_counts(plan->engine);
    if (plan->plan->rank == 0 && coll_strag_settings.verbose >= 2)
        coll_strag_log(NULL, "%s: %s, root %d: %llu calls, %llu of them in order", plans->name,
                       plan->algorithm->name, plan->root, counts.calls, counts.in_order);
}

static void free_plan(struct coll_strag_plan *plan)
{
    strag_engine_free(plan->engine);
    strag_plan_store_release(plan->store);
    free(plan);
}

struct strag_engine *coll_strag_plans_find(const struct coll_strag_plans *plans,
                                           const struct strag_algorithm *algorithm, int blocks,
                                           int root)
{
    const struct coll_strag_plan *plan = __atomic_load_n(&plans->first, __ATOMIC_ACQUIRE);
    while (plan && (plan->algorithm != algorithm || plan->blocks != blocks || plan->root != root))
        plan = plan->next;
    return plan ? plan->engine : NULL;
}

bool coll_strag_plans_planned(const struct coll_strag_plans *plans,
                              const struct strag_algorithm *algorithm, int blocks, int root)
{
    return plans->store && strag_plan_store_find(plans->store, algorithm, blocks, root);
}

void coll_strag_plans_share(struct coll_strag_plans *plans, struct strag_plan_store *store)
{
    plans->store = strag_plan_store_retain(store);
}

static void log_plan(const struct coll_strag_plans *plans, const struct coll_strag_plan *plan,
                     bool made)
{
    if (plan->plan->rank == 0 && coll_strag_settings.verbose >= 2)
        coll_strag_log(NULL, "%s: %s, root %d: %s", plans->name, plan->algorithm->name, plan->root,
                       made ? "planned" : "takes a plan that is there");
}

int coll_strag_plans_make(struct coll_strag_plans *plans, const struct strag_algorithm *algorithm,
                          const struct strag_problem *problem, int rank,
                          struct strag_engine **engine, struct strag_error *err)
{
    if (NULL == plans->store)
        plans->store = strag_plan_store_create();
    struct coll_strag_plan *plan = plans->store ? calloc(1, sizeof *plan) : NULL;
    if (NULL == plan)
        return strag_fail(err, STRAG_ERR_MEMORY, "out of memory for a plan");
    plan->store = strag_plan_store_retain(plans->store);
    bool made;
    plan->algorithm = algorithm;
    plan->blocks = problem->blocks;
    plan->root = problem->root;
    int status =
        strag_plan_store_make(plans->store, algorithm, problem, rank, &plan->plan, &made, err);
    if (status == STRAG_OK)
        status = strag_engine_create(plan->plan, DEPTH, &plan->engine, err);
    if (status != STRAG_OK) {
        free_plan(plan);
        return status;
    }
    plan->next = plans->first;
    __atomic_store_n(&plans->first, plan, __ATOMIC_RELEASE);
    *engine = plan->engine;
    log_plan(plans, plan, made);
    return STRAG_OK;
}

void coll_strag_plans_free(struct coll_strag_plans *plans, bool for_straggler)
{
    struct coll_strag_plan **link = &plans->first;
    while (*link) {
        struct coll_strag_plan *plan = *link;
        if (for_straggler && !plan->algorithm->needs_straggler) {
            link = &plan->next;
            continue;
        }
        *link = plan->next;
        log_calls(plans, plan);
        free_plan(plan);
    }
    strag_plan_store_release(plans->store);
    plans->store = NULL;
}
