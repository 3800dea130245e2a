/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Probes whose receivers do not run all the time: pieces come at a link's rate and wait until they
 * are looked for. The clock may take the rate for lower than it was, never for higher; taking the
 * times at which the two pieces were seen, as one would without it, is wrong by any factor.
 */
#include "detect/probe_clock.h"

#include "probing.h"
#include "support.h"

#include <math.h>

enum { PIECES = 8, WARM_UP = 3, HOSTS = 5 };

static const double piece = 16384, rate = 12.5e6; /* bytes; per second */

/* A receiver: it looks at fixed intervals, but for one stretch in which it does not run. A look
 * takes at most two pieces off, and the next one follows at once. */
struct receiver {
    double every, at_once, stops, runs_again;
};

/* What it makes of pieces that come one behind the other from `first` on.
 * @param[out] naive  the rate by the times at which pieces were seen */
static double receive(const struct receiver *receiver, double first, double *naive)
{
    struct strag_probe_clock clock = strag_probe_clock_start(PIECES, WARM_UP, 0);
    double warm = 0, now = 0;
    int seen = 0;
    while (seen < PIECES) {
        const int come = now < first ? 0 : 1 + (int)((now - first) * rate / piece);
        const int there = come < PIECES ? come : PIECES, take = there - seen < 2 ? there - seen : 2;
        if (seen < WARM_UP && seen + take >= WARM_UP)
            warm = now;
        seen += take;
        strag_probe_clock_look(&clock, now, seen);
        if (seen < PIECES)
            now += take > 0 ? receiver->at_once : receiver->every;
        if (now >= receiver->stops && now < receiver->runs_again)
            now = receiver->runs_again;
    }
    *naive = now > warm ? (PIECES - WARM_UP) * piece / (now - warm) : INFINITY;
    return strag_probe_clock_rate(&clock, piece);
}

TEST(test_by_hand)
{
    static const int seen[] = {1, 2, 2, 3, 6, 8};
    static const double when[] = {1, 2, 3, 4, 20, 21};
    struct strag_probe_clock clock = strag_probe_clock_start(8, 3, 0.5);
    assert_true(strag_probe_clock_rate(&clock, 100) == 0);
    for (int i = 0; i < 6; i++)
        strag_probe_clock_look(&clock, when[i], seen[i]);
    assert_true(strag_probe_clock_rate(&clock, 100) == 5 * 100 / (21.0 - 3.0));
    strag_probe_clock_look(&clock, 22, 8); /* it has ended */
    assert_true(strag_probe_clock_rate(&clock, 100) == 5 * 100 / (21.0 - 3.0));

    /* It never looked while nothing was there: since it began, then. */
    clock = strag_probe_clock_start(8, 3, 0.5);
    strag_probe_clock_look(&clock, 2, 5);
    assert_true(strag_probe_clock_rate(&clock, 100) == 0);
    strag_probe_clock_look(&clock, 2.5, 8);
    assert_true(strag_probe_clock_rate(&clock, 100) == 5 * 100 / 2.0);
    clock = strag_probe_clock_start(8, 3, 2);
    strag_probe_clock_look(&clock, 2, 8);
    assert_true(strag_probe_clock_rate(&clock, 100) == 0);
}

/* It runs all the time, and looks from once in 10 us to once a piece. */
TEST(test_it_runs)
{
    const double piece_seconds = piece / rate;
    for (double every = 1e-5; every <= piece_seconds; every *= 1.3) {
        const struct receiver receiver = {every, 1e-6, INFINITY, INFINITY};
        double naive;
        const double found = receive(&receiver, 3e-4, &naive);
        const double seconds = (PIECES - WARM_UP) * piece_seconds;
        assert_true(found <= rate && found >= rate * seconds / (seconds + 2 * every));
    }
}

/* STRAG_CASES: receivers that stop at any time, for up to 50 ms. */
TEST(test_it_stops)
{
    struct rng rng = {support_seed("stopped receivers")};
    double worst = 0, lowest = INFINITY;
    for (long c = 0; c < support_cases(20000); c++) {
        const double stops = 1e-5 * rng_below(&rng, 1500);
        const struct receiver receiver = {1e-6 * (1 + rng_below(&rng, 300)), 1e-6, stops,
                                          stops + 1e-5 * rng_below(&rng, 5000)};
        double naive;
        const double found = receive(&receiver, 1e-5 * rng_below(&rng, 300), &naive);
        assert_true(found > 0 && found <= rate * (1 + 1e-9));
        lowest = fmin(lowest, found);
        worst = fmax(worst, naive);
    }
    assert_true(worst > 1000 * rate); /* such times were among them */
    assert_true(lowest < rate / 5);
}

/* Of two probes of five equal hosts three receivers stop in the first three rounds of each. As in
 * struct probing; the context says whether the clock is naive. */
static double measured(const struct probing *probing, int from, int to)
{
    static const struct receiver runs = {5e-5, 1e-6, INFINITY, INFINITY},
                                 stops = {5e-5, 1e-6, 1e-3, 0.03};
    const bool *naive = probing->context;
    double by_sight;
    const double by_clock = receive(to != 0 && to != 2 ? &stops : &runs, 3e-4, &by_sight);
    return *naive ? by_sight : by_clock;
}

static void probe_twice(bool naive, struct strag_state_record *found)
{
    struct strag_probe_hosts hosts = probing_hosts(HOSTS);
    struct probing probing;
    probing_make(&probing, &hosts, NULL, measured, &naive);
    for (int probe = 0; probe < 2; probe++)
        (void)probing_probe(&probing, 1e-3);
    strag_slowdown_state(&probing.slowdown, found);
    probing_free(&probing);
    strag_probe_hosts_free(&hosts);
}

TEST(test_nobody_is_slow)
{
    struct strag_state_record found;
    probe_twice(true, &found);
    assert_true(found.nslow > 0 && found.slow[0].factor > 20);
    probe_twice(false, &found);
    assert_int_equal(found.nslow, 0);
}
