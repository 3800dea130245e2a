/* SPDX-License-Identifier: BSD-3-Clause */
/* Where blocks begin, and the builder: waits, copies, cyclic ranges, refusals. */
#include "support.h"

#include "algorithms/table.h"
#include "base/scale.h"

/* ---- Bounds ---- */

TEST(equal_blocks_cover_the_vector)
{
    const struct strag_bounds three = {.blocks = 3, .denominator = 3};
    assert_int_equal(strag_block_start(&three, 0, 10), 0);
    assert_int_equal(strag_block_start(&three, 1, 10), 3);
    assert_int_equal(strag_block_start(&three, 2, 10), 6);
    assert_int_equal(strag_block_start(&three, 3, 10), 10);
    for (int blocks = 1; blocks < 40; blocks++) {
        const struct strag_bounds bounds = {.blocks = blocks, .denominator = blocks};
        for (size_t count = 0; count < 100; count++) {
            for (int b = 0; b <= blocks; b++)
                assert_int_equal(strag_block_start(&bounds, b, count),
                                 (size_t)b * count / (size_t)blocks);
        }
    }
}

TEST(more_blocks_than_elements)
{
    const struct strag_bounds seven = {.blocks = 7, .denominator = 7};
    /* floor(2b/7) */
    const size_t starts[] = {0, 0, 0, 0, 1, 1, 1, 2};
    for (int b = 0; b <= 7; b++)
        assert_int_equal(strag_block_start(&seven, b, 2), starts[b]);
}

/* Values from exact integer arithmetic outside this program. */
TEST(products_are_exact)
{
    const uint64_t quarter = UINT64_C(1) << 62, most = INT32_MAX;
    assert_true(strag_scale(UINT64_C(1) << 40, 5, 7) == 785365448411u);
    assert_true(strag_scale(quarter, 6, 7) == 3952873730080618203u);
    assert_true(strag_scale(UINT64_MAX, 6, 7) == 15811494920322472812u);
    assert_true(strag_scale(UINT64_MAX, 8, 12) == 12297829382473034410u);
    assert_true(strag_scale(UINT64_MAX, most - 1, most) == 18446744065119617018u);
    assert_true(strag_scale(quarter, 1, most) == 2147483649u);
    assert_true(strag_scale(UINT64_MAX, 1, quarter) == 3);
    assert_true(strag_scale(UINT64_MAX, quarter - 1, quarter) == UINT64_MAX - 4);
    assert_true(strag_scale(quarter, quarter - 1, quarter) == quarter - 1);
}

TEST(huge_counts_are_exact)
{
    const struct strag_bounds seven = {.blocks = 7, .denominator = 7};
    assert_true(strag_block_start(&seven, 3, 2147483647u) == 920350134u);
    assert_true(strag_block_start(&seven, 6, 2147483647u) == 1840700268u);
    assert_true(strag_block_start(&seven, 7, 2147483647u) == 2147483647u);
    assert_true(strag_block_start(&seven, 6, SIZE_MAX) == strag_scale(SIZE_MAX, 6, 7));
    assert_true(strag_block_start(&seven, 7, SIZE_MAX) == SIZE_MAX);

    const struct strag_bounds many = {.blocks = INT32_MAX, .denominator = INT32_MAX};
    assert_true(strag_block_start(&many, INT32_MAX - 1, SIZE_MAX) ==
                strag_scale(SIZE_MAX, INT32_MAX - 1, INT32_MAX));
}

TEST(uneven_blocks_are_exact)
{
    int64_t twelfths[] = {0, 3, 6, 8, 10, 12};
    const struct strag_bounds uneven = {.blocks = 5, .denominator = 12, .numerator = twelfths};
    const size_t starts_100[] = {0, 25, 50, 66, 83, 100};
    for (int b = 0; b <= 5; b++)
        assert_int_equal(strag_block_start(&uneven, b, 100), starts_100[b]);
    assert_true(strag_block_start(&uneven, 3, SIZE_MAX) == strag_scale(SIZE_MAX, 8, 12));

    int64_t fine[] = {0, 1, 1, (INT64_C(1) << 62) - 1, INT64_C(1) << 62};
    const struct strag_bounds finest = {.blocks = 4, .denominator = fine[4], .numerator = fine};
    for (int b = 1; b <= 3; b++)
        assert_true(strag_block_start(&finest, b, SIZE_MAX) ==
                    strag_scale(SIZE_MAX, (uint64_t)fine[b], (uint64_t)fine[4]));
    assert_true(strag_block_start(&finest, 3, 1000) == 999);
    assert_true(strag_block_start(&finest, 4, SIZE_MAX) == SIZE_MAX);
}

