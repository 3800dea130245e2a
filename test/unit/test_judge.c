/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The judge, in jobs in virtual time (cluster.h): stragglers that are found, heal, and are followed
 * by others; another one in each call; links that become slow and fast again; experiments.
 */
#include "cluster.h"
#include "detect/thresholds.h"
#include "exhaust.h"
#include "machine/job.h"

#include "machine/job.h"

#include <math.h>

static const struct cluster_kind with_stragglers = {.ranks = CLUSTER_HOSTS, .stragglers = true};
static const struct cluster_kind with_links = {
    .ranks = CLUSTER_HOSTS, .stragglers = true, .links = true};

static bool is_ahead(const struct cluster *cluster)
{
    return cluster_runs(cluster)->algorithm->needs_straggler;
}

static void assert_log(const struct cluster *cluster, const char *text)
{
    assert_string_equal(strag_judge_log(cluster->judge), text);
}

static void assert_nothing(struct cluster *cluster, int calls)
{
    for (int c = 0; c < calls; c++)
        assert_int_equal(cluster_call(cluster), STRAG_CHANGE_NOTHING);
}

/* @return after how many calls */
static int assert_changes(struct cluster *cluster, enum strag_change wanted, int most)
{
    enum strag_change change;
    const int calls = cluster_until(cluster, &change, most);
    assert_int_equal(change, wanted);
    return calls;
}

static void assert_straggler(const struct cluster *cluster, int rank, double delay)
{
    const struct strag_state_record *state = strag_judge_state(cluster->judge);
    assert_int_equal(state->nstragglers, 1);
    assert_int_equal(state->straggler[0].rank, rank);
    if (fabs(state->straggler[0].delay / (delay / CLUSTER_SCALE) - 1) > 1e-3)
        fail_msg("a delay of %g s is %g s to the model", delay, state->straggler[0].delay);
}

/* ---- Stragglers ---- */

TEST(straggler)
{
    struct cluster *cluster = cluster_make(&with_stragglers);
    const struct strag_watch_summary *summary;
    assert_nothing(cluster, 60);
    assert_false(cluster->last.look);
    assert_log(cluster, "");

    cluster->straggler = 5;
    cluster->delay = 0.02;
    while (!cluster->last.look) /* durations raise a suspicion */
        assert_nothing(cluster, 1);
    assert_in_range(cluster->calls, 60, 60 + 2 * (STRAG_WINDOW_CALLS + 1));
    assert_changes(cluster, STRAG_CHANGE_STRAGGLER, STRAG_WINDOW_CALLS + 1);
    assert_straggler(cluster, 5, 0.02);
    assert_true(is_ahead(cluster));
    assert_log(cluster, "rank 5 is late by 20 ms: the others go ahead");
    assert_int_equal(cluster->made, 1);
    summary = strag_judge_summary(cluster->judge);
    assert_int_equal(summary->late.rank[0].rank, 5);
    assert_int_equal(summary->ahead_from, 0);

    const uint64_t calls = summary->calls;
    assert_nothing(cluster, 30);
    assert_int_equal(cluster->made, 1); /* the same delay needs no other table */
    assert_int_equal(summary->ahead_from, calls + 1);
    assert_true(strag_judge_summary(cluster->judge)->saved > 0);

    cluster->straggler = CLUSTER_NOBODY;
    assert_changes(cluster, STRAG_CHANGE_STRAGGLER, 40);
    assert_log(cluster, "no rank is late");
    assert_int_equal(strag_judge_state(cluster->judge)->nstragglers, 0);
    assert_ptr_equal(cluster_runs(cluster)->algorithm, cluster->began);
    assert_int_equal(cluster->made, 1); /* the usual table was kept */

    cluster->straggler = 2;
    cluster->delay = 0.01;
    assert_changes(cluster, STRAG_CHANGE_STRAGGLER, 60);
    assert_straggler(cluster, 2, 0.01);
    assert_int_equal(strag_judge_summary(cluster->judge)->switches, 3);
    cluster_free(cluster);
}

/* A rank that is late from the first call on. */
TEST(from_the_first_call)
{
    struct cluster *cluster = cluster_make(&with_stragglers);
    cluster->straggler = 5;
    cluster->delay = 0.02;
    assert_changes(cluster, STRAG_CHANGE_STRAGGLER, STRAG_CALLS_TO_NAME);
    assert_straggler(cluster, 5, 0.02);
    cluster_free(cluster);
}

