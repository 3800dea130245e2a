/* SPDX-License-Identifier: BSD-3-Clause */
#include "detect/slowdown.h"

#include "detect/thresholds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Hosts that are slow ---- */

/* @return NULL if the host is not slow */
static struct strag_slow *find_slow(struct strag_slowdown *slowdown, int rank)
{
    for (int s = 0; s < slowdown->nslow; s++) {
        if (slowdown->slow[s].rank == rank)
            return &slowdown->slow[s];
    }
    return NULL;
}

/* Factors are multiples of 1/20. A host that is slower by less than STRAG_BEHIND is not slow.
 * @return whether there was room */
static bool change_factor(struct strag_slowdown *slowdown, int rank, double change)
{
    struct strag_slow *slow = find_slow(slowdown, rank);
    if (!slow && slowdown->nslow == STRAG_SLOW_MAX)
        return false;
    if (!slow) {
        slow = &slowdown->slow[slowdown->nslow++];
        *slow = (struct strag_slow){rank, 1};
    }
    slow->factor = round(20 * change * slow->factor) / 20;
    if (slow->factor < 1 + STRAG_BEHIND)
        *slow = slowdown->slow[--slowdown->nslow];
    return true;
}

void strag_slowdown_state(const struct strag_slowdown *slowdown, struct strag_state_record *state)
{
    state->nslow = slowdown->nslow;
    memcpy(state->slow, slowdown->slow, sizeof state->slow);
}

void strag_slowdown_init(struct strag_slowdown *slowdown, const struct strag_probe_hosts *hosts,
                         const struct strag_state_record *known, double bandwidth)
{
    *slowdown = (struct strag_slowdown){.hosts = hosts->count,
                                        .modelled = bandwidth > 0 ? strag_link_rate(bandwidth) : 0,
                                        .suspicion = 1,
                                        .refuted = 1,
                                        .pending = 1};
    for (int h = 0; h < hosts->count; h++)
        slowdown->narrower =
            hosts->narrower[h] > slowdown->narrower ? hosts->narrower[h] : slowdown->narrower;
    for (int s = 0; s < known->nslow; s++) {
        const int leader = hosts->leader[hosts->host_of[known->slow[s].rank]];
        struct strag_slow *slow = find_slow(slowdown, leader);
        if (!slow) {
            slow = &slowdown->slow[slowdown->nslow++];
            *slow = (struct strag_slow){leader, 1};
        }
        slow->factor = fmax(slow->factor, known->slow[s].factor);
    }
}

/* ---- A topology's hosts ---- */

bool strag_probe_hosts_make(const struct strag_topology *topology, struct strag_probe_hosts *hosts)
{
    int host = -1, node = -1, widest = 0;
    *hosts = (struct strag_probe_hosts){
        .ranks = topology->n,
        .count = topology->hosts,
        .host_of = malloc((size_t)topology->n * sizeof *hosts->host_of),
        .leader = malloc((size_t)topology->hosts * sizeof *hosts->leader),
        .narrower = malloc((size_t)topology->hosts * sizeof *hosts->narrower),
    };
    if (!hosts->host_of || !hosts->leader || !hosts->narrower)
        return false;
    for (int leaf = 0; leaf < topology->n; leaf++) {
        const int rank = topology->leaf_rank[leaf];
        if (topology->host_node[rank] != node) {
            node = topology->host_node[rank];
            hosts->leader[++host] = rank;
            hosts->narrower[host] = strag_link_rate(topology->nodes[node].uplink);
            widest = hosts->narrower[host] > widest ? hosts->narrower[host] : widest;
        }
        hosts->host_of[rank] = host;
    }
    for (host = 0; host < hosts->count; host++)
        hosts->narrower[host] = hosts->narrower[host] ? widest - hosts->narrower[host] : 0;
    return true;
}

void strag_probe_hosts_free(struct strag_probe_hosts *hosts)
{
    free(hosts->host_of);
    free(hosts->leader);
    free(hosts->narrower);
    *hosts = (struct strag_probe_hosts){0};
}

/* ---- When to probe ---- */