/* ---- What the builder finds ---- */

struct golden {
    enum strag_kind kind;
    int round, peer, first, count;
    bool from_input;
    int wait; /* the only one, or NONE */
};

enum { NONE = -1 };

static void assert_golden(const struct strag_plan *plan, const struct golden *golden, int length)
{
    assert_int_equal(plan->nops, length);
    for (int i = 0; i < length; i++) {
        const struct strag_op *op = &plan->ops[i];
        int waits;
        const int32_t *after = strag_plan_after(plan, i, &waits);
        assert_int_equal(op->kind, golden[i].kind);
        assert_int_equal(op->round, golden[i].round);
        assert_int_equal(op->peer, golden[i].peer);
        assert_int_equal(op->first, golden[i].first);
        assert_int_equal(op->count, golden[i].count);
        assert_int_equal(op->from_input, golden[i].from_input);
        assert_int_equal(waits, golden[i].wait != NONE);
        if (waits)
            assert_int_equal(after[0], golden[i].wait);
    }
}

/* By hand from the skips 5 3 2 1: rank 4's ranges run over the end of the vector. */
TEST(circulant_of_5_rank_4)
{
    static const struct golden golden[] = {
        {STRAG_SEND, 0, 2, 2, 2, true, NONE},        /*  0 */
        {STRAG_RECV_REDUCE, 0, 1, 4, 1, true, NONE}, /*  1 */
        {STRAG_RECV_REDUCE, 0, 1, 0, 1, true, NONE}, /*  2 */
        {STRAG_SEND, 1, 1, 1, 1, true, NONE},        /*  3 */
        {STRAG_RECV_REDUCE, 1, 2, 4, 1, false, 1},   /*  4 */
        {STRAG_SEND, 2, 0, 0, 1, false, 2},          /*  5 */
        {STRAG_RECV_REDUCE, 2, 3, 4, 1, false, 4},   /*  6 */
        {STRAG_SEND, 3, 3, 4, 1, false, 6},          /*  7 */
        {STRAG_RECV, 3, 0, 0, 1, false, 5},          /*  8 */
        {STRAG_SEND, 4, 2, 4, 1, false, 6},          /*  9 */
        {STRAG_RECV, 4, 1, 1, 1, false, 3},          /* 10 */
        {STRAG_SEND, 5, 1, 4, 1, false, 6},          /* 11 */
        {STRAG_SEND, 5, 1, 0, 1, false, 8},          /* 12 */
        {STRAG_RECV, 5, 2, 2, 2, false, 0},          /* 13 */
    };
    struct strag_plan **plans = support_plans(support_algorithm("circulant"), 5);
    assert_golden(plans[4], golden, 14);
    assert_int_equal(plans[4]->ncopies, 0);
    assert_int_equal(plans[4]->rounds, 6);
    support_plans_free(plans, 5);
}

/* Skips 7 4 2 1: round 1 sends relative blocks 2 and 3, of which only 2 was reduced before. */
TEST(mixed_ranges_are_copied)
{
    struct strag_plan **plans = support_plans(support_algorithm("circulant"), 7);
    const struct strag_plan *plan = plans[1];
    assert_int_equal(plan->ncopies, 1);
    assert_int_equal(plan->copies[0].first, 4);
    assert_int_equal(plan->copies[0].count, 1);
    const struct strag_op *send = &plan->ops[3]; /* behind send 5 6, send 0, recv_reduce 1 2 3 */
    assert_int_equal(send->kind, STRAG_SEND);
    assert_int_equal(send->first, 3);
    assert_int_equal(send->count, 2);
    assert_false(send->from_input);
    support_plans_free(plans, 7);
}