/* Two, from the first call on: the plan that the others run knows of both. */
TEST(two_stragglers)
{
    struct cluster *cluster = cluster_make(&with_stragglers);
    const struct strag_state_record *state = strag_judge_state(cluster->judge);
    cluster->straggler = 5;
    cluster->also = 2;
    cluster->delay = 0.02;
    assert_changes(cluster, STRAG_CHANGE_STRAGGLER, STRAG_CALLS_TO_NAME);
    assert_log(cluster, "rank 5 is late by 20 ms, rank 2 by 10 ms: the others go ahead");
    assert_int_equal(state->nstragglers, 2);
    assert_int_equal(state->straggler[1].rank, 2);
    assert_true(fabs(state->straggler[1].delay / (0.01 / CLUSTER_SCALE) - 1) < 1e-3);
    assert_true(is_ahead(cluster));
    assert_nothing(cluster, 40);
    cluster->also = 0;
    assert_changes(cluster, STRAG_CHANGE_STRAGGLER, 60);
    assert_straggler(cluster, 5, 0.02);
    assert_nothing(cluster, 60);
    cluster_free(cluster);
}

/* A delay that differs by a half needs another table. */
TEST(other_delay)
{
    struct cluster *cluster = cluster_make(&with_stragglers);
    cluster->straggler = 1;
    cluster->delay = 0.01;
    assert_changes(cluster, STRAG_CHANGE_STRAGGLER, 40);
    cluster->delay = 0.012;
    assert_nothing(cluster, 60);
    cluster->delay = 0.04;
    assert_changes(cluster, STRAG_CHANGE_STRAGGLER, 60);
    assert_straggler(cluster, 1, 0.04);
    assert_int_equal(cluster->made, 2);
    cluster_free(cluster);
}

TEST(no_help)
{
    struct cluster *cluster = cluster_make(&with_stragglers);
    cluster->straggler = 3;
    cluster->delay = 0.02;
    cluster->useless = true;
    assert_nothing(cluster, 100);
    assert_int_equal(cluster->made, 1);
    assert_int_equal(strag_judge_state(cluster->judge)->nstragglers, 0);
    assert_int_equal(strag_judge_summary(cluster->judge)->late.rank[0].rank, 3);
    assert_false(is_ahead(cluster));
    cluster_free(cluster);
}

/* Where an algorithm is pinned or runs are to be reproducible nothing but the report follows. */
TEST(report_only)
{
    const struct cluster_kind kind = {.ranks = CLUSTER_HOSTS};
    struct cluster *cluster = cluster_make(&kind);
    cluster->straggler = 6;
    cluster->delay = 0.02;
    cluster->factor[4] = 3;
    assert_nothing(cluster, 600);
    assert_int_equal(cluster->made, 0);
    assert_int_equal(cluster->probes, 0);
    assert_int_equal(strag_judge_summary(cluster->judge)->late.rank[0].rank, 6);
    assert_int_equal(strag_judge_summary(cluster->judge)->calls, 600);
    cluster_free(cluster);
}

/* ---- The last rank ---- */

/* If another rank is late in each call, nothing is tried, and meters do not count; when that ends
 * both happens. */
TEST(last_ones)
{
    const struct cluster_kind kind = {.ranks = CLUSTER_HOSTS,
                                      .stragglers = true,
                                      .links = true,
                                      .experiments = true,
                                      .dynamic = STRAG_DYNAMIC_AUTO};
    struct cluster *cluster = cluster_make(&kind);
    const struct strag_dynamic_policy *policy = strag_judge_policy(cluster->judge);
    cluster->seconds = 0.01;
    cluster->rotates = true;
    cluster->delay = cluster->seconds;
    cluster->factor[4] = 2;
    for (int c = 0; c < 60; c++) {
        assert_int_equal(cluster_call(cluster), STRAG_CHANGE_NOTHING);
        assert_int_equal(cluster->window.order.bytes, 0);
        assert_int_equal(strag_judge_summary(cluster->judge)->late.count, 0);
        if (policy->on && cluster->in_mode == 0)
            assert_in_range(cluster->calls, 3, 40);
    }
    assert_true(policy->on);
    assert_true(cluster->last.look);
    assert_in_range(cluster->in_mode, 30, 60);
    const struct strag_dynamic_summary *dynamic = &strag_judge_summary(cluster->judge)->dynamic;
    assert_in_range(dynamic->ahead, 20, cluster->in_mode);
    assert_int_equal(cluster->probes, 0);
    assert_true(dynamic->saved > 0 && dynamic->saves > 0.2);

    cluster->rotates = false;
    cluster->straggler = CLUSTER_NOBODY;
    cluster->delay = 0;
    int waited = 0;
    while ((policy->on || cluster->window.order.bytes == 0 || cluster->probes == 0) &&
           waited++ < 200)
        cluster_call(cluster);
    assert_false(policy->on);
    assert_in_range(waited, 1, 100);
    cluster_free(cluster);
}

