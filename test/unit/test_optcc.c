/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * OptCC: proved for one slow host and for several, anywhere; one flow at a time on every link; the
 * windows and stages that optcc.c draws; modelled times and theorems 2, 6 and 13; what is chosen if
 * several hosts are slow against the paper's plan.
 *
 * STRAG_CASES scales how many slow hosts are tried per number of hosts (default 1; a bar's full
 * range is 64).
 */
#include "machines.h"
#include "model/select.h"
#include "slow_links.h"

#include <math.h>

static const double factors[] = {1.14, 1.33, 1.5, 2, 3, 4};
enum { FACTORS = sizeof factors / sizeof *factors };

static const struct strag_algorithm *optcc(void)
{
    return support_algorithm("optcc");
}

static double factor_of(int i)
{
    return factors[i % FACTORS];
}

/* ---- The proof ---- */

TEST(one_slow_rank)
{
    struct rng rng = {support_seed("one slow rank")};
    long cases = support_cases(1);
    for (int n = 3; n <= 64; n += n < 16 || cases > 1 ? 1 : 6) {
        for (int i = 0; i < n && i < cases; i++) {
            struct slow_links links;
            int rank = cases < n ? (int)rng_below(&rng, (unsigned)n) : i;
            slow_links_make(&links, n, 1);
            slow_links_add(&links, rank, factor_of((int)rng_below(&rng, FACTORS)));
            slow_links_prove(&links, optcc(), true);
            slow_links_free(&links);
        }
    }
}

/* Slow hosts at different places, of different factors. */
static void add_slow_hosts(struct slow_links *links, struct rng *rng, int slow)
{
    int hosts = links->n / links->ranks_per_host;
    int step = hosts / slow, start = (int)rng_below(rng, (unsigned)hosts);
    for (int s = 0; s < slow; s++) {
        int host = (start + s * step) % hosts;
        int rank =
            host * links->ranks_per_host + (int)rng_below(rng, (unsigned)links->ranks_per_host);
        slow_links_add(links, rank, factor_of((int)rng_below(rng, FACTORS)));
    }
}

static void prove_several(struct rng *rng, int hosts, int ranks_per_host, int slow)
{
    struct slow_links links;
    slow_links_make(&links, hosts, ranks_per_host);
    add_slow_hosts(&links, rng, slow);
    slow_links_prove(&links, optcc(), true);
    slow_links_free(&links);
}

TEST(several_slow_ranks)
{
    struct rng rng = {support_seed("several slow ranks")};
    for (long cases = support_cases(1); cases > 0; cases--) {
        for (int n = 2; n <= 32; n += n < 12 || cases > 1 ? 1 : 5) {
            for (int slow = 2; slow <= 4 && slow <= n; slow++)
                prove_several(&rng, n, 1, slow);
        }
    }
}

TEST(several_ranks_per_host)
{
    struct rng rng = {support_seed("several ranks per host")};
    for (long cases = support_cases(1); cases > 0; cases--) {
        for (int g = 2; g <= 8; g *= 2) {
            for (int hosts = 3; hosts <= 16; hosts += cases > 1 ? 1 : g)
                prove_several(&rng, hosts, g, 1 + (hosts > 5) + (hosts > 9));
        }
    }
}

/* As many segments as are asked for, the smallest numbers of hosts above all. */
TEST(any_number_of_segments)
{
    for (int n = 3; n <= 9; n++) {
        for (int c = 0; c < STRAG_CHOICES_MAX; c++) {
            struct slow_links links;
            int blocks[STRAG_CHOICES_MAX];
            slow_links_make(&links, n, 1);
            slow_links_add(&links, n / 2, 1.5);
            int choices = strag_algorithm_choices(optcc(), &links.problem, blocks);
            assert_in_range(choices, 3, STRAG_CHOICES_MAX);
            if (c < choices) {
                links.problem.blocks = blocks[c];
                assert_true(c == 0 || blocks[c] > blocks[c - 1]);
                slow_links_prove(&links, optcc(), true);
            }
            slow_links_free(&links);
        }
    }
}

TEST(the_executor_agrees)
{
    struct rng rng = {support_seed("the executor agrees")};
    slow_links_run_some(optcc(), 7, &rng);
}

/* ---- Windows and stages ---- */