TEST(ring_of_3_rank_0)
{
    static const struct golden golden[] = {
        {STRAG_SEND, 0, 1, 0, 1, true, NONE}, {STRAG_RECV_REDUCE, 0, 2, 2, 1, true, NONE},
        {STRAG_SEND, 1, 1, 2, 1, false, 1},   {STRAG_RECV_REDUCE, 1, 2, 1, 1, true, NONE},
        {STRAG_SEND, 2, 1, 1, 1, false, 3},   {STRAG_RECV, 2, 2, 0, 1, false, 0},
        {STRAG_SEND, 3, 1, 0, 1, false, 5},   {STRAG_RECV, 3, 2, 2, 1, false, 2},
    };
    struct strag_plan **plans = support_plans(support_algorithm("ring"), 3);
    assert_golden(plans[0], golden, 8);
    support_plans_free(plans, 3);
}

TEST(exchange_puts_the_lower_rank_left)
{
    struct strag_plan **plans = support_plans(support_algorithm("recursive-doubling"), 2);
    for (int rank = 0; rank < 2; rank++) {
        const struct strag_op *ops = plans[rank]->ops;
        int waits;
        assert_int_equal(plans[rank]->nops, 2);
        assert_int_equal(ops[0].kind, STRAG_SEND);
        assert_int_equal(ops[1].kind, STRAG_RECV_REDUCE);
        assert_int_equal(ops[1].own_left, rank == 0);
        assert_true(ops[1].from_input);
        assert_int_equal(*strag_plan_after(plans[rank], 1, &waits), 0);
        assert_int_equal(waits, 1);
    }
    support_plans_free(plans, 2);
}

/* The first block of the plan that is copied at the start and stays unwritten before `op`? */
static bool was_written(const struct strag_plan *plan, int op, int block)
{
    for (int i = 0; i < op; i++) {
        const struct strag_op *o = &plan->ops[i];
        if (o->kind != STRAG_SEND && block >= o->first && block < o->first + o->count)
            return true;
    }
    return false;
}

static bool is_copied(const struct strag_plan *plan, int block)
{
    for (int c = 0; c < plan->ncopies; c++) {
        const struct strag_range *range = &plan->copies[c];
        if (block >= range->first && block < range->first + range->count)
            return true;
    }
    return false;
}

/* Must `op` wait for the earlier operation `other`? Said once more, slowly: for some block that
 * both touch, nobody wrote in between, and one of them writes; but a writer need not wait for the
 * writer before when somebody read in between. */
static bool must_wait(const struct strag_plan *plan, int op, int other)
{
    const struct strag_op *a = &plan->ops[other], *b = &plan->ops[op];
    if (a->kind == STRAG_SEND && b->kind == STRAG_SEND)
        return false;
    for (int block = b->first; block < b->first + b->count; block++) {
        bool needed = block >= a->first && block < a->first + a->count;
        for (int i = other + 1; needed && i < op; i++) {
            const struct strag_op *o = &plan->ops[i];
            bool touches = block >= o->first && block < o->first + o->count;
            bool covers = o->kind != STRAG_SEND || (a->kind != STRAG_SEND && b->kind != STRAG_SEND);
            needed = !(touches && covers);
        }
        if (needed)
            return true;
    }
    return false;
}

static void check_plan(const struct strag_plan *plan)
{
    for (int op = 0; op < plan->nops; op++) {
        const struct strag_op *o = &plan->ops[op];
        int waits, needed = 0;
        const int32_t *after = strag_plan_after(plan, op, &waits);
        for (int other = 0; other < op; other++) {
            bool found = false;
            for (int w = 0; w < waits; w++)
                found |= after[w] == other;
            assert_int_equal(found, must_wait(plan, op, other));
            needed += found;
        }
        assert_int_equal(waits, needed); /* none twice */

        int written = 0, copied = 0;
        for (int block = o->first; block < o->first + o->count; block++) {
            written += was_written(plan, op, block);
            copied += !was_written(plan, op, block) && is_copied(plan, block);
        }
        if (o->kind == STRAG_RECV)
            assert_false(o->from_input);
        else if (o->from_input)
            assert_int_equal(written, 0);
        else
            assert_int_equal(written + copied, o->count);
    }
}

