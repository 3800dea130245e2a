/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The lab's benchmark: what its files share.
 *
 *     allreduce_lab.c   options, the measurement, results
 *     arrivals.c        stragglers
 *     links.c           the byte counters of the lab's links
 */
#ifndef ALLREDUCE_LAB_H
#define ALLREDUCE_LAB_H

#include "../common.h"

#include <stdint.h>

enum { DELAYS_MAX = 64 };

/* How late stragglers are. The unit is a microsecond, or where a bandwidth is given the time that
 * a vector takes at it. */
struct delay {
    double low, high; /* evenly distributed between these ... */
    bool exponential; /* ... or exponentially, with mean `low` */
};

/* When ranks call. */
struct arrivals {
    const char *stragglers; /* ranks, "all", or "random": one, drawn for each call; or NULL */
    struct delay delays[DELAYS_MAX];
    int ndelays;
    double jitter; /* every rank is late by up to that, besides; units as for delays */
    double mbit;   /* Mbit/s, of which the unit follows; 0: microseconds */
    int seed;
    /* arrivals_prepare: */
    int n;
    bool *late;      /* [rank]: is a straggler in all calls */
    uint64_t random; /* the generator's state */
};

/** Read a list of delays: LOW, LOW-HIGH, MEAN-exp. Anything else ends the job. */
void arrivals_read_delays(struct arrivals *arrivals, char *text);

/** Find out who is a straggler, of n ranks. */
void arrivals_prepare(struct arrivals *arrivals, int n);

void arrivals_free(struct arrivals *arrivals);

/**
 * Draw how late every rank is.
 * @param number  the call's, from -1 (a warm-up); contenders' calls of the same number get the same
 * @param late    [n]: seconds
 */
void arrivals_draw(struct arrivals *arrivals, const struct delay *delay, size_t bytes, int number,
                   double *late);

/** Write a delay in microseconds: LOW-HIGH or MEAN-exp. */
void arrivals_print(FILE *file, const struct arrivals *arrivals, const struct delay *delay,
                    size_t bytes);

/* What went out of one end of a link. */
struct link_count {
    unsigned long long bytes, packets;
};

struct links {
    int count;
    struct link_end {
        char name[32], interface[16], path[64];
    } * ends;
    struct link_count *last;   /* the counters when they were last read */
    struct link_count *totals; /* [contender][end]: what its calls sent */
};

/**
 * Read which links there are: lines NAME INTERFACE PATH, where PATH is /proc/PID/net/dev of a
 * process that lives at that end of the link.
 */
void links_open(struct links *links, const char *file, int contenders);

/** Read all counters. @param contender  whose totals the difference goes to; -1: nobody's */
void links_read(struct links *links, int contender);

/** Forget the totals. */
void links_reset(struct links *links, int contenders);

void links_close(struct links *links);

#endif
