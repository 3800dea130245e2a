/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the hosts whose links are slower than the others', and by how much, while the job runs.
 *
 *     after every window   the ranks' meters (meter.h) have measured, for nothing, but roughly: is
 *                          a link suspected?
 *     then                 a probe: all hosts send each other messages at the same time. It takes
 *                          time, but no plan, straggler or buffer interferes.
 *     slow                 a host that two probes in a row find slow, with other partners: at once
 *                          if a meter suspects a link, else a window later
 *
 * In a probe's round every host sends to the host s further on and receives from the one s before,
 * in the order of the topology, so every link carries one message in each direction. A message is
 * as fast as the slower of two links:
 *
 *     host 2 is slow       1 -> 2 and 2 -> 3 are slow, and 0 -> 2 and 2 -> 4; no others
 *     a host's link out    is as fast as the fastest message that left it: 1 -> 3, not 1 -> 2
 *     its link in          as the fastest that reached it
 *     the host             as the slower of the two
 *
 * so every host's rate is its best with three partners or more; partners whose links are narrower
 * by nature do not lower it. Each host knows its own rate, and the rates of all hosts are merged
 * (link_sample.h). A host's factor is the upper quartile of the rates over its own. If most hosts
 * are slow, the machine is slow, and no host has been degraded.
 *
 * One process decides for all; the same samples give the same decisions. Its state has a fixed
 * size, whatever the number of hosts.
 */
#ifndef STRAG_SLOWDOWN_H
#define STRAG_SLOWDOWN_H

#include "detect/link_sample.h"
#include "machine/state.h"
#include "machine/topology.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    STRAG_PROBE_HOSTS_MIN = 3,
    STRAG_PROBE_SHORTEST = 128 << 10, /* bytes of a message: 5 of its 8 pieces are measured */
    STRAG_PROBE_LONGEST = 4 << 20,
    STRAG_PROBE_PARTNERS = 16, /* of a host, one after the other, in each direction */
};

/* Private to slowdown.c. Rates are in the units of link_sample.h; times are seconds of calls. */
struct strag_slowdown {
    int hosts;
    int narrower; /* the largest of the hosts' `narrower` */
    int nslow;
    struct strag_slow slow[STRAG_SLOW_MAX]; /* in force */

    double modelled;   /* the rate of a link before anything is measured; 0 if unknown */
    double reference;  /* the rate of a fast link in the last probe; 0 if unknown */
    double metered;    /* the same, from the meters of the last window */
    double scatter;    /* of fast links' rates in the last probes */
    double suspicion;  /* from the meters: how many times slower than expected a link is; else 1 */
    double refuted;    /* the suspicion when a probe last found nothing, or 1 */
    double pending;    /* the factor by which a host deviated in the last probe; 1 if refuted */
    bool confirming;   /* the next probe is to confirm `pending`; else a change left it */
    double took;       /* seconds of the last probe, ... */
    double sent;       /* ... and the bytes that each host sent in it; 0 before the first */
    double idle;       /* since the last probes */
    double elapsed;    /* in the last window */
    double hold, left; /* how long nothing changes after a change; what is left of it */
    int rounds;        /* of the probe to come; 0 if none is wanted */
};

/* A topology's hosts, numbered in the order of its leaves. */
struct strag_probe_hosts {
    int ranks, count;
    int32_t *host_of;  /* [rank] */
    int32_t *leader;   /* [host]: the rank that takes part in probes */
    int32_t *narrower; /* [host]: the widest link's nominal rate, less the host's own */
};

/** @return false if out of memory; call strag_probe_hosts_free in this case, too */
bool strag_probe_hosts_make(const struct strag_topology *topology, struct strag_probe_hosts *hosts);
void strag_probe_hosts_free(struct strag_probe_hosts *hosts);

/**
 * @param hosts  not used after the call; fewer than STRAG_PROBE_HOSTS_MIN are never probed
 * @param known      ranks whose hosts are slow already: finding these hosts again is no change
 * @param bandwidth  bytes per second of a link, by the model; 0 if unknown
 */
void strag_slowdown_init(struct strag_slowdown *slowdown, const struct strag_probe_hosts *hosts,
                         const struct strag_state_record *known, double bandwidth);

/** Replace a state's slow ranks by the slow hosts' leaders; factors are multiples of 1/20. */
void strag_slowdown_state(const struct strag_slowdown *slowdown, struct strag_state_record *state);

/**
 * A window has ended.
 *
 * @param meters   of all ranks, merged; NULL if there is no measurement
 * @param elapsed  seconds since the previous window's end, without those outside of calls
 * @param granted  seconds that a probe may take; a quarter of them if nothing is suspected
 * @return strag_slowdown_rounds
 */
int strag_slowdown_window(struct strag_slowdown *slowdown, const struct strag_link_sample *meters,
                          double elapsed, double granted);

/** Rounds of the probe that is to be made now; 0 if none is. */
int strag_slowdown_rounds(const struct strag_slowdown *slowdown);

/** Bytes of each of the probe's messages. On a fast link, if its rate is known, they take a
 * millisecond; if there is a suspicion up to 30 ms, as long as all rounds together take at most
 * STRAG_BEHIND of the time since the last probe. */
size_t strag_slowdown_bytes(const struct strag_slowdown *slowdown);

/**
 * The probe has ended. If strag_slowdown_rounds is not 0, another one follows at once.
 *
 * @param sample  of all hosts, merged
 * @param took    seconds
 * @return whether the slow hosts or their factors have changed
 */
bool strag_slowdown_probed(struct strag_slowdown *slowdown, const struct strag_link_sample *sample,
                           double took);

/** The distance from a host to its partner in a round. @param round  counted over all probes */
static inline int strag_probe_shift(int hosts, unsigned round)
{
    const int partners = hosts - 1 < STRAG_PROBE_PARTNERS ? hosts - 1 : STRAG_PROBE_PARTNERS;
    return 1 + (int)(round % (unsigned)partners);
}

#endif
