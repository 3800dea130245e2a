/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Slow links found while a job runs: the meter by hand, and jobs in virtual time (wires.h) whose
 * ranks run real plans while hosts' links become slower, heal, or only seem to.
 *
 * STRAG_CASES: random jobs of each kind.
 */
#include "watch/slowdown.h"

#include "exhaust.h"
#include "memory.h"
#include "support.h"
#include "wires.h"

#include <math.h>

enum { MIB = 1 << 20, CALLS = 3 /* of a window */ };

/* ---- The meter ---- */

static void assert_drained(const struct strag_drained *drained, int host, double bytes,
                           double seconds)
{
    assert_int_equal(drained->host, host);
    assert_true(fabs((double)drained->bytes - bytes) < 1e-3);
    assert_true(fabs((double)drained->seconds - seconds) < 1e-6);
}

static void test_meter(void **state)
{
    (void)state;
    struct strag_meter *meter = strag_meter_create(4);
    struct strag_meter_note note;
    assert_non_null(meter);
    strag_meter_begin(meter, 1);
    strag_meter_end(meter, 1, 1000, 1.0); /* alone: it tells nothing */
    strag_meter_begin(meter, 1);
    strag_meter_begin(meter, 1);
    strag_meter_end(meter, 1, 1000, 2.0); /* this one has filled the buffer */
    strag_meter_begin(meter, 1);
    strag_meter_end(meter, 1, 1000, 3.0);
    strag_meter_end(meter, 1, 500, 3.5);
    strag_meter_take(meter, &note);
    assert_drained(&note.to[0], 1, 1500, 1.5);
    assert_drained(&note.to[1], -1, 0, 0);

    /* Two hosts share the link; only what ends after both streams are one again counts. */
    for (int i = 0; i < 3; i++)
        strag_meter_begin(meter, 1);
    strag_meter_end(meter, 1, 1000, 4.0);
    strag_meter_begin(meter, 2);
    strag_meter_end(meter, 1, 1000, 5.0);
    strag_meter_end(meter, 2, 1000, 6.0);
    strag_meter_begin(meter, 1);
    strag_meter_end(meter, 1, 1000, 7.0);
    strag_meter_end(meter, 1, 1000, 9.0);
    strag_meter_take(meter, &note);
    assert_drained(&note.to[0], 1, 1000, 2);
    assert_drained(&note.to[1], -1, 0, 0);
    strag_meter_free(meter);
}

/* More hosts than a note has room for: those for which most was waiting. */
static void test_note_room(void **state)
{
    (void)state;
    enum { HOSTS = STRAG_METER_HOSTS + 3 };
    struct strag_meter *meter = strag_meter_create(HOSTS);
    struct strag_meter_note note;
    double now = 0;
    for (int host = 0; host < HOSTS; host++) {
        strag_meter_begin(meter, host);
        strag_meter_begin(meter, host);
        strag_meter_end(meter, host, 1, now);
        now += 1 + (host * 5) % HOSTS;
        strag_meter_end(meter, host, 100, now);
    }
    strag_meter_take(meter, &note);
    for (int i = 0; i < STRAG_METER_HOSTS; i++) {
        assert_true(note.to[i].seconds == (float)(HOSTS - i));
        assert_int_equal((note.to[i].host * 5) % HOSTS, HOSTS - 1 - i);
    }
    strag_meter_take(meter, &note);
    assert_int_equal(note.to[0].host, -1);
    strag_meter_free(meter);
}

/* Few of very many hosts; and without memory for the sums nothing is measured, and nothing breaks.
 */
static void test_many_hosts(void **state)
{
    (void)state;
    enum { HOSTS = 5000 };
    static const int hosts[] = {0, 7, 8, 1000, HOSTS - 1};
    for (int fails = 0; fails < 2; fails++) {
        struct strag_meter *meter = strag_meter_create(HOSTS);
        struct strag_meter_note note;
        for (int i = 0; i < 5; i++) {
            memory_watch(fails ? 1 : 0);
            strag_meter_begin(meter, hosts[i]);
            (void)memory_unwatch();
            strag_meter_begin(meter, hosts[i]);
            strag_meter_end(meter, hosts[i], 1, 10 * i);
            strag_meter_end(meter, hosts[i], 100, 10 * i + i + 1);
        }
        strag_meter_take(meter, &note);
        for (int i = 0; i < 5 && !fails; i++) {
            assert_int_equal(note.to[i].host, hosts[4 - i]);
            assert_true(note.to[i].seconds == (float)(5 - i) && note.to[i].bytes == 100);
        }
        assert_int_equal(note.to[fails ? 0 : 5].host, -1);
        strag_meter_free(meter);
    }
}

