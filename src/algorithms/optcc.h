/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What OptCC's plans are taken from (optcc.c), and the lanes of its schedule (optcc_lanes.c).
 */
#ifndef STRAG_OPTCC_H
#define STRAG_OPTCC_H

#include "algorithms/uplinks.h"

struct optcc {
    struct strag_uplinks uplinks;
    int ranks_per_host;
    int fast, slow;  /* hosts: the ring, and those beside it */
    int segments;    /* k */
    int body;        /* windows in which a section goes around the ring: fast - 1 */
    int sections;    /* of a segment: tracks that no slow host is on */
    bool equal_ring; /* all hosts of the ring are at the full rate */
    bool mixed;      /* patterns A, B, C, D; else only B and D, which are the same */
    int chunks;      /* that fill the slow host's bubbles */
    int lead;        /* rounds before window 0 */
    int rounds;      /* in all */
    int64_t section; /* sizes, in units of which the vector has `total` */
    int64_t chunk;
    int64_t total;
    int32_t *section_of; /* [track]: number of its section in every segment, or -1 */
    int32_t *slow_on;    /* [track]: number of the slow host on it, or -1 */
    int32_t *track_of;   /* [slow host] */
};

/* A section in a stage. */
struct optcc_move {
    int segment; /* -1: nothing */
    int section;
    bool adds; /* the receiver combines it */
};

/** Stage 1: what the fast host at `place` sends to the next one in a window. */
struct optcc_move optcc_ring_add(const struct optcc *optcc, int place, int window);

/** Stage 4: likewise. */
struct optcc_move optcc_ring_give(const struct optcc *optcc, int place, int window);

/** Stage 2: what a slow host receives. */
struct optcc_move optcc_upload(const struct optcc *optcc, int slow, int window);

/** Stage 3: what a slow host sends. */
struct optcc_move optcc_download(const struct optcc *optcc, int slow, int window);

/** The chunk that a slow host receives in a window; in the next `fast` windows it sends it. -1:
 * none. */
int optcc_chunk(const struct optcc *optcc, int window);

/* What siblings exchange in a window. */
struct optcc_local {
    int segment; /* -1: nothing */
    int step;    /* of `body` ones */
    int chunk;   /* -1: none */
};

struct optcc_local optcc_collect(const struct optcc *optcc, int window);
struct optcc_local optcc_distribute(const struct optcc *optcc, int window);

/** Windows from 0 in which something crosses the network. */
int optcc_windows(const struct optcc *optcc);

/** The most that a rank sends, in vectors. */
double optcc_sent_max(const struct optcc *optcc);

/** x mod fast, from 0 on. */
static inline int optcc_track(const struct optcc *optcc, int x)
{
    int rest = x % optcc->fast;
    return rest < 0 ? rest + optcc->fast : rest;
}

#endif
