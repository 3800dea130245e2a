/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What watching costs, by counting and in processor time: a 500th of the time in calls; as much
 * memory, and as much of rank 0's time, with 131,072 ranks as with 8.
 */
#include "cluster.h"
#include "detect/thresholds.h"
#include "memory.h"

#include <math.h>

enum { CALLS = 100000, MANY = 10000, MOST = 131072 };

static const int sizes[] = {CLUSTER_HOSTS, MANY, MOST};

/* ---- The budget ---- */

static const double longest_delay = 5e-4;

/* A job in which now and then something happens. */
static void news(struct cluster *cluster)
{
    const long part = cluster->calls / 10000;
    cluster->straggler = part == 2 || part == 5 ? 5 : CLUSTER_NOBODY;
    cluster->rotates = part == 3;
    cluster->delay = part == 5 ? longest_delay : longest_delay / 2;
    cluster->factor[2] = part == 7 ? 2 : 1;
    if (cluster->calls == 40000)
        cluster->next_costs = 0.01; /* for a table */
}

/* All that was spent is within the budget when a window begins, but for the last window's part.
 * @param window_costs  seconds */
static void budget(int ranks, bool links, double window_costs)
{
    const struct cluster_kind kind = {.ranks = ranks,
                                      .stragglers = true,
                                      .links = links,
                                      .experiments = true,
                                      .dynamic = STRAG_DYNAMIC_AUTO};
    struct cluster *cluster = cluster_make(&kind);
    double at_first = 0, part = 0;
    cluster->seconds = 184e-6; /* of 1 MiB on 512 hosts, as modelled */
    cluster->scatter = 0.05;
    cluster->window_costs = window_costs;
    const double grant = 2 * (cluster->seconds + longest_delay);
    for (int c = 0; c < CALLS; c++) {
        const long windows = cluster->windows;
        const double spent = cluster->spent, granted = grant + STRAG_WATCH_SHARE * cluster->total;
        news(cluster);
        cluster_call(cluster);
        if (cluster->windows > windows) {
            if (spent > granted + part)
                fail_msg("%d ranks: %g s before call %d, %g s after window %ld", ranks,
                         granted + part, c, spent, windows);
            part = cluster->spent - spent;
        }
        at_first = c < 100 ? cluster->spent : at_first;
    }
    const double share = (cluster->spent - at_first) / cluster->total;
    print_message("%d ranks, %s, %.0f us a window: %ld windows and %ld probes in %d calls, %.4f %% "
                  "of the time, after %.1f calls' time in the first 100\n",
                  ranks, links ? "links" : "no links", 1e6 * window_costs, cluster->windows,
                  cluster->probes, CALLS, 100 * share, at_first / cluster->seconds);
    assert_true(share <= STRAG_WATCH_SHARE);
    cluster_free(cluster);
}

TEST(a_500th)
{
    budget(CLUSTER_HOSTS, false, 30e-6);
    budget(CLUSTER_HOSTS, true, 30e-6);
    budget(MANY, false, 100e-6);
    budget(MANY, false, 5e-3);
}

/* ---- Rank 0's time ---- */

enum who { NOBODY_LATE, ONE_LATE, ANOTHER_LATE, KINDS };

/* What a child of rank 0 sends of a call. @param last  the rank that is late; -1: none of its */
static struct strag_call_sample sample_of(int child, int last, bool look)
{
    struct strag_call_sample sample = strag_call_sample_none();
    const int other = last == child ? child + 1 : child;
    strag_call_sample_add(&sample, other, 401e-6, look ? 201e-6 : -1);
    if (last >= 0)
        strag_call_sample_add(&sample, last, 202e-6, look ? 0 : -1);
    return sample;
}

/* What rank 0 does for a window: merges, judges, and fills in what it sends. */
static void judge(struct cluster *cluster, enum who who, struct strag_judgement *judgement)
{
    struct strag_call_sample *calls = cluster->window.sample;
    const int filled = cluster->window.filled, n = cluster->kind.ranks;
    const double start = support_thread_seconds();
    for (int c = 0; c < filled; c++) {
        const unsigned random = (unsigned)(cluster->calls + c) * 2654435761u;
        int last = who == NOBODY_LATE ? -1 : who == ONE_LATE ? 5 : 1 + (int)(random % (n - 1u));
        for (int child = n / 2; child > 0; child /= 2, last = -1) {
            const struct strag_call_sample sample = sample_of(child, last, judgement->look);
            strag_call_sample_merge(&calls[c], &sample);
        }
    }
    *judgement = strag_judge_window(cluster->judge, calls, filled, NULL);
    cluster->longest = fmax(cluster->longest, support_thread_seconds() - start);
    strag_judge_spent(cluster->judge, 0); /* so that there is no pause: windows are most frequent */
    cluster->looks += judgement->look > 0;
    cluster->windows++;
    strag_window_start(&cluster->window, &judgement->next);
}