TEST(waits_and_copies_are_what_they_must_be)
{
    int copies = 0;
    for (int a = 0; strag_algorithms[a]; a++) {
        for (int n = 1; n <= 33; n++) {
            n = support_ranks(strag_algorithms[a], n);
            struct strag_plan **plans = support_plans(strag_algorithms[a], n);
            for (int rank = 0; rank < n; rank++) {
                assert_int_equal(plans[rank]->rank, rank);
                assert_int_equal(plans[rank]->n, n);
                check_plan(plans[rank]);
                copies += plans[rank]->ncopies;
            }
            support_plans_free(plans, n);
        }
    }
    assert_true(copies > 0);
}

/* ---- The builder by itself ---- */

static struct strag_builder *builder_of(int n, int rank, int rounds, int blocks)
{
    const struct strag_shape shape = {
        .algorithm = "test",
        .n = n,
        .rounds = rounds,
        .bounds = {.blocks = blocks, .denominator = blocks},
    };
    struct strag_builder *builder = strag_builder_create(&shape, rank);
    assert_non_null(builder);
    return builder;
}

static struct strag_plan *finished(struct strag_builder *builder)
{
    struct strag_error err = {""};
    struct strag_plan *plan = NULL;
    if (strag_builder_finish(builder, &plan, &err) != STRAG_OK)
        fail_msg("%s", err.text);
    return plan;
}

TEST(cyclic_ranges)
{
    struct strag_builder *builder = builder_of(3, 1, 1, 5);
    strag_cyclic(builder, STRAG_SEND, 0, 0, 1, 3); /* 1 2 3 */
    strag_cyclic(builder, STRAG_SEND, 0, 0, 3, 2); /* 3 4, up to the end */
    strag_cyclic(builder, STRAG_SEND, 0, 0, 3, 4); /* 3 4, 0 1 */
    strag_cyclic(builder, STRAG_SEND, 0, 0, 9, 2); /* 4, 0 */
    strag_cyclic(builder, STRAG_RECV, 0, 0, 5, 5); /* all */
    strag_cyclic(builder, STRAG_RECV, 0, 0, 2, 0); /* nothing */
    struct strag_plan *plan = finished(builder);
    static const struct golden golden[] = {
        {STRAG_SEND, 0, 0, 1, 3, true, NONE}, {STRAG_SEND, 0, 0, 3, 2, true, NONE},
        {STRAG_SEND, 0, 0, 3, 2, true, NONE}, {STRAG_SEND, 0, 0, 0, 2, true, NONE},
        {STRAG_SEND, 0, 0, 4, 1, true, NONE}, {STRAG_SEND, 0, 0, 0, 1, true, NONE},
    };
    assert_int_equal(plan->nops, 7);
    const struct strag_op *recv = &plan->ops[6];
    assert_int_equal(recv->first, 0);
    assert_int_equal(recv->count, 5);
    int waits;
    strag_plan_after(plan, 6, &waits);
    assert_int_equal(waits, 6);
    plan->nops = 6;
    assert_golden(plan, golden, 6);
    strag_plan_free(plan);
}

TEST(uneven_bounds_are_copied)
{
    int64_t *twelfths = malloc(3 * sizeof *twelfths);
    assert_non_null(twelfths);
    twelfths[0] = 0;
    twelfths[1] = 5;
    twelfths[2] = 12;
    const struct strag_shape shape = {
        .algorithm = "test",
        .n = 2,
        .rounds = 1,
        .bounds = {.blocks = 2, .denominator = 12, .numerator = twelfths},
    };
    struct strag_builder *builder = strag_builder_create(&shape, 0);
    assert_non_null(builder);
    strag_stage(builder, "one");
    strag_stage(builder, "two");
    strag_send(builder, 0, 1, 1, 1);
    strag_stage(builder, "one");
    strag_recv(builder, 0, 1, 0, 2);
    free(twelfths);
    struct strag_plan *plan = finished(builder);
    assert_int_equal(strag_block_start(&plan->bounds, 1, 120), 50);
    assert_int_equal(plan->nstages, 2);
    assert_string_equal(plan->stages[plan->ops[0].stage], "two");
    assert_string_equal(plan->stages[plan->ops[1].stage], "one");
    strag_plan_free(plan);
}