static bool is_suspicious(const struct strag_slowdown *slowdown)
{
    return slowdown->suspicion > (1 + STRAG_BEHIND) * slowdown->refuted;
}

/* The rate of a fast link. @return 0 if unknown */
static double fast(const struct strag_slowdown *slowdown)
{
    return slowdown->reference > 0 ? slowdown->reference : slowdown->metered;
}

/* Is there a reason for a probe? Without a reason there is one now and then. */
static bool has_reason(const struct strag_slowdown *slowdown)
{
    return slowdown->pending > 1 || is_suspicious(slowdown);
}

/* If some pairs of hosts have a slow path permanently, a host can by chance be slow in two probes.
 * So the second probe has more rounds, and the more of them the more hosts there are. With three
 * hosts one of a host's two partners may be slow: then three messages do not show the scatter. */
static int wanted_rounds(const struct strag_slowdown *slowdown)
{
    int rounds = slowdown->hosts > 3 ? 3 : 4;
    for (int hosts = slowdown->hosts; slowdown->pending > 1 && hosts >= 4; hosts /= 4)
        rounds++;
    return rounds;
}

/* A high estimate of the factor by which the slowest link is slower than the fastest. */
static double slowest(const struct strag_slowdown *slowdown)
{
    double most = fmax(slowdown->suspicion, slowdown->pending);
    for (int s = 0; s < slowdown->nslow; s++)
        most = fmax(most, slowdown->slow[s].factor);
    return most * exp(slowdown->narrower / 1000.0);
}

/* A round takes as long as its slowest link. A rate from meters alone may be too high, since a link
 * can let some bytes pass at once: it is used only if there was no probe. */
size_t strag_slowdown_bytes(const struct strag_slowdown *slowdown)
{
    const double longest =
        STRAG_BEHIND * slowdown->idle / (wanted_rounds(slowdown) * slowest(slowdown));
    double seconds = STRAG_PROBE_SECONDS;
    if (has_reason(slowdown))
        seconds = fmax(seconds, fmin(longest, STRAG_THOROUGH_SECONDS));
    const double bytes = exp(fast(slowdown) / 1000) * seconds;
    return (size_t)fmin(fmax(bytes, STRAG_PROBE_SHORTEST), STRAG_PROBE_LONGEST);
}

/* Seconds that a probe may take: in proportion to its bytes, at most those of the last one. If
 * there is a reason for the first one, it is made soon; else it takes what meters say, or the model
 * if messages never wait. */
static double expected(const struct strag_slowdown *slowdown)
{
    const double bytes = (double)strag_slowdown_bytes(slowdown) * wanted_rounds(slowdown);
    if (slowdown->sent > 0)
        return slowdown->took * fmin(1, bytes / slowdown->sent);
    const double least = STRAG_PROBE_SECONDS * wanted_rounds(slowdown);
    const double rate = fast(slowdown) > 0 ? fast(slowdown) : slowdown->modelled;
    if (has_reason(slowdown) || !(rate > 0))
        return least;
    return fmax(least, bytes * slowest(slowdown) / exp(rate / 1000));
}

/* ---- Windows ---- */

/* @return whether a probe costs no more than it may */
static bool is_granted(const struct strag_slowdown *slowdown, double granted)
{
    const double costs = expected(slowdown);
    if (has_reason(slowdown))
        return costs <= fmin(granted, STRAG_BEHIND * slowdown->idle);
    return costs <= fmin(granted / STRAG_PROBE_RESERVE, STRAG_WATCH_SHARE * slowdown->idle);
}

int strag_slowdown_window(struct strag_slowdown *slowdown, const struct strag_link_sample *meters,
                          double elapsed, double granted)
{
    slowdown->elapsed = elapsed;
    slowdown->idle += elapsed;
    slowdown->left -= elapsed;
    slowdown->suspicion = 1;
    if (meters && meters->now_slowest != STRAG_LINK_UNKNOWN) {
        slowdown->metered = strag_link_sample_fast(meters);
        slowdown->suspicion = fmax(1, exp((fast(slowdown) - meters->now_slowest) / 1000));
    }
    slowdown->rounds = 0;
    if (slowdown->hosts >= STRAG_PROBE_HOSTS_MIN && slowdown->left <= 0 &&
        is_granted(slowdown, granted))
        slowdown->rounds = wanted_rounds(slowdown);
    return slowdown->rounds;
}

