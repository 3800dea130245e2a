/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which hosts' links are slower than the others', and how much? Found while the job runs.
 *
 *     after every window   what all ranks' meters say (meter.h) is looked at. It costs nothing, but
 *                          is rough: is there a suspicion?
 *     where there is one   all hosts send each other some 100 KiB at the same time: a probe. It
 *                          takes its time, but no plan, straggler or buffer is in its way.
 *     named                are the hosts that a probe finds slow, if a second one, a window later,
 *                          says the same, or the meters have said so at once; and they are no
 *                          longer, if two probes say so.
 *
 * A probe has up to three rounds. In round r every host sends to the one r + 1 further on and
 * receives from the one r + 1 before, in the order of the topology, so that every link carries one
 * message in each direction. A message is as fast as the slower of two links:
 *
 *     host 2 is slow       1 -> 2 and 2 -> 3 are, and 0 -> 2, 2 -> 4; all others are not
 *     a host's link out    is as fast as the best message that left it: 1 -> 3, not 1 -> 2
 *     its link in          as the best that reached it
 *     the host             as the slower of the two
 *
 * so every host is measured at its best, against three partners. Its factor is the rate of the
 * fast ones (the upper quartile) over its own. Where a layout says that links differ by nature,
 * rates are taken beside what it says.
 *
 * Without a suspicion there are probes, too, but rare: some plans (weighted, optcc) never let
 * messages wait, and then meters have nothing to say. While a host is named every window has one,
 * since its plan keeps its links from being used as others are. What probes may take of the job's
 * time is an option.
 *
 * A suspicion that a probe refutes is remembered: for a while only a stronger one counts.
 *
 * One process decides and tells the others; from the same calls follows the same on all.
 */
#ifndef STRAG_SLOWDOWN_H
#define STRAG_SLOWDOWN_H

#include "machine/state.h"
#include "machine/topology.h"
#include "watch/meter.h"

#include <stdbool.h>

enum { STRAG_PROBE_ROUNDS = 3, STRAG_PROBE_HOSTS_MIN = 3 };

struct strag_slowdown_options {
    double least;   /* factor from which on a host is slow; it is until below half of the excess */
    double share;   /* of the job's time, that probes may take */
    double more;    /* the same with a suspicion, or while a host is slow */
    double thought; /* seconds that the first probe is thought to take */
    int remember;   /* windows for which a refuted suspicion is remembered */
};

/** 1.1; 0.003; 0.08; 2 ms; 16. */
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
 * A window is over.
 *
 * @param notes    of rank 0; those of the next ones follow
 * @param stride   bytes from one rank's note to the next one's
 * @param calls    seconds that its calls took
 * @param elapsed  seconds since the window before ended
 * @return whether all hosts are to be probed now
 */
bool strag_slowdown_window(struct strag_slowdown *slowdown, const void *notes, size_t stride,
                           double calls, double elapsed);

/** Bytes of each message of the next probe: so long that it takes a millisecond over a fast link,
 * if that is known; 128 KiB to 4 MiB. */
size_t strag_slowdown_bytes(const struct strag_slowdown *slowdown);

/** How many rounds a probe has: 0 where there is nothing to find out. */
int strag_probe_rounds(int hosts);

/** To whom a host sends in a round. */
static inline int strag_probe_to(int hosts, int round, int host)
{
    return (host + round + 1) % hosts;
}

/** And from whom it receives. */
static inline int strag_probe_from(int hosts, int round, int host)
{
    return (host + hosts - (round + 1)) % hosts;
}

/**
 * The probe is over.
 *
 * @param rates  bytes per second with which host h received in round r: at h * STRAG_PROBE_ROUNDS
 *               + r. Not above 0, or no number: not measured, then nothing follows from the probe
 * @param took   seconds
 * @return whether other hosts are slow than before, or by other factors
 */
bool strag_slowdown_probed(struct strag_slowdown *slowdown, const float *rates, double took);

#endif
