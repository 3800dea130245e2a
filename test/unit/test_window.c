/* SPDX-License-Identifier: BSD-3-Clause */
/* Windows of calls: what merges of samples give, in any order, and which calls belong to one. */
#include "detect/window.h"

#include "support.h"

#include <math.h>

enum { RANKS_MOST = 40 };

/* ---- Samples ---- */

static struct strag_call_sample sample_of(const double *stay, const double *wait, int first,
                                          int end)
{
    struct strag_call_sample sample = strag_call_sample_none();
    for (int r = first; r < end; r++)
        strag_call_sample_add(&sample, r, stay[r], wait[r]);
    return sample;
}

static void assert_same(const struct strag_call_sample *a, const struct strag_call_sample *b)
{
    for (int i = 0; i < STRAG_SHORTEST; i++) {
        assert_int_equal(a->stay[i].rank, b->stay[i].rank);
        assert_int_equal(a->wait[i].rank, b->wait[i].rank);
        assert_true(a->stay[i].seconds == b->stay[i].seconds);
        assert_true(a->wait[i].seconds == b->wait[i].seconds);
    }
    assert_true(a->longest == b->longest);
    assert_true(fabs((double)(a->sum - b->sum)) <= 1e-4 * (double)b->sum);
}

/* The picture in window.h. */
TEST(example)
{
    const double stay[] = {28, 25, 16, 27}, wait[] = {12, 9, 0.5, 11}, none[] = {-1, -1, -1, -1};
    struct strag_call_sample sample = sample_of(stay, none, 0, 4);
    assert_int_equal(sample.stay[0].rank, 2);
    assert_int_equal(sample.stay[3].rank, 0);
    assert_true(strag_call_sample_seconds(&sample, 4) == 28 - 9);
    sample = sample_of(stay, wait, 0, 4);
    assert_int_equal(sample.wait[0].rank, 2);
    assert_true(strag_call_sample_order(&sample) == sample.wait);
}

/* One rank that has not measured its wait makes the call's unknown, wherever it is in the tree. */
TEST(not_measured)
{
    const double stay[] = {5, 6, 7, 8};
    for (int without = 0; without < 4; without++) {
        double wait[] = {1, 2, 3, 4};
        wait[without] = -1;
        struct strag_call_sample sample = sample_of(stay, wait, 2, 4);
        const struct strag_call_sample other = sample_of(stay, wait, 0, 2);
        strag_call_sample_merge(&sample, &other);
        assert_true(strag_call_sample_order(&sample) == sample.stay);
    }
}

/* A rank that came long before the others does not make the call longer than twice the mean. */
TEST(early)
{
    const double stay[] = {100, 10, 10, 10, 10, 10, 10, 10}, none[8] = {-1};
    const struct strag_call_sample sample = sample_of(stay, none, 0, 8);
    assert_true(strag_call_sample_seconds(&sample, 8) == 2 * 170 / 8.0);
}

/* Ranks in any order and any grouping. */
TEST(any_order)
{
    struct rng rng = {support_seed("any_order")};
    for (long round = support_cases(300); round > 0; round--) {
        double stay[RANKS_MOST], wait[RANKS_MOST];
        const int n = 1 + (int)rng_below(&rng, RANKS_MOST);
        for (int r = 0; r < n; r++) {
            stay[r] = 1 + rng_below(&rng, 8); /* equal ones, too */
            wait[r] = rng_one_in(&rng, 50) ? -1.0 : rng_below(&rng, 8);
        }
        const struct strag_call_sample all = sample_of(stay, wait, 0, n);
        struct strag_call_sample merged = strag_call_sample_none();
        const int cut = (int)rng_below(&rng, (unsigned)n + 1);
        struct strag_call_sample part = sample_of(stay, wait, cut, n);
        strag_call_sample_merge(&merged, &part);
        for (int r = cut - 1; r >= 0; r--) {
            part = sample_of(stay, wait, r, r + 1);
            strag_call_sample_merge(&merged, &part);
        }
        assert_same(&merged, &all);
        int last = 0;
        for (int r = 1; r < n; r++)
            last = stay[r] < stay[last] ? r : last;
        assert_int_equal(all.stay[0].rank, last);
        for (int i = 1; i < STRAG_SHORTEST && i < n; i++)
            assert_true(all.stay[i].seconds >= all.stay[i - 1].seconds);
    }
}

/* ---- Which calls ---- */

TEST(pause_and_calls)
{
    struct strag_window window;
    const struct strag_window_order order = {.pause = 3, .calls = 2};
    strag_window_start(&window, &order);
    for (int c = 0; c < 3; c++) {
        assert_false(strag_window_has(&window, 1024, 1));
        assert_int_equal(strag_window_end(&window, 0, false, -1, -1), STRAG_WINDOW_NOTHING);
    }
    assert_true(strag_window_has(&window, 1024, 1));
    assert_int_equal(strag_window_end(&window, 0, true, 5, -1), STRAG_WINDOW_NOTHING);
    assert_true(strag_window_has(&window, 77, 2));
    assert_int_equal(strag_window_end(&window, 0, true, 4, -1), STRAG_WINDOW_SEND);
    assert_int_equal(window.filled, 2);
    assert_true(window.sample[1].stay[0].seconds == 4);
    assert_false(strag_window_has(&window, 1024, 1));
    assert_int_equal(strag_window_end(&window, 0, false, -1, -1), STRAG_WINDOW_DECIDE);
}

/* Of an experiment, other sizes and operations do not count, and end it when they alone come. */
TEST(experiment)
{
    struct strag_window window;
    const struct strag_window_order order = {
        .calls = 4, .bytes = 1024, .operation = 7, .rival_runs = 6};
    static const bool rival[] = {false, true, true, false};
    strag_window_start(&window, &order);
    for (int c = 0; c < 4; c++) {
        assert_false(strag_window_has(&window, 2048, 7));
        assert_false(strag_window_has(&window, 1024, 8));
        assert_false(strag_window_runs_rival(&window, 2048, 7));
        assert_int_equal(strag_window_end(&window, 0, false, -1, -1), STRAG_WINDOW_NOTHING);
        assert_int_equal(strag_window_runs_rival(&window, 1024, 7), rival[c]);
        assert_true(strag_window_has(&window, 1024, 7));
        assert_int_equal(strag_window_end(&window, 0, true, 1, -1),
                         c < 3 ? STRAG_WINDOW_NOTHING : STRAG_WINDOW_SEND);
    }
    assert_false(strag_window_runs_rival(&window, 1024, 7));
    strag_window_start(&window, &order);
    int others = 0;
    while (strag_window_end(&window, 0, false, -1, -1) == STRAG_WINDOW_NOTHING)
        others++;
    assert_int_equal(others, 63);
    assert_int_equal(window.filled, 0);
}
