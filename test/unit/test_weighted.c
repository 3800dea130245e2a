/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Weighted: proved for slow hosts anywhere and for any rates; shares as the formula says; modelled
 * times and theorem 2.
 *
 * STRAG_CASES: how many random machines.
 */
#include "machines.h"
#include "plan/verify.h"
#include "slow_links.h"

#include <math.h>

static const double factors[] = {1.14, 1.33, 1.5, 2, 3, 4};
enum { FACTORS = sizeof factors / sizeof *factors };

static const struct strag_algorithm *weighted(void)
{
    return support_algorithm("weighted");
}

/* ---- The proof ---- */

TEST(slow_hosts)
{
    struct rng rng = {support_seed("slow hosts")};
    for (long cases = support_cases(40); cases > 0; cases--) {
        struct slow_links links;
        int hosts = 2 + (int)rng_below(&rng, 23), g = 1 << rng_below(&rng, 3);
        g = hosts > 12 ? 1 : g;
        int slow = (int)rng_below(&rng, (unsigned)(hosts < 6 ? hosts : 6));
        slow_links_make(&links, hosts, g);
        for (int s = 0; s < slow; s++)
            slow_links_add(&links, (int)rng_below(&rng, (unsigned)links.n),
                           factors[rng_below(&rng, FACTORS)]);
        slow_links_prove(&links, weighted(), slow == 0);
        slow_links_free(&links);
    }
}

/* Every rank with a rate of its own. */
TEST(any_rates)
{
    struct rng rng = {support_seed("any rates")};
    for (long cases = support_cases(40); cases > 0; cases--) {
        struct slow_links links;
        int n = 2 + (int)rng_below(&rng, 14);
        slow_links_make(&links, n, 1);
        for (int r = 0; r < n; r++)
            slow_links_add(&links, r, 1 + rng_below(&rng, 400) / 100.0);
        slow_links_prove(&links, weighted(), false);
        slow_links_free(&links);
    }
}

/* Hosts of different sizes and uplinks: then every rank has its part of a link. */
TEST(uneven_hosts)
{
    static const char *const trees[] = {"(2,3,4)", "(2@50,2,2,2@25)", "((1,1@10),(1@40,1),1)",
                                        "(5,1,1,1)", "(3@40,3@100,3@100)"};
    for (size_t t = 0; t < sizeof trees / sizeof *trees; t++) {
        struct strag_topology *topology = machine_tree(trees[t]);
        const struct strag_problem problem = {.n = topology->n, .topology = topology};
        struct strag_error err = {""};
        struct strag_measure measure;
        if (strag_verify(weighted(), &problem, &measure, NULL, &err) != STRAG_OK)
            fail_msg("%s: %s", trees[t], err.text);
        strag_topology_free(topology);
    }
}

TEST(the_executor_agrees)
{
    struct rng rng = {support_seed("the executor agrees")};
    slow_links_run_some(weighted(), 5, &rng);
}

/* ---- Shares ---- */

/* Parts of the vector that ranks own, by the blocks that they send in the allgather and nobody sent
 * them before: each rank's share is where its sums are. */
static void assert_shares(const struct slow_links *links, const double *expected)
{
    struct strag_error err = {""};
    struct strag_measure measure;
    struct strag_instance instance;
    assert_int_equal(strag_verify(weighted(), &links->problem, &measure, NULL, &err), STRAG_OK);
    assert_int_equal(strag_instance_open(&instance, weighted(), &links->problem, &err), STRAG_OK);
    const struct strag_bounds *bounds = &instance.shape.bounds;
    for (int rank = 0; rank < links->n; rank++) {
        struct strag_plan *plan = NULL;
        double own = 0;
        assert_int_equal(strag_instance_plan(&instance, rank, &plan, &err), STRAG_OK);
        bool *given = calloc((size_t)bounds->blocks, sizeof *given);
        assert_non_null(given);
        for (int i = 0; i < plan->nops; i++) {
            const struct strag_op *op = &plan->ops[i];
            for (int b = op->first; op->kind == STRAG_RECV && b < op->first + op->count; b++)
                given[b] = true;
        }
        for (int b = 0; b < bounds->blocks; b++)
            own += given[b] ? 0
                            : (double)(bounds->numerator[b + 1] - bounds->numerator[b]) /
                                  (double)bounds->denominator;
        if (fabs(own - expected[rank]) > 1e-4)
            fail_msg("rank %d owns %g, not %g", rank, own, expected[rank]);
        free(given);
        strag_plan_free(plan);
    }
    strag_instance_close(&instance);
}

