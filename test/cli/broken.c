/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Algorithms that are not what they claim, to test that `strag` detects it. The test program
 * strag-broken is `strag` with this table instead of the real one: both names below are
 * redefined when it is compiled (local.mk).
 */
#include "algorithms/table.h"
#include "plan/algorithm.h"

#include <string.h>

static void claim(const struct strag_problem *problem, struct strag_claim *claim)
{
    *claim = (struct strag_claim){.rounds = 1, .blocks = 1, .sent_max = 1, .ports = 1};
}

static void claim_too_little(const struct strag_problem *problem, struct strag_claim *promise)
{
    claim(problem, promise);
    promise->sent_max = 0.5;
}

/* Every rank sends its vector to the next rank: an allreduce for two ranks only. */
static void build(const struct strag_problem *problem, int rank, struct strag_builder *builder)
{
    int n = problem->n;
    strag_stage(builder, "exchange");
    strag_send(builder, 0, (rank + 1) % n, 0, 1);
    strag_exchange_reduce(builder, 0, (rank + n - 1) % n, 0, 1);
}

static int check_even(const struct strag_problem *problem, struct strag_error *err)
{
    if (problem->n % 2)
        return strag_fail(err, STRAG_ERR_UNSUPPORTED, "n = %d is odd; even-only needs an even n",
                          problem->n);
    return STRAG_OK;
}

static const struct strag_algorithm partial = {
    .name = "unfinished",
    .summary = "no allreduce for n > 2",
    .rounds = "1",
    .sent = "1",
    .claim = claim,
    .build = build,
};

static const struct strag_algorithm boastful = {
    .name = "boastful",
    .summary = "sends more than it says",
    .rounds = "1",
    .sent = "1/2",
    .claim = claim_too_little,
    .build = build,
};

static const struct strag_algorithm even_only = {
    .name = "even-only",
    .summary = "refuses odd n",
    .rounds = "1",
    .sent = "1",
    .check = check_even,
    .claim = claim,
    .build = build,
};

const struct strag_algorithm *const strag_algorithms[] = {
    &partial,
    &boastful,
    &even_only,
    NULL,
};

const struct strag_algorithm *strag_algorithm_find(const char *name, struct strag_error *err)
{
    for (int a = 0; strag_algorithms[a]; a++) {
        if (strcmp(strag_algorithms[a]->name, name) == 0)
            return strag_algorithms[a];
    }
    strag_fail(err, STRAG_ERR_ARGUMENT, "unknown algorithm '%.40s'", name);
    return NULL;
}
