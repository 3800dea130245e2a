/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The lanes: which section is where in which window. Windows are counted from 0, the first one of
 * segment 0's stage 1; a body is fast - 1 windows. optcc.c tells the idea; here are the numbers.
 *
 * Section d of segment m (d is its track) crosses the ring's edges d - m, d - m + 1, ... in the
 * body m: edge e leads from fast host e to e + 1, and e - window = d (mod fast) throughout. It ends
 * at its owner, d - m - 1. The slow host on track c stands in edge c + window, so it meets the
 * owner as receiver in window y - 2 of a body, and as sender in window y, with y = d - c (mod
 * fast), 1 <= y <= fast - 1: one section per window in both directions.
 *
 *     stage             patterns B, D (m odd)     A, C (m even)
 *     1 ring, add       body m                    body m
 *     2 to slow host    body m+1, window y        body m+1, window y
 *     3 from slow host  body m,   window y-2      body m+2, window y-2, to host d - m - 3
 *     4 ring, give      body m+1                  body m+3, from host d - m - 3
 *
 * Even bodies give odd segments and odd bodies even ones, so that no lane is used twice. With
 * several slow hosts, the first one (the slowest) alone finishes sums of A and C; the others add
 * to the owner before the ring ends (body m, window y-2), and get the sum while it goes around
 * (body m+3, window y).
 */
#include "algorithms/optcc.h"

static const struct optcc_move nothing = {.segment = -1};

/* Rounded down also below zero. */
static int body_of(const struct optcc *optcc, int window)
{
    return window >= 0 ? window / optcc->body : -((-window - 1) / optcc->body) - 1;
}

static bool exists(const struct optcc *optcc, int segment)
{
    return segment >= 0 && segment < optcc->segments;
}

static bool is_finished_by_slow(const struct optcc *optcc, int slow, int segment)
{
    return optcc->mixed && slow == 0 && segment % 2 == 0;
}

/* The segment whose sums go around the ring in a body. */
static int given_in(const struct optcc *optcc, int body)
{
    return body - (optcc->mixed && body % 2 != 0 ? 3 : 1);
}

static struct optcc_move move(const struct optcc *optcc, int segment, int track, bool adds)
{
    int section = optcc->section_of[track];
    if (!exists(optcc, segment) || section < 0)
        return nothing;
    return (struct optcc_move){.segment = segment, .section = section, .adds = adds};
}

struct optcc_move optcc_ring_add(const struct optcc *optcc, int place, int window)
{
    return move(optcc, body_of(optcc, window), optcc_track(optcc, place - window), true);
}

struct optcc_move optcc_ring_give(const struct optcc *optcc, int place, int window)
{
    return move(optcc, given_in(optcc, body_of(optcc, window)), optcc_track(optcc, place - window),
                false);
}

struct optcc_move optcc_upload(const struct optcc *optcc, int slow, int window)
{
    int body = body_of(optcc, window - 1);
    int segment = slow == 0 ? body - 1 : given_in(optcc, body);
    int track = optcc_track(optcc, optcc->track_of[slow] + window - body * optcc->body);
    return move(optcc, segment, track, is_finished_by_slow(optcc, slow, segment));
}

struct optcc_move optcc_download(const struct optcc *optcc, int slow, int window)
{
    int body = body_of(optcc, window + 1);
    bool finished = is_finished_by_slow(optcc, slow, body);
    int track = optcc_track(optcc, optcc->track_of[slow] + window + 2 - body * optcc->body);
    return move(optcc, finished ? body - 2 : body, track, !finished);
}

int optcc_chunk(const struct optcc *optcc, int window)
{
    if (window < 0 || window / optcc->fast >= optcc->chunks)
        return -1;
    return window / optcc->fast;
}

/* A body before the first use of a segment, which is window -1 of its own; a chunk at once. */
struct optcc_local optcc_collect(const struct optcc *optcc, int window)
{
    int body = body_of(optcc, window + 1);
    return (struct optcc_local){
        .segment = exists(optcc, body + 1) ? body + 1 : -1,
        .step = window + 1 - body * optcc->body,
        .chunk = window % optcc->fast == 0 ? optcc_chunk(optcc, window + optcc->fast) : -1,
    };
}

/* When a segment's sums are everywhere, of which the slow hosts are the last. */
struct optcc_local optcc_distribute(const struct optcc *optcc, int window)
{
    int body = body_of(optcc, window - 1), segment = given_in(optcc, body - 1);
    return (struct optcc_local){
        .segment = exists(optcc, segment) ? segment : -1,
        .step = window - 1 - body * optcc->body,
        .chunk = window % optcc->fast == 0 ? optcc_chunk(optcc, window - 2 * optcc->fast) : -1,
    };
}

/* The last upload may be behind the last body, in window fast - 1 of the one before. */
int optcc_windows(const struct optcc *optcc)
{
    int windows = (optcc->segments + (optcc->mixed ? 2 : 1)) * optcc->body;
    for (int s = 0; s < optcc->slow; s++) {
        if (optcc_upload(optcc, s, windows).segment >= 0)
            return windows + 1;
    }
    return windows;
}

/* ---- What a rank sends ---- */

/* Windows in [first, end) in which the fast host at `place` sends to the slow one. */
static int meetings(const struct optcc *optcc, int place, int slow, int first, int end)
{
    int next = first + optcc_track(optcc, place - optcc->track_of[slow] - first);
    return next < end ? (end - 1 - next) / optcc->fast + 1 : 0;
}

static int sections_sent(const struct optcc *optcc, int place)
{
    int windows = optcc_windows(optcc), span = optcc->segments * optcc->body;
    int give = (optcc->mixed ? 2 : 1) * optcc->body, sent = 2 * span;
    for (int s = 0; s < optcc->slow; s++) {
        sent -= meetings(optcc, place, s, 0, span) + meetings(optcc, place, s, give, give + span);
        int window = optcc_track(optcc, place - optcc->track_of[s]);
        for (; window < windows; window += optcc->fast)
            sent += optcc_upload(optcc, s, window).segment >= 0;
    }
    return sent;
}

double optcc_sent_max(const struct optcc *optcc)
{
    double g = optcc->ranks_per_host, most = 0;
    for (int place = 0; place < optcc->fast; place++) {
        double sent = (double)sections_sent(optcc, place) * (double)optcc->section +
                      (double)optcc->chunks * (double)optcc->chunk;
        most = sent > most ? sent : most;
    }
    double slow = optcc->slow ? (double)optcc->segments * optcc->sections * (double)optcc->section +
                                    (double)optcc->chunks * optcc->fast * (double)optcc->chunk
                              : 0;
    most = slow > most ? slow : most;
    return most / (double)optcc->total + 2 * (g - 1) / g;
}