/* How late ranks are, in times of a call: one, another one in each call, or all, exponentially. */
struct lateness {
    bool all;
    double mean;
};

/* 64 calls from the first one on, until the others go ahead of somebody.
 * @return whether a straggler was named */
static bool run_job(const struct lateness *lateness, struct rng *rng, bool *dynamic)
{
    const struct cluster_kind kind = {
        .ranks = CLUSTER_HOSTS, .stragglers = true, .dynamic = STRAG_DYNAMIC_AUTO};
    struct cluster *cluster = cluster_make(&kind);
    const struct strag_dynamic_policy *policy = strag_judge_policy(cluster->judge);
    bool named = false;
    cluster->seconds = 0.01;
    cluster->scatter = 0.02;
    cluster->rng.state = rng_next(rng);
    cluster->delay = lateness->mean * cluster->seconds;
    cluster->everyone = lateness->all ? cluster->delay : 0;
    for (int c = 0; c < 64 && !policy->on && !is_ahead(cluster); c++) {
        if (!lateness->all)
            cluster->straggler = (int)rng_below(rng, CLUSTER_HOSTS);
        cluster_call(cluster);
        named = named || strag_judge_summary(cluster->judge)->late.count > 0;
    }
    *dynamic = policy->on;
    cluster_free(cluster);
    return named;
}

/* Windows are short at first. If another rank is last in each call, chance hardly ever makes it
 * the same one in most of a few, and if that is worth it, the last one is looked for in each. */
TEST(chance_names_nobody)
{
    static const struct lateness kinds[] = {{true, 0.6}, {false, 0.6}, {false, 1.2}};
    enum { JOBS = 100 };
    struct rng rng = {support_seed("chance_names_nobody")};
    for (int k = 0; k < 3; k++) {
        int named = 0, dynamic = 0;
        for (int job = 0; job < JOBS; job++) {
            bool on;
            named += run_job(&kinds[k], &rng, &on);
            dynamic += on;
        }
        print_message("%s late, by %.1f of a call: a straggler in %d jobs of %d, the last one is "
                      "looked for in %d\n",
                      kinds[k].all ? "all" : "one", kinds[k].mean, named, JOBS, dynamic);
        assert_true(named <= JOBS / 20);
        if (!kinds[k].all && kinds[k].mean > 1)
            assert_true(dynamic >= JOBS * 9 / 10);
    }
}

/* ---- Slow links ---- */

static void assert_probes(struct cluster *cluster, long more, int most)
{
    const long before = cluster->probes;
    for (int c = 0; c < most && cluster->probes < before + more; c++)
        cluster_call(cluster);
    assert_in_range(cluster->probes, before + more, before + more + 1);
}

TEST(slow_link)
{
    struct cluster *cluster = cluster_make(&with_links);
    const struct strag_state_record *state = strag_judge_state(cluster->judge);
    const struct strag_slowest *slowest = &strag_judge_summary(cluster->judge)->slowest;
    assert_probes(cluster, 1, 100000); /* now and then, without a suspicion */
    assert_in_range(cluster->last.probe_bytes, 128 << 10, 4 << 20);
    assert_int_equal(slowest->rank, -1);
    assert_int_equal(slowest->probes, cluster->probes);

    cluster->factor[4] = 2; /* meters see it */
    assert_changes(cluster, STRAG_CHANGE_LINKS, 10000);
    assert_log(cluster, "slow links: h4: 2");
    assert_int_equal(state->nslow, 1);
    assert_int_equal(state->slow[0].rank, 4);
    assert_true(fabs(state->slow[0].factor - 2) < 0.01);
    assert_int_equal(cluster->made, 1);
    assert_int_equal(slowest->rank, 4);
    assert_int_equal(slowest->hosts, 1);
    assert_int_equal(slowest->from, cluster->calls + 1);
    assert_int_equal(slowest->to, 0);

    cluster->factor[4] = 1;
    assert_changes(cluster, STRAG_CHANGE_LINKS, 100000);
    assert_log(cluster, "slow links: none");
    assert_int_equal(state->nslow, 0);
    assert_int_equal(slowest->hosts, 0);
    assert_int_equal(slowest->to, cluster->calls);
    cluster_free(cluster);
}

