/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * direct with one block: each of its roots sums up in the order of ranks, so that calls may take
 * turns with the root and have the same bits. (That all plans of `direct` are right is proved where
 * those of the other algorithms are.)
 */
#include "expressions.h"
#include "support.h"

/* The result is v1+v0, v2+, v3+, ...: each value once, to the left of the sum before. */
static void assert_in_order(const struct strag_proof *proof, int n)
{
    struct strag_expressions expressions;
    strag_proof_expressions(proof, &expressions);
    int32_t node = expressions.result[0];
    for (int rank = n - 1; rank > 0; rank--) {
        int32_t left;
        assert_in_range(node, n, strag_expression_count(expressions.table) - 1);
        strag_expression_operands(expressions.table, node, &left, &node);
        assert_int_equal(left, rank);
    }
    assert_int_equal(node, 0);
}

TEST(each_root_reduces_in_the_order_of_ranks)
{
    for (int n = 2; n <= 40; n++) {
        for (int root = 0; root < 2; root++) {
            const struct strag_problem problem = {.n = n, .blocks = 1, .root = root};
            struct strag_measure measure;
            struct strag_proof *proof = NULL;
            struct strag_error err = {""};
            if (strag_verify(support_algorithm("direct"), &problem, &measure, &proof, &err) !=
                STRAG_OK)
                fail_msg("n=%d root=%d: %s", n, root, err.text);
            assert_in_order(proof, n);
            assert_int_equal(measure.rounds, 2 * (n - 1));
            assert_true(measure.sent_total == 2 * (n - 1));
            assert_true(measure.reduce_max == n - 1); /* all of it by the root */
            strag_proof_free(proof);
        }
    }
}

/* The root is a peer of every operation of the others. */
TEST(the_root_is_the_one_that_was_asked_for)
{
    for (int root = 0; root < 2; root++) {
        for (int rank = 0; rank < 5; rank++) {
            const struct strag_problem problem = {.n = 5, .blocks = 1, .root = root};
            struct strag_plan *plan = support_plan("direct", &problem, rank);
            assert_int_equal(plan->nops, rank == root ? 8 : 2);
            for (int i = 0; rank != root && i < plan->nops; i++)
                assert_int_equal(plan->ops[i].peer, root);
            strag_plan_free(plan);
        }
    }
}

static void refuses(const char *algorithm, const struct strag_problem *problem, const char *text)
{
    struct strag_error err = {""};
    int status = strag_algorithm_claim(support_algorithm(algorithm), problem, NULL, &err);
    assert_true(status == STRAG_ERR_UNSUPPORTED || status == STRAG_ERR_ARGUMENT);
    assert_string_equal(err.text, text);
}

TEST(other_roots_are_refused)
{
    refuses("direct", &(struct strag_problem){.n = 4, .blocks = 1, .root = 2},
            "direct: root 2; it is 0, or with one block 0 or 1");
    refuses("direct", &(struct strag_problem){.n = 4, .root = 1},
            "direct: root 1; it is 0, or with one block 0 or 1");
    refuses("direct", &(struct strag_problem){.n = 4, .blocks = 1, .root = 4},
            "root 4; with 4 ranks it is 0 to 3");
    refuses("direct", &(struct strag_problem){.n = 4, .blocks = 1, .root = -1},
            "root -1; with 4 ranks it is 0 to 3");
    refuses("ring", &(struct strag_problem){.n = 4, .root = 1},
            "ring has no root, and 1 was given");
}