/* ---- Jobs ---- */

static const struct strag_state_record none_known;

/* The factor by which a host is slow; 1: it is not. */
static double factor_of(const struct strag_slowdown *slowdown, int leader)
{
    struct strag_state_record state;
    strag_slowdown_state(slowdown, &state);
    for (int s = 0; s < state.nslow; s++)
        if (state.slow[s].rank == leader)
            return state.slow[s].factor;
    return 1;
}

struct job {
    struct wires wires;
    int32_t host_of[WIRES_RANKS], leader[WIRES_HOSTS];
    double uplink[WIRES_HOSTS];
    struct strag_probe_hosts hosts;
    struct strag_slowdown *slowdown;
    const char *usual, *slow; /* algorithms: while nobody is known to be slow, and then */
    size_t bytes;
    int probes, windows;
};

static void job_make(struct job *job, int hosts, int ranks_per_host, const char *usual,
                     const char *slow, double share, struct rng *rng)
{
    struct strag_slowdown_options options = strag_slowdown_default();
    *job = (struct job){.usual = usual, .slow = slow, .bytes = 4 * MIB};
    wires_make(&job->wires, hosts, ranks_per_host, rng);
    job->wires.jitter = 0.03;
    for (int rank = job->wires.n - 1; rank >= 0; rank--) {
        job->host_of[rank] = rank / ranks_per_host;
        job->leader[rank / ranks_per_host] = rank;
    }
    job->hosts =
        (struct strag_probe_hosts){job->wires.n, hosts, job->host_of, job->leader, job->uplink};
    options.share = share; /* 0: only suspicions may lead to a probe */
    options.more = 0.1;
    job->slowdown = strag_slowdown_create(&job->hosts, &none_known, &options);
    assert_non_null(job->slowdown);
}

static void job_free(struct job *job)
{
    strag_slowdown_free(job->slowdown);
    wires_free(&job->wires);
}

static double run_calls(struct job *job, int calls)
{
    struct strag_slow slow[WIRES_HOSTS];
    struct strag_state known = {.slow = slow};
    double seconds = 0;
    for (int h = 0; h < job->wires.hosts; h++) {
        double factor = factor_of(job->slowdown, job->leader[h]);
        if (factor > 1)
            slow[known.nslow++] = (struct strag_slow){h * job->wires.ranks_per_host, factor};
    }
    for (int c = 0; c < calls; c++)
        seconds +=
            wires_call(&job->wires, known.nslow ? job->slow : job->usual, &known, job->bytes);
    return seconds;
}

static double probe_seconds(const struct job *job)
{
    return 3 * 128 * 1024 / job->wires.bandwidth;
}

/* @return whether the judgement changed */
static bool window(struct job *job)
{
    struct strag_meter_note notes[WIRES_RANKS];
    float rates[WIRES_HOSTS * STRAG_PROBE_ROUNDS] = {0};
    double seconds = run_calls(job, CALLS);
    for (int rank = 0; rank < job->wires.n; rank++)
        strag_meter_take(job->wires.meters[rank], &notes[rank]);
    job->windows++;
    if (!strag_slowdown_window(job->slowdown, notes, sizeof *notes, seconds, seconds))
        return false;
    job->probes++;
    wires_probe(&job->wires, rates);
    return strag_slowdown_probed(job->slowdown, rates, probe_seconds(job));
}

/* Are exactly the slow hosts named, by about their factors? */
static bool is_right(const struct job *job)
{
    for (int h = 0; h < job->wires.hosts; h++) {
        double named = factor_of(job->slowdown, job->leader[h]), is = job->wires.factor[h];
        if ((named > 1) != (is > 1) || fabs(named / is - 1) > 0.1)
            return false;
    }
    return true;
}

