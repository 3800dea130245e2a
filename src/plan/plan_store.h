/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One rank's plans of problems that differ in blocks and root only, shared by all that run them.
 * Each plan is made when it is first needed, and kept until the last user of the store is gone. A
 * plan never changes once it is made, so any number of engines, in any threads, may run it.
 *
 * A lock is held while a plan is made, so that none is made twice. A thread that waits for the lock
 * waits no longer than planning would take, since planning sends nothing and takes no other lock.
 */
#ifndef STRAG_PLAN_STORE_H
#define STRAG_PLAN_STORE_H

#include "plan/algorithm.h"

struct strag_plan_store;

/** Make a store with one reference, the caller's. @return NULL when out of memory */
struct strag_plan_store *strag_plan_store_create(void);

/** @return the store */
struct strag_plan_store *strag_plan_store_retain(struct strag_plan_store *store);

/** Release a reference. The last one frees the store and all of its plans. NULL is allowed. */
void strag_plan_store_release(struct strag_plan_store *store);

/** @return a plan that the store has, and owns, or NULL if it has none */
const struct strag_plan *strag_plan_store_find(struct strag_plan_store *store,
                                               const struct strag_algorithm *algorithm, int blocks,
                                               int root);

/**
 * Find a plan, or make it.
 *
 * @param problem  differs in blocks and root alone from those of the store's other plans
 * @param rank     the same for all plans of the store
 * @param[out] plan  owned by the store; untouched on failure
 * @param[out] made  false if the store had the plan
 * @return as strag_plan_create
 */
int strag_plan_store_make(struct strag_plan_store *store, const struct strag_algorithm *algorithm,
                          const struct strag_problem *problem, int rank,
                          const struct strag_plan **plan, bool *made, struct strag_error *err);

#endif