struct plans {
    struct slow_links links;
    struct strag_plan *list[8];
};

/* Five hosts, rank 4 slow, four segments: the tables in optcc.c. */
static void plans_make(struct plans *plans)
{
    struct strag_error err = {""};
    slow_links_make(&plans->links, 5, 1);
    slow_links_add(&plans->links, 4, 2);
    plans->links.problem.blocks = 12;
    assert_int_equal(support_create_all(optcc(), &plans->links.problem, plans->list, &err),
                     STRAG_OK);
}

static void plans_free(struct plans *plans)
{
    strag_plan_free_all(plans->list, 5);
    slow_links_free(&plans->links);
}

static bool is_stage(const struct strag_plan *plan, const struct strag_op *op, const char *name)
{
    return strcmp(plan->stages[op->stage], name) == 0;
}

TEST(the_windows)
{
    struct plans plans;
    plans_make(&plans);
    const struct strag_plan *slow = plans.list[4];
    int messages = 0;
    assert_int_equal(slow->rounds, 18);
    for (int i = 0; i < slow->nops; i++, messages++) {
        const struct strag_op *op = &slow->ops[i];
        int before = op->round % 4;
        assert_int_equal(op->peer, op->kind == STRAG_SEND ? (before + 1) % 4 : before);
    }
    assert_int_equal(messages, 24); /* 12 sections down and up */
    for (int rank = 0; rank < 4; rank++) {
        const struct strag_plan *plan = plans.list[rank];
        for (int i = 0; i < plan->nops; i++) {
            const struct strag_op *op = &plan->ops[i];
            if (op->peer != 4 && op->kind == STRAG_SEND) {
                assert_int_equal(op->peer, (rank + 1) % 4);
                assert_int_not_equal(op->round % 4, rank); /* there stands the slow host */
            }
        }
    }
    plans_free(&plans);
}

/* Where a stage's messages of a segment of three blocks are: the body of the middle one. */
static int body_of_stage(const struct plans *plans, const char *stage, int segment)
{
    int sum = 0, count = 0;
    for (int rank = 0; rank < 5; rank++) {
        const struct strag_plan *plan = plans->list[rank];
        for (int i = 0; i < plan->nops; i++) {
            const struct strag_op *op = &plan->ops[i];
            if (op->kind != STRAG_SEND || op->first / 3 != segment || !is_stage(plan, op, stage))
                continue;
            sum += op->round;
            count++;
        }
    }
    assert_true(count > 0);
    return sum / count / 3;
}

TEST(the_stages)
{
    static const char *const stages[] = {"ring: add", "to the slow host", "from the slow host",
                                         "ring: give"};
    static const int bodies[4][4] = {{0, 1, 2, 3}, {1, 2, 1, 2}, {2, 3, 4, 5}, {3, 4, 3, 4}};
    struct plans plans;
    plans_make(&plans);
    for (int segment = 0; segment < 4; segment++) {
        for (int stage = 0; stage < 4; stage++) {
            int body = body_of_stage(&plans, stages[stage], segment);
            /* Stage 3 begins a window before its body. */
            assert_int_equal(body, bodies[segment][stage]);
        }
    }
    plans_free(&plans);
}

/* ---- Times ---- */

/* The blocks of k segments: sections, and chunks that fill bubbles. */
static int blocks_of(int hosts, int ranks_per_host, int slow, double factor, int k)
{
    int fast = hosts - slow, windows = (k + (fast > 3 && factor >= 2 ? 2 : 1)) * (fast - 1);
    int chunks = slow == 1 && factor < 2 ? windows / fast - 1 : 0;
    return (k * (fast - slow) + chunks) * ranks_per_host;
}

static double time_of(int hosts, int ranks_per_host, double factor, int k, bool clocks)
{
    struct slow_links links;
    slow_links_make(&links, hosts, ranks_per_host);
    slow_links_add(&links, hosts / 3 * ranks_per_host, factor);
    links.problem.blocks = blocks_of(hosts, ranks_per_host, 1, factor, k);
    double time = slow_links_time(&links, optcc(), clocks);
    slow_links_free(&links);
    return time;
}

static void assert_below(double time, double bound, double most, int hosts, double factor)
{
    if (!(time <= most * bound && time >= bound * (1 - 1e-9)))
        fail_msg("%d hosts, factor %g: %.6g, %.4f of the bound %.6g", hosts, factor, time,
                 time / bound, bound);
}