/* Copies of neighbouring blocks join; blocks that were never written are copied once only. */
TEST(copies_join)
{
    struct strag_builder *builder = builder_of(2, 0, 2, 5);
    strag_recv_reduce(builder, 0, 1, 0, 1);
    strag_send(builder, 0, 1, 0, 3);        /* copies 1 2 */
    strag_send(builder, 0, 1, 0, 4);        /* copies 3 too */
    strag_recv_reduce(builder, 1, 1, 2, 3); /* reads 4 as well, which is still in the input */
    struct strag_plan *plan = finished(builder);
    for (int op = 1; op < 4; op++)
        assert_false(plan->ops[op].from_input);
    check_plan(plan);
    for (int block = 0; block < 5; block++)
        assert_int_equal(is_copied(plan, block), block >= 1);
    assert_int_equal(plan->ncopies, 1);
    strag_plan_free(plan);
}

/* ---- Refusals ---- */

/* The builder refuses, says why, and leaves the result alone. */
static void assert_refused(struct strag_builder *builder, const char *why)
{
    struct strag_error err = {""};
    struct strag_plan *plan = NULL;
    assert_int_equal(strag_builder_finish(builder, &plan, &err), STRAG_ERR_ARGUMENT);
    assert_null(plan);
    if (!strstr(err.text, why))
        fail_msg("'%s' does not say '%s'", err.text, why);
}

TEST(wrong_ranges_are_refused)
{
    static const struct strag_range ranges[] = {
        {-1, 1},        {0, -1},        {0, 6},         {4, 2},         {5, 1},
        {INT32_MAX, 1}, {1, INT32_MAX}, {INT32_MIN, 1}, {3, INT32_MIN},
    };
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        struct strag_builder *builder = builder_of(3, 0, 1, 5);
        strag_send(builder, 0, 1, ranges[i].first, ranges[i].count);
        assert_refused(builder, "a range outside the vector");
    }
}

TEST(wrong_peers_are_refused)
{
    static const int peers[] = {-1, 3, 2, INT32_MAX, INT32_MIN};
    for (size_t i = 0; i < sizeof peers / sizeof *peers; i++) {
        struct strag_builder *builder = builder_of(3, 2, 1, 5);
        strag_recv(builder, 0, peers[i], 0, 5);
        assert_refused(builder, "a peer that is no other rank");
    }
}

TEST(wrong_rounds_are_refused)
{
    static const int rounds[][2] = {{1, 0}, {0, 4}, {-1, 0}, {3, INT32_MIN}};
    for (size_t i = 0; i < sizeof rounds / sizeof *rounds; i++) {
        struct strag_builder *builder = builder_of(3, 0, 4, 5);
        strag_send(builder, rounds[i][0], 1, 0, 1);
        strag_recv_reduce(builder, rounds[i][1], 1, 0, 1);
        assert_refused(builder, "a round out of order");
    }
}

TEST(too_many_stages_are_refused)
{
    static const char *const names[] = {"1", "2", "3", "4", "5", "6", "7", "8", "9"};
    struct strag_builder *builder = builder_of(3, 0, 4, 5);
    for (int i = 0; i < STRAG_STAGES_MAX + 1; i++)
        strag_stage(builder, names[i]);
    assert_refused(builder, "too many stages");
}

/* The first error is the one that is reported, with the rank and the operation. */
TEST(the_first_error_is_reported)
{
    struct strag_builder *builder = builder_of(3, 2, 4, 5);
    strag_send(builder, 0, 1, 0, 1);
    strag_send(builder, 0, 2, 0, 1);
    strag_send(builder, 0, 1, 0, 9);
    struct strag_error err = {""};
    struct strag_plan *plan = NULL;
    assert_int_equal(strag_builder_finish(builder, &plan, &err), STRAG_ERR_ARGUMENT);
    assert_string_equal(err.text,
                        "test has a bug: rank 2 of 3, operation 1: a peer that is no other rank");
    builder = builder_of(3, 2, 4, 5);
    strag_send(builder, 0, 2, 0, 1);
    assert_int_equal(strag_builder_finish(builder, &plan, NULL), STRAG_ERR_ARGUMENT);
    assert_null(plan);
}

/* ---- Algorithms by name, and problems they refuse ---- */