/* @return seconds */
static double run(struct cluster *cluster, enum who who)
{
    struct strag_judgement judgement = {.look = 0};
    const double start = support_thread_seconds();
    for (cluster->calls = 0; cluster->calls < CALLS; cluster->calls++) {
        const bool sampled = strag_window_has(&cluster->window, cluster->bytes, CLUSTER_OPERATION);
        const struct strag_entry *entry = cluster_runs(cluster);
        const struct strag_watched_call call = {
            cluster->bytes, CLUSTER_OPERATION,     entry->algorithm,
            entry->blocks,  STRAG_DYNAMIC_OUTSIDE, CLUSTER_NOBODY,
            false};
        const double stay = 4e-4;
        strag_judge_add(cluster->judge, &call, sampled ? stay : -1);
        if (strag_window_end(&cluster->window, 0, sampled, stay, judgement.look ? 2e-4 : -1) ==
            STRAG_WINDOW_DECIDE)
            judge(cluster, who, &judgement);
    }
    return support_thread_seconds() - start;
}

TEST(microseconds)
{
    static const char *const kinds[] = {"nobody", "one rank", "another one in each call"};
    static const double most_per_call = 20e-6, most_in_a_piece = 2e-3;
    for (int i = 0; i < 3; i++) {
        for (int who = 0; who < KINDS; who++) {
            const struct cluster_kind kind = {
                .ranks = sizes[i], .stragglers = true, .dynamic = STRAG_DYNAMIC_AUTO};
            struct cluster *cluster = cluster_make(&kind);
            cluster->useless = true; /* so that it is looked for all the time */
            const double seconds = run(cluster, (enum who)who);
            print_message("%d ranks, %s late: %.2f us a call, %.0f us a window\n", sizes[i],
                          kinds[who], 1e6 * seconds / CALLS,
                          1e6 * seconds / (double)cluster->windows);
            assert_true(cluster->windows > CALLS / 10);
            if (who != NOBODY_LATE)
                assert_true(cluster->looks > cluster->windows / 10);
            print_message("    in one piece %.0f us at most\n", 1e6 * cluster->longest);
            assert_true(seconds / CALLS <= most_per_call);
            assert_true(cluster->longest <= most_in_a_piece);
            cluster_free(cluster);
        }
    }
}

/* ---- Memory ---- */

/* What rank 0 keeps, whatever the number of ranks is; nothing is allocated for a window. */
TEST(kilobytes)
{
    long first = 0;
    for (int i = 0; i < 3; i++) {
        const struct cluster_kind kind = {.ranks = sizes[i], .stragglers = true};
        const struct strag_judge_table usual = {.selection = NULL};
        static const struct strag_state_record quiet = {.nslow = 0};
        struct cluster *cluster = cluster_make(&kind);
        memory_watch(0);
        struct strag_judge *made = strag_judge_create(&cluster->options, &quiet, &usual);
        struct strag_experiments *experiments = strag_experiments_create(0, 1);
        const long bytes = memory_unwatch().bytes + (long)sizeof(struct strag_slowdown) +
                           (long)sizeof(struct strag_window);
        assert_true(made && experiments);
        print_message("%d ranks: %.1f KiB\n", sizes[i], (double)bytes / 1024);
        assert_in_range(bytes, 1024, 64 * 1024);
        first = i ? first : bytes;
        assert_int_equal(bytes, first);
        memory_watch(0);
        run(cluster, NOBODY_LATE);
        assert_int_equal(memory_unwatch().allocations, 0);
        strag_judge_free(made);
        strag_experiments_free(experiments);
        cluster_free(cluster);
    }
    assert_in_range(sizeof(struct strag_call_sample[STRAG_WINDOW_CALLS]) +
                        sizeof(struct strag_link_sample),
                    1, 1024);
}