/* Other links: the stragglers stay, in a plan for both. */
TEST(both)
{
    struct cluster *cluster = cluster_make(&with_links);
    const struct strag_state_record *state = strag_judge_state(cluster->judge);
    cluster->straggler = 6;
    cluster->delay = 0.02;
    assert_changes(cluster, STRAG_CHANGE_STRAGGLER, 40);
    cluster->factor[1] = 1.5;
    assert_changes(cluster, STRAG_CHANGE_LINKS, 10000);
    assert_int_equal(state->nslow, 1);
    assert_straggler(cluster, 6, 0.02);
    assert_true(is_ahead(cluster));
    cluster->straggler = CLUSTER_NOBODY;
    assert_changes(cluster, STRAG_CHANGE_STRAGGLER, 10000);
    assert_int_equal(state->nslow, 1);
    assert_int_equal(state->nstragglers, 0);
    cluster_free(cluster);
}

/* A straggler and a slow link from the first call on: the plan for both runs by call 10. */
TEST(both_at_first)
{
    struct cluster *cluster = cluster_make(&with_links);
    const struct strag_state_record *state = strag_judge_state(cluster->judge);
    cluster->straggler = 6;
    cluster->delay = 0.02;
    cluster->factor[1] = 2;
    for (int c = 0; c < 10; c++)
        cluster_call(cluster);
    assert_int_equal(state->nslow, 1);
    assert_int_equal(state->nstragglers, 1);
    assert_true(is_ahead(cluster));
    cluster_free(cluster);
}

/* Hosts are numbered as the topology orders them, and led by their first ranks there. */
TEST(hosts)
{
    struct strag_rank_location ranks[5];
    const struct strag_job job = {.ranks = ranks, .n = 5};
    static const int32_t host_of[] = {0, 1, 2, 1, 0};
    struct strag_state_record state = {.nslow = 1, .slow = {{3, 1.5}}};
    struct strag_topology *topology = NULL;
    struct strag_probe_hosts made;
    struct strag_error err;
    memset(ranks, 0, sizeof ranks);
    for (int r = 0; r < 5; r++) {
        ranks[r].world = r;
        ranks[r].host[0] = (char)('x' + host_of[r]);
        ranks[r].core = (struct strag_core){-1, -1, -1};
    }
    assert_int_equal(strag_job_topology(&job, &topology, &err), STRAG_OK);
    assert_true(strag_probe_hosts_make(topology, &made));
    assert_int_equal(made.count, 3);
    assert_memory_equal(made.host_of, host_of, sizeof host_of);
    for (int h = 0; h < 3; h++)
        assert_int_equal(made.leader[h], h);
    struct strag_slowdown slowdown;
    strag_slowdown_init(&slowdown, &made, &state, 0);
    state.nslow = 7;
    strag_slowdown_state(&slowdown, &state);
    assert_int_equal(state.nslow, 1);
    assert_int_equal(state.slow[0].rank, 1); /* the host's leader */
    assert_true(state.slow[0].factor == 1.5);
    strag_probe_hosts_free(&made);
    strag_topology_free(topology);
}

/* ---- Experiments ---- */

static struct cluster *experimenting(double others)
{
    const struct cluster_kind kind = {
        .ranks = CLUSTER_HOSTS, .stragglers = true, .experiments = true};
    struct cluster *cluster = cluster_make(&kind);
    cluster->seconds = 0.005;
    cluster->scatter = 0.05;
    cluster->others = others;
    return cluster;
}

TEST(faster_rival)
{
    struct cluster *cluster = experimenting(1 / 1.3);
    assert_nothing(cluster, 20);
    assert_int_equal(cluster->elsewhere, 0);
    const int calls = 20 + assert_changes(cluster, STRAG_CHANGE_TABLE, 80);
    assert_true(cluster->last.found);
    assert_true(cluster_runs(cluster)->algorithm != cluster->began);
    assert_non_null(strstr(strag_judge_log(cluster->judge), "1048576 bytes: "));
    print_message("a rival that is 1.3 times faster runs after %d calls\n", calls);
    cluster_free(cluster);
}

