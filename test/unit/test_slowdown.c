/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Slow links found while a job runs: the meter by hand, and jobs in virtual time (wires.h) whose
 * ranks run real plans while hosts' links become slower, heal, or only seem to.
 *
 * STRAG_CASES: random jobs of each kind.
 */
#include "detect/slowdown.h"

#include "detect/meter.h"

#include "exhaust.h"
#include "memory.h"
#include "probing.h"
#include "support.h"
#include "wires.h"

#include <math.h>

enum { MIB = 1 << 20, CALLS = 3 /* of a window */ };

/* ---- The meter ---- */

/* As in strag_meter_take: host 3's link is half as wide. */
static double slower(const void *context, int host)
{
    return host == 3 ? 2 : 1;
}

static void assert_rate(struct strag_meter *meter, double least, double rate)
{
    assert_true(fabs(strag_meter_take(meter, least, slower, NULL) - rate) < 1e-9);
}

TEST(test_meter)
{
    struct strag_meter empty = {.busy = 0}, *meter = &empty;
    strag_meter_begin(meter, 1);
    strag_meter_end(meter, 1, 1000, 1.0); /* alone: it tells nothing */
    strag_meter_begin(meter, 1);
    strag_meter_begin(meter, 1);
    strag_meter_end(meter, 1, 1000, 2.0); /* this one has filled the buffer */
    strag_meter_begin(meter, 1);
    strag_meter_end(meter, 1, 1000, 3.0);
    strag_meter_end(meter, 1, 500, 3.5);
    assert_rate(meter, 1.4, 1000); /* 1500 bytes in 1.5 seconds */
    assert_rate(meter, 0, 0);

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
    assert_rate(meter, 0, 500);
}

/* What waited for `seconds` to a host. */
static void drain(struct strag_meter *meter, int host, size_t bytes, double seconds)
{
    strag_meter_begin(meter, host);
    strag_meter_begin(meter, host);
    strag_meter_end(meter, host, 1, 10);
    strag_meter_end(meter, host, bytes, 10 + seconds);
}

/* The best host counts, by what is expected of it, if its messages waited for long enough. */
TEST(test_best_host)
{
    struct strag_meter empty = {.busy = 0}, *meter = &empty;
    drain(meter, 8, 300, 1);
    drain(meter, 0, 500, 5);
    drain(meter, 3, 800, 4);
    assert_rate(meter, 0.5, 400);
    drain(meter, 8, 300, 1);
    drain(meter, 0, 500, 5);
    drain(meter, 3, 800, 4);
    assert_rate(meter, 4, 100);
    drain(meter, 8, 300, 1);
    assert_rate(meter, 1, 0);
}

/* Of very many hosts the first ones; a send to another one is no reason to count what waits. */
TEST(test_many_hosts)
{
    struct strag_meter empty = {.busy = 0}, *meter = &empty;
    for (int i = 0; i < STRAG_METER_LANES; i++)
        drain(meter, 100 * i, 100, 5 - i / 4);
    drain(meter, 5000, 1000, 1);
    assert_rate(meter, 0, 50);
    drain(meter, 5000, 1000, 1);
    assert_rate(meter, 0, 1000);
    for (int i = 0; i < STRAG_METER_LANES; i++)
        strag_meter_begin(meter, i);
    strag_meter_begin(meter, 99);
    for (int i = 0; i < STRAG_METER_LANES - 1; i++)
        strag_meter_end(meter, i, 100, 1);
    strag_meter_begin(meter, STRAG_METER_LANES - 1);
    for (int i = 0; i < 2; i++) /* 99 is in the way */
        strag_meter_end(meter, STRAG_METER_LANES - 1, 100, 2 + i);
    strag_meter_end(meter, 99, 100, 4);
    assert_rate(meter, 0, 0);
    drain(meter, 99, 700, 1);
    assert_rate(meter, 0, 700);
}

/* ---- Jobs ---- */

