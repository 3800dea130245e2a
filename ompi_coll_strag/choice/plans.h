/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A communicator's engines, and the plans that they run: each is made when it is first used. Plans
 * come from a store that communicators with identical problems share; engines are the
 * communicator's own.
 */
#ifndef COLL_STRAG_PLANS_H
#define COLL_STRAG_PLANS_H

#include "compat/compat.h"

#include "plan/plan_store.h"
#include "run/engine.h"

struct coll_strag_plan;

struct coll_strag_plans {
    struct coll_strag_plan *first;  /* a list */
    struct strag_plan_store *store; /* NULL until the next plan is made, in a store of its own */
    char name[MPI_MAX_OBJECT_NAME]; /* the communicator's, which may be freed before them */
};

/** The engine of a plan; plans differ only in algorithm, blocks and root. Another thread may make
 * one at the same time. @return NULL if there is none */
struct strag_engine *coll_strag_plans_find(const struct coll_strag_plans *plans,
                                           const struct strag_algorithm *algorithm, int blocks,
                                           int root);

/** Is the plan in the store, perhaps without an engine of this communicator? */
bool coll_strag_plans_planned(const struct coll_strag_plans *plans,
                              const struct strag_algorithm *algorithm, int blocks, int root);

/** Take plans from a store from now on. All of its plans are for identical problems, as in
 * plan/plan_store.h. Called before the first plan is made. */
void coll_strag_plans_share(struct coll_strag_plans *plans, struct strag_plan_store *store);

/** Make a missing engine, and its plan unless the store has it.
 * @return STRAG_OK, or an error with a text in err */
int coll_strag_plans_make(struct coll_strag_plans *plans, const struct strag_algorithm *algorithm,
                          const struct strag_problem *problem, int rank,
                          struct strag_engine **engine, struct strag_error *err);

/** Free them. Later plans are from a store of their own, since the problem has changed.
 * @param for_straggler  free only plans for a straggler */
void coll_strag_plans_free(struct coll_strag_plans *plans, bool for_straggler);

#endif