static int windows_until_right(struct job *job, int most)
{
    for (int w = 1; w <= most; w++) {
        window(job);
        if (is_right(job))
            return w;
    }
    return most + 1;
}

static void fail_job(const struct job *job, const char *what, int windows)
{
    char hosts[200] = "";
    for (int h = 0; h < job->wires.hosts; h++) {
        size_t used = strlen(hosts);
        if (job->wires.factor[h] > 1 || factor_of(job->slowdown, job->leader[h]) > 1)
            snprintf(hosts + used, sizeof hosts - used, " %d:%g(%g)", h, job->wires.factor[h],
                     factor_of(job->slowdown, job->leader[h]));
    }
    fail_msg("%d hosts of %d ranks, %s then %s: %s after %d windows, %d probes; slow (named)%s",
             job->wires.hosts, job->wires.ranks_per_host, job->usual, job->slow, what, windows,
             job->probes, hosts);
}

/* Degraded, named; changed, named; healed, forgotten: each time within three windows. */
static void live(struct job *job, const int *slow, int nslow, double factor)
{
    int windows = windows_until_right(job, 1);
    window(job);
    if (!is_right(job))
        fail_job(job, "something was found on healthy links", windows);
    for (int i = 0; i < nslow; i++)
        job->wires.factor[slow[i]] = factor;
    windows = windows_until_right(job, 3);
    if (windows > 3)
        fail_job(job, "not found", windows);
    for (int i = 0; i < nslow; i++)
        job->wires.factor[slow[i]] = 1.5 * factor;
    windows = windows_until_right(job, 3);
    if (windows > 3)
        fail_job(job, "the change was not found", windows);
    for (int i = 0; i < nslow; i++)
        job->wires.factor[slow[i]] = 1;
    windows = windows_until_right(job, 3);
    if (windows > 3)
        fail_job(job, "not back", windows);
}

static const double factors[] = {1.14, 1.33, 2, 4};
static const char *const usual[] = {"ring", "recursive-halving", "circulant"};
static const char *const for_slow[] = {"weighted", "optcc"};

static void one_slow_host(int u, int f, int ranks_per_host, double share, struct rng *rng)
{
    struct job job;
    job_make(&job, 8, ranks_per_host, usual[u], for_slow[f % 2], share, rng);
    int slow = (int)rng_below(rng, 8);
    live(&job, &slow, 1, factors[f]);
    job_free(&job);
}

/* From one pair of algorithm and factor to the next: of few all are others. */
static long step(void)
{
    return support_is_short() ? 5 : 1;
}

static void test_one_slow_host(void **state)
{
    (void)state;
    struct rng rng = {support_seed("one slow host")};
    for (long c = 0; c < support_cases(12); c += step())
        one_slow_host((int)(c % 3), (int)(c / 3 % 4), 1, 0, &rng);
}

/* Two streams out of a host at any time: nothing is ever counted, and rare probes must do. */
static void test_two_ranks_per_host(void **state)
{
    (void)state;
    struct rng rng = {support_seed("two ranks per host")};
    for (long c = 0; c < support_cases(12); c += step())
        one_slow_host((int)(c % 3), (int)(c / 3 % 4), 2, c % 3 < 2 ? 0 : 0.1, &rng);
}

/* Buffers that swallow most of what is sent, so that little ever waits; other numbers of hosts. */
static void test_random_jobs(void **state)
{
    (void)state;
    struct rng rng = {support_seed("random jobs")};
    for (long c = 0; c < support_cases(12); c += step()) {
        struct job job;
        int hosts = 4 + (int)rng_below(&rng, 7), slow[2];
        job_make(&job, hosts, 1 + (int)rng_below(&rng, 2), usual[rng_below(&rng, 3)],
                 for_slow[rng_below(&rng, 2)], 0.1, &rng);
        job.wires.buffer = 256 * 1024;
        slow[0] = (int)rng_below(&rng, (unsigned)hosts);
        slow[1] = (slow[0] + 1 + (int)rng_below(&rng, (unsigned)hosts - 1)) % hosts;
        live(&job, slow, hosts < 6 ? 1 : 1 + (int)rng_below(&rng, 2),
             1.2 + 0.01 * rng_below(&rng, 200));
        job_free(&job);
    }
}

