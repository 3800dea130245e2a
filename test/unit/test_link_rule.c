/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rule by which hosts are called slow (slowdown.h), by its statistics: many simulated jobs on
 * networks whose rates scatter, wander, collide for good, or are slow. And what it costs: bytes,
 * memory, and rank 0's time.
 *
 * STRAG_CASES: jobs of each kind.
 */
#include "probing.h"

#include <math.h>

/* Seconds of calls in a window, and of a probe. */
#define WINDOW 5.0
#define TOOK   2e-3
static const double full = 1e10; /* bytes per second */

/* ---- Networks ---- */

struct network {
    struct rng rng;
    double noise;    /* every message's rate differs by this much, relative */
    double collide;  /* this part of the pairs of hosts has half the rate, ... */
    uint64_t paths;  /* ... and which these are */
    int slow, every; /* this many hosts are slow: numbers 1, 1 + every, ... */
    double factor;
    int oversubscribed; /* racks of 16 hosts, uplinks with a part of their links' sum; 0: none */
};

static double uniform(struct rng *rng)
{
    return ((double)(rng_next(rng) >> 11) + 1) * 0x1p-53;
}

static double normal(struct rng *rng)
{
    return sqrt(-2 * log(uniform(rng))) * cos(6.283185307179586 * uniform(rng));
}

static bool is_slow(const struct network *network, int host)
{
    return network->slow > 0 && host % network->every == 1 && host / network->every < network->slow;
}

static bool collides(const struct network *network, int from, int to)
{
    const uint64_t pair = network->paths + ((uint64_t)from << 32) + (uint64_t)to;
    return (double)(scramble(pair) >> 11) * 0x1p-53 < network->collide;
}

/* Of flows that leave a rack at once, all by the same distance. */
static double uplink_share(const struct network *network, int hosts, int from, int to)
{
    enum { RACK = 16 };
    const int distance = (to - from + hosts) % hosts;
    if (network->oversubscribed == 0 || from / RACK == to / RACK)
        return 1;
    return fmin(1, (double)RACK / network->oversubscribed / fmin(distance, RACK));
}

/* As in struct probing. */
static double rate(const struct probing *probing, int from, int to)
{
    struct network *network = probing->context;
    const bool slow = is_slow(network, from) || is_slow(network, to);
    return full * exp(network->noise * normal(&network->rng)) *
           (collides(network, from, to) ? 0.5 : 1) / (slow ? network->factor : 1) *
           uplink_share(network, probing->hosts->count, from, to);
}

/* ---- Jobs ---- */

struct outcome {
    int changes;
    int most_wrong; /* hosts at a time that count as slow and are not */
    int found;      /* hosts that are slow, and count so at the end by the right factor */
    int found_by;   /* the probe after which all were, or 0 */
};

static void count_hosts(const struct probing *probing, struct outcome *outcome)
{
    const struct network *network = probing->context;
    struct strag_state_record state;
    int wrong = 0;
    strag_slowdown_state(&probing->slowdown, &state);
    outcome->found = 0;
    for (int s = 0; s < state.nslow; s++) {
        const double off = state.slow[s].factor / network->factor;
        if (!is_slow(network, state.slow[s].rank))
            wrong++;
        else
            outcome->found += off > 1 / 1.12 && off < 1.12;
    }
    outcome->most_wrong = wrong > outcome->most_wrong ? wrong : outcome->most_wrong;
}

/* @param wanders  by how much the factor differs from one window to the next, relative; between 1.2
 * and 2 */
static struct outcome run_job(struct network *network, int hosts, int windows, double wanders)
{
    struct strag_probe_hosts made = probing_hosts(hosts);
    struct probing probing;
    struct outcome outcome = {0};
    int probes = 0;
    probing_make(&probing, &made, NULL, rate, network);
    for (int w = 0; w < windows; w++) {
        if (wanders > 0)
            network->factor =
                fmin(2, fmax(1.2, network->factor * exp(wanders * normal(&network->rng))));
        for (int r = strag_slowdown_window(&probing.slowdown, NULL, WINDOW, INFINITY); r > 0;
             r = strag_slowdown_rounds(&probing.slowdown)) {
            outcome.changes += probing_probe(&probing, TOOK);
            count_hosts(&probing, &outcome);
            probes++;
            if (outcome.found == network->slow && outcome.found_by == 0)
                outcome.found_by = probes;
        }
    }
    probing_free(&probing);
    strag_probe_hosts_free(&made);
    return outcome;
}

/* Jobs that fit into the test's time: the more hosts the fewer. */
static long jobs(int hosts, long of_8)
{
    const long usual = of_8 * 8 / hosts;
    return support_cases(usual > 2 ? usual : 2);
}

static const int sizes[] = {4, 5, 8, 16, 64, 1000};
enum { SIZES = sizeof sizes / sizeof *sizes };

/* ---- Nobody is slow ---- */

TEST(independent_noise)
{
    static const double noises[] = {0.05, 0.1, 0.2};
    struct rng seed = {support_seed("independent noise")};
    for (int i = 0; i < SIZES; i++) {
        for (int n = 0; n < 3; n++) {
            const long cases = jobs(sizes[i], 100);
            int changes = 0;
            for (long c = 0; c < cases; c++) {
                struct network network = {.rng = {rng_next(&seed)}, .noise = noises[n]};
                changes += run_job(&network, sizes[i], 200, 0).changes;
            }
            print_message("%4d hosts, noise %2.0f %%: %d changes in %ld jobs of 200 windows\n",
                          sizes[i], 100 * noises[n], changes, cases);
            assert_int_equal(changes, 0);
        }
    }
}

