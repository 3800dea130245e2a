/* SPDX-License-Identifier: BSD-3-Clause */
#include "detect/link_sample.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

/* The first bin has gaps below the narrowest one; each further bin begins at next_gap times the one
 * before. */
static const double narrowest_gap = 0.005, next_gap = 1.41421356;

_Static_assert(sizeof(struct strag_link_sample) == 240, "a sample is sent without padding");

uint16_t strag_link_rate(double bytes_per_second)
{
    const double rate = bytes_per_second > 1 ? round(1000 * log(bytes_per_second)) : 0;
    return rate < UINT16_MAX ? (uint16_t)rate : STRAG_LINK_UNKNOWN;
}

void strag_link_sample_clear(struct strag_link_sample *sample)
{
    memset(sample, 0, sizeof *sample);
    for (int i = 0; i < STRAG_LINK_SLOWEST; i++)
        sample->slowest[i].rank = -1;
    for (int i = 0; i < STRAG_LINK_FASTEST; i++)
        sample->fastest[i].rank = -1;
}

/* ---- The worst links ---- */

/* The deviation that both probes confirm: the higher rate of a slow link, the lower one of a fast
 * link. */
static int both(const struct strag_link *link, bool slow)
{
    return (link->now > link->before) == slow ? link->now : link->before;
}

/* Ranks break ties: the order of merging must not matter. */
static bool is_worse(const struct strag_link *a, const struct strag_link *b, bool slow)
{
    const int more = both(a, slow) - both(b, slow);
    return b->rank < 0 || (slow ? more < 0 : more > 0) || (more == 0 && a->rank < b->rank);
}

static void insert(struct strag_link *worst, int most, struct strag_link link, bool slow)
{
    for (int i = 0; i < most && link.rank >= 0; i++) {
        if (!is_worse(&link, &worst[i], slow))
            continue;
        const struct strag_link moved = worst[i];
        worst[i] = link;
        link = moved;
    }
}

static void note_now(struct strag_link_sample *sample, uint16_t slowest, uint16_t fastest)
{
    if (slowest != STRAG_LINK_UNKNOWN &&
        (sample->now_slowest == STRAG_LINK_UNKNOWN || slowest < sample->now_slowest))
        sample->now_slowest = slowest;
    if (fastest > sample->now_fastest)
        sample->now_fastest = fastest;
}

/* ---- The histogram ---- */

static void count(uint16_t *counted, int more)
{
    const int sum = *counted + more;
    *counted = (uint16_t)(sum < UINT16_MAX ? sum : UINT16_MAX);
}

static void count_links(struct strag_link_sample *sample, int bin, int links)
{
    const int below = sample->top - bin;
    count(&sample->count[below < STRAG_LINK_BINS ? below : STRAG_LINK_BINS - 1], links);
}

/* Make room for a bin that is above all others. */
static void raise_top(struct strag_link_sample *sample, int bin)
{
    const struct strag_link_sample before = *sample;
    if (bin <= before.top)
        return;
    memset(sample->count, 0, sizeof sample->count);
    sample->top = bin;
    for (int i = 0; i < STRAG_LINK_BINS; i++)
        count_links(sample, before.top - i, before.count[i]);
}

void strag_link_sample_add(struct strag_link_sample *sample, int rank, uint16_t now,
                           uint16_t before, double factor)
{
    const uint16_t slower = strag_link_rate(factor) /* 0 for 1 */;
    const struct strag_link link = {rank, (uint16_t)(now + slower), (uint16_t)(before + slower)};
    if (now == STRAG_LINK_UNKNOWN)
        return;
    raise_top(sample, now / STRAG_LINK_BIN);
    count_links(sample, now / STRAG_LINK_BIN, 1);
    note_now(sample, link.now, factor > 1 ? link.now : STRAG_LINK_UNKNOWN);
    if (before == STRAG_LINK_UNKNOWN)
        return;
    insert(sample->slowest, STRAG_LINK_SLOWEST, link, true);
    if (factor > 1)
        insert(sample->fastest, STRAG_LINK_FASTEST, link, false);
}