/* Its second call shows it, and no time is left for another rival. */
TEST(hopeless_rival)
{
    struct cluster *cluster = experimenting(5);
    assert_nothing(cluster, 900);
    assert_int_equal(cluster->elsewhere, 2);
    assert_ptr_equal(cluster_runs(cluster)->algorithm, cluster->began);
    cluster_free(cluster);
}

/* An experiment with a size that does not come again: windows go on, as long as before. */
TEST(size_that_vanishes)
{
    struct cluster *cluster = experimenting(1);
    cluster->window_costs = 1e-5;
    while (cluster->window.order.bytes == 0)
        assert_nothing(cluster, 1);
    cluster->bytes = 64 << 10;
    const long windows = cluster->windows;
    int waiting = 0;
    for (int c = 0; c < 1000; c++) {
        assert_nothing(cluster, 1);
        waiting += cluster->window.order.bytes == 1 << 20;
    }
    assert_in_range(waiting, 63, 66); /* calls of one window */
    assert_in_range(cluster->windows, windows + 30, windows + 110);
    assert_in_range(cluster->filled, STRAG_FIRST_WINDOW, STRAG_WINDOW_CALLS);
    cluster_free(cluster);
}

/* ---- Windows ---- */

/* All equal, one behind the other, whatever is found and whatever they cost. */
TEST(same_window)
{
    const struct cluster_kind kind = {
        .ranks = CLUSTER_HOSTS, .experiments = true, .same_window = true};
    struct cluster *cluster = cluster_make(&kind);
    cluster->window_costs = 1;
    cluster->straggler = 3;
    assert_nothing(cluster, 45 * (STRAG_WINDOW_CALLS + 1));
    assert_int_equal(cluster->windows, 45);
    assert_int_equal(cluster->filled, STRAG_WINDOW_CALLS);
    assert_int_equal(cluster->elsewhere, 0);
    cluster_free(cluster);
}

/* The first ones have 2, 4 and 8 calls; then they are as far apart as half of the share wants it.
 */
TEST(quiet_windows)
{
    static const int sent[] = {2, 4, 8, 8, 8};
    struct cluster *cluster = cluster_make(&with_stragglers);
    cluster->seconds = 1e-3;
    cluster->window_costs = 1e-5;
    for (int w = 0; w < 5; w++) {
        while (cluster->windows == w)
            assert_nothing(cluster, 1);
        assert_int_equal(cluster->filled, sent[w]);
        assert_in_range(cluster->last.next.pause, w < 4 ? 0 : 9, w < 4 ? 0 : 10);
    }
    cluster_free(cluster);
}

/* A second for a table is a 500th of 500 s, whatever is suspected meanwhile: a pause is as long as
 * it may be, and no other table is made. */
TEST(expensive_table)
{
    struct cluster *cluster = cluster_make(&with_stragglers);
    cluster->seconds = 1e-3;
    assert_nothing(cluster, 60);
    cluster->straggler = 3;
    cluster->delay = 1e-3;
    cluster->next_costs = 1;
    while (cluster->last.next.pause == 0)
        cluster_call(cluster);
    const double call = cluster->seconds + cluster->delay;
    const double over = cluster->spent - 2 * call - cluster->total * STRAG_WATCH_SHARE;
    const int pause = (int)(over / STRAG_WATCH_SHARE / call);
    assert_true(over > 0.9);
    assert_true(pause > 1 << 17);
    assert_int_equal(cluster->last.next.pause, 1 << 14);
    assert_in_range(cluster->windows, 2, 30);
    const double spent = cluster->spent;
    for (int c = 0; c < 3 << 14; c++)
        cluster_call(cluster);
    assert_true(cluster->spent < spent + 0.1);
    cluster_free(cluster);
}

/* ---- Memory ---- */

static int attempt(const void *what, struct strag_error *err, bool *made)
{
    static const struct strag_state_record quiet = {.nslow = 0};
    const struct cluster *cluster = what;
    const struct strag_judge_table usual = {.selection = NULL};
    struct strag_judge *judge = strag_judge_create(&cluster->options, &quiet, &usual);
    *made = judge != NULL;
    strag_judge_free(judge);
    return *made ? STRAG_OK : strag_fail(err, STRAG_ERR_MEMORY, "out of memory");
}

TEST(out_of_memory)
{
    struct cluster *cluster = cluster_make(&with_links);
    assert_int_equal(exhaust("strag_judge_create", attempt, cluster), 3);
    strag_judge_free(NULL);
    cluster_free(cluster);
}
