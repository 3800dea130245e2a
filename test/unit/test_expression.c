/* SPDX-License-Identifier: BSD-3-Clause */
/* Expressions and their sets of ranks, against plain bit sets. */
#include "plan/expression.h"

#include "support.h"

enum { RANKS_MAX = 5000, WORDS = RANKS_MAX / 64 + 1 };

/* What the test knows of an expression. */
struct known {
    int32_t expression, left, right; /* operands: indices into the list, -1 for an input */
    uint64_t set[WORDS];
    int ranks;
};

static struct strag_effort any;

static struct strag_expression_table *table_of(int n)
{
    any = strag_effort_any;
    struct strag_expression_table *table = strag_expressions_create(n, &any);
    assert_non_null(table);
    assert_int_equal(strag_expression_count(table), n);
    return table;
}

TEST(inputs_are_their_ranks)
{
    static const int sizes[] = {1, 2, 63, 64, 65, 127, 128, 129, 4095, 4096, 4097, RANKS_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        int n = sizes[i];
        struct strag_expression_table *table = table_of(n);
        for (int rank = 0; rank < n; rank++) {
            assert_int_equal(strag_expression_ranks(table, rank), 1);
            assert_int_equal(strag_expression_common(table, rank, rank), rank);
            if (rank)
                assert_int_equal(strag_expression_common(table, rank, rank - 1), -1);
        }
        strag_expressions_free(table);
    }
    strag_expressions_free(NULL);
}

TEST(equal_pairs_are_one_number)
{
    struct strag_expression_table *table = table_of(4);
    int32_t p01 = strag_expression_pair(table, 0, 1);
    int32_t p10 = strag_expression_pair(table, 1, 0);
    int32_t p23 = strag_expression_pair(table, 2, 3);
    assert_int_equal(p01, 4);
    assert_int_equal(p10, 5);
    assert_int_equal(p23, 6);
    assert_int_equal(strag_expression_pair(table, 0, 1), p01);
    assert_int_equal(strag_expression_pair(table, 2, 3), p23);
    int32_t all = strag_expression_pair(table, p01, p23);
    assert_int_not_equal(strag_expression_pair(table, p10, p23), all);
    assert_int_not_equal(strag_expression_pair(table, p23, p01), all);
    assert_int_equal(strag_expression_pair(table, p01, p23), all);
    assert_int_equal(strag_expression_count(table), 4 + 6);
    assert_int_equal(strag_expression_ranks(table, all), 4);
    int32_t left, right;
    strag_expression_operands(table, all, &left, &right);
    assert_int_equal(left, p01);
    assert_int_equal(right, p23);
    strag_expressions_free(table);
}

TEST(nobody_comes_twice)
{
    struct strag_expression_table *table = table_of(200);
    int32_t low = strag_expression_pair(table, 3, 130);
    int32_t high = strag_expression_pair(table, 130, 199);
    assert_int_equal(strag_expression_pair(table, 7, 7), STRAG_EXPRESSION_TWICE);
    assert_int_equal(strag_expression_pair(table, low, high), STRAG_EXPRESSION_TWICE);
    assert_int_equal(strag_expression_pair(table, low, high), STRAG_EXPRESSION_TWICE);
    assert_int_equal(strag_expression_pair(table, 130, low), STRAG_EXPRESSION_TWICE);
    assert_int_equal(strag_expression_common(table, low, high), 130);
    assert_int_equal(strag_expression_common(table, low, 199), -1);
    int32_t other = strag_expression_pair(table, low, 199);
    assert_true(other >= 200);
    assert_int_equal(strag_expression_common(table, other, high), 130); /* 199 too; the lowest */
    assert_int_equal(strag_expression_ranks(table, other), 3);
    strag_expressions_free(table);
}

/* ---- Random expressions ---- */

static int lowest_common(const struct known *a, const struct known *b)
{
    for (int word = 0; word < WORDS; word++) {
        uint64_t both = a->set[word] & b->set[word];
        if (both)
            return 64 * word + __builtin_ctzll(both);
    }
    return -1;
}