struct job {
    struct wires wires;
    struct strag_probe_hosts hosts;
    struct probing probing;
    const char *usual, *slow; /* algorithms: while nobody is known to be slow, and then */
    size_t bytes;
    int probes, windows;
};

/* As in struct probing. */
static double real_rate(const struct probing *probing, int from, int to)
{
    const struct job *job = probing->context;
    return wires_rate(&job->wires, from, to);
}

static void job_make(struct job *job, int hosts, int ranks_per_host, const char *usual,
                     const char *slow, struct rng *rng)
{
    *job = (struct job){.usual = usual, .slow = slow, .bytes = 4 * MIB};
    wires_make(&job->wires, hosts, ranks_per_host, rng);
    job->wires.jitter = 0.03;
    assert_true(strag_probe_hosts_make(job->wires.topology, &job->hosts));
    probing_make(&job->probing, &job->hosts, NULL, real_rate, job);
}

static void job_free(struct job *job)
{
    probing_free(&job->probing);
    strag_probe_hosts_free(&job->hosts);
    wires_free(&job->wires);
}

static double run_calls(struct job *job, int calls)
{
    struct strag_state_record record;
    double seconds = 0;
    strag_slowdown_state(&job->probing.slowdown, &record);
    record.nstragglers = 0;
    const struct strag_state known = strag_state_of(&record);
    for (int c = 0; c < calls; c++)
        seconds +=
            wires_call(&job->wires, known.nslow ? job->slow : job->usual, &known, job->bytes);
    return seconds;
}

struct sender {
    const struct job *job;
    int host;
};

/* As in strag_meter_take. */
static double slower_host(const void *context, int host)
{
    const struct sender *sender = context;
    return fmax(probing_factor(&sender->job->probing, sender->host),
                probing_factor(&sender->job->probing, host));
}

/* What all ranks' meters say. */
static void take_meters(struct job *job, double seconds, struct strag_link_sample *all)
{
    strag_link_sample_clear(all);
    for (int rank = 0; rank < job->wires.n; rank++) {
        const struct sender sender = {job, rank / job->wires.ranks_per_host};
        const double rate =
            strag_meter_take(&job->wires.meters[rank], 0.02 * seconds, slower_host, &sender);
        strag_link_sample_add(all, rank, strag_link_rate(rate), STRAG_LINK_UNKNOWN, 1);
    }
}

/* @return whether the judgement changed */
static bool window(struct job *job)
{
    struct strag_slowdown *slowdown = &job->probing.slowdown;
    struct strag_link_sample meters;
    const double seconds = run_calls(job, CALLS);
    bool changed = false;
    take_meters(job, seconds, &meters);
    job->windows++;
    for (int r = strag_slowdown_window(slowdown, &meters, seconds, INFINITY); r > 0;
         r = strag_slowdown_rounds(slowdown)) {
        const double took = r * (double)strag_slowdown_bytes(slowdown) / job->wires.bandwidth;
        changed = probing_probe(&job->probing, took) || changed;
        job->probes++;
    }
    return changed;
}

/* Are exactly the slow hosts named, by about their factors? */
static bool is_right(const struct job *job)
{
    for (int h = 0; h < job->wires.hosts; h++) {
        double named = probing_factor(&job->probing, h), is = job->wires.factor[h];
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
        if (job->wires.factor[h] > 1 || probing_factor(&job->probing, h) > 1)
            snprintf(hosts + used, sizeof hosts - used, " %d:%g(%g)", h, job->wires.factor[h],
                     probing_factor(&job->probing, h));
    }
    fail_msg("%d hosts of %d ranks, %s then %s: %s after %d windows, %d probes; slow (named)%s",
             job->wires.hosts, job->wires.ranks_per_host, job->usual, job->slow, what, windows,
             job->probes, hosts);
}

static void must_be_right(struct job *job, int most, const char *what)
{
    const int windows = windows_until_right(job, most);
    if (windows > most)
        fail_job(job, what, windows);
}

/* Degraded, named; changed, named; healed, forgotten: after a change the next one has to wait, and
 * if messages never wait for a probe without a suspicion.
 * @param most  windows until it is named first */
