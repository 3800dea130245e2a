/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The proof of a user plan, within limits.
 */
#include "plan/given.h"

/* The factors were measured on one core of a Xeon (a step is 10 ns at most) with plans of many
 * short operations, of few long ones, and of ranges that are cut again and again. */
struct strag_effort strag_given_effort(const struct strag_given *given)
{
    const int64_t n = given->head.n, blocks = given->head.blocks;
    const int64_t ranks = strag_given_kinds(given), all = n / ranks;
    const int64_t operations = given->operations / all, touched = given->touched / all;
    return (struct strag_effort){
        .steps = 40 * operations + operations * blocks / 1280 + touched + ranks * blocks + 20 * n,
        .bytes =
            104 * operations + 24 * given->touched_most + 4 * ranks * blocks + 400 * ranks + 40 * n,
    };
}

int strag_given_limit(const struct strag_given *given, const struct strag_effort *most,
                      struct strag_error *err)
{
    const struct strag_effort needed = strag_given_effort(given);
    if (needed.steps <= most->steps && needed.bytes <= most->bytes)
        return STRAG_OK;
    return strag_fail(err, STRAG_ERR_LIMIT,
                      "proving its %lld operations takes %lld million steps and %lld MiB; at most "
                      "%lld million and %lld MiB are accepted",
                      (long long)given->operations, (long long)needed.steps / 1000000,
                      (long long)needed.bytes >> 20, (long long)most->steps / 1000000,
                      (long long)most->bytes >> 20);
}

int strag_given_prove(const struct strag_given *given, const struct strag_effort *most,
                      const struct strag_progress *progress, struct strag_measure *measure,
                      struct strag_error *err)
{
    const struct strag_problem problem = {.n = given->head.n};
    struct strag_effort left = strag_given_effort(given);
    int status = strag_given_limit(given, most, err);
    if (status != STRAG_OK)
        return status;
    left.steps = most->steps - left.steps;
    left.bytes = most->bytes - left.bytes;
    status = strag_verify_within(&given->row, &problem, &left, progress, measure, NULL, err);
    if (status == STRAG_ERR_LIMIT)
        strag_fail(err, status, "proving it takes more than %lld million steps or %lld MiB",
                   (long long)most->steps / 1000000, (long long)most->bytes >> 20);
    return status;
}