TEST(one_slow_host_in_time)
{
    static const int all_hosts[] = {4, 5, 6, 8, 13, 16, 32, 64, 128, 256};
    int sizes = support_cases(1) > 1 ? 10 : 6;
    for (int i = 0; i < sizes; i++) {
        int hosts = all_hosts[i];
        for (int f = 0; f < FACTORS; f++) {
            double bound = strag_bound_one_flow(hosts, factors[f]);
            assert_below(time_of(hosts, 1, factors[f], 128, false), bound, 1.02, hosts, factors[f]);
            if (hosts <= 64)
                assert_below(time_of(hosts, 4, factors[f], 128, false), bound, 1.05, hosts,
                             factors[f]);
        }
    }
}

/* The formulas for k segments: (k + l - 1) / k, or (l k + 2) / k where l >= 2; windows at both ends
 * are a little longer where stages of one body begin in another. */
TEST(few_segments)
{
    for (int f = 0; f < FACTORS; f++) {
        double l = factors[f], bound = strag_bound_one_flow(12, l);
        for (int k = 4; k <= 32; k *= 2) {
            double ends = l < 2 ? l - 1 : 2 / l, time = time_of(12, 1, l, k, false);
            assert_below(time, bound * (k + ends) / k, 1 + 0.3 / k, 12, l);
        }
    }
}

/* A simulation of every message comes to the same. */
TEST(by_clocks)
{
    for (int f = 0; f < FACTORS; f++) {
        for (int g = 1; g <= 4; g += 3) {
            double rounds = time_of(9, g, factors[f], 16, false);
            double clocks = time_of(9, g, factors[f], 16, true);
            assert_below(clocks, rounds * 0.98, 1.021, 9, factors[f]);
        }
    }
}

/* Near theorem 2 for many hosts. */
TEST(several_slow_hosts_in_time)
{
    for (int slow = 2; slow <= 3; slow++) {
        for (int f = 0; f < FACTORS; f++) {
            struct slow_links links;
            double list[3] = {factors[f], factors[f], factors[f]};
            slow_links_make(&links, 64, 1);
            for (int s = 0; s < slow; s++)
                slow_links_add(&links, 7 + 20 * s, factors[f]);
            links.problem.blocks = blocks_of(64, 1, slow, factors[f], 128);
            double time = slow_links_time(&links, optcc(), false);
            assert_below(time, bound_several_slow(64, list, slow), 1.06, 64, factors[f]);
            slow_links_free(&links);
        }
    }
}

/* Two of seven hosts: 2(h-1)/(h-m) with h fast hosts, which is more than the paper's 2(n-1)/(n-m)
 * for n hosts; `weighted` takes less than either. */
TEST(two_slow_hosts_of_seven)
{
    struct slow_links links;
    slow_links_make(&links, 7, 1);
    slow_links_add(&links, 2, 2);
    slow_links_add(&links, 5, 2);
    links.problem.blocks = blocks_of(7, 1, 2, 2, 256);
    assert_below(slow_links_time(&links, optcc(), false), 2 * 4 / 3.0, 1.01, 7, 2);
    const struct strag_algorithm *weighted = support_algorithm("weighted");
    links.problem.blocks = 0; /* 16 segments */
    assert_true(slow_links_time(&links, weighted, false) < 2 * 6 / 5.0);
    slow_links_free(&links);
}

/* Of 256 hosts as many segments are compared as bring 1.7 % of the bound. */
TEST(many_hosts_in_time)
{
    struct slow_links links;
    int blocks[STRAG_CHOICES_MAX];
    slow_links_make(&links, 256, 1);
    slow_links_add(&links, 85, 2);
    int choices = strag_algorithm_choices(optcc(), &links.problem, blocks);
    links.problem.blocks = blocks[choices - 1];
    assert_below(slow_links_time(&links, optcc(), false), strag_bound_one_flow(256, 2), 1.017, 256,
                 2);
    slow_links_free(&links);
}

/* What the paper's plan takes for several slow hosts (appendix D.3): k + 4 bodies of a window for
 * every host but one, each with its latency; k is a multiple of 4, the best one. */
