/* SPDX-License-Identifier: BSD-3-Clause */
#include "watch/link_sample.h"

#include <limits.h>
#include <math.h>
#include <string.h>

/* Of a bin, in the logarithm. Gaps' bins: the first has what is below the narrowest gap, and each
 * further one begins at this many times the one before. */
static const double width = 0.025, narrowest_gap = 0.005, next_gap = 1.41421356;

_Static_assert(sizeof(struct strag_link_sample) == 240, "a sample is sent without padding");

void strag_link_sample_clear(struct strag_link_sample *sample)
{
    memset(sample, 0, sizeof *sample);
    sample->top = INT32_MIN;
    for (int i = 0; i < STRAG_LINK_SLOWEST; i++)
        sample->slowest[i].rank = -1;
    for (int i = 0; i < STRAG_LINK_FASTEST; i++)
        sample->fastest[i].rank = -1;
}

/* ---- The worst links ---- */

/* Ranks break ties: the order of merging must not matter.
 * @param sign  1: the slowest come first; -1: the fastest */
static bool comes_before(struct strag_link a, struct strag_link b, float sign)
{
    if (b.rank < 0 || a.rate != b.rate)
        return b.rank < 0 || sign * a.rate < sign * b.rate;
    return a.rank < b.rank;
}

static void insert(struct strag_link *worst, int most, struct strag_link link, float sign)
{
    for (int i = 0; i < most && link.rank >= 0; i++) {
        if (!comes_before(link, worst[i], sign))
            continue;
        const struct strag_link moved = worst[i];
        worst[i] = link;
        link = moved;
    }
}

/* ---- The histogram ---- */

static void add(uint16_t *counted, unsigned more)
{
    const unsigned sum = *counted + more;
    *counted = (uint16_t)(sum < UINT16_MAX ? sum : UINT16_MAX);
}

static void count(struct strag_link_sample *sample, int32_t bin, unsigned links)
{
    const int64_t below = (int64_t)sample->top - bin;
    add(&sample->count[below < STRAG_LINK_BINS ? below : STRAG_LINK_BINS - 1], links);
}

/* Room for a bin, if it is above all. */
static void raise_top(struct strag_link_sample *sample, int32_t bin)
{
    const struct strag_link_sample before = *sample;
    if (bin <= before.top)
        return;
    memset(sample->count, 0, sizeof sample->count);
    sample->top = bin;
    for (int i = 0; i < STRAG_LINK_BINS; i++) {
        if (before.count[i])
            count(sample, before.top - i, before.count[i]);
    }
}

void strag_link_sample_add(struct strag_link_sample *sample, int rank, double rate, double factor)
{
    const struct strag_link link = {rank, (float)(rate * factor)};
    if (!(rate > 0) || !isfinite(rate))
        return;
    const int32_t bin = (int32_t)floor(log(rate) / width);
    raise_top(sample, bin);
    count(sample, bin, 1);
    insert(sample->slowest, STRAG_LINK_SLOWEST, link, 1);
    if (factor > 1)
        insert(sample->fastest, STRAG_LINK_FASTEST, link, -1);
}

static void count_gap(struct strag_link_sample *sample, const struct strag_fastest *fastest)
{
    if (!(fastest->second > 0))
        return;
    const double gap = log(fastest->best / fastest->second) / narrowest_gap;
    const double bin = gap < 1 ? 0 : 1 + floor(log(gap) / log(next_gap));
    add(&sample->gaps[bin < STRAG_LINK_GAPS ? (int)bin : STRAG_LINK_GAPS - 1], 1);
}

void strag_link_sample_add_host(struct strag_link_sample *sample, int rank,
                                const struct strag_fastest *out, const struct strag_fastest *in,
                                double factor)
{
    strag_link_sample_add(sample, rank, fmin(out->best, in->best), factor);
    count_gap(sample, out);
    count_gap(sample, in);
}

void strag_link_sample_merge(struct strag_link_sample *sample,
                             const struct strag_link_sample *other)
{
    raise_top(sample, other->top);
    for (int i = 0; i < STRAG_LINK_BINS; i++) {
        if (other->count[i])
            count(sample, other->top - i, other->count[i]);
    }
    for (int i = 0; i < STRAG_LINK_GAPS; i++)
        add(&sample->gaps[i], other->gaps[i]);
    for (int i = 0; i < STRAG_LINK_SLOWEST; i++)
        insert(sample->slowest, STRAG_LINK_SLOWEST, other->slowest[i], 1);
    for (int i = 0; i < STRAG_LINK_FASTEST; i++)
        insert(sample->fastest, STRAG_LINK_FASTEST, other->fastest[i], -1);
}

/* ---- What it says ---- */

/* @param rank  of a link, from the fastest one on, which is 0
 * @return the logarithm of its rate: links share their bin evenly; -INFINITY: in the last bin */
static double find(const struct strag_link_sample *sample, int rank)
{
    int before = 0;
    for (int i = 0; i < STRAG_LINK_BINS - 1; i++) {
        const int links = sample->count[i];
        if (rank < before + links)
            return width * (sample->top - i + 1 - (rank - before + 0.5) / links);
        before += links;
    }
    return -INFINITY;
}

/* By how much the faster half of the links is above the middle one, in the mean. */
static double spread(const struct strag_link_sample *sample, int half)
{
    static const double of_mean = 1.2533; /* a normal distribution's deviation, over its mean one */
    const double middle = find(sample, half - 1);
    double sum = 0;
    for (int i = 0, left = half; i < STRAG_LINK_BINS && left > 0; i++) {
        const int links = sample->count[i] < left ? sample->count[i] : left;
        sum += links * fmax(0, width * (sample->top - i + 0.5) - middle);
        left -= links;
    }
    return of_mean * sum / half;
}

/* Of one link's messages, by the median gap of its two fastest ones. Some gaps are those between
 * the links of two partners. */
static double noise(const struct strag_link_sample *sample)
{
    static const double of_median = 1.35; /* of three messages */
    int gaps = 0, bin = 0, below = sample->gaps[0];
    for (int i = 0; i < STRAG_LINK_GAPS; i++)
        gaps += sample->gaps[i];
    while (2 * below < gaps)
        below += sample->gaps[++bin];
    return bin == 0 ? 0 : of_median * narrowest_gap * pow(next_gap, bin - 0.5);
}

struct strag_link_summary strag_link_sample_summary(const struct strag_link_sample *sample)
{
    struct strag_link_summary summary = {.links = 0};
    for (int i = 0; i < STRAG_LINK_BINS; i++)
        summary.links += sample->count[i];
    if (summary.links == 0)
        return summary;
    summary.fast = exp(find(sample, summary.links - 1 - (3 * summary.links - 1) / 4));
    summary.scatter = fmax(spread(sample, (summary.links + 1) / 2), noise(sample));
    return summary;
}

double strag_link_sample_below(const struct strag_link_sample *sample, double rate)
{
    const double bin = log(rate) / width;
    double below = 0, all = 0;
    for (int i = 0; i < STRAG_LINK_BINS; i++) {
        all += sample->count[i];
        if (sample->top - i < floor(bin))
            below += sample->count[i];
    }
    return all > 0 ? below / all : 0;
}