static void live(struct job *job, const int *slow, int nslow, double factor, int most)
{
    window(job);
    window(job);
    if (!is_right(job))
        fail_job(job, "something was found on healthy links", 2);
    for (int i = 0; i < nslow; i++)
        job->wires.factor[slow[i]] = factor;
    must_be_right(job, most, "not found");
    for (int i = 0; i < nslow; i++)
        job->wires.factor[slow[i]] = 1.5 * factor;
    must_be_right(job, 60, "the change was not found");
    for (int i = 0; i < nslow; i++)
        job->wires.factor[slow[i]] = 1;
    must_be_right(job, 100, "not back");
}

static const double factors[] = {1.14, 1.33, 2, 4};
static const char *const usual[] = {"ring", "recursive-halving", "circulant"};
static const char *const for_slow[] = {"weighted", "optcc"};

static void one_slow_host(int u, int f, int ranks_per_host, struct rng *rng)
{
    struct job job;
    job_make(&job, 8, ranks_per_host, usual[u], for_slow[f % 2], rng);
    int slow = (int)rng_below(rng, 8);
    live(&job, &slow, 1, factors[f], ranks_per_host == 1 ? 3 : 40);
    job_free(&job);
}

/* From one pair of algorithm and factor to the next: of few all are others. */
static long step(void)
{
    return support_is_short() ? 5 : support_is_full() ? 1 : 2;
}

TEST(test_one_slow_host)
{
    struct rng rng = {support_seed("one slow host")};
    for (long c = 0; c < support_cases(12); c += step())
        one_slow_host((int)(c % 3), (int)(c / 3 % 4), 1, &rng);
}

/* Two streams out of a host at any time: nothing is ever counted, and rare probes must do. Each
 * algorithm and most of the factors once. */
TEST(test_two_ranks_per_host)
{
    struct rng rng = {support_seed("two ranks per host")};
    for (long c = 1; c < support_cases(12); c += 5)
        one_slow_host((int)(c % 3), (int)(c / 3 % 4), 2, &rng);
}

/* Buffers that swallow most of what is sent, so that little ever waits; other numbers of hosts. */
TEST(test_random_jobs)
{
    struct rng rng = {support_seed("random jobs")};
    for (long c = 0; c < support_cases(6); c += step()) {
        struct job job;
        int hosts = 4 + (int)rng_below(&rng, 7), slow[2];
        job_make(&job, hosts, 1 + (int)rng_below(&rng, 2), usual[rng_below(&rng, 3)],
                 for_slow[rng_below(&rng, 2)], &rng);
        job.wires.buffer = 256 * 1024;
        slow[0] = (int)rng_below(&rng, (unsigned)hosts);
        slow[1] = (slow[0] + 1 + (int)rng_below(&rng, (unsigned)hosts - 1)) % hosts;
        live(&job, slow, hosts < 6 ? 1 : 1 + (int)rng_below(&rng, 2),
             1.2 + 0.01 * rng_below(&rng, 200), 40);
        job_free(&job);
    }
}

/* Links that are anything up to 6 % slower in every call, and a rank that is late in all of them:
 * the meters may be taken in, the probes are not. */
