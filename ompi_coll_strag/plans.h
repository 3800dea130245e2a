/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A communicator's plans and the engines that run them: each is made when it is first used, and
 * kept until the communicator is freed or the plan is of no use any more.
 */
#ifndef COLL_STRAG_PLANS_H
#define COLL_STRAG_PLANS_H

#include "compat/compat.h"

#include "plan/algorithm.h"
#include "run/engine.h"

struct coll_strag_plan;

struct coll_strag_plans {
    struct coll_strag_plan *first;  /* a list */
    char name[MPI_MAX_OBJECT_NAME]; /* of the communicator, which may be gone before them */
};

/** The engine of a plan that is there; plans differ in algorithm, blocks and root alone. */
struct strag_engine *coll_strag_plans_find(const struct coll_strag_plans *plans,
                                           const struct strag_algorithm *algorithm, int blocks,
                                           int root);

/** Make a plan that is not. @return STRAG_OK, or why it cannot be made, with a text in err */
int coll_strag_plans_make(struct coll_strag_plans *plans, const struct strag_algorithm *algorithm,
                          const struct strag_problem *problem, int rank,
                          struct strag_engine **engine, struct strag_error *err);

/** Free them. @param for_straggler  only those that do not wait for a straggler */
void coll_strag_plans_free(struct coll_strag_plans *plans, bool for_straggler);

#endif
