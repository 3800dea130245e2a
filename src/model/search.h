/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is left: plans that no algorithm of the table makes, found by simulated annealing.
 *
 * Of every block the ranks' values flow to one of them along a tree, and the sum back along another
 * one; every message of these trees is in a round, behind those that it needs. So whatever is
 * changed remains an allreduce: a message goes to another rank of the tree, or to another round, or
 * a block gets a bit of another's length. What such a plan costs in mode `rounds` (cost.h) is known
 * at once, since a change concerns few rounds.
 *
 * The beginning is the best of the algorithms whose plans are such trees. (Those that swap whole
 * vectors, as recursive doubling, are not.)
 */
#ifndef STRAG_SEARCH_H
#define STRAG_SEARCH_H

#include "base/progress.h"
#include "model/model.h"
#include "plan/algorithm.h"

enum { STRAG_SEARCH_RANKS_MAX = 16, STRAG_SEARCH_BLOCKS_MAX = 256 };

struct strag_search_options {
    double bytes;             /* of the vector */
    uint64_t seed;            /* equal seeds and numbers of steps find equal plans */
    int64_t steps;            /* changes that are tried */
    int restarts;             /* at least 1; each has its part of the steps, from the best so far */
    const volatile int *stop; /* not 0: end with the best so far; NULL: nobody asks for that */
    const struct strag_progress *progress; /* NULL: nobody wants to know */
};

/* A plan that was found. */
struct strag_found;

struct strag_search_result {
    const struct strag_algorithm *from; /* where it began */
    double began, found;                /* seconds by the model */
    int64_t tried, kept;                /* changes */
    struct strag_found *plan;           /* proved; the caller's to free */
};

/**
 * Search, and prove what was found with `verify`.
 *
 * @param problem  of 2 to STRAG_SEARCH_RANKS_MAX ranks, without stragglers
 * @param[out] result  untouched on failure
 * @return STRAG_OK; STRAG_ERR_UNSUPPORTED where there is nothing to begin with, or STRAG_ERR_MEMORY
 */
int strag_search(const struct strag_problem *problem, const struct strag_model *model,
                 const struct strag_search_options *options, struct strag_search_result *result,
                 struct strag_error *err);

/** An instance of what was found, as of an algorithm: to be shown or priced. It must be closed
 * before `found` is freed. @return as strag_instance_open */
int strag_found_open(const struct strag_found *found, struct strag_instance *instance,
                     struct strag_error *err);

/** NULL is allowed. */
void strag_found_free(struct strag_found *found);

#endif