static double seconds_of_paper(const struct strag_model *model, int hosts, int slow, double factor,
                               double bytes)
{
    const double fast = hosts - slow,
                 body = fmax(2 * (hosts - 1), factor * fast + 2 * (slow - 1)) / fast;
    double least = INFINITY;
    for (int k = 4; k <= 4096; k += 4) {
        const double segment = bytes / model->bandwidth / k;
        least = fmin(least, (k + 4) * ((hosts - 1) * model->alpha + body * segment));
    }
    return least;
}

/* All sizes of a table against the paper and theorem 2. */
static void assert_as_the_paper(const struct slow_links *links)
{
    const struct strag_model model = machine_model(STRAG_NETWORK_TREE);
    const struct strag_select_options options = {.quick = true};
    const int slow = links->state.nslow;
    double factors_of_all[4];
    struct strag_selection *selection;
    struct strag_error err;
    for (int s = 0; s < slow; s++)
        factors_of_all[s] = links->slow[s].factor;
    if (strag_select(&links->problem, &model, &options, &selection, &err) != STRAG_OK)
        fail_msg("%s", err.text);
    for (double bytes = 16 << 20; bytes <= 1 << 30; bytes *= 4) {
        const struct strag_entry *entry = strag_table_entry(&selection->table, (size_t)bytes);
        const double paper = seconds_of_paper(&model, links->n, slow, links->slow[0].factor, bytes);
        const double bound =
            bound_several_slow(links->n, factors_of_all, slow) * bytes / model.bandwidth;
        double seconds = NAN;
        for (int c = 0; c < selection->candidates; c++) {
            const struct strag_candidate *candidate = &selection->candidate[c];
            if (candidate->algorithm == entry->algorithm && candidate->blocks == entry->blocks)
                seconds = strag_profile_seconds(candidate->profile, bytes);
        }
        if (!(seconds >= bound && seconds <= 1.002 * paper))
            fail_msg("%d of %d hosts %g times slower, %.0f bytes: %s takes %g s, the paper's %g s",
                     slow, links->n, links->slow[0].factor, bytes, entry->algorithm->name, seconds,
                     paper);
    }
    strag_selection_free(selection);
}

/* Whatever is chosen is as fast as the paper's plan for one to four slow hosts. */
TEST(as_fast_as_the_paper)
{
    static const int all_hosts[] = {6, 16, 64, 5, 8, 12, 24, 32, 48};
    static const double slow_factors[] = {1.2, 1.5, 2, 3};
    const int sizes = support_cases(1) > 1 ? 9 : 3;
    for (int i = 0; i < 16 * sizes; i++) {
        struct slow_links links;
        const int hosts = all_hosts[i / 16], slow = 1 + i % 4;
        slow_links_make(&links, hosts, 1);
        for (int s = 0; s < slow; s++)
            slow_links_add(&links, 1 + s * (hosts / slow), slow_factors[i / 4 % 4]);
        if (2 * slow < hosts)
            assert_as_the_paper(&links);
        slow_links_free(&links);
    }
}

/* ---- The rest ---- */

TEST(runs_of_rounds)
{
    struct slow_links links;
    slow_links_make(&links, 7, 1);
    links.problem.blocks = 21;
    struct same_rounds same = support_same_rounds(optcc(), &links.problem);
    assert_true(same.runs < same.rounds);
    slow_links_add(&links, 3, 1.5);
    links.problem.blocks = 0;
    same = support_same_rounds(optcc(), &links.problem);
    assert_int_equal(same.runs, same.rounds);
    slow_links_free(&links);
}

TEST(refusals)
{
    struct slow_links links;
    slow_links_make(&links, 1, 4);
    slow_links_refused(&links, optcc(), "optcc needs two hosts at least, not 1");
    slow_links_free(&links);
    slow_links_make(&links, 6, 1);
    slow_links_add(&links, 1, 0.5);
    slow_links_refused(&links, optcc(), "rank 1 is slower by a factor of 0.5; must be at least 1");
    links.slow[0] = (struct strag_slow){6, 2};
    slow_links_refused(&links, optcc(), "slow rank 6; with 6 ranks it is 0 to 5");
    links.slow[0] = (struct strag_slow){5, 2};
    links.problem.blocks = 17;
    slow_links_refused(&links, optcc(), "optcc cuts the vector of 6 ranks into 32 blocks, not 17");
    slow_links_free(&links);
}