void strag_link_sample_gap(struct strag_link_sample *sample, const struct strag_link_best *best)
{
    if (!(best->second > 0))
        return;
    const double gap = log(best->rate / best->second) / narrowest_gap;
    const double bin = gap < 1 ? 0 : 1 + floor(log(gap) / log(next_gap));
    count(&sample->gaps[bin < STRAG_LINK_GAPS ? (int)bin : STRAG_LINK_GAPS - 1], 1);
}

void strag_link_sample_merge(struct strag_link_sample *sample,
                             const struct strag_link_sample *other)
{
    raise_top(sample, other->top);
    note_now(sample, other->now_slowest, other->now_fastest);
    for (int i = 0; i < STRAG_LINK_BINS; i++)
        count_links(sample, other->top - i, other->count[i]);
    for (int i = 0; i < STRAG_LINK_GAPS; i++)
        count(&sample->gaps[i], other->gaps[i]);
    for (int i = 0; i < STRAG_LINK_SLOWEST; i++)
        insert(sample->slowest, STRAG_LINK_SLOWEST, other->slowest[i], true);
    for (int i = 0; i < STRAG_LINK_FASTEST; i++)
        insert(sample->fastest, STRAG_LINK_FASTEST, other->fastest[i], false);
}

/* ---- Evaluation ---- */

static int sum(const uint16_t *counts, int most)
{
    int all = 0;
    for (int i = 0; i < most; i++)
        all += counts[i];
    return all;
}

/* @param place  of a link; 0 is the fastest one
 * @return its rate, as if the links of a bin were spread evenly over it */
static double find(const struct strag_link_sample *sample, int place)
{
    for (int i = 0, before = 0; i < STRAG_LINK_BINS - 1; before += sample->count[i++]) {
        const int links = sample->count[i];
        if (links > 0 && place < before + links)
            return STRAG_LINK_BIN * (sample->top - i + 1 - (place - before + 0.5) / links);
    }
    return STRAG_LINK_UNKNOWN;
}

double strag_link_sample_fast(const struct strag_link_sample *sample)
{
    const int links = sum(sample->count, STRAG_LINK_BINS);
    return find(sample, links - 1 - (3 * links - 1) / 4);
}

/* How far the faster half of the links is above the middle one, on average, as a standard
 * deviation. */
static double spread(const struct strag_link_sample *sample)
{
    static const double of_mean = 1.2533; /* a normal distribution's standard over mean deviation */
    const int half = (sum(sample->count, STRAG_LINK_BINS) + 1) / 2;
    const double middle = find(sample, half - 1);
    double all = 0;
    if (middle <= STRAG_LINK_UNKNOWN)
        return 0; /* most links are in the last bin */
    for (int i = 0, left = half; i < STRAG_LINK_BINS && left > 0; left -= sample->count[i++]) {
        const int links = sample->count[i] < left ? sample->count[i] : left;
        all += links * fmax(0, STRAG_LINK_BIN * (sample->top - i + 0.5) - middle);
    }
    return of_mean * all / half;
}

/* The scatter of one link's messages, from the median gap between its two fastest ones. Some gaps
 * are those between the links of two partners. */
static double noise(const struct strag_link_sample *sample)
{
    static const double of_median = 1.35; /* of three messages */
    const int gaps = sum(sample->gaps, STRAG_LINK_GAPS);
    int bin = 0;
    for (int below = sample->gaps[0]; 2 * below < gaps; below += sample->gaps[bin])
        bin++;
    return bin == 0 ? 0 : 1000 * of_median * narrowest_gap * pow(next_gap, bin - 0.5);
}

double strag_link_sample_scatter(const struct strag_link_sample *sample)
{
    return fmax(spread(sample), noise(sample));
}

double strag_link_sample_below(const struct strag_link_sample *sample, double rate)
{
    int below = 0;
    for (int i = 0; i < STRAG_LINK_BINS; i++)
        below += STRAG_LINK_BIN * (sample->top - i + 1) <= rate ? sample->count[i] : 0;
    return (double)below / sum(sample->count, STRAG_LINK_BINS);
}
