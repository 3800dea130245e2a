/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The judge, on a synthetic cluster whose clock runs SCALE times slower than the model's:
 * stragglers that are found, heal, and are followed by others; another one in each call; links that
 * become slow and fast again.
 */
#include "watch/judge.h"

#include "algorithms/table.h"
#include "exhaust.h"
#include "probing.h"
#include "support.h"

#include <math.h>

enum { RANKS = 8, WINDOW = 100, NOBODY = -1 };

#define SCALE 3.0
static const size_t bytes = 1 << 20;
static const double link_rate = 1e9; /* bytes per second, of meters and probes */

/* What a rank sends after a window. */
struct rank_notes {
    struct strag_note calls[WINDOW];
    uint32_t meter;
};

struct cluster {
    struct strag_topology *topology;
    struct strag_probe_hosts hosts;
    struct strag_observer *observer;
    struct probing probing;
    struct strag_rank_location ranks[RANKS];
    struct strag_judge_options options;
    struct strag_judge *judge;
    struct strag_judgement last;
    struct rank_notes notes[RANKS];
    double now;
    int made;          /* tables */
    double made_takes; /* seconds */
    bool useless;      /* tables for a straggler are as those without */

    int straggler; /* NOBODY: all are in time */
    double delay;
    bool rotates;         /* another one in each call */
    double seconds;       /* of a call; 0: SCALE times what is modelled */
    double factor[RANKS]; /* of hosts' links */
    double pause;         /* seconds between calls */
};

/* ---- Tables ---- */

static double make_table(void *context, const struct strag_state_record *state,
                         const struct strag_sourced_model *model, struct strag_judge_table *made)
{
    struct cluster *cluster = context;
    struct strag_state_record used = *state;
    struct strag_error err;
    if (cluster->useless)
        used.nstragglers = 0;
    const struct strag_state view = strag_state_of(&used);
    const struct strag_problem problem = {
        .n = RANKS, .topology = cluster->topology, .state = &view};
    const struct strag_model standard = strag_model_default(STRAG_NETWORK_TREE);
    const struct strag_select_options options = {.quick = true};
    if (strag_select(&problem, model ? &model->model : &standard, &options, &made->selection,
                     &err) != STRAG_OK)
        fail_msg("%s", err.text);
    made->table = made->selection->table;
    cluster->made++;
    return cluster->made_takes;
}

static const struct strag_entry *current(const struct cluster *cluster)
{
    return strag_table_entry(&strag_judge_current(cluster->judge)->table, bytes);
}

static bool is_ahead(const struct cluster *cluster)
{
    return current(cluster)->algorithm->needs_straggler;
}

/* Modelled seconds of the current table's choice, with nobody late. */
static double modelled(const struct cluster *cluster)
{
    const struct strag_selection *selection = strag_judge_current(cluster->judge)->selection;
    const struct strag_entry *entry = current(cluster);
    for (int c = 0; c < selection->candidates; c++) {
        const struct strag_candidate *candidate = &selection->candidate[c];
        if (candidate->algorithm != entry->algorithm || candidate->blocks != entry->blocks)
            continue;
        struct strag_profile profile = *candidate->profile;
        profile.delay = 0;
        return strag_profile_seconds(&profile, (double)bytes);
    }
    fail();
    return 0;
}

/* ---- The cluster ---- */

/* As in struct probing. */
static double real_rate(const struct probing *probing, int from, int to)
{
    const struct cluster *cluster = probing->context;
    return link_rate / fmax(cluster->factor[from], cluster->factor[to]);
}