static int same_pair(const struct known *list, int length, int left, int right)
{
    for (int i = 0; i < length; i++) {
        if (list[i].left == left && list[i].right == right)
            return i;
    }
    return -1;
}

/* Pair two of the list; add the result if it is new. @return the list's new length */
static int pair_two(struct strag_expression_table *table, struct known *list, int length, int left,
                    int right)
{
    const struct known *l = &list[left], *r = &list[right];
    int common = lowest_common(l, r);
    int32_t result = strag_expression_pair(table, l->expression, r->expression);
    assert_int_equal(strag_expression_common(table, l->expression, r->expression), common);
    if (common >= 0) {
        assert_int_equal(result, STRAG_EXPRESSION_TWICE);
        return length;
    }
    int before = same_pair(list, length, left, right);
    if (before >= 0) {
        assert_int_equal(result, list[before].expression);
        return length;
    }
    assert_int_equal(result, strag_expression_count(table) - 1);
    struct known *pair = &list[length];
    *pair = (struct known){.expression = result, .left = left, .right = right};
    for (int word = 0; word < WORDS; word++)
        pair->set[word] = l->set[word] | r->set[word];
    pair->ranks = l->ranks + r->ranks;
    return length + 1;
}

static void random_sets(struct rng *rng, int n)
{
    enum { INPUTS = 300, LIST_MAX = 900 };
    struct strag_expression_table *table = table_of(n);
    struct known *list = calloc(LIST_MAX, sizeof *list);
    assert_non_null(list);
    int inputs = n < INPUTS ? n : INPUTS, length = 0;
    for (; length < inputs; length++) {
        /* Distinct ranks, spread over all of them. */
        int rank = (int)((int64_t)length * n / inputs);
        list[length] = (struct known){rank, -1, -1, {0}, 1};
        list[length].set[rank / 64] = UINT64_C(1) << rank % 64;
    }
    for (int i = 0; i < 3 * LIST_MAX && length < LIST_MAX; i++) {
        /* Mostly one of the last, so that sets grow. */
        unsigned recent = rng_below(rng, 2) ? 8 : (unsigned)length;
        int left =
            length - 1 - (int)rng_below(rng, recent < (unsigned)length ? recent : (unsigned)length);
        length = pair_two(table, list, length, left, (int)rng_below(rng, (unsigned)length));
    }
    for (int i = 0; i < length; i++) {
        assert_int_equal(strag_expression_ranks(table, list[i].expression), list[i].ranks);
        if (list[i].left < 0)
            continue;
        int32_t left, right;
        strag_expression_operands(table, list[i].expression, &left, &right);
        assert_int_equal(left, list[list[i].left].expression);
        assert_int_equal(right, list[list[i].right].expression);
    }
    free(list);
    strag_expressions_free(table);
}

