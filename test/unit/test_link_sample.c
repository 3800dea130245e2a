/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Samples of links: whatever order and grouping they are merged in they come to the same bytes, and
 * what they say is what the rates themselves say.
 */
#include "detect/link_sample.h"

#include "support.h"

#include <math.h>

enum { LINKS = 500 };

struct link {
    uint16_t now, before;
    double factor, second;
};

static double uniform(struct rng *rng)
{
    return (double)(rng_next(rng) >> 11) * 0x1p-53;
}

/* Over three decades if it is wide, else by a factor of 2. */
static struct link random_link(struct rng *rng, bool wide)
{
    const double best = 1e9 * pow(wide ? 1000 : 2, uniform(rng));
    return (struct link){
        .now = strag_link_rate(best),
        .before =
            rng_one_in(rng, 10) ? STRAG_LINK_UNKNOWN : strag_link_rate(1e9 * (1 + uniform(rng))),
        .factor = rng_one_in(rng, 10) ? 1 + uniform(rng) : 1,
        .second = best * uniform(rng),
    };
}

static void add(struct strag_link_sample *sample, const struct link *link, int rank)
{
    const struct strag_link_best best = {exp(link->now / 1000.0), link->second};
    strag_link_sample_add(sample, rank, link->now, link->before, link->factor);
    strag_link_sample_gap(sample, &best);
}

/* Those from `from` to `to`, cut in two anywhere, again and again. */
static void merge_tree(const struct link *links, const int *order, int from, int to,
                       struct rng *rng, struct strag_link_sample *sample)
{
    strag_link_sample_clear(sample);
    if (to - from == 1)
        add(sample, &links[order[from]], order[from]);
    if (to - from < 2)
        return;
    const int middle = from + 1 + (int)rng_below(rng, (unsigned)(to - from - 1));
    const unsigned first = rng_below(rng, 2);
    struct strag_link_sample halves[2];
    merge_tree(links, order, from, middle, rng, &halves[0]);
    merge_tree(links, order, middle, to, rng, &halves[1]);
    strag_link_sample_merge(sample, &halves[first]);
    strag_link_sample_merge(sample, &halves[1 - first]);
}

TEST(any_order)
{
    struct rng rng = {support_seed("any order")};
    for (long c = 0; c < support_cases(200); c++) {
        struct link links[LINKS];
        int order[LINKS];
        const int count = 1 + (int)rng_below(&rng, LINKS);
        struct strag_link_sample all, merged;
        strag_link_sample_clear(&all);
        for (int i = 0; i < count; i++) {
            links[i] = random_link(&rng, c % 2);
            add(&all, &links[i], i);
            order[i] = i;
        }
        for (int i = count - 1; i > 0; i--) {
            const int j = (int)rng_below(&rng, (unsigned)i + 1), other = order[i];
            order[i] = order[j];
            order[j] = other;
        }
        merge_tree(links, order, 0, count, &rng, &merged);
        assert_memory_equal(&all, &merged, sizeof all);
    }
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

TEST(what_it_says)
{
    struct rng rng = {support_seed("what it says")};
    for (long c = 0; c < support_cases(200); c++) {
        double rates[LINKS] = {0};
        const int count = 1 + (int)rng_below(&rng, LINKS);
        struct strag_link_sample sample;
        strag_link_sample_clear(&sample);
        for (int i = 0; i < count; i++) {
            const struct link link = random_link(&rng, false);
            rates[i] = link.now;
            strag_link_sample_add(&sample, i, link.now, link.now, 1);
        }
        qsort(rates, (size_t)count, sizeof *rates, ascending);
        assert_true(fabs(strag_link_sample_fast(&sample) - rates[(3 * count - 1) / 4]) <
                    STRAG_LINK_BIN);
        assert_int_equal(sample.now_slowest, (int)rates[0]);
        for (int i = 0; i < STRAG_LINK_SLOWEST && i < count; i++)
            assert_int_equal(sample.slowest[i].now, (int)rates[i]);
        const double limit = rates[0] + (rates[count - 1] - rates[0]) * uniform(&rng);
        int below = 0, surely = 0;
        for (int i = 0; i < count; i++) {
            below += rates[i] < limit;
            surely += rates[i] < limit - STRAG_LINK_BIN;
        }
        const double said = strag_link_sample_below(&sample, limit) * count;
        assert_true(said > surely - 0.5 && said < below + 0.5);
    }
}

/* Of normally distributed rates, and of messages whose rates are. */
TEST(scatter)
{
    struct rng rng = {support_seed("scatter")};
    for (int kind = 0; kind < 2; kind++) {
        struct strag_link_sample sample;
        strag_link_sample_clear(&sample);
        for (int i = 0; i < 4000; i++) {
            struct strag_link_best best = {0, 0};
            for (int m = 0; m < 3; m++) {
                double sum = -6; /* of twelve: nearly normal */
                for (int k = 0; k < 12; k++)
                    sum += uniform(&rng);
                strag_link_best_add(&best, 1e9 * exp(0.1 * sum));
            }
            strag_link_sample_add(&sample, i, strag_link_rate(kind ? 1e9 : best.rate), 0, 1);
            if (kind)
                strag_link_sample_gap(&sample, &best);
        }
        assert_in_range((int)strag_link_sample_scatter(&sample), kind ? 80 : 60, 125);
    }
}

TEST(by_hand)
{
    struct strag_link_sample sample, other;
    strag_link_sample_clear(&sample);
    assert_true(strag_link_sample_fast(&sample) == STRAG_LINK_UNKNOWN);
    assert_int_equal(strag_link_rate(0), STRAG_LINK_UNKNOWN);
    assert_int_equal(strag_link_rate(INFINITY), STRAG_LINK_UNKNOWN);
    assert_int_equal(strag_link_rate(NAN), STRAG_LINK_UNKNOWN);
    assert_int_equal(strag_link_rate(exp(20)), 20000);
    strag_link_sample_add(&sample, 1, STRAG_LINK_UNKNOWN, 20000, 1); /* not measured */
    strag_link_sample_clear(&other);
    assert_memory_equal(&sample, &other, sizeof sample);

    /* One probe alone lists nothing; a host's factor counts; only slow hosts can be too fast. */
    strag_link_sample_add(&sample, 1, 20000, STRAG_LINK_UNKNOWN, 1);
    assert_int_equal(sample.now_slowest, 20000);
    assert_int_equal(sample.slowest[0].rank, -1);
    strag_link_sample_add(&sample, 2, 19000, 20000, 1);
    strag_link_sample_add(&sample, 3, 18000, 19500, exp(1));
    assert_int_equal(sample.now_slowest, 19000);
    assert_int_equal(sample.now_fastest, 19000);
    assert_int_equal(sample.slowest[0].rank, 2); /* 20000 at its better time, the other 20500 */
    assert_int_equal(sample.slowest[1].rank, 3);
    assert_int_equal(sample.slowest[1].now, 19000);
    assert_int_equal(sample.slowest[1].before, 20500);
    assert_int_equal(sample.slowest[2].rank, -1);
    assert_int_equal(sample.fastest[0].rank, 3);
    assert_int_equal(sample.fastest[1].rank, -1);

    /* Nothing that is added makes a full count small again. */
    for (int i = 0; i < 20; i++) {
        other = sample;
        strag_link_sample_merge(&sample, &other);
    }
    assert_int_equal(sample.count[0], UINT16_MAX);
}
