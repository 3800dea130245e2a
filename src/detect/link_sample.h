/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A sample: the rates of many hosts' links in a fixed number of bytes. Samples can be merged in any
 * order and grouping, so each host (or rank) makes one, and they are merged on the way up a tree.
 *
 *     histogram    of the rates: the upper quartile is what a fast link does
 *     gaps         between the two fastest messages of a link: how much messages scatter
 *     slowest      the links that are furthest below what is expected of them, and
 *     fastest      of hosts that count as slow those that are furthest above it
 *
 * The histogram reaches from its highest rate down to a quarter of that; its last bin holds all
 * slower links. A merge shifts the counts of the sample with the lower top, so the bins depend on
 * the highest rate alone. Samples are plain data, sent as they stand in memory.
 *
 * Rates are in thousandths of a natural logarithm: 1000 ln(bytes per second), so 100 more are 10 %
 * more. In the lists, rates are multiplied by the factor by which their host counts as slow.
 */
#ifndef STRAG_LINK_SAMPLE_H
#define STRAG_LINK_SAMPLE_H

#include <stdint.h>

enum {
    STRAG_LINK_BINS = 52,
    STRAG_LINK_BIN = 25, /* of a rate */
    STRAG_LINK_GAPS = 16,
    STRAG_LINK_SLOWEST = 8,
    STRAG_LINK_FASTEST = 4,
    STRAG_LINK_UNKNOWN = 0, /* of a rate */
};

struct strag_link {
    int32_t rank;         /* the one that stands for its host; -1 in entries after the last link */
    uint16_t now, before; /* rates in this probe, and in the one before */
};

struct strag_link_sample {
    int32_t top;                     /* the highest rate's bin, which begins at top times 25 */
    uint16_t now_slowest;            /* in this probe alone, times its factor; or UNKNOWN */
    uint16_t now_fastest;            /* the same, of hosts that count as slow */
    uint16_t count[STRAG_LINK_BINS]; /* [below the top]: links, at most 65,535 */
    uint16_t gaps[STRAG_LINK_GAPS];  /* links, by the gap's bin */
    struct strag_link slowest[STRAG_LINK_SLOWEST]; /* by the faster of their two rates */
    struct strag_link fastest[STRAG_LINK_FASTEST]; /* by the slower one */
};

/* A link's two fastest messages in a probe, bytes per second; 0 if there was none. */
struct strag_link_best {
    double rate, second;
};

static inline void strag_link_best_add(struct strag_link_best *best, double rate)
{
    if (rate > best->rate) {
        best->second = best->rate;
        best->rate = rate;
    } else if (rate > best->second) {
        best->second = rate;
    }
}

/** @param bytes_per_second  0 or not finite if unknown */
uint16_t strag_link_rate(double bytes_per_second);

/** Make the sample one of no links. */
void strag_link_sample_clear(struct strag_link_sample *sample);

/**
 * Add a link.
 *
 * @param rank    the one that stands for its host
 * @param now     its rate, divided by the part of a full link that the host has by nature; if it is
 *                unknown, nothing is added
 * @param before  the same in the probe before; if it is unknown, the link is not listed
 * @param factor  by which the host counts as slow; 1 if it does not
 */
void strag_link_sample_add(struct strag_link_sample *sample, int rank, uint16_t now,
                           uint16_t before, double factor);

/** Add a link's gap. */
void strag_link_sample_gap(struct strag_link_sample *sample, const struct strag_link_best *best);

/** Add another sample's links. */
void strag_link_sample_merge(struct strag_link_sample *sample,
                             const struct strag_link_sample *other);

/** The upper quartile of the links' rates. @return STRAG_LINK_UNKNOWN if it is in the last bin
 */
double strag_link_sample_fast(const struct strag_link_sample *sample);

/** How much fast links scatter: the rates of the faster half, or one link's messages if they
 * scatter more: of normal distributions the standard deviation. The sample must not be empty. */
double strag_link_sample_scatter(const struct strag_link_sample *sample);

/** The sample must have a link. @return the part of the links whose rate (not times their factors)
 * is below `rate` */
double strag_link_sample_below(const struct strag_link_sample *sample, double rate);

#endif