int strag_slowdown_rounds(const struct strag_slowdown *slowdown)
{
    return slowdown->rounds;
}

/* ---- Probes ---- */

/* The smallest deviation that counts. On a machine that others use, too, the slowest of many hosts
 * seems slow by chance, so the threshold is above the scatter of fast links' rates. */
static double threshold(const struct strag_slowdown *slowdown)
{
    return 1000 * log(1 + fmax(STRAG_BEHIND, STRAG_VERY_SURE * slowdown->scatter / 1000));
}

/* How far, in this probe alone, the slowest host is below the expected rate, or a host that counts
 * as slow is above it. */
static double most_now(const struct strag_slowdown *slowdown,
                       const struct strag_link_sample *sample)
{
    const double slower = slowdown->reference - sample->now_slowest;
    return sample->now_fastest == STRAG_LINK_UNKNOWN
               ? slower
               : fmax(slower, sample->now_fastest - slowdown->reference);
}

/* Change the factors of hosts that deviate in both probes, by the smaller of the two deviations.
 * @param before  the reference of the probe before @return whether a factor has changed */
static bool confirm(struct strag_slowdown *slowdown, const struct strag_link_sample *sample,
                    double before)
{
    const double now = slowdown->reference, enough = threshold(slowdown);
    bool changed = false;
    for (int i = 0; i < STRAG_LINK_SLOWEST + STRAG_LINK_FASTEST; i++) {
        const bool slow = i < STRAG_LINK_SLOWEST;
        const struct strag_link *link =
            slow ? &sample->slowest[i] : &sample->fastest[i - STRAG_LINK_SLOWEST];
        const double sign = slow ? 1 : -1;
        const double both = fmin(sign * (now - link->now), sign * (before - link->before));
        if (link->rank < 0 || both < enough)
            continue;
        changed = change_factor(slowdown, link->rank, exp(sign * both / 1000)) || changed;
    }
    return changed;
}

/* @return whether the state has changed */
static bool judge(struct strag_slowdown *slowdown, const struct strag_link_sample *sample)
{
    const double before = slowdown->reference;
    slowdown->reference = strag_link_sample_fast(sample);
    slowdown->pending = 1;
    if (slowdown->reference == STRAG_LINK_UNKNOWN)
        return false;
    slowdown->scatter =
        fmax(strag_link_sample_scatter(sample), STRAG_SCATTER_KEPT * slowdown->scatter);
    if (strag_link_sample_below(sample, slowdown->reference - threshold(slowdown)) > 0.5)
        return false;
    if (most_now(slowdown, sample) >= threshold(slowdown))
        slowdown->pending = exp(most_now(slowdown, sample) / 1000);
    return before != STRAG_LINK_UNKNOWN && confirm(slowdown, sample, before);
}

bool strag_slowdown_probed(struct strag_slowdown *slowdown, const struct strag_link_sample *sample,
                           double took)
{
    slowdown->sent = (double)strag_slowdown_bytes(slowdown) * slowdown->rounds;
    slowdown->took = took;
    slowdown->rounds = 0;
    const bool changed = judge(slowdown, sample);
    if (changed) {
        slowdown->left = slowdown->hold =
            fmax(2 * slowdown->hold, STRAG_RECENT * slowdown->elapsed);
        slowdown->refuted = 1;
    }
    slowdown->confirming = !changed && !slowdown->confirming && slowdown->pending > 1;
    if (slowdown->confirming && is_suspicious(slowdown)) {
        slowdown->rounds = wanted_rounds(slowdown);
        return false;
    }
    if (!changed && !slowdown->confirming) {
        slowdown->refuted = slowdown->suspicion;
        slowdown->pending = 1;
    }
    slowdown->idle = 0;
    return changed;
}