static struct cluster *cluster_make(bool stragglers, bool links)
{
    static const struct strag_state_record quiet = {.nslow = 0};
    struct cluster *cluster = calloc(1, sizeof *cluster);
    struct strag_judge_table usual = {.selection = NULL};
    assert_non_null(cluster);
    cluster->straggler = NOBODY;
    cluster->made_takes = 1e-3;
    for (int r = 0; r < RANKS; r++) {
        snprintf(cluster->ranks[r].host, sizeof cluster->ranks[r].host, "h%d", r);
        cluster->ranks[r].world = 10 + r;
        cluster->factor[r] = 1;
    }
    assert_int_equal(strag_topology_flat(RANKS, 1, &cluster->topology, NULL), STRAG_OK);
    assert_true(strag_probe_hosts_make(cluster->topology, &cluster->hosts));
    assert_int_equal(strag_observer_create(RANKS, WINDOW, 0, &cluster->observer, NULL), STRAG_OK);
    probing_make(&cluster->probing, &cluster->hosts, &quiet, real_rate, cluster);
    make_table(cluster, &quiet, NULL, &usual);
    cluster->options = (struct strag_judge_options){
        .n = RANKS,
        .window = WINDOW,
        .stragglers = stragglers,
        .observer = cluster->observer,
        .slowdown = links ? &cluster->probing.slowdown : NULL,
        .make = make_table,
        .context = cluster,
    };
    cluster->judge = strag_judge_create(&cluster->options, cluster->ranks, &quiet, &usual, 0);
    assert_non_null(cluster->judge);
    cluster->made = 0;
    return cluster;
}

static void cluster_free(struct cluster *cluster)
{
    strag_judge_free(cluster->judge);
    probing_free(&cluster->probing);
    strag_observer_free(cluster->observer);
    strag_probe_hosts_free(&cluster->hosts);
    strag_topology_free(cluster->topology);
    free(cluster);
}

/* What meters say: a rank's sends to its neighbour waited all the time. */
static void note_meters(struct cluster *cluster)
{
    for (int r = 0; r < RANKS; r++) {
        const int to = (r + 1) % RANKS;
        const double expected =
            fmax(probing_factor(&cluster->probing, r), probing_factor(&cluster->probing, to));
        cluster->notes[r].meter = strag_link_rate(expected * real_rate(&cluster->probing, r, to));
    }
}

/* A window of calls. @return what changed */
static enum strag_change window(struct cluster *cluster)
{
    const double seconds = cluster->seconds > 0 ? cluster->seconds : SCALE * modelled(cluster);
    const struct strag_watched_call call = {
        bytes, current(cluster)->algorithm, current(cluster)->blocks,
        false, STRAG_DYNAMIC_OUTSIDE,       NOBODY};
    for (int c = 0; c < WINDOW; c++) {
        if (cluster->rotates)
            cluster->straggler = (5 * c + 3) % RANKS;
        for (int r = 0; r < RANKS; r++) {
            double wait = r != cluster->straggler && cluster->straggler >= 0 ? cluster->delay : 0;
            cluster->notes[r].calls[c] = (struct strag_note){
                .seconds = (float)(seconds + wait),
                .wait = cluster->last.look ? (float)wait + 1e-7f * (float)((r + c) % RANKS) : -1,
            };
        }
        strag_judge_add(cluster->judge, &call, seconds + cluster->delay);
        (void)strag_observer_add(cluster->observer, cluster->notes[0].calls[c]);
        cluster->now += seconds + cluster->delay + cluster->pause;
    }
    note_meters(cluster);
    strag_judge_begin_window(cluster->judge);
    cluster->last =
        strag_judge_window(cluster->judge, cluster->notes, sizeof *cluster->notes, cluster->now);
    return cluster->last.change;
}

static enum strag_change windows(struct cluster *cluster, int most)
{
    enum strag_change change = STRAG_CHANGE_NOTHING;
    for (int w = 0; w < most && change == STRAG_CHANGE_NOTHING; w++)
        change = window(cluster);
    return change;
}

/* All probes that are wanted. */
static enum strag_change probe(struct cluster *cluster)
{
    const struct strag_slowdown *slowdown = &cluster->probing.slowdown;
    enum strag_change change = STRAG_CHANGE_NOTHING;
    while (strag_slowdown_rounds(slowdown) > 0) {
        struct strag_link_sample sample;
        probing_sample(&cluster->probing, strag_slowdown_rounds(slowdown), &sample);
        cluster->now += 1e-3;
        change = strag_judge_probed(cluster->judge, &sample, 1e-3);
    }
    return change;
}