/* In the mean at most one host is called slow, at any time of a job. */
TEST(flows_that_collide_for_good)
{
    struct rng seed = {support_seed("flows that collide for good")};
    for (int percent = 10; percent <= 30; percent += 10) {
        const long cases = jobs(1000, 400);
        int wrong = 0;
        for (long c = 0; c < cases; c++) {
            struct network network = {.rng = {rng_next(&seed)},
                                      .noise = 0.02,
                                      .collide = 0.01 * percent,
                                      .paths = rng_next(&seed)};
            wrong += run_job(&network, 1000, 60, 0).most_wrong;
        }
        print_message("1000 hosts, %d %% of pairs at half rate: %.2f hosts in the mean of %ld "
                      "jobs\n",
                      percent, (double)wrong / (double)cases, cases);
        assert_true(wrong <= cases);
    }
}

/* Between racks all are slower, or those at the racks' ends. */
TEST(uplinks_with_less)
{
    struct rng seed = {support_seed("uplinks with less")};
    for (int part = 2; part <= 8; part *= 2) {
        struct network network = {.rng = {rng_next(&seed)}, .noise = 0.02, .oversubscribed = part};
        assert_int_equal(run_job(&network, 64, 200, 0).changes, 0);
    }
}

/* ---- Hosts that are slow ---- */

TEST(slow_hosts)
{
    static const double factors[] = {1.3, 2, 3};
    struct rng seed = {support_seed("slow hosts")};
    for (int i = 0; i < SIZES; i++) {
        for (int f = 0; f < 3; f++) {
            const long cases = jobs(sizes[i], 200);
            for (long c = 0; c < cases; c++) {
                const int slow = sizes[i] >= 8 ? 1 + (int)(c % 2) : 1;
                struct network network = {.rng = {rng_next(&seed)},
                                          .noise = 0.02,
                                          .slow = slow,
                                          .every = sizes[i] / slow,
                                          .factor = factors[f]};
                const struct outcome outcome = run_job(&network, sizes[i], 12, 0);
                if (outcome.found_by != 2 || outcome.found != slow || outcome.most_wrong > 0)
                    fail_msg("%d hosts, %d slow by %g: found after %d probes, %d at the end, "
                             "%d others",
                             sizes[i], slow, factors[f], outcome.found_by, outcome.found,
                             outcome.most_wrong);
            }
        }
    }
}

/* More than a sample has room for: eight at a time. */
TEST(a_slow_rack)
{
    struct network network = {
        .rng = {support_seed("a slow rack")}, .noise = 0.02, .slow = 32, .every = 8, .factor = 1.5};
    const struct outcome outcome = run_job(&network, 256, 40, 0);
    assert_int_equal(outcome.found, 32);
    assert_int_equal(outcome.changes, 4);
    assert_int_equal(outcome.most_wrong, 0);
}

TEST(a_factor_that_wanders)
{
    struct rng seed = {support_seed("a factor that wanders")};
    const long cases = support_cases(20);
    int most = 0;
    for (long c = 0; c < cases; c++) {
        struct network network = {
            .rng = {rng_next(&seed)}, .noise = 0.02, .slow = 1, .every = 16, .factor = 1.5};
        const int changes = run_job(&network, 16, 1000, c % 2 ? 0.03 : 0.3).changes;
        most = changes > most ? changes : most;
    }
    print_message("between 1.2 and 2: at most %d changes in 1000 windows\n", most);
    assert_in_range(most, 1, 8);
}

/* ---- The price ---- */

/* At 10,000 hosts: what rank 0 does once it has the merged sample, and to merge those of 14
 * children in a tree. The limit is many times what it takes, for sanitizers. */
TEST(price)
{
    enum { HOSTS = 10000, CHILDREN = 14, TIMES = 200 };
    struct network network = {.rng = {support_seed("price")}, .noise = 0.05};
    struct strag_probe_hosts hosts = probing_hosts(HOSTS);
    struct probing probing;
    struct strag_link_sample sample, all;
    probing_make(&probing, &hosts, NULL, rate, &network);
    for (int twice = 0; twice < 2; twice++) {
        (void)strag_slowdown_window(&probing.slowdown, NULL, WINDOW, INFINITY);
        probing_sample(&probing, strag_slowdown_rounds(&probing.slowdown), &sample);
        (void)strag_slowdown_probed(&probing.slowdown, &sample, TOOK);
    }
    double start = support_thread_seconds();
    for (int i = 0; i < TIMES * CHILDREN; i++) {
        if (i % CHILDREN == 0)
            strag_link_sample_clear(&all);
        strag_link_sample_merge(&all, &sample);
    }
    const double merging = (support_thread_seconds() - start) / TIMES;
    start = support_thread_seconds();
    for (int i = 0; i < TIMES; i++) {
        (void)strag_slowdown_window(&probing.slowdown, &sample, WINDOW, INFINITY);
        (void)strag_slowdown_probed(&probing.slowdown, &all, TOOK);
    }
    const double judging = (support_thread_seconds() - start) / TIMES;
    print_message("%d hosts: a sample of %zu bytes, a state of %zu; merging %d takes %.1f us, "
                  "judging a window and a probe %.1f us\n",
                  HOSTS, sizeof sample, sizeof probing.slowdown, CHILDREN, 1e6 * merging,
                  1e6 * judging);
    assert_in_range(sizeof sample, 1, 512);
    assert_in_range(sizeof probing.slowdown, 1, 2048);
    assert_true(merging < 1e-3 && judging < 1e-3);
    probing_free(&probing);
    strag_probe_hosts_free(&hosts);
}
