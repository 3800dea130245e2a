/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A communicator's engines, and the plans that they run: each is made when it is first used. Plans
 * come from a store that communicators share as long as they would all make the same ones; engines
 * are a communicator's own.
 */
#ifndef COLL_STRAG_PLANS_H
#define COLL_STRAG_PLANS_H

#include "compat/compat.h"

#include "plan/plan_store.h"
#include "run/engine.h"

struct coll_strag_plan;

struct coll_strag_plans {
    struct coll_strag_plan *first;  /* a list */
    struct strag_plan_store *store; /* NULL: one of its own, made with the next plan */
    char name[MPI_MAX_OBJECT_NAME]; /* of the communicator, which may be gone before them */
};

/** The engine of a plan that is there; plans differ in algorithm, blocks and root alone. Another
 * thread may make one meanwhile. @return NULL: there is none */
struct strag_engine *coll_strag_plans_find(const struct coll_strag_plans *plans,
                                           const struct strag_algorithm *algorithm, int blocks,
                                           int root);

/** Is its plan there, though nothing has run it yet in this communicator? */
bool coll_strag_plans_planned(const struct coll_strag_plans *plans,
                              const struct strag_algorithm *algorithm, int blocks, int root);

/** Take plans from a store from now on: all would be made for equal problems, as in
 * plan/plan_store.h. Before the first plan is made. */
void coll_strag_plans_share(struct coll_strag_plans *plans, struct strag_plan_store *store);

/** An engine that is not there, and its plan, if nobody has made that.
 * @return STRAG_OK, or why it cannot be made, with a text in err */
int coll_strag_plans_make(struct coll_strag_plans *plans, const struct strag_algorithm *algorithm,
                          const struct strag_problem *problem, int rank,
                          struct strag_engine **engine, struct strag_error *err);

/** Free them; later ones are of a store of their own, since the problem is another one then.
 * @param for_straggler  only those that wait for a straggler */
void coll_strag_plans_free(struct coll_strag_plans *plans, bool for_straggler);

#endif