static void assert_log(const struct cluster *cluster, const char *text)
{
    assert_string_equal(strag_judge_log(cluster->judge), text);
}

static void assert_straggler(const struct cluster *cluster, int rank, double delay)
{
    const struct strag_state_record *state = strag_judge_state(cluster->judge);
    assert_int_equal(state->nstragglers, 1);
    assert_int_equal(state->straggler.rank, rank);
    if (fabs(state->straggler.delay / (delay / SCALE) - 1) > 1e-3)
        fail_msg("a delay of %g s is %g s to the model", delay, state->straggler.delay);
}

/* ---- Stragglers ---- */

static void straggler(void **unused)
{
    (void)unused;
    struct cluster *cluster = cluster_make(true, false);
    const struct strag_algorithm *usual = current(cluster)->algorithm;
    const struct strag_watch_summary *summary;
    assert_int_equal(windows(cluster, 3), STRAG_CHANGE_NOTHING);
    assert_false(cluster->last.look);
    assert_log(cluster, "");

    cluster->straggler = 5;
    cluster->delay = 0.02;
    assert_int_equal(window(cluster), STRAG_CHANGE_NOTHING);
    assert_true(cluster->last.look); /* durations raise a suspicion */
    assert_int_equal(windows(cluster, 3), STRAG_CHANGE_STRAGGLER);
    assert_straggler(cluster, 5, 0.02);
    assert_true(is_ahead(cluster));
    assert_log(cluster, "rank 5 is late by 20 ms: the others go ahead");
    assert_int_equal(cluster->made, 1);
    summary = strag_judge_summary(cluster->judge);
    assert_int_equal(summary->straggler, 5);
    assert_int_equal(summary->world, 15);
    assert_int_equal(summary->ahead_from, 0);

    uint64_t calls = summary->calls;
    assert_int_equal(windows(cluster, 2), STRAG_CHANGE_NOTHING);
    assert_int_equal(cluster->made, 1); /* the same delay needs no other table */
    assert_int_equal(summary->ahead_from, calls + 1);
    assert_true(strag_judge_summary(cluster->judge)->observed.saved > 0);

    cluster->straggler = NOBODY;
    assert_int_equal(windows(cluster, 4), STRAG_CHANGE_STRAGGLER);
    assert_log(cluster, "no rank is late");
    assert_int_equal(strag_judge_state(cluster->judge)->nstragglers, 0);
    assert_ptr_equal(current(cluster)->algorithm, usual);
    assert_int_equal(cluster->made, 1); /* the usual table was kept */

    cluster->straggler = 2;
    cluster->delay = 0.01;
    assert_int_equal(windows(cluster, 5), STRAG_CHANGE_STRAGGLER);
    assert_straggler(cluster, 2, 0.01);
    assert_int_equal(strag_judge_summary(cluster->judge)->observed.switches, 3);
    cluster_free(cluster);
}

/* A delay that differs by a half needs another table. */
static void other_delay(void **unused)
{
    (void)unused;
    struct cluster *cluster = cluster_make(true, false);
    cluster->straggler = 1;
    cluster->delay = 0.01;
    assert_int_equal(windows(cluster, 5), STRAG_CHANGE_STRAGGLER);
    cluster->delay = 0.012;
    assert_int_equal(windows(cluster, 4), STRAG_CHANGE_NOTHING);
    cluster->delay = 0.04;
    assert_int_equal(windows(cluster, 4), STRAG_CHANGE_STRAGGLER);
    assert_straggler(cluster, 1, 0.04);
    assert_int_equal(cluster->made, 2);
    cluster_free(cluster);
}

