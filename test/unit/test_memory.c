/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every allocation of the library fails once: the function says so, changes nothing that it was to
 * fill in, and keeps nothing. With enough memory everything that it took is freed.
 */
#include "exhaust.h"

#include "algorithms/table.h"
#include "base/parse.h"
#include "loopback.h"
#include "plan/expression.h"
#include "plan/verify.h"
#include "run/engine.h"
#include "support.h"

/* ---- Plans ---- */

struct plan_wanted {
    const struct strag_algorithm *algorithm;
    struct strag_problem problem;
    int rank;
};

static int create_plan(const void *what, struct strag_error *err, bool *made)
{
    const struct plan_wanted *wanted = what;
    struct strag_plan *plan = NULL;
    int status = strag_plan_create(wanted->algorithm, &wanted->problem, wanted->rank, &plan, err);
    *made = plan != NULL;
    strag_plan_free(plan);
    return status;
}

static int create_plans(const void *what, struct strag_error *err, bool *made)
{
    const struct plan_wanted *wanted = what;
    struct strag_plan *plans[16] = {NULL};
    int status = support_create_all(wanted->algorithm, &wanted->problem, plans, err);
    for (int rank = 0; rank < wanted->problem.n; rank++)
        *made |= plans[rank] != NULL;
    strag_plan_free_all(plans, wanted->problem.n);
    return status;
}

TEST(plans)
{
    for (int a = 0; strag_algorithms[a]; a++) {
        for (int n = 1; n <= 11; n++) {
            int ranks = support_ranks(strag_algorithms[a], n);
            struct plan_wanted wanted = {strag_algorithms[a],
                                         support_problem(strag_algorithms[a], ranks), ranks / 2};
            assert_true(exhaust("a plan", create_plan, &wanted) >= 3);
            if (n <= 5)
                assert_true(exhaust("all plans", create_plans, &wanted) >= 3 * n);
        }
    }
}

/* Many waits, readers and copies: every list of the builder has to grow. */
static int build_uneven(const void *what, struct strag_error *err, bool *made)
{
    enum { BLOCKS = 400 };
    int64_t numerators[BLOCKS + 1];
    for (int b = 0; b <= BLOCKS; b++)
        numerators[b] = (int64_t)b * b;
    const struct strag_shape shape = {
        .algorithm = "test",
        .n = 2,
        .rounds = 4,
        .bounds = {.blocks = BLOCKS, .denominator = BLOCKS * BLOCKS, .numerator = numerators},
    };
    struct strag_builder *builder = strag_builder_create(&shape, 0);
    if (!builder)
        return strag_fail(err, STRAG_ERR_MEMORY, "out of memory");
    for (int b = 0; b < BLOCKS; b += 2)
        strag_recv(builder, 0, 1, b, 1);
    for (int i = 0; i < 5; i++)
        strag_send(builder, 1, 1, 0, BLOCKS); /* every second block is copied */
    strag_recv(builder, 2, 1, 0, BLOCKS);
    struct strag_plan *plan = NULL;
    int status = strag_builder_finish(builder, &plan, err);
    *made = plan != NULL;
    strag_plan_free(plan);
    return status;
}

TEST(lists_that_grow)
{
    assert_true(exhaust("a long plan", build_uneven, NULL) >= 20);
}

/* ---- The proof ---- */

static int verify(const void *what, struct strag_error *err, bool *made)
{
    const struct plan_wanted *wanted = what;
    struct strag_measure measure = {.n = -1};
    struct strag_proof *proof = NULL;
    int status = strag_verify(wanted->algorithm, &wanted->problem, &measure, &proof, err);
    *made = proof != NULL || measure.n != -1;
    strag_proof_free(proof);
    return status;
}

TEST(proofs)
{
    for (int a = 0; strag_algorithms[a]; a++) {
        for (int n = 1; n <= 9; n += 2) {
            int ranks = support_ranks(strag_algorithms[a], n);
            struct plan_wanted wanted = {strag_algorithms[a],
                                         support_problem(strag_algorithms[a], ranks), 0};
            assert_true(exhaust("a proof", verify, &wanted) >= 10 + 10 * n);
        }
    }
}

static int make_expressions(const void *what, struct strag_error *err, bool *made)
{
    int n = *(const int *)what;
    struct strag_effort left = strag_effort_any;
    struct strag_expression_table *table = strag_expressions_create(n, &left);
    int32_t sum = table ? 0 : STRAG_EXPRESSION_MEMORY;
    for (int rank = 1; rank < n && sum >= 0; rank++)
        sum = strag_expression_pair(table, sum, rank);
    *made = sum >= 0;
    strag_expressions_free(table);
    return sum == STRAG_EXPRESSION_MEMORY ? strag_fail(err, STRAG_ERR_MEMORY, "out of memory")
           : sum >= 0                     ? STRAG_OK
                                          : STRAG_ERR_FALSE;
}

TEST(expressions)
{
    static const int sizes[] = {2, 64, 65, 500, 5000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        assert_true(exhaust("expressions", make_expressions, &sizes[i]) >= 4);
}

/* ---- Engine, network, lists ---- */

static int create_engine(const void *what, struct strag_error *err, bool *made)
{
    struct strag_engine *engine = NULL;
    int status = strag_engine_create(what, 3, &engine, err);
    *made = engine != NULL;
    strag_engine_free(engine);
    return status;
}

TEST(engines)
{
    struct strag_plan **all = support_plans(support_algorithm("circulant"), 7);
    for (int rank = 0; rank < 7; rank++)
        assert_true(exhaust("an engine", create_engine, all[rank]) >= 4);
    support_plans_free(all, 7);
}

static int create_network(const void *what, struct strag_error *err, bool *made)
{
    struct strag_loopback_options options = {.seed = 1};
    struct strag_loopback *network = strag_loopback_create(5, 8, &options);
    *made = network != NULL;
    strag_loopback_free(network);
    return *made ? STRAG_OK : strag_fail(err, STRAG_ERR_MEMORY, "out of memory");
}

TEST(networks)
{
    assert_true(exhaust("a network", create_network, NULL) >= 3);
}

static int parse_sizes(const void *what, struct strag_error *err, bool *made)
{
    size_t *list = NULL;
    int count = -1;
    int status = strag_parse_bytes_list(what, &list, &count, err);
    *made = list != NULL || count != -1;
    free(list);
    return status;
}

static int parse_intervals(const void *what, struct strag_error *err, bool *made)
{
    struct strag_interval *list = NULL;
    int count = -1;
    int status = strag_parse_intervals(what, 0, 1000, &list, &count, err);
    *made = list != NULL || count != -1;
    free(list);
    return status;
}

TEST(lists)
{
    assert_true(exhaust("sizes", parse_sizes, "1,2,32..1G,7K") >= 1);
    assert_true(exhaust("intervals", parse_intervals, "1,2,3..100,7") >= 1);
}
