/* SPDX-License-Identifier: BSD-3-Clause */
/* Verbose lines of a communicator's rank 0: its topology, the model, the algorithms, and why. */
#ifndef COLL_STRAG_EXPLAIN_H
#define COLL_STRAG_EXPLAIN_H

#include "facts/decision.h"
#include "facts/model.h"

/** From coll_strag_verbose 2 on. @param topology  NULL if out of memory */
void coll_strag_explain_topology(ompi_communicator_t *comm, const struct strag_topology *topology);

/** From coll_strag_verbose 2 on: the model's numbers, and the source of each. */
void coll_strag_explain_model(ompi_communicator_t *comm, const struct strag_sourced_model *model);

/* The algorithm that runs a call. */
struct coll_strag_choice {
    const struct strag_algorithm *algorithm; /* NULL for the previous component */
    int blocks;                              /* problem.blocks */
    enum coll_strag_reason reason;           /* why the previous component, or a user plan */
};

/* Outcomes of choices: the algorithms by their number in strag_algorithms, then user plans, then
 * the reasons why the previous component runs a call. */
enum {
    COLL_STRAG_OUTCOME_PREVIOUS = STRAG_ALGORITHMS_MAX,
    COLL_STRAG_OUTCOMES = 64 /* at most */
};
_Static_assert(COLL_STRAG_OUTCOME_PREVIOUS + (int)COLL_STRAG_REASONS <= COLL_STRAG_OUTCOMES,
               "there are more outcomes");

int coll_strag_outcome(const struct coll_strag_choice *choice);

/** The name of each outcome: an algorithm's name, or the reason. */
void coll_strag_outcome_names(const char *names[COLL_STRAG_OUTCOMES]);

/**
 * Log what runs, and why; once for each size class and outcome.
 *
 * @param explained  on rank 0, [65]: by size class (the number of bits of a vector's bytes) a bit
 *                   for each outcome that was logged; NULL at first; to be freed
 * @param selection  the model's candidates; NULL if they are not kept
 */
void coll_strag_explain_choice(ompi_communicator_t *comm, uint64_t **explained,
                               const struct coll_strag_decision *decision,
                               const struct strag_selection *selection, size_t bytes,
                               const struct coll_strag_choice *choice);

/** Forget what was logged, so that it is logged again. */
void coll_strag_explain_anew(uint64_t **explained);

#endif