static void no_help(void **unused)
{
    (void)unused;
    struct cluster *cluster = cluster_make(true, false);
    cluster->straggler = 3;
    cluster->delay = 0.02;
    cluster->useless = true;
    assert_int_equal(windows(cluster, 6), STRAG_CHANGE_NOTHING);
    assert_int_equal(cluster->made, 1);
    assert_int_equal(strag_judge_state(cluster->judge)->nstragglers, 0);
    assert_int_equal(strag_judge_summary(cluster->judge)->straggler, 3);
    assert_false(is_ahead(cluster));
    cluster_free(cluster);
}

/* A table that took 1 s to make is not followed by another one for 100 s. */
static void busy(void **unused)
{
    (void)unused;
    struct cluster *cluster = cluster_make(true, false);
    cluster->straggler = 3;
    cluster->delay = 0.02;
    cluster->made_takes = 1;
    assert_int_equal(windows(cluster, 5), STRAG_CHANGE_STRAGGLER);
    double soon = cluster->now + 101;
    cluster->delay = 0.2;
    while (cluster->now + WINDOW * 0.3 < soon)
        assert_int_equal(window(cluster), STRAG_CHANGE_NOTHING);
    assert_int_equal(cluster->made, 1);
    assert_int_equal(windows(cluster, 3), STRAG_CHANGE_STRAGGLER);
    assert_true(cluster->now > soon);
    assert_straggler(cluster, 3, 0.2);
    cluster_free(cluster);
}

/* Where an algorithm is pinned or runs are to be reproducible nothing but the report follows. */
static void report_only(void **unused)
{
    (void)unused;
    struct cluster *cluster = cluster_make(false, false);
    cluster->straggler = 6;
    cluster->delay = 0.02;
    for (int f = 0; f < RANKS; f++)
        cluster->factor[f] = f == 4 ? 3 : 1;
    for (int w = 0; w < 6; w++) {
        assert_int_equal(window(cluster), STRAG_CHANGE_NOTHING);
        assert_false(cluster->last.probe);
    }
    assert_int_equal(cluster->made, 0);
    assert_int_equal(strag_judge_summary(cluster->judge)->straggler, 6);
    assert_int_equal(strag_judge_summary(cluster->judge)->calls, 600);
    cluster_free(cluster);
}

/* ---- Whoever comes last ---- */

static double make_any(void *context, const struct strag_state_record *state,
                       const struct strag_sourced_model *model, struct strag_selection **made,
                       double *price)
{
    struct cluster *cluster = context;
    struct strag_error err;
    const struct strag_state view = strag_state_of(state);
    const struct strag_problem problem = {
        .n = RANKS, .topology = cluster->topology, .state = &view};
    const struct strag_select_options options = {.only = strag_algorithm_any_straggler()};
    if (strag_select(&problem, &model->model, &options, made, &err) != STRAG_OK)
        fail_msg("%s", err.text);
    *price = 3 * model->model.alpha;
    return 1e-3;
}

static bool trial_began(const struct cluster *cluster)
{
    bool began = false;
    for (int t = 0; t < STRAG_TRIALS_AT_ONCE; t++)
        began = began || cluster->last.begun[t];
    return began;
}

/* A judge that learns, and may go ahead without whoever comes last. */
static struct strag_learner *start_learning(struct cluster *cluster)
{
    static const struct strag_state_record quiet = {.nslow = 0};
    const struct strag_problem problem = {.n = RANKS, .topology = cluster->topology};
    const struct strag_model standard = strag_model_default(STRAG_NETWORK_TREE);
    const struct strag_sourced_model model = strag_model_sourced(&standard);
    struct strag_judge_table usual = {.selection = NULL};
    cluster->options.learner = strag_learner_create(&problem, &model, 0);
    cluster->options.dynamic = STRAG_DYNAMIC_AUTO;
    cluster->options.make_any = make_any;
    strag_judge_free(cluster->judge);
    make_table(cluster, &quiet, &model, &usual);
    cluster->judge = strag_judge_create(&cluster->options, cluster->ranks, &quiet, &usual, 0);
    assert_non_null(cluster->options.learner);
    assert_non_null(cluster->judge);
    cluster->seconds = SCALE * modelled(cluster);
    return cluster->options.learner;
}