/* Links that are anything up to 6 % slower in every call, and a rank that is late in all of them:
 * the meters may be taken in, the probes are not. */
static void test_only_seems_so(void **state)
{
    (void)state;
    struct rng rng = {support_seed("only seems so")};
    for (long c = 0; c < support_cases(6); c++) {
        struct job job;
        bool straggler = c % 2;
        int windows = straggler ? 12 : 20;
        job_make(&job, 8, 1, usual[c / 2 % 3], "weighted", 0, &rng);
        job.wires.jitter = 0.06;
        job.wires.straggler[3] = straggler ? 0.4 : 0;
        for (int w = 0; w < windows; w++) {
            if (window(&job) || !is_right(&job))
                fail_job(&job, "found, and is not there", w);
        }
        /* Once refuted, a suspicion is not looked into again for a while. */
        if (job.probes > windows / 3)
            fail_job(&job, "too many probes", windows);
        job_free(&job);
    }
}

/* ---- The judge by hand ---- */

enum { HOSTS = 8 };

static int32_t own_host[HOSTS] = {0, 1, 2, 3, 4, 5, 6, 7};
static double alike[HOSTS];
static const struct strag_probe_hosts own_hosts = {HOSTS, HOSTS, own_host, own_host, alike};

/* Nobody's messages ever waited. */
static const struct strag_meter_note *nothing(void)
{
    static struct strag_meter_note notes[HOSTS];
    for (int rank = 0; rank < HOSTS; rank++)
        for (int i = 0; i < STRAG_METER_HOSTS; i++)
            notes[rank].to[i].host = -1;
    return notes;
}

/* A probe of hosts with these rates. */
static bool probed(struct strag_slowdown *slowdown, const double *rate)
{
    float rates[HOSTS * STRAG_PROBE_ROUNDS];
    for (int to = 0; to < HOSTS; to++)
        for (int round = 0; round < STRAG_PROBE_ROUNDS; round++)
            rates[to * STRAG_PROBE_ROUNDS + round] =
                (float)fmin(rate[to], rate[strag_probe_from(HOSTS, round, to)]);
    return strag_slowdown_probed(slowdown, rates, 1e-3);
}

static bool next_window(struct strag_slowdown *slowdown, double elapsed)
{
    return strag_slowdown_window(slowdown, nothing(), sizeof *nothing(), elapsed, elapsed);
}

static void assert_factors(const struct strag_slowdown *slowdown, const double *want)
{
    for (int h = 0; h < HOSTS; h++)
        assert_true(fabs(factor_of(slowdown, h) - want[h]) < 1e-9);
}

static void test_verdicts(void **state)
{
    (void)state;
    struct strag_slowdown *slowdown = strag_slowdown_create(&own_hosts, &none_known, NULL);
    assert_non_null(slowdown);
    assert_true(next_window(slowdown, 1));
    assert_false(probed(slowdown, (double[HOSTS]){9, 9, 9, 3, 9, 4.4, 9, 9}));
    assert_factors(slowdown, (double[HOSTS]){1, 1, 1, 1, 1, 1, 1, 1});
    assert_true(next_window(slowdown, 0)); /* at once: something is pending */
    assert_true(probed(slowdown, (double[HOSTS]){9, 9, 9, 3, 9, 4.4, 9, 9}));
    assert_factors(slowdown, (double[HOSTS]){1, 1, 1, 3, 1, 2.05, 1, 1});

    /* A tenth more or less is no news; neither is what one probe says alone. */
    assert_true(next_window(slowdown, 1));
    assert_false(probed(slowdown, (double[HOSTS]){9, 9, 9, 3.2, 9, 4.2, 9, 9}));
    assert_false(next_window(slowdown, 0));
    assert_true(next_window(slowdown, 1));
    assert_false(probed(slowdown, (double[HOSTS]){9, 9, 9, 9, 9, 9, 9, 9}));
    assert_true(next_window(slowdown, 0));
    assert_false(probed(slowdown, (double[HOSTS]){9, 9, 9, 3.2, 9, 4.2, 9, 9}));
    assert_false(next_window(slowdown, 0));
    assert_factors(slowdown, (double[HOSTS]){1, 1, 1, 3, 1, 2.05, 1, 1});

    /* Healed, both. */
    assert_true(next_window(slowdown, 1));
    assert_false(probed(slowdown, (double[HOSTS]){9, 9, 9, 8.9, 9, 8.8, 9, 9}));
    assert_true(next_window(slowdown, 1));
    assert_true(probed(slowdown, (double[HOSTS]){9, 9, 9, 8.7, 9, 9, 9, 9}));
    assert_factors(slowdown, (double[HOSTS]){1, 1, 1, 1, 1, 1, 1, 1});
    strag_slowdown_free(slowdown);
}