TEST(test_only_seems_so)
{
    struct rng rng = {support_seed("only seems so")};
    for (long c = 0; c < support_cases(6); c++) {
        struct job job;
        bool straggler = c % 2;
        int windows = straggler ? 12 : 20;
        job_make(&job, 8, 1, usual[c / 2 % 3], "weighted", &rng);
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

/* A probing whose messages between two hosts are as fast as the slower one's rate here. */
struct by_hand {
    struct strag_probe_hosts hosts;
    struct probing probing;
    struct strag_slowdown *slowdown;
    double rate[HOSTS];
};

/* As in struct probing. */
static double rate_by_hand(const struct probing *probing, int from, int to)
{
    const double *rate = probing->context;
    return 1e6 * fmin(rate[from], rate[to]);
}

static void by_hand_make(struct by_hand *by_hand, const struct strag_state_record *known)
{
    by_hand->hosts = probing_hosts(HOSTS);
    probing_make(&by_hand->probing, &by_hand->hosts, known, rate_by_hand, by_hand->rate);
    by_hand->slowdown = &by_hand->probing.slowdown;
}

static void by_hand_free(struct by_hand *by_hand)
{
    probing_free(&by_hand->probing);
    strag_probe_hosts_free(&by_hand->hosts);
}

/* A probe of 1 ms of hosts with these rates, in MB per second. @return whether the state changed */
static bool probed(struct by_hand *by_hand, const double *rate)
{
    memcpy(by_hand->rate, rate, sizeof by_hand->rate);
    return probing_probe(&by_hand->probing, 1e-3);
}

/* @return the rounds that are wanted */
static int next_window(struct by_hand *by_hand, double elapsed)
{
    return strag_slowdown_window(by_hand->slowdown, NULL, elapsed, INFINITY);
}

/* The same; of one rank the meter says this, of the others 9. */
static int metered_window(struct by_hand *by_hand, double rate, double elapsed)
{
    struct strag_link_sample sample;
    strag_link_sample_clear(&sample);
    for (int rank = 0; rank < HOSTS; rank++)
        strag_link_sample_add(&sample, rank, strag_link_rate(1e6 * (rank == 3 ? rate : 9)),
                              STRAG_LINK_UNKNOWN, 1);
    return strag_slowdown_window(by_hand->slowdown, &sample, elapsed, INFINITY);
}

static void assert_factors(const struct by_hand *by_hand, const double *want)
{
    for (int h = 0; h < HOSTS; h++)
        assert_true(fabs(probing_factor(&by_hand->probing, h) - want[h]) < 0.06);
}

static const double fine[HOSTS] = {1, 1, 1, 1, 1, 1, 1, 1}, equal[HOSTS] = {9, 9, 9, 9, 9, 9, 9, 9};

TEST(test_verdicts)
{
    static const double two[HOSTS] = {9, 9, 9, 3, 9, 4.4, 9, 9},
                        both[HOSTS] = {1, 1, 1, 3, 1, 2.05, 1, 1};
    struct by_hand by_hand;
    by_hand_make(&by_hand, NULL);
    assert_int_equal(next_window(&by_hand, 2), 3);
    assert_false(probed(&by_hand, two));
    assert_int_equal(strag_slowdown_rounds(by_hand.slowdown), 0);
    assert_factors(&by_hand, fine);
    assert_int_equal(next_window(&by_hand, 2), 4); /* to confirm it */
    assert_true(probed(&by_hand, two));
    assert_factors(&by_hand, both);

    /* No other change for four windows. A tenth more or less is none; nor is what one probe says.
     */
    for (int w = 0; w < 3; w++)
        assert_int_equal(next_window(&by_hand, 2), 0);
    assert_true(next_window(&by_hand, 2) > 0);
    assert_false(probed(&by_hand, (double[HOSTS]){9, 9, 9, 3.2, 9, 4.2, 9, 9}));
    assert_int_equal(next_window(&by_hand, 0.1), 0);
    assert_int_equal(next_window(&by_hand, 0.1), 3);
    assert_false(probed(&by_hand, equal));
    assert_int_equal(next_window(&by_hand, 0.3), 4);
    assert_false(probed(&by_hand, (double[HOSTS]){9, 9, 9, 3.2, 9, 4.2, 9, 9}));
    assert_factors(&by_hand, both);

    /* Healed, both: and then not for eight windows. */
    assert_int_equal(next_window(&by_hand, 2), 3);
    assert_false(probed(&by_hand, (double[HOSTS]){9, 9, 9, 8.9, 9, 8.8, 9, 9}));
    assert_int_equal(next_window(&by_hand, 2), 4);
    assert_true(probed(&by_hand, (double[HOSTS]){9, 9, 9, 8.7, 9, 9, 9, 9}));
    assert_factors(&by_hand, fine);
    for (int w = 0; w < 7; w++)
        assert_int_equal(next_window(&by_hand, 2), 0);
    assert_true(next_window(&by_hand, 2) > 0);
    by_hand_free(&by_hand);
}

/* A meter's suspicion makes the second probe follow at once, whomever it is about. The factor is
 * what both say. */
TEST(test_at_once)
{
    struct by_hand by_hand;
    by_hand_make(&by_hand, NULL);
    assert_int_equal(metered_window(&by_hand, 4, 1), 3);
    assert_false(probed(&by_hand, (double[HOSTS]){9, 9, 9, 9, 9, 3, 9, 2}));
    assert_int_equal(strag_slowdown_rounds(by_hand.slowdown), 4);
    assert_true(probed(&by_hand, (double[HOSTS]){9, 2, 9, 9, 9, 4, 9, 9}));
    assert_int_equal(strag_slowdown_rounds(by_hand.slowdown), 0);
    assert_factors(&by_hand, (double[HOSTS]){1, 1, 1, 1, 1, 2.25, 1, 1});
    by_hand_free(&by_hand);
}

/* A first probe without a reason: three messages of 128 KiB take 44 ms at the meters' 9 MB/s, and
 * may take 1/500 of the time. With a suspicion it is not waited for. */
TEST(test_first)
{
    struct by_hand by_hand;
    by_hand_make(&by_hand, NULL);
    assert_int_equal(metered_window(&by_hand, 9, 21), 0);
    assert_int_equal(metered_window(&by_hand, 9, 1), 3);
    by_hand_free(&by_hand);
    by_hand_make(&by_hand, NULL);
    assert_int_equal(metered_window(&by_hand, 9, 1), 0);
    assert_int_equal(metered_window(&by_hand, 6, 1), 3);
    by_hand_free(&by_hand);
    /* No message has waited: the model knows of 9 MB/s. Rank 2's host takes twice as long. */
    static const struct strag_state_record known = {.nslow = 1, .slow = {{2, 2}}};
    by_hand_make(&by_hand, NULL);
    strag_slowdown_init(by_hand.slowdown, &by_hand.hosts, &known, 9e6);
    assert_int_equal(next_window(&by_hand, 43), 0);
    assert_int_equal(next_window(&by_hand, 1), 3);
    by_hand_free(&by_hand);
}

/* A suspicion that probes refute is none any more, a stronger one is; until it has gone. */
TEST(test_refuted)
{
    struct by_hand by_hand;
    by_hand_make(&by_hand, NULL);
    assert_int_equal(metered_window(&by_hand, 6, 0.1), 3);
    assert_false(probed(&by_hand, equal));
    assert_int_equal(metered_window(&by_hand, 6, 0.1), 0);
    assert_int_equal(metered_window(&by_hand, 4, 0.1), 3);
    assert_false(probed(&by_hand, equal));
    assert_int_equal(metered_window(&by_hand, 4, 0.1), 0);
    assert_int_equal(metered_window(&by_hand, 8.9, 2), 3);
    assert_false(probed(&by_hand, equal));
    assert_int_equal(metered_window(&by_hand, 6, 0.1), 3);
    by_hand_free(&by_hand);
}

TEST(test_not_slow)
{
    static const double by_nature[HOSTS] = {9, 9, 4.5, 9, 2.25, 9, 9, 9};
    const struct strag_state_record known = {.nslow = 2, .slow = {{6, 1.5}, {6, 2}}};
    struct by_hand by_hand;
    by_hand_make(&by_hand, NULL);
    by_hand.hosts.narrower[2] = 693; /* half as wide, and ... */
    by_hand.hosts.narrower[4] = 1386;
    for (int twice = 0; twice < 2; twice++) /* as the layout says */
        assert_false(probed(&by_hand, by_nature));
    /* One was not measured: the others were, and one of them twice in a row. */
    assert_false(probed(&by_hand, (double[HOSTS]){9, 9, 4.5, 9, 0, 3, 9, 9}));
    assert_true(probed(&by_hand, (double[HOSTS]){9, 9, 4.5, 9, 0, 3, 9, 9}));
    assert_factors(&by_hand, (double[HOSTS]){1, 1, 1, 1, 1, 3, 1, 1});
    for (int twice = 0; twice < 2; twice++) /* most of them: the machine is like that */
        assert_false(probed(&by_hand, (double[HOSTS]){3, 3, 1.5, 3, 0.75, 1, 9, 9}));
    probing_free(&by_hand.probing);
    probing_make(&by_hand.probing, &by_hand.hosts, &known, rate_by_hand, by_hand.rate);
    assert_factors(&by_hand, (double[HOSTS]){1, 1, 1, 1, 1, 1, 2, 1});
    for (int twice = 0; twice < 2; twice++) /* known */
        assert_false(probed(&by_hand, (double[HOSTS]){9, 9, 4.5, 9, 2.25, 9, 4.5, 9}));
    for (int twice = 0; twice < 2; twice++) /* twice as slow as by nature */
        assert_int_equal(probed(&by_hand, (double[HOSTS]){9, 9, 2.25, 9, 2.25, 9, 9, 9}), twice);
    assert_factors(&by_hand, (double[HOSTS]){1, 1, 2, 1, 1, 1, 1, 1});
    by_hand_free(&by_hand);
}

/* What probes may take of the job's time. */
TEST(test_budget)
{
    struct by_hand by_hand;
    by_hand_make(&by_hand, NULL);
    assert_int_equal(next_window(&by_hand, 1.4), 0); /* 3 ms are expected: 1/500 of the time */
    assert_int_equal(next_window(&by_hand, 0.2), 3);
    assert_false(probed(&by_hand, equal)); /* it took 1 ms */
    assert_int_equal(next_window(&by_hand, 0.45), 0);
    assert_int_equal(next_window(&by_hand, 0.06), 3);
    assert_false(probed(&by_hand, equal));
    assert_int_equal(metered_window(&by_hand, 6, 0.009), 0);
    assert_int_equal(metered_window(&by_hand, 6, 0.002), 3); /* a tenth of the time, suspicious */
    by_hand_free(&by_hand);

    /* A quarter of what is left; with a suspicion all of it. */
    by_hand_make(&by_hand, NULL);
    assert_int_equal(strag_slowdown_window(by_hand.slowdown, NULL, 10, 11e-3), 0);
    assert_int_equal(strag_slowdown_window(by_hand.slowdown, NULL, 1e-3, 13e-3), 3);
    assert_false(probed(&by_hand, (double[HOSTS]){9, 9, 9, 3, 9, 9, 9, 9})); /* it took 1 ms */
    assert_int_equal(strag_slowdown_window(by_hand.slowdown, NULL, 10, 0.9e-3), 0);
    assert_int_equal(strag_slowdown_window(by_hand.slowdown, NULL, 1e-3, 2), 4);
    by_hand_free(&by_hand);

    by_hand_make(&by_hand, NULL);
    by_hand.slowdown->hosts = 2; /* nobody can say which of two is the slow one */
    assert_int_equal(next_window(&by_hand, 1e6), 0);
    by_hand_free(&by_hand);
}

TEST(test_bytes)
{
    struct by_hand by_hand;
    double rate[HOSTS];
    by_hand_make(&by_hand, NULL);
    assert_int_equal(strag_slowdown_bytes(by_hand.slowdown), STRAG_PROBE_SHORTEST);
    for (int h = 0; h < HOSTS; h++)
        rate[h] = 1e3;
    assert_false(probed(&by_hand, rate));
    assert_in_range(strag_slowdown_bytes(by_hand.slowdown), 980000, 1020000); /* 1 ms */
    for (int h = 0; h < HOSTS; h++)
        rate[h] = 1e5;
    assert_false(probed(&by_hand, rate));
    assert_int_equal(strag_slowdown_bytes(by_hand.slowdown), STRAG_PROBE_LONGEST);
    by_hand_free(&by_hand);
}

/* With a suspicion messages take a tenth of the calls' time in three rounds, in which the slow link
 * takes as much longer as meters say, up to 30 ms; to confirm what a probe has found the same, as
 * it says, in four. Then they are as short as ever. */
TEST(test_thorough)
{
    double slow[HOSTS] = {100, 100, 100, 100, 100, 50, 100, 100};
    struct by_hand by_hand;
    by_hand_make(&by_hand, NULL);
    assert_int_equal(metered_window(&by_hand, 4.5, 10), 3);
    assert_in_range(strag_slowdown_bytes(by_hand.slowdown), 265000, 275000);
    assert_false(probed(&by_hand, slow));
    assert_int_equal(strag_slowdown_rounds(by_hand.slowdown), 4);
    by_hand_free(&by_hand);

    by_hand_make(&by_hand, NULL);
    assert_int_equal(next_window(&by_hand, 10), 3);
    assert_false(probed(&by_hand, slow));
    assert_int_equal(next_window(&by_hand, 1), 4);
    assert_in_range(strag_slowdown_bytes(by_hand.slowdown), 1225000, 1275000); /* 12.5 ms */
    assert_int_equal(next_window(&by_hand, 9), 4);
    assert_in_range(strag_slowdown_bytes(by_hand.slowdown), 2940000, 3060000);
    assert_true(probed(&by_hand, slow));
    assert_true(next_window(&by_hand, 40) > 0);
    assert_false(probed(&by_hand, slow));
    assert_int_equal(strag_slowdown_bytes(by_hand.slowdown), STRAG_PROBE_SHORTEST);
    by_hand_free(&by_hand);
}

/* A long probe has refuted a suspicion: the next one is short, and may come as soon as that costs
 * little. */
TEST(test_price)
{
    struct by_hand by_hand;
    by_hand_make(&by_hand, NULL);
    for (int h = 0; h < HOSTS; h++)
        by_hand.rate[h] = 9;
    assert_int_equal(next_window(&by_hand, 10), 3);
    assert_false(probing_probe(&by_hand.probing, 6e-3));
    assert_int_equal(metered_window(&by_hand, 4.5, 10), 3);
    const double bytes = (double)strag_slowdown_bytes(by_hand.slowdown);
    assert_true(bytes > 2 * STRAG_PROBE_SHORTEST);
    assert_false(probing_probe(&by_hand.probing, 6e-3 * bytes / STRAG_PROBE_SHORTEST));
    assert_int_equal(next_window(&by_hand, 2.9), 0); /* 6 ms: 0.002 of 3 s */
    assert_int_equal(next_window(&by_hand, 0.2), 3);
    assert_int_equal(strag_slowdown_bytes(by_hand.slowdown), STRAG_PROBE_SHORTEST);
    by_hand_free(&by_hand);
}

/* Each probe has other partners, until it was all of them in turn. */
TEST(test_partners)
{
    for (int hosts = 3; hosts < 40; hosts++) {
        const int partners = hosts <= STRAG_PROBE_PARTNERS ? hosts - 1 : STRAG_PROBE_PARTNERS;
        for (int round = 0; round < 3 * partners; round++)
            assert_int_equal(strag_probe_shift(hosts, (unsigned)round), 1 + round % partners);
    }
}

/* ---- Memory ---- */

static int attempt(const void *what, struct strag_error *err, bool *made)
{
    struct strag_probe_hosts hosts;
    const bool all = strag_probe_hosts_make(what, &hosts);
    strag_probe_hosts_free(&hosts);
    *made = all;
    return all ? STRAG_OK : strag_fail(err, STRAG_ERR_MEMORY, "out of memory");
}

TEST(test_out_of_memory)
{
    struct strag_topology *topology;
    assert_int_equal(strag_topology_flat(HOSTS, 1, &topology, NULL), STRAG_OK);
    assert_int_equal(exhaust("hosts", attempt, topology), 3);
    strag_topology_free(topology);
}