/* Where another rank is late in each call no trial is begun, and meters do not count; when that is
 * over both happens. */
static void last_ones(void **unused)
{
    (void)unused;
    struct cluster *cluster = cluster_make(true, true);
    struct strag_learner *learner = start_learning(cluster);
    const struct strag_dynamic_policy *policy = strag_judge_policy(cluster->judge);
    cluster->rotates = true;
    cluster->delay = cluster->seconds;
    cluster->factor[4] = 2;
    window(cluster);
    assert_true(cluster->last.look);
    for (int w = 0; w < 6; w++) {
        assert_false(trial_began(cluster));
        assert_false(cluster->last.probe);
        window(cluster);
    }
    assert_true(policy->on);

    cluster->rotates = false;
    cluster->straggler = NOBODY;
    cluster->delay = 0;
    int waited = 0;
    while (!trial_began(cluster) && waited++ < 6)
        window(cluster);
    assert_false(policy->on);
    assert_in_range(waited, 1, 5);
    assert_true(cluster->last.probe);
    cluster_free(cluster);
    strag_learner_free(learner);
}

/* ---- Jobs from their first call on, window by window as the observer says ---- */

/* How late ranks are, in times of a call: one, another one in each call, or all, exponentially. */
struct lateness {
    bool all;
    double mean;
};

/* A call. @param look  ranks note how long they wait, too @return its seconds with all waiting */
static double note_random(struct cluster *cluster, const struct lateness *lateness, bool look,
                          struct rng *rng, int at)
{
    const double wanted = lateness->mean * cluster->seconds;
    const int one = (int)rng_below(rng, RANKS);
    double late[RANKS], last = 0;
    for (int r = 0; r < RANKS; r++) {
        const double random = (rng_below(rng, 1000000) + 0.5) / 1e6;
        late[r] = lateness->all ? -wanted * log(random) : r == one ? wanted : 0;
        last = fmax(last, late[r]);
    }
    for (int r = 0; r < RANKS; r++) {
        const double wait = last - late[r], end = 0.02 * rng_below(rng, 1000) / 1000;
        cluster->notes[r].calls[at] = (struct strag_note){
            .seconds = (float)(wait + cluster->seconds * (1 + end)),
            .wait = look ? (float)(wait + 1e-7) : -1,
        };
    }
    return last + cluster->seconds;
}

/* Up to 64 calls, until the others go ahead of somebody. @return whether a straggler was named */
static bool run_job(const struct lateness *lateness, struct rng *rng, bool *dynamic)
{
    struct cluster *cluster = cluster_make(true, false);
    struct strag_learner *learner = start_learning(cluster);
    const struct strag_dynamic_policy *policy = strag_judge_policy(cluster->judge);
    struct rank_notes sent[RANKS];
    bool look = false, named = false;
    int at = 0;
    strag_observer_set_window(cluster->observer, STRAG_FIRST_WINDOW);
    for (int c = 0; c < 64 && !policy->on && !is_ahead(cluster); c++) {
        const struct strag_entry *entry = current(cluster);
        const struct strag_watched_call call = {bytes, entry->algorithm,      entry->blocks,
                                                false, STRAG_DYNAMIC_OUTSIDE, NOBODY};
        const double seconds = note_random(cluster, lateness, look, rng, at);
        cluster->now += seconds + cluster->seconds;
        strag_judge_add(cluster->judge, &call, seconds);
        const enum strag_observe_step step =
            strag_observer_add(cluster->observer, cluster->notes[0].calls[at++]);
        if (step == STRAG_OBSERVE_SEND) {
            strag_judge_begin_window(cluster->judge);
            memcpy(sent, cluster->notes, sizeof sent);
            at = 0;
        } else if (step == STRAG_OBSERVE_DECIDE) {
            const struct strag_judgement judgement =
                strag_judge_window(cluster->judge, sent, sizeof *sent, cluster->now);
            look = judgement.look;
            if (judgement.window)
                strag_observer_set_window(cluster->observer, judgement.window);
            named = named || strag_judge_summary(cluster->judge)->straggler >= 0;
        }
    }
    *dynamic = policy->on;
    cluster_free(cluster);
    strag_learner_free(learner);
    return named;
}