/* One probe is enough for what the meters have seen, and for nothing else. */
static void test_seen(void **state)
{
    (void)state;
    struct strag_slowdown *slowdown = strag_slowdown_create(&own_hosts, &none_known, NULL);
    struct strag_meter_note notes[HOSTS];
    assert_non_null(slowdown);
    assert_false(probed(slowdown, (double[HOSTS]){9, 9, 9, 9, 9, 9, 9, 9}));
    memcpy(notes, nothing(), sizeof notes);
    notes[1].to[0] = (struct strag_drained){.host = 2, .bytes = 40, .seconds = 10};
    notes[2].to[0] = (struct strag_drained){.host = 3, .bytes = 40, .seconds = 10};
    assert_true(strag_slowdown_window(slowdown, notes, sizeof *notes, 10, 10));
    assert_false(probed(slowdown, (double[HOSTS]){9, 9, 9, 9, 9, 4, 9, 9}));
    assert_true(strag_slowdown_window(slowdown, notes, sizeof *notes, 10, 10));
    assert_true(probed(slowdown, (double[HOSTS]){9, 9, 4, 9, 9, 9, 9, 9}));
    assert_factors(slowdown, (double[HOSTS]){1, 1, 2.25, 1, 1, 1, 1, 1});
    /* It has become faster: the meters' word is not enough for that. */
    notes[1].to[0].bytes = notes[2].to[0].bytes = 90;
    assert_true(strag_slowdown_window(slowdown, notes, sizeof *notes, 10, 10));
    assert_false(probed(slowdown, (double[HOSTS]){9, 9, 9, 9, 9, 9, 9, 9}));
    assert_true(strag_slowdown_window(slowdown, notes, sizeof *notes, 10, 10));
    assert_true(probed(slowdown, (double[HOSTS]){9, 9, 9, 9, 9, 9, 9, 9}));
    strag_slowdown_free(slowdown);
}

static void test_not_slow(void **state)
{
    (void)state;
    double nominal[HOSTS] = {100, 100, 50, 100, 25, 100, 100, 100};
    const double fine[HOSTS] = {1, 1, 1, 1, 1, 1, 1, 1};
    const struct strag_probe_hosts hosts = {HOSTS, HOSTS, own_host, own_host, nominal};
    const struct strag_state_record known = {.nslow = 1, .slow = {{6, 2}}};
    struct strag_slowdown *slowdown = strag_slowdown_create(&hosts, &none_known, NULL);
    float rates[HOSTS * STRAG_PROBE_ROUNDS];
    assert_non_null(slowdown);
    for (int twice = 0; twice < 2; twice++) /* as the layout says */
        assert_false(probed(slowdown, (double[HOSTS]){9, 9, 4.5, 9, 2.25, 9, 9, 9}));
    for (int twice = 0; twice < 2; twice++) /* most of them: the machine is like that */
        assert_false(probed(slowdown, (double[HOSTS]){3, 3, 1.5, 3, 0.75, 9, 9, 9}));
    for (int i = 0; i < HOSTS * STRAG_PROBE_ROUNDS; i++)
        rates[i] = i == 11 ? 0 : (float)(1 + i % 3);
    for (int twice = 0; twice < 2; twice++) /* not all were measured */
        assert_false(strag_slowdown_probed(slowdown, rates, 1));
    assert_factors(slowdown, fine);
    strag_slowdown_free(slowdown);
    slowdown = strag_slowdown_create(&hosts, &known, NULL);
    assert_non_null(slowdown);
    for (int twice = 0; twice < 2; twice++) /* known */
        assert_false(probed(slowdown, (double[HOSTS]){9, 9, 4.5, 9, 2.25, 9, 4.5, 9}));
    for (int twice = 0; twice < 2; twice++) /* twice as slow as by nature */
        assert_int_equal(probed(slowdown, (double[HOSTS]){9, 9, 2.25, 9, 2.25, 9, 9, 9}), twice);
    assert_factors(slowdown, (double[HOSTS]){1, 1, 2, 1, 1, 1, 1, 1});
    strag_slowdown_free(slowdown);
}