TEST(random_sets_are_exact)
{
    struct rng rng = {support_seed("test_expression")};
    static const int sizes[] = {2, 17, 64, 65, 300, 1000, 4097, RANKS_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        random_sets(&rng, sizes[i]);
}

/* Sums as a ring makes them: n * (n - 1) pairs whose sets wind around the end. */
TEST(sums_around_a_ring)
{
    const int n = 700;
    struct strag_expression_table *table = table_of(n);
    for (int first = 0; first < n; first++) {
        int32_t sum = first;
        for (int i = 1; i < n; i++) {
            sum = strag_expression_pair(table, sum, (first + i) % n);
            assert_true(sum >= n);
        }
        assert_int_equal(strag_expression_ranks(table, sum), n);
        assert_int_equal(strag_expression_pair(table, sum, first), STRAG_EXPRESSION_TWICE);
    }
    assert_int_equal(strag_expression_count(table), n + n * (n - 1) + n);
    strag_expressions_free(table);
}

/* One long sum of all ranks, then each of them once more. */
TEST(sum_of_5000)
{
    struct strag_expression_table *table = table_of(RANKS_MAX);
    int32_t sum = 0;
    for (int rank = 1; rank < RANKS_MAX; rank++) {
        sum = strag_expression_pair(table, rank, sum);
        assert_int_equal(strag_expression_ranks(table, sum), rank + 1);
        assert_int_equal(strag_expression_common(table, sum, rank), rank);
    }
    for (int rank = 0; rank < RANKS_MAX; rank++)
        assert_int_equal(strag_expression_pair(table, sum, rank), STRAG_EXPRESSION_TWICE);
    strag_expressions_free(table);
}

/* ---- Turned expressions, against the others ---- */

static int32_t turn_plain(struct strag_expression_table *table, int n, int32_t expression, int by)
{
    int32_t left, right;
    if (expression < n)
        return (expression + by) % n;
    strag_expression_operands(table, expression, &left, &right);
    left = turn_plain(table, n, left, by);
    return strag_expression_pair(table, left, turn_plain(table, n, right, by));
}

/* The same expression in both tables. */
struct both {
    int32_t plain, turned;
};

static void turned_like_plain(struct rng *rng, int n)
{
    enum { LENGTH = 400 };
    struct strag_effort left = strag_effort_any;
    struct strag_expression_table *plain = table_of(n);
    struct strag_expression_table *turned = strag_expressions_create_turned(n, &left);
    static struct both list[LENGTH];
    int length = 1;
    assert_non_null(turned);
    list[0] = (struct both){0, 0};
    for (int tries = 0; length < LENGTH && tries < 20 * LENGTH; tries++) {
        const struct both *one = &list[rng_below(rng, (unsigned)length)];
        const struct both *other = &list[rng_below(rng, (unsigned)length)];
        struct both made;
        if (rng_below(rng, 2)) {
            const int by = (int)rng_below(rng, (unsigned)n);
            made.plain = turn_plain(plain, n, one->plain, by);
            made.turned = strag_expression_turn(turned, one->turned, by);
        } else {
            assert_int_equal(strag_expression_common(turned, one->turned, other->turned),
                             strag_expression_common(plain, one->plain, other->plain));
            made.plain = strag_expression_pair(plain, one->plain, other->plain);
            made.turned = strag_expression_pair(turned, one->turned, other->turned);
        }
        assert_int_equal(made.turned < 0 ? made.turned : 0, made.plain < 0 ? made.plain : 0);
        if (made.plain < 0)
            continue;
        assert_int_equal(strag_expression_ranks(turned, made.turned),
                         strag_expression_ranks(plain, made.plain));
        for (int i = 0; i < length; i++)
            assert_int_equal(list[i].turned == made.turned, list[i].plain == made.plain);
        list[length++] = made;
    }
    assert_true(length > 2 * n || length > 100);
    strag_expressions_free(plain);
    strag_expressions_free(turned);
}

TEST(turned_expressions_are_the_same)
{
    struct rng rng = {support_seed("test_expression")};
    static const int sizes[] = {3, 4, 5, 63, 64, 65, 127, 128, 129, 1000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        turned_like_plain(&rng, sizes[i]);
}

/* A limit is kept, and is no wrong sum. */
TEST(no_more_than_is_left)
{
    for (int turned = 0; turned < 2; turned++) {
        struct strag_effort left = {200000, 1 << 20};
        struct strag_expression_table *table = turned ? strag_expressions_create_turned(1000, &left)
                                                      : strag_expressions_create(1000, &left);
        assert_non_null(table);
        int32_t sum = 0;
        for (int i = 1; i < 1000 && sum >= 0; i++) {
            const int32_t input = turned ? strag_expression_turn(table, 0, i) : i;
            sum = input < 0 ? input : strag_expression_pair(table, sum, input);
        }
        assert_true(sum >= 0 && strag_effort_is_left(&left));
        left.steps = 3;
        assert_int_equal(strag_expression_pair(table, sum, sum), STRAG_EXPRESSION_MEMORY);
        assert_false(strag_effort_is_left(&left));
        strag_expressions_free(table);
    }
    struct strag_effort none = {0, 0};
    assert_null(strag_expressions_create(1000, &none));
    none = (struct strag_effort){0, 0};
    assert_null(strag_expressions_create_turned(1000, &none));
}