/* Windows are short at first. Where another rank is last in each call chance hardly ever makes it
 * the same one in most of a few, and where that is worth it the last one is looked for in each. */
static void chance_names_nobody(void **state)
{
    (void)state;
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

/* @return windows */
static int run_to_probe(struct cluster *cluster, int most)
{
    for (int w = 0; w < most; w++) {
        window(cluster);
        if (cluster->last.probe)
            return w + 1;
    }
    fail_msg("no probe in %d windows", most);
    return 0;
}

/* What a job does between its calls gives probes no more of the time in them. */
static void pauses_do_not_count(void **unused)
{
    (void)unused;
    struct cluster *busy = cluster_make(true, true), *idle = cluster_make(true, true);
    idle->pause = 10;
    const int windows_busy = run_to_probe(busy, 50);
    assert_in_range(windows_busy, 2, 50);
    assert_int_equal(run_to_probe(idle, 50), windows_busy);
    cluster_free(busy);
    cluster_free(idle);
}

static void slow_link(void **unused)
{
    (void)unused;
    struct cluster *cluster = cluster_make(true, true);
    const struct strag_state_record *state = strag_judge_state(cluster->judge);
    const struct strag_slowest *slowest = &strag_judge_summary(cluster->judge)->slowest;
    run_to_probe(cluster, 50); /* now and then, without a suspicion */
    assert_in_range(cluster->last.probe_bytes, 128 << 10, 4 << 20);
    assert_int_equal(probe(cluster), STRAG_CHANGE_NOTHING);
    assert_int_equal(slowest->rank, -1);
    assert_int_equal(slowest->probes, 1);

    cluster->factor[4] = 2;
    run_to_probe(cluster, 3); /* meters saw it */
    uint64_t calls = strag_judge_summary(cluster->judge)->calls;
    assert_int_equal(probe(cluster), STRAG_CHANGE_LINKS);
    assert_log(cluster, "slow links: h4: 2");
    assert_int_equal(state->nslow, 1);
    assert_int_equal(state->slow[0].rank, 4);
    assert_true(fabs(state->slow[0].factor - 2) < 0.01);
    assert_int_equal(cluster->made, 1);
    assert_int_equal(slowest->rank, 4);
    assert_int_equal(slowest->hosts, 1);
    assert_int_equal(slowest->from, calls + 1);
    assert_int_equal(slowest->to, 0);

    cluster->factor[4] = 1;
    enum strag_change change = STRAG_CHANGE_NOTHING;
    for (int p = 0; p < 3 && change == STRAG_CHANGE_NOTHING; p++) {
        run_to_probe(cluster, 20);
        change = probe(cluster);
    }
    assert_int_equal(change, STRAG_CHANGE_LINKS);
    assert_log(cluster, "slow links: none");
    assert_int_equal(state->nslow, 0);
    assert_int_equal(slowest->hosts, 0);
    assert_int_equal(slowest->to, strag_judge_summary(cluster->judge)->calls);
    cluster_free(cluster);
}

/* Other links: who is late is asked anew. */
static void both(void **unused)
{
    (void)unused;
    struct cluster *cluster = cluster_make(true, true);
    const struct strag_state_record *state = strag_judge_state(cluster->judge);
    cluster->straggler = 6;
    cluster->delay = 0.02;
    assert_int_equal(windows(cluster, 5), STRAG_CHANGE_STRAGGLER);
    cluster->factor[1] = 1.5;
    enum strag_change change = STRAG_CHANGE_NOTHING;
    for (int p = 0; p < 3 && change == STRAG_CHANGE_NOTHING; p++) {
        run_to_probe(cluster, 50);
        change = probe(cluster);
    }
    assert_int_equal(change, STRAG_CHANGE_LINKS);
    assert_int_equal(state->nslow, 1);
    assert_int_equal(state->nstragglers, 0);
    assert_false(is_ahead(cluster));
    assert_int_equal(window(cluster), STRAG_CHANGE_STRAGGLER);
    assert_int_equal(state->nslow, 1); /* the table for the straggler knows of the slow link */
    assert_int_equal(state->nstragglers, 1);
    assert_int_equal(state->straggler.rank, 6);
    cluster_free(cluster);
}

/* Hosts are numbered as the topology orders them, and led by their first ranks there. */
static void hosts(void **unused)
{
    (void)unused;
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
    strag_slowdown_init(&slowdown, &made, &state);
    state.nslow = 7;
    strag_slowdown_state(&slowdown, &state);
    assert_int_equal(state.nslow, 1);
    assert_int_equal(state.slow[0].rank, 1); /* the host's leader */
    assert_true(state.slow[0].factor == 1.5);
    strag_probe_hosts_free(&made);
    strag_topology_free(topology);
}

/* ---- What users read ---- */

static void assert_text(const struct strag_watch_summary *summary, const char *expected)
{
    struct strag_rank_location ranks[3] = {{.host = "x"}, {.host = "y"}, {.host = "z"}};
    char text[2048];
    strag_watch_summary_text(summary, "MPI_COMM_WORLD", ranks, text, sizeof text);
    assert_string_equal(text, expected);
}

static void text(void **unused)
{
    (void)unused;
    struct strag_watch_summary summary = strag_watch_summary_none();
    summary.observed.calls = 200;
    assert_text(&summary, "strag: MPI_COMM_WORLD: no rank was late in 200 calls\n");
    summary.observed = (struct strag_observed){200, 1, 0.25, 2e-3, 0.5, 1, -2, .any_median = 0};
    summary.world = 1;
    assert_text(&summary,
                "strag: MPI_COMM_WORLD: no rank was late in most of 200 calls; most often "
                "last was rank 1 (host y), in 25 %, median 2 ms\n");
    summary.world = 9;
    summary.observed.share = 0.5;
    assert_text(&summary,
                "strag: MPI_COMM_WORLD: rank 1 (9 in MPI_COMM_WORLD) (host y) was last in 50 % of "
                "200 calls, median 2 ms, 95 % below 500 ms; it was waited for\n");
    summary.observed.share = 0.25;
    summary.ahead_from = 7;
    summary.seconds = 12;
    summary.slowest = (struct strag_slowest){2, 3, 1.5, 4, 0, 1};
    assert_text(&summary,
                "strag: MPI_COMM_WORLD: host z's link was 1.5 times slower than others, from call "
                "4; 3 hosts have slow links now\n"
                "strag: MPI_COMM_WORLD: rank 1 (9 in MPI_COMM_WORLD) (host y) was last in 25 % of "
                "200 calls, median 2 ms, 95 % below 500 ms; going ahead without it from call 7 on "
                "lost 2 s of 12 s (modelled)\n");
    summary.observed.rank = -1;
    summary.slowest.hosts = 0;
    summary.slowest.to = 90;
    assert_text(&summary,
                "strag: MPI_COMM_WORLD: host z's link was 1.5 times slower than others, from call "
                "4 to call 90\nstrag: MPI_COMM_WORLD: no rank was late in 200 calls\n");
}

/* Who came last, and calls that went ahead without. */
static void text_of_the_last(void **unused)
{
    (void)unused;
    struct strag_watch_summary summary = strag_watch_summary_none();
    summary.observed.calls = 200;
    summary.dynamic = (struct strag_dynamic_summary){.calls = 120, .ahead = 80, .modelled = 3};
    summary.observed.often[0].rank = 2;
    summary.observed.often[0].share = 0.4;
    summary.observed.often[1].rank = 0;
    summary.observed.often[1].share = 0.35;
    summary.observed.any_median = 0.1;
    summary.observed.any_percentile95 = 0.4;
    summary.observed.any_quarter = 0.05;
    summary.observed.any_three_quarters = 0.2;
    summary.observed.any_longest = 1.5;
    summary.observed.waited = 24;
    summary.observed.spent = 96;
    assert_text(&summary,
                "strag: MPI_COMM_WORLD: last was rank 2 in 40 %, rank 0 in 35 % of 200 calls; all "
                "others were there before it by 100 ms in the median, 25 % below 50 ms, 75 % below "
                "200 ms, 95 % below 400 ms, 1.5 s at most; by 24 s in all, 20 % of these calls' "
                "time (measured)\n"
                "strag: MPI_COMM_WORLD: 80 of 120 calls went ahead without whoever came last; that "
                "saved 3 s (modelled)\n"
                "strag: MPI_COMM_WORLD: no rank was late in 200 calls\n");
    summary.observed.often[0].share = 0;
    summary.dynamic.saved = -2;
    summary.dynamic.saves = -0.05;
    summary.dynamic.error = 0.01;
    assert_text(&summary,
                "strag: MPI_COMM_WORLD: 80 of 120 calls went ahead without whoever came last; that "
                "lost 2 s (measured: -5 % +- 1 % of the time from the last arrival on)\n"
                "strag: MPI_COMM_WORLD: no rank was late in 200 calls\n");
}

/* Where the model's numbers are from, and how well it fits. */
static void model_text(void **unused)
{
    (void)unused;
    struct strag_watch_summary summary = strag_watch_summary_none();
    struct strag_model standard = strag_model_default(STRAG_NETWORK_TREE);
    struct strag_sourced_model model = strag_model_sourced(&standard);
    char text[2048];
    strag_model_set(&model, STRAG_MODEL_ALPHA, 45e-6, STRAG_FROM_MEASURED);
    strag_model_set(&model, STRAG_MODEL_BANDWIDTH, 12.5e6, STRAG_FROM_USER);
    strag_watch_model_text(&summary, "x", &model, NULL, text, sizeof text);
    assert_non_null(strstr(text, "strag: x: model: alpha 45 us (measured"));
    assert_non_null(strstr(text, "bandwidth 0.1 Gbit/s (user)"));
    assert_null(strstr(text, "calls take"));
    summary.model_error = 0.031;
    strag_watch_model_text(&summary, "x", &model, NULL, text, sizeof text);
    assert_non_null(strstr(text, "; calls take what it says to 3.1 %\n"));
}

/* ---- Memory ---- */

static int attempt(const void *what, struct strag_error *err, bool *made)
{
    static const struct strag_state_record quiet = {.nslow = 0};
    const struct cluster *cluster = what;
    const struct strag_judge_table usual = {.selection = NULL};
    struct strag_judge *judge =
        strag_judge_create(&cluster->options, cluster->ranks, &quiet, &usual, 0);
    *made = judge != NULL;
    strag_judge_free(judge);
    return *made ? STRAG_OK : strag_fail(err, STRAG_ERR_MEMORY, "out of memory");
}

static void out_of_memory(void **unused)
{
    (void)unused;
    struct cluster *cluster = cluster_make(true, true);
    assert_int_equal(exhaust("strag_judge_create", attempt, cluster), 8);
    strag_judge_free(NULL);
    cluster_free(cluster);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(straggler),
        cmocka_unit_test(other_delay),
        cmocka_unit_test(no_help),
        cmocka_unit_test(busy),
        cmocka_unit_test(report_only),
        cmocka_unit_test(slow_link),
        cmocka_unit_test(pauses_do_not_count),
        cmocka_unit_test(both),
        cmocka_unit_test(hosts),
        cmocka_unit_test(text),
        cmocka_unit_test(text_of_the_last),
        cmocka_unit_test(model_text),
        cmocka_unit_test(last_ones),
        cmocka_unit_test(chance_names_nobody),
        cmocka_unit_test(out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