/* Where fast links scatter by 5 % the slowest is not slow by 1.15, twice; by 1.5 it is. After quiet
 * probes 1.15 is. */
static void test_scatter(void **state)
{
    (void)state;
    struct strag_slowdown *slowdown = strag_slowdown_create(&own_hosts, &none_known, NULL);
    assert_non_null(slowdown);
    assert_false(probed(slowdown, (double[HOSTS]){9, 9.6, 9.4, 9.9, 8.1, 9.5, 8.5, 9}));
    assert_true(next_window(slowdown, 1));
    assert_false(probed(slowdown, (double[HOSTS]){9.6, 9, 9.9, 9.1, 8.1, 10.1, 8.6, 9.7}));
    assert_true(next_window(slowdown, 1));
    assert_false(probed(slowdown, (double[HOSTS]){9, 9.6, 8.6, 9.1, 6, 9.5, 8.5, 9}));
    assert_true(next_window(slowdown, 0));
    assert_true(probed(slowdown, (double[HOSTS]){9, 9.6, 8.6, 9.1, 6, 9.5, 8.5, 9}));
    assert_factors(slowdown, (double[HOSTS]){1, 1, 1, 1, 1.5, 1, 1, 1});
    strag_slowdown_free(slowdown);

    slowdown = strag_slowdown_create(&own_hosts, &none_known, NULL);
    assert_non_null(slowdown);
    assert_false(probed(slowdown, (double[HOSTS]){9, 9.6, 8.6, 9.1, 9, 9.9, 8.5, 9}));
    for (int i = 0; i < 10; i++)
        assert_false(probed(slowdown, (double[HOSTS]){9, 9, 9, 9, 9, 9, 9, 9}));
    assert_false(probed(slowdown, (double[HOSTS]){9, 9, 9, 9, 7.8, 9, 9, 9}));
    assert_true(probed(slowdown, (double[HOSTS]){9, 9, 9, 9, 7.8, 9, 9, 9}));
    assert_factors(slowdown, (double[HOSTS]){1, 1, 1, 1, 1.15, 1, 1, 1});
    strag_slowdown_free(slowdown);
}

/* What probes may take of the job's time. */
static void test_budget(void **state)
{
    (void)state;
    struct strag_slowdown_options options = strag_slowdown_default();
    options.share = 0.01;
    options.more = 0.1;
    options.thought = 0.5;
    struct strag_slowdown *slowdown = strag_slowdown_create(&own_hosts, &none_known, &options);
    assert_non_null(slowdown);
    assert_false(next_window(slowdown, 30));
    assert_true(next_window(slowdown, 20));
    assert_false(probed(slowdown, (double[HOSTS]){9, 9, 9, 9, 9, 9, 9, 9})); /* 1 ms */
    assert_false(next_window(slowdown, 0.09));
    assert_true(next_window(slowdown, 0.0101));
    assert_false(probed(slowdown, (double[HOSTS]){9, 9, 9, 9, 9, 9, 9, 9}));

    struct strag_meter_note notes[HOSTS];
    memcpy(notes, nothing(), sizeof notes);
    notes[1].to[0] = (struct strag_drained){.host = 2, .bytes = 1, .seconds = 1};
    notes[1].to[1] = (struct strag_drained){.host = 3, .bytes = 85, .seconds = 10};
    /* The longer wait was at 8.5 bytes per second, the other one is too short to count. */
    assert_false(strag_slowdown_window(slowdown, notes, sizeof *notes, 100, 0.011));
    notes[1].to[1].bytes = 70;
    assert_true(strag_slowdown_window(slowdown, notes, sizeof *notes, 100, 0));
    assert_false(probed(slowdown, (double[HOSTS]){9, 9, 9, 9, 9, 9, 9, 9}));
    assert_false(strag_slowdown_window(slowdown, notes, sizeof *notes, 100, 0.011));
    notes[1].to[1].bytes = 60; /* stronger than what was refuted */
    assert_true(strag_slowdown_window(slowdown, notes, sizeof *notes, 100, 0));
    strag_slowdown_free(slowdown);

    const struct strag_probe_hosts two = {2, 2, own_host, own_host, alike};
    slowdown = strag_slowdown_create(&two, &none_known, NULL);
    assert_non_null(slowdown);
    assert_false(
        next_window(slowdown, 1e6)); /* of two hosts nobody can say which is the slow one */
    strag_slowdown_free(slowdown);
}

