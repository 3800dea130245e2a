/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Plans that no algorithm would make, but that are an allreduce if they do not hang: ranks give
 * values away, swap them and overwrite stale ones at random, over ranges of every shape, several
 * ranks at once; at the end what is left is put together and spread.
 */
#ifndef STRAG_TEST_RANDOM_PLAN_H
#define STRAG_TEST_RANDOM_PLAN_H

#include "plan/plan.h"
#include "support.h"

enum { RANDOM_RANKS_MAX = 8, RANDOM_BLOCKS_MAX = 8 };

/** n plans, to be freed with support_plans_free; n is 2 .. RANDOM_RANKS_MAX. */
struct strag_plan **random_plans(int n, struct rng *rng);

#endif