TEST(shares)
{
    struct slow_links links;
    /* T = 2 * 4 / 4.8 = 5/3: (5/3 - 1) / 3 and (5/3 * 0.8 - 1) / 3. */
    slow_links_make(&links, 5, 1);
    slow_links_add(&links, 2, 1.25);
    assert_shares(&links, (const double[]){2.0 / 9, 2.0 / 9, 1.0 / 9, 2.0 / 9, 2.0 / 9});
    slow_links_free(&links);
    /* The example in weighted.c: the slow one owns nothing. */
    slow_links_make(&links, 5, 1);
    slow_links_add(&links, 4, 2);
    assert_shares(&links, (const double[]){0.25, 0.25, 0.25, 0.25, 0});
    slow_links_free(&links);
    /* T = 4: fast ones (4 - 1), the middle one (4 / 2 - 1), cut down to 1 in all. */
    slow_links_make(&links, 4, 1);
    slow_links_add(&links, 0, 4);
    slow_links_add(&links, 3, 2);
    assert_shares(&links, (const double[]){0, 3.0 / 7, 3.0 / 7, 1.0 / 7});
    slow_links_free(&links);
}

/* ---- Times ---- */

static void use_many_segments(struct slow_links *links)
{
    int blocks[STRAG_CHOICES_MAX];
    int choices = strag_algorithm_choices(weighted(), &links->problem, blocks);
    assert_in_range(choices, 1, STRAG_CHOICES_MAX);
    links->problem.blocks = blocks[0] / 2 * 256;
}

static void assert_near_bound(const struct slow_links *links, double bound, double most)
{
    double time = slow_links_time(links, weighted(), false);
    if (!(time <= most * bound && time >= bound * (1 - 1e-4)))
        fail_msg("n=%d, %d slow, the first %g times: %.6g, %.4f of the bound %.6g", links->n,
                 links->state.nslow, links->slow[0].factor, time, time / bound, bound);
}

TEST(in_time)
{
    static const int all_hosts[] = {4, 5, 8, 11, 16, 24, 32, 64, 128, 256};
    int sizes = support_cases(1) > 1 ? 10 : 8;
    for (int i = 0; i < sizes; i++) {
        for (int f = 0; f < FACTORS * 3; f++) {
            struct slow_links links;
            double list[3] = {factors[f / 3], factors[(f + 2) % FACTORS], 1.5};
            int hosts = all_hosts[i], slow = 1 + f % 3, g = hosts % 8 || f % 2 ? 1 : 4;
            slow_links_make(&links, hosts, g);
            for (int s = 0; s < slow; s++)
                slow_links_add(&links, (hosts / 4 * (s + 1) - 1) * g, list[s]);
            use_many_segments(&links);
            assert_near_bound(&links, bound_several_slow(hosts, list, slow), 1.05);
            slow_links_free(&links);
        }
    }
}

TEST(any_rates_in_time)
{
    struct rng rng = {support_seed("any rates in time")};
    for (long cases = support_cases(40); cases > 0; cases--) {
        struct slow_links links;
        double list[SLOW_LINKS_MAX];
        int n = 3 + (int)rng_below(&rng, 14);
        slow_links_make(&links, n, 1);
        for (int r = 1; r < n; r++) { /* rank 0 is fast */
            list[r - 1] = 1.03 + rng_below(&rng, 300) / 100.0;
            slow_links_add(&links, r, list[r - 1]);
        }
        use_many_segments(&links);
        assert_near_bound(&links, bound_several_slow(n, list, n - 1), 1.01);
        slow_links_free(&links);
    }
}

/* A simulation of every message comes to nearly the same. */
TEST(by_clocks)
{
    for (int f = 0; f < FACTORS; f++) {
        struct slow_links links;
        slow_links_make(&links, 8, 1);
        slow_links_add(&links, 3, factors[f]);
        slow_links_add(&links, 6, 1.33);
        double rounds = slow_links_time(&links, weighted(), false);
        double clocks = slow_links_time(&links, weighted(), true);
        assert_true(clocks < 1.02 * rounds && clocks > 0.98 * rounds);
        slow_links_free(&links);
    }
}

/* ---- The rest ---- */

TEST(runs_of_rounds)
{
    static const struct strag_slow slow[] = {{0, 1}, {3, 1.5}, {5, 3}};
    for (int g = 1; g <= 2; g++) {
        struct slow_links links;
        slow_links_make(&links, 7, g);
        for (int s = 0; s < 3; s++) {
            if (s > 0)
                slow_links_add(&links, slow[s].rank, slow[s].factor);
            const struct same_rounds same = support_same_rounds(weighted(), &links.problem);
            assert_true(same.runs < same.rounds);
        }
        slow_links_free(&links);
    }
}

TEST(refusals)
{
    struct slow_links links;
    slow_links_make(&links, 1, 4);
    slow_links_refused(&links, weighted(), "weighted needs two hosts at least, not 1");
    slow_links_free(&links);
    slow_links_make(&links, 4, 1);
    slow_links_add(&links, 3, INFINITY);
    slow_links_refused(&links, weighted(),
                       "rank 3 is slower by a factor of inf; must be at least 1");
    slow_links_free(&links);
    slow_links_make(&links, 65536, 1);
    slow_links_add(&links, 5, 1.5);
    slow_links_refused(&links, weighted(),
                       "weighted cannot count the shares of 65536 hosts in 2 segments");
    slow_links_free(&links);
}
