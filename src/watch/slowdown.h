/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finding hosts whose links are slower than the others', and by how much, while the job runs.
 *
 *     after every window   all ranks' meters (meter.h) are evaluated. This is free but rough: is
 *                          there a suspicion?
 *     then                 a probe: all hosts send each other 128 KiB or more at the same time. It
 *                          takes time, but no plan, straggler or buffer interferes.
 *     slow                 a host that a probe finds slow is confirmed by a second one, a window
 *                          later, or at once by the meters; two probes end it. Where there were
 *                          two its factor is their (geometric) mean.
 *
 * A probe has up to three rounds. In round r every host sends to the host r + 1 further on and
 * receives from the one r + 1 before, in the order of the topology, so every link carries one
 * message in each direction. A message is as fast as the slower of two links:
 *
 *     host 2 is slow       1 -> 2 and 2 -> 3 are slow, and 0 -> 2 and 2 -> 4; no others
 *     a host's link out    is as fast as the fastest message that left it: 1 -> 3, not 1 -> 2
 *     its link in          as the fastest that reached it
 *     the host             as the slower of the two
 *
 * so every host is measured at its best of three partners. Its factor is the upper quartile of all
 * hosts' rates over its own. Where the layout gives links different bandwidths, rates are relative
 * to these.
 *
 * There are also rare probes without a suspicion: with some plans (weighted, optcc) messages never
 * wait, and meters measure nothing. While a host is slow every window has a probe, since its plan
 * uses its links less than others. Options limit the share of the calls' time that probes take.
 *
 * On a machine that others use, too, rates scatter, and the slowest of many hosts seems to be slow
 * by chance. So a host is slow only by four times as much as the faster half of the hosts scatter
 * in this probe, or lately did: 1.1 where they scatter by 2.5 % or less, 1.2 with 5 %.
 *
 * A suspicion that a probe refutes is remembered: for a while only a stronger one counts.
 *
 * One process decides for all; the same calls give the same decisions.
 */
#ifndef STRAG_SLOWDOWN_H
#define STRAG_SLOWDOWN_H

#include "machine/state.h"
#include "machine/topology.h"
#include "watch/meter.h"

#include <stdbool.h>

enum { STRAG_PROBE_ROUNDS = 3, STRAG_PROBE_HOSTS_MIN = 3 };

struct strag_slowdown_options {
    double least;   /* a host is slow from this factor on, until below half of its excess over 1; */
    double sure;    /* but the excess is so many times the scatter of rates at the least */
    double share;   /* of the calls' time for probes */
    double more;    /* with a suspicion, or while a host is slow */
    double thought; /* assumed seconds of the first probe */
    int remember;   /* windows for which a refuted suspicion counts */
};

/** 1.1; 4; 0.003; 0.08; 2 ms; 16. */
struct strag_slowdown_options strag_slowdown_default(void);

struct strag_slowdown;

/* A topology's hosts, numbered in its order. */
struct strag_probe_hosts {
    int ranks, count;
    int32_t *host_of; /* [rank] */
    int32_t *leader;  /* [host]: the rank that takes part in probes */
    double *uplink;   /* [host]: of the healthy link, in any unit; 0: not given */
};

/** @return false: out of memory; strag_probe_hosts_free frees what was made */
bool strag_probe_hosts_make(const struct strag_topology *topology, struct strag_probe_hosts *hosts);
void strag_probe_hosts_free(struct strag_probe_hosts *hosts);

/**
 * @param hosts    they outlive it; fewer than STRAG_PROBE_HOSTS_MIN are never probed
 * @param known    hosts that are slow already: finding them is no change
 * @param options  NULL: the default
 * @return NULL when out of memory
 */
struct strag_slowdown *strag_slowdown_create(const struct strag_probe_hosts *hosts,
                                             const struct strag_state_record *known,
                                             const struct strag_slowdown_options *options);

/** NULL is allowed. */
void strag_slowdown_free(struct strag_slowdown *slowdown);

/** Replace a state's slow ranks by the slow hosts' leaders; factors are multiples of 1/20. */
void strag_slowdown_state(const struct strag_slowdown *slowdown, struct strag_state_record *state);

/**
 * A window has ended.
 *
 * @param notes    of all ranks
 * @param stride   bytes from one rank's note to the next one's
 * @param calls    seconds in its calls
 * @param elapsed  seconds since the previous window's end, those outside of calls left out
 * @return whether to probe all hosts now
 */
bool strag_slowdown_window(struct strag_slowdown *slowdown, const void *notes, size_t stride,
                           double calls, double elapsed);

/** Bytes of each message of the next probe: a millisecond on a fast link, if its rate is known, or
 * where a link is suspected up to 30 ms, if all rounds then take no more of the time since the last
 * probe than is granted; 128 KiB to 4 MiB, or 1 MiB as long as nothing was probed. */
size_t strag_slowdown_bytes(const struct strag_slowdown *slowdown);

/** Rounds of a probe; 0: too few hosts. */
int strag_probe_rounds(int hosts);

/** The host to which a host sends in a round. */
static inline int strag_probe_to(int hosts, int round, int host)
{
    return (host + round + 1) % hosts;
}

/** The host from which it receives. */
static inline int strag_probe_from(int hosts, int round, int host)
{
    return (host + hosts - (round + 1)) % hosts;
}

/**
 * The probe has ended.
 *
 * @param rates  bytes per second that host h received in round r, at h * STRAG_PROBE_ROUNDS + r; if
 *               one is not above 0 or not finite, the probe is ignored
 * @param took   seconds
 * @return whether the slow hosts or their factors have changed
 */
bool strag_slowdown_probed(struct strag_slowdown *slowdown, const float *rates, double took);

#endif
