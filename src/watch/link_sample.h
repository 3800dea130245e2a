/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rates of many hosts' links in a fixed number of bytes, which add up in any order and grouping:
 * so each host (or rank) makes a sample of its own, and they are merged on the way up a tree.
 *
 *     histogram    of the rates' logarithms: the upper quartile is what a fast link does
 *     slowest      the links that are furthest below what is expected of them, and
 *     fastest      of hosts that count as slow those that are furthest above it
 *
 * The histogram reaches from its highest rate down to a quarter of that; its last bin has all that
 * are slower still. Merging moves the lower histogram's counts, so what the bins are depends on the
 * highest rate alone. Plain data, sent as it stands in memory.
 */
#ifndef STRAG_LINK_SAMPLE_H
#define STRAG_LINK_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

enum { STRAG_LINK_BINS = 54, STRAG_LINK_GAPS = 16, STRAG_LINK_SLOWEST = 8, STRAG_LINK_FASTEST = 4 };

struct strag_link {
    int32_t rank; /* that stands for its host; -1: none, and none behind it */
    float rate;   /* bytes per second, times the factor by which its host counts as slow */
};

struct strag_link_sample {
    int32_t top;                     /* the highest rate's bin, counted from 1 byte per second */
    uint16_t count[STRAG_LINK_BINS]; /* [below the top]: links, at most 65,535 */
    uint16_t gaps[STRAG_LINK_GAPS];  /* between a link's two fastest messages, by their size */
    struct strag_link slowest[STRAG_LINK_SLOWEST], fastest[STRAG_LINK_FASTEST]; /* worst first */
};

/* A link's two fastest messages: their rates as below; 0: there was none. */
struct strag_fastest {
    double best, second;
};

static inline void strag_fastest_add(struct strag_fastest *fastest, double rate)
{
    if (rate > fastest->best) {
        fastest->second = fastest->best;
        fastest->best = rate;
    } else if (rate > fastest->second) {
        fastest->second = rate;
    }
}

/** Nothing was measured. */
void strag_link_sample_clear(struct strag_link_sample *sample);

/**
 * One more link.
 *
 * @param rank    that stands for its host
 * @param rate    bytes per second, over the part of a full link that the host has by nature (1: all
 *                of it); 0 or not finite: it was not measured, and nothing is added
 * @param factor  by which the host counts as slow; 1: it does not
 */
void strag_link_sample_add(struct strag_link_sample *sample, int rank, double rate, double factor);

/** One more host, by its messages in a probe: it is as fast as the slower direction of its link.
 * @param rank, factor  as above */
void strag_link_sample_add_host(struct strag_link_sample *sample, int rank,
                                const struct strag_fastest *out, const struct strag_fastest *in,
                                double factor);

/** Add another sample's links. */
void strag_link_sample_merge(struct strag_link_sample *sample,
                             const struct strag_link_sample *other);

/* What a sample says of all links together. */
struct strag_link_summary {
    int links;
    double fast;    /* their upper quartile, bytes per second; 0: unknown, as for no links */
    double scatter; /* relative: of the faster half, or of one link's messages if that is more; of
                     * normal distributions the standard deviation */
};

struct strag_link_summary strag_link_sample_summary(const struct strag_link_sample *sample);

/** @return the part of the links whose rate (not times their factors) is below `rate` */
double strag_link_sample_below(const struct strag_link_sample *sample, double rate);

#endif
