/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of the proof that examine one plan at a time. For verify.c. */
#ifndef STRAG_VERIFY_PLAN_H
#define STRAG_VERIFY_PLAN_H

#include "plan/verify.h"

/** "rank 3, operation 5 (recv_reduce from 2, blocks 4..5, round 2): what". @return STRAG_ERR_FALSE
 */
int strag_fail_op(const struct strag_plan *plan, int op, const char *what, struct strag_error *err);

/** Is plans[rank] well formed? @return STRAG_OK or STRAG_ERR_FALSE */
int strag_verify_form(struct strag_plan *const *plans, int n, int rank, struct strag_error *err);

/** Are a well-formed plan's operations ordered if they touch the same blocks?
 *  @return STRAG_OK, STRAG_ERR_FALSE or STRAG_ERR_MEMORY */
int strag_verify_hazards(const struct strag_plan *plan, struct strag_error *err);

/** Count rounds and bytes. @param ranks  how many plans there are: n, or 1 if it stands for all */
int strag_measure_plans(struct strag_plan *const *plans, int ranks, int n,
                        struct strag_measure *measure, struct strag_error *err);

/** Compare with the algorithm's claim, and set `waits` and `before`. @param ranks  as above */
int strag_check_claim(struct strag_plan *const *plans, int ranks, struct strag_measure *measure,
                      const struct strag_claim *claim, struct strag_error *err);

#endif
