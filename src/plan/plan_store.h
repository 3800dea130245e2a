/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One rank's plans of equal problems, shared by all that run them: each is made when it is first
 * wanted, and kept until the last user of the store is gone. A plan never changes once it is made,
 * so any number of engines, in any threads, may run it.
 *
 * Threads take turns, also while a plan is made: so none is ever made twice, and who waits waits
 * for no longer than it would plan itself, since planning sends nothing and takes no other lock.
 */
#ifndef STRAG_PLAN_STORE_H
#define STRAG_PLAN_STORE_H

#include "plan/algorithm.h"

struct strag_plan_store;

/** With one reference, the caller's. @return NULL: out of memory */
struct strag_plan_store *strag_plan_store_create(void);

/** @return the store */
struct strag_plan_store *strag_plan_store_retain(struct strag_plan_store *store);

/** The last reference frees it, and all of its plans. NULL is allowed. */
void strag_plan_store_release(struct strag_plan_store *store);

/** @return a plan that is there, the store's; else NULL */
const struct strag_plan *strag_plan_store_find(struct strag_plan_store *store,
                                               const struct strag_algorithm *algorithm, int blocks,
                                               int root);

/**
 * A plan that is there, or is made now.
 *
 * @param problem  differs in blocks and root alone from those of the store's other plans
 * @param rank     the same for all of them
 * @param[out] plan  the store's; untouched on failure
 * @param[out] made  false: it was there
 * @return as strag_plan_create
 */
int strag_plan_store_make(struct strag_plan_store *store, const struct strag_algorithm *algorithm,
                          const struct strag_problem *problem, int rank,
                          const struct strag_plan **plan, bool *made, struct strag_error *err);

#endif
