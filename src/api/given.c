/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * strag.h: plans from files.
 */
#include "plan/given.h"
#include "plan/verify.h"

int strag_given_plan(const struct strag_given *given, int rank, struct strag_plan **plan,
                     struct strag_error *err)
{
    const struct strag_problem problem = {.n = strag_given_ranks(given)};
    return strag_plan_create(strag_given_algorithm(given), &problem, rank, plan, err);
}

int strag_given_verify(const struct strag_given *given, struct strag_verified *verified,
                       struct strag_error *err)
{
    struct strag_measure measure;
    int status = strag_given_prove(given, &strag_given_asked, NULL, &measure, err);
    if (status == STRAG_OK && verified)
        *verified = (struct strag_verified){measure.blocks, measure.rounds, measure.sent_max,
                                            measure.sent_total, measure.reduce_max};
    return status;
}