static void test_bytes(void **state)
{
    (void)state;
    struct strag_slowdown *slowdown = strag_slowdown_create(&own_hosts, &none_known, NULL);
    double rate[HOSTS];
    assert_non_null(slowdown);
    assert_int_equal(strag_slowdown_bytes(slowdown), 128 << 10);
    for (int h = 0; h < HOSTS; h++)
        rate[h] = 1e9;
    probed(slowdown, rate);
    assert_int_equal(strag_slowdown_bytes(slowdown), 1000000);
    for (int h = 0; h < HOSTS; h++)
        rate[h] = 1e11;
    probed(slowdown, rate);
    assert_int_equal(strag_slowdown_bytes(slowdown), 4 << 20);
    strag_slowdown_free(slowdown);
}

/* A suspicion before the first probe: at the rate of the meters, but 1 MiB at most. What it finds
 * is confirmed by one with 8 % of the calls' time for three rounds, in which the slow link takes
 * twice as long as others, up to 30 ms, also where all links are slower with messages of that
 * length, and the mean of both holds. Then, without a suspicion, they are as short as ever. */
static void test_thorough(void **state)
{
    (void)state;
    struct strag_slowdown *slowdown = strag_slowdown_create(&own_hosts, &none_known, NULL);
    struct strag_meter_note notes[HOSTS];
    double rate[HOSTS];
    assert_non_null(slowdown);
    memcpy(notes, nothing(), sizeof notes);
    for (int h = 0; h < HOSTS; h++) {
        rate[h] = h == 5 ? 50e6 : 100e6;
        notes[h].to[0] = (struct strag_drained){
            .host = (h + 1) % HOSTS, .bytes = h == 2 ? 40e6F : 100e6F, .seconds = 1};
    }
    assert_true(strag_slowdown_window(slowdown, notes, sizeof *notes, 1, 1));
    assert_int_equal(strag_slowdown_bytes(slowdown), 1 << 20); /* nothing was probed yet */
    assert_false(probed(slowdown, rate));
    assert_true(next_window(slowdown, 1));
    assert_in_range(strag_slowdown_bytes(slowdown), 1333300, 1333400);
    assert_true(next_window(slowdown, 9));
    assert_int_equal(strag_slowdown_bytes(slowdown), 3000000);
    for (int h = 0; h < HOSTS; h++)
        rate[h] = 0.8 * (h == 5 ? 55e6 : 100e6);
    assert_true(probed(slowdown, rate));
    assert_factors(slowdown, (double[HOSTS]){1, 1, 1, 1, 1, 1.9, 1, 1});
    assert_true(next_window(slowdown, 1));
    assert_int_equal(strag_slowdown_bytes(slowdown), 128 << 10);
    strag_slowdown_free(slowdown);
}

