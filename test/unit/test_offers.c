/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What trials choose from: a quick selection, completed, has the candidates of one that is not
 * quick, with the same times; and what latencies that overlap may spare.
 */
#include "watch/offers.h"

#include "support.h"

#include <math.h>
#include <time.h>

static struct strag_selection *select_for(const struct strag_problem *problem,
                                          const struct strag_model *model, bool quick)
{
    const struct strag_select_options options = {.quick = quick, .short_plans = true};
    struct strag_selection *selection;
    assert_int_equal(strag_select(problem, model, &options, &selection, NULL), STRAG_OK);
    return selection;
}

static const struct strag_candidate *find(const struct strag_selection *selection, const char *name,
                                          int blocks)
{
    const struct strag_algorithm *algorithm = strag_algorithm_find(name, NULL);
    for (int c = 0; c < selection->candidates; c++) {
        const struct strag_candidate *candidate = &selection->candidate[c];
        if (candidate->algorithm == algorithm && candidate->blocks == blocks && candidate->profile)
            return candidate;
    }
    return NULL;
}

static const struct strag_model shaped = {.alpha = 2e-3,
                                          .overhead = 0.4e-3,
                                          .bandwidth = 11.9e6,
                                          .local_alpha = 1e-6,
                                          .local_bandwidth = 1e10};

/* Every algorithm that all of a selection has, at the same price. */
static void completed(void **state)
{
    (void)state;
    for (int n = 2; n <= 256; n = n < 12 ? n + 1 : 4 * n) {
        const struct strag_problem problem = {.n = n};
        struct strag_selection *quick = select_for(&problem, &shaped, true);
        struct strag_selection *all = select_for(&problem, &shaped, false);
        const struct strag_table table = quick->table;
        const clock_t begin = clock();
        assert_int_equal(strag_offers_complete(quick, &problem, &shaped), STRAG_OK);
        print_message("%d ranks: %d candidates, %g ms more\n", n, quick->candidates,
                      1e3 * (double)(clock() - begin) / CLOCKS_PER_SEC);
        assert_memory_equal(&table, &quick->table, sizeof table);
        for (int c = 0; c < all->candidates; c++) {
            const struct strag_candidate *wanted = &all->candidate[c];
            const struct strag_candidate *found =
                find(quick, wanted->algorithm->name, wanted->blocks);
            bool any = false;
            for (int q = 0; q < quick->candidates; q++)
                any = any || quick->candidate[q].algorithm == wanted->algorithm;
            assert_true(any ||
                        (wanted->algorithm->takes_long && wanted->algorithm->takes_long(&problem)));
            for (double bytes = 1024; found && wanted->profile && bytes < 1e9; bytes *= 8)
                assert_true(fabs(strag_profile_seconds(found->profile, bytes) /
                                     strag_profile_seconds(wanted->profile, bytes) -
                                 1) < 0.02);
        }
        const int candidates = quick->candidates;
        assert_int_equal(strag_offers_complete(quick, &problem, &shaped), STRAG_OK);
        assert_int_equal(quick->candidates, candidates);
        strag_selection_free(quick);
        strag_selection_free(all);
    }
    const struct strag_problem many = {.n = 1000};
    struct strag_selection *quick = select_for(&many, &shaped, true);
    const int candidates = quick->candidates;
    assert_int_equal(strag_offers_complete(quick, &many, &shaped), STRAG_OK);
    assert_int_equal(quick->candidates, candidates);
    strag_selection_free(quick);
}

/* Eight hosts: direct's 14 messages are two in a row, ring's 14. */
static void spare(void **state)
{
    (void)state;
    const struct strag_problem problem = {.n = 8};
    struct strag_selection *selection = select_for(&problem, &shaped, true);
    assert_null(find(selection, "direct", 8));
    assert_int_equal(strag_offers_complete(selection, &problem, &shaped), STRAG_OK);
    const struct strag_profile *direct = find(selection, "direct", 8)->profile;
    /* 12 of 14 rounds with two overheads each, at most alpha. */
    assert_true(fabs(direct->posting - 12 * 2 * shaped.overhead) < 1e-9);
    assert_true(find(selection, "ring", 0)->profile->posting == 0);

    struct strag_offer offers[128];
    const struct strag_entry ring = {0, strag_algorithm_find("ring", NULL), 0};
    const int count = strag_offers_make(selection, &ring, 16384, true, offers);
    assert_true(count <= selection->candidates + 2);
    assert_ptr_equal(offers[0].algorithm, ring.algorithm);
    double stock = INFINITY;
    for (int i = 0; i < count; i++) {
        if (offers[i].algorithm && offers[i].algorithm->stock)
            stock = fmin(stock, offers[i].seconds);
    }
    const double ring_seconds = offers[0].seconds;
    for (int i = 0; i < count; i++) {
        if (offers[i].algorithm == strag_algorithm_find("direct", NULL) && offers[i].blocks == 8)
            assert_true(fabs(ring_seconds - offers[i].seconds - 12 * (2e-3 - 2 * 0.4e-3)) < 1e-9 &&
                        fabs(offers[i].spare - 12 * 2 * 0.4e-3) < 1e-9);
    }
    assert_null(offers[count - 1].algorithm);
    assert_true(offers[count - 1].seconds == stock);
    assert_int_equal(strag_offers_make(selection, &ring, 16384, false, offers), count);
    for (int i = 0; i < count; i++) {
        if (offers[i].algorithm == strag_algorithm_find("direct", NULL) && offers[i].blocks == 8)
            assert_true(offers[i].seconds < ring_seconds && offers[i].spare == 0);
    }
    strag_selection_free(selection);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(completed),
        cmocka_unit_test(spare),
    };
    return cmocka_run_group_tests_name("offers", tests, NULL, NULL);
}