TEST(algorithms_are_found)
{
    struct strag_error err = {""};
    char names[STRAG_NAMES_MAX];
    strag_algorithm_names(names, sizeof names);
    for (int i = 0; strag_algorithms[i]; i++) {
        assert_ptr_equal(strag_algorithm_find(strag_algorithms[i]->name, &err),
                         strag_algorithms[i]);
        assert_non_null(strstr(names, strag_algorithms[i]->name));
    }
    assert_null(strag_algorithm_find("rings", &err));
    assert_non_null(strstr(err.text, "'rings'"));
    assert_non_null(strstr(err.text, names));
    assert_null(strag_algorithm_find("", NULL));

    char small[8];
    assert_ptr_equal(strag_algorithm_names(small, sizeof small), small);
    assert_int_equal(strlen(small), sizeof small - 1);
}

TEST(impossible_problems_are_refused)
{
    for (int i = 0; strag_algorithms[i]; i++) {
        const struct strag_algorithm *algorithm = strag_algorithms[i];
        struct strag_claim claim;
        struct strag_plan *plan = NULL;
        struct strag_error err = {""};
        struct strag_problem problem = {.n = 0};
        assert_int_equal(strag_algorithm_claim(algorithm, &problem, &claim, &err),
                         STRAG_ERR_ARGUMENT);
        assert_non_null(strstr(err.text, "at least 1"));
        problem.n = INT32_MIN;
        assert_int_equal(strag_plan_create(algorithm, &problem, 0, &plan, &err),
                         STRAG_ERR_ARGUMENT);
        problem = support_problem(algorithm, 6);
        const struct strag_slow nobody = {6, 2};
        struct strag_state slowed = problem.state ? *problem.state : (struct strag_state){0};
        slowed.nslow = 1;
        slowed.slow = &nobody;
        problem.state = &slowed;
        assert_int_equal(strag_algorithm_claim(algorithm, &problem, &claim, &err),
                         STRAG_ERR_ARGUMENT);
        assert_string_equal(err.text, "slow rank 6; with 6 ranks it is 0 to 5");
        problem = support_problem(algorithm, 6);
        problem.blocks = INT32_MAX;
        assert_int_equal(strag_plan_create(algorithm, &problem, 0, &plan, &err),
                         STRAG_ERR_UNSUPPORTED);
        assert_non_null(strstr(err.text, algorithm->name));
        problem.blocks = 0;
        assert_int_equal(strag_plan_create(algorithm, &problem, 6, &plan, &err),
                         STRAG_ERR_ARGUMENT);
        assert_non_null(strstr(err.text, "0 to 5"));
        assert_int_equal(strag_plan_create(algorithm, &problem, -1, &plan, NULL),
                         STRAG_ERR_ARGUMENT);
        assert_null(plan);
        assert_int_equal(strag_algorithm_claim(algorithm, &problem, &claim, NULL), STRAG_OK);
        problem.blocks = claim.blocks; /* what it would choose may be asked for */
        assert_int_equal(strag_plan_create(algorithm, &problem, 0, &plan, &err), STRAG_OK);
        strag_plan_free(plan);
    }
}

/* Nothing to send, but the value has to get from the input to the output. */
TEST(one_rank_copies)
{
    for (int i = 0; strag_algorithms[i]; i++) {
        struct strag_plan **plans = support_plans(strag_algorithms[i], 1);
        assert_int_equal(plans[0]->nops, 0);
        assert_int_equal(plans[0]->rounds, 0);
        assert_int_equal(plans[0]->bounds.blocks, 1);
        assert_true(is_copied(plans[0], 0));
        support_plans_free(plans, 1);
    }
    strag_plan_free(NULL);
}

TEST(words)
{
    assert_string_equal(strag_kind_name(STRAG_SEND), "send");
    assert_string_equal(strag_kind_name(STRAG_RECV), "recv");
    assert_string_equal(strag_kind_name(STRAG_RECV_REDUCE), "recv_reduce");
    for (int status = STRAG_ERR_IO - 1; status <= STRAG_PENDING + 1; status++)
        assert_true(strlen(strag_status_text(status)) > 3);

    struct strag_error err;
    char text[2000];
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    assert_int_equal(strag_fail(&err, STRAG_ERR_IO, "%s", text), STRAG_ERR_IO);
    assert_int_equal(strlen(err.text), sizeof err.text - 1);
    assert_int_equal(strag_fail(NULL, STRAG_ERR_MEMORY, "%s", text), STRAG_ERR_MEMORY);
}