/* A host with a quarter of the others' uplink makes each round take four times as long. */
static void test_thorough_uplinks(void **state)
{
    (void)state;
    double uplinks[HOSTS] = {1, 1, 1, 1, 1, 1, 0.25, 1};
    struct strag_probe_hosts hosts = own_hosts;
    hosts.uplink = uplinks;
    struct strag_slowdown *slowdown = strag_slowdown_create(&hosts, &none_known, NULL);
    assert_non_null(slowdown);
    assert_true(next_window(slowdown, 1));
    assert_int_equal(strag_slowdown_bytes(slowdown), 128 << 10);
    assert_false(probed(slowdown, (double[HOSTS]){9e7, 9e7, 9e7, 3e7, 9e7, 9e7, 2.25e7, 9e7}));
    assert_true(next_window(slowdown, 1));
    assert_in_range(strag_slowdown_bytes(slowdown), 199900, 200000); /* 0.08 / 3 / 3 / 4 s */
    strag_slowdown_free(slowdown);
}

/* A long probe has refuted a suspicion: the next one is short, and may come as soon as that costs
 * little. */
static void test_price(void **state)
{
    (void)state;
    struct strag_slowdown *slowdown = strag_slowdown_create(&own_hosts, &none_known, NULL);
    struct strag_meter_note notes[HOSTS];
    float rates[HOSTS * STRAG_PROBE_ROUNDS];
    assert_non_null(slowdown);
    memcpy(notes, nothing(), sizeof notes);
    for (int h = 0; h < HOSTS; h++)
        notes[h].to[0] = (struct strag_drained){
            .host = (h + 1) % HOSTS, .bytes = h == 2 ? 40e6F : 100e6F, .seconds = 1};
    for (int i = 0; i < HOSTS * STRAG_PROBE_ROUNDS; i++)
        rates[i] = 100e6F;
    assert_true(strag_slowdown_window(slowdown, notes, sizeof *notes, 1, 10));
    assert_int_equal(strag_slowdown_bytes(slowdown), 1 << 20);
    assert_false(strag_slowdown_probed(slowdown, rates, 0.048));
    assert_false(next_window(slowdown, 1.9)); /* a probe of 128 KiB takes 6 ms: 0.003 of 2 s */
    assert_true(next_window(slowdown, 0.2));
    assert_int_equal(strag_slowdown_bytes(slowdown), 128 << 10);
    strag_slowdown_free(slowdown);
}

static void test_partners(void **state)
{
    (void)state;
    assert_int_equal(strag_probe_rounds(2), 0);
    assert_int_equal(strag_probe_rounds(3), 2);
    assert_int_equal(strag_probe_rounds(1000), STRAG_PROBE_ROUNDS);
    for (int hosts = 3; hosts < 20; hosts++) {
        for (int round = 0; round < strag_probe_rounds(hosts); round++) {
            for (int h = 0; h < hosts; h++) {
                int to = strag_probe_to(hosts, round, h);
                assert_int_not_equal(to, h);
                assert_int_equal(strag_probe_from(hosts, round, to), h);
            }
        }
    }
}

/* ---- Memory ---- */

static int attempt(const void *what, struct strag_error *err, bool *made)
{
    (void)what;
    struct strag_meter *meter = strag_meter_create(HOSTS);
    struct strag_slowdown *slowdown = strag_slowdown_create(&own_hosts, &none_known, NULL);
    bool all = meter && slowdown;
    strag_meter_free(meter);
    strag_slowdown_free(slowdown);
    *made = all;
    return all ? STRAG_OK : strag_fail(err, STRAG_ERR_MEMORY, "out of memory");
}

static void test_out_of_memory(void **state)
{
    (void)state;
    assert_int_equal(exhaust("meter and slowdown", attempt, NULL), 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_meter),         cmocka_unit_test(test_note_room),
        cmocka_unit_test(test_one_slow_host), cmocka_unit_test(test_two_ranks_per_host),
        cmocka_unit_test(test_random_jobs),   cmocka_unit_test(test_only_seems_so),
        cmocka_unit_test(test_verdicts),      cmocka_unit_test(test_seen),
        cmocka_unit_test(test_not_slow),      cmocka_unit_test(test_scatter),
        cmocka_unit_test(test_budget),        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_partners),      cmocka_unit_test(test_out_of_memory),
        cmocka_unit_test(test_many_hosts),    cmocka_unit_test(test_thorough),
        cmocka_unit_test(test_price),         cmocka_unit_test(test_thorough_uplinks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
