/* SPDX-License-Identifier: BSD-3-Clause */
#include "watch/slowdown.h"

#include <math.h>
#include <string.h>

/* ---- Thresholds ---- */

/* A host's factor counts from here on. Plans for a slow host take a few percent more traffic, and
 * gain nothing below. */
static const double least = 1.1;

/* But its excess over 1 is this many times the scatter of fast links' rates: on a machine that
 * others use, too, the slowest of many hosts seems to be slow by chance. */
static const double sure = 4;

/* What is left of a probe's scatter after another one. That of few hosts is itself uncertain. */
static const double kept = 0.9;

/* What a probe may take of the time in calls since the last one, and its messages on a fast link in
 * seconds. Now and then there is one without a reason, since with some plans (weighted, optcc)
 * messages never wait, and meters measure nothing. With a suspicion, or to confirm what a probe has
 * found, messages are longer: what ranks wait for a processor is a smaller part of that. */
static const struct effort {
    double share, message;
} usual = {0.003, 1e-3}, thorough = {0.08, 30e-3};

/* After the first change there is no other one for this many windows, and after each further one
 * for twice as long as before: a factor that wanders changes the plans 8 times in 1,000 windows. */
static const double first_hold = 4;

/* ---- Hosts that are slow ---- */

/* @return NULL: it is not */
static struct strag_slow *find_slow(struct strag_slowdown *slowdown, int rank)
{
    for (int s = 0; s < slowdown->nslow; s++) {
        if (slowdown->slow[s].rank == rank)
            return &slowdown->slow[s];
    }
    return NULL;
}

/* Factors are multiples of 1/20. A host is not slow by less than the least factor. */
static void change_factor(struct strag_slowdown *slowdown, const struct strag_deviation *change)
{
    struct strag_slow *slow = find_slow(slowdown, change->rank);
    const double factor = round(20 * change->factor * (slow ? slow->factor : 1)) / 20;
    if (!slow && slowdown->nslow < STRAG_SLOW_MAX) {
        slow = &slowdown->slow[slowdown->nslow++];
        slow->rank = change->rank;
    }
    if (!slow)
        return;
    slow->factor = factor;
    if (factor < least)
        *slow = slowdown->slow[--slowdown->nslow];
}

void strag_slowdown_state(const struct strag_slowdown *slowdown, struct strag_state_record *state)
{
    state->nslow = slowdown->nslow;
    memcpy(state->slow, slowdown->slow, sizeof state->slow);
}

void strag_slowdown_init(struct strag_slowdown *slowdown, int hosts, double narrowest,
                         const struct strag_state_record *known)
{
    *slowdown = (struct strag_slowdown){
        .hosts = hosts, .narrowest = narrowest, .suspicion = 1, .refuted = 1};
    for (int s = 0; s < known->nslow; s++) {
        struct strag_slow *slow = find_slow(slowdown, known->slow[s].rank);
        if (!slow)
            slowdown->slow[slowdown->nslow++] = known->slow[s];
        else
            slow->factor = fmax(slow->factor, known->slow[s].factor);
    }
}

/* ---- When to probe ---- */

static bool is_suspicious(const struct strag_slowdown *slowdown)
{
    return slowdown->suspicion > least * slowdown->refuted;
}

static const struct effort *effort(const struct strag_slowdown *slowdown)
{
    return slowdown->npending > 0 || is_suspicious(slowdown) ? &thorough : &usual;
}

/* Of two probes a host is slow by chance in both, if some pairs of hosts have a slow path for good:
 * so the second one has more rounds, the more the more hosts there are. */
static int wanted_rounds(const struct strag_slowdown *slowdown)
{
    int rounds = slowdown->hosts > 3 ? 3 : 4;
    for (int hosts = slowdown->hosts; slowdown->npending > 0 && hosts >= 4; hosts /= 4)
        rounds++;
    return rounds;
}

/* By what factor the slowest link is thought to be slower than the fastest; not too low. */
static double slowest(const struct strag_slowdown *slowdown)
{
    double most = slowdown->suspicion;
    for (int s = 0; s < slowdown->nslow; s++)
        most = fmax(most, slowdown->slow[s].factor);
    for (int p = 0; p < slowdown->npending; p++)
        most = fmax(most, slowdown->pending[p].factor);
    return most / slowdown->narrowest;
}

/* All rounds take as long as the slowest link does. What meters say of a link alone, which may have
 * let some bytes pass at once, is only trusted where nothing was probed. */
size_t strag_slowdown_bytes(const struct strag_slowdown *slowdown)
{
    const double fast = slowdown->reference > 0 ? slowdown->reference : slowdown->metered;
    const double granted = thorough.share * slowdown->idle /
                           (wanted_rounds(slowdown) * slowest(slowdown));
    double seconds = usual.message;
    if (effort(slowdown) == &thorough)
        seconds = fmax(seconds, fmin(granted, thorough.message));
    return (size_t)(fast * seconds);
}

/* Seconds that a probe would take: at most as long as the last one, whose messages may have been
 * longer. */
static double expected(const struct strag_slowdown *slowdown)
{
    const double bytes = (double)strag_slowdown_bytes(slowdown) * wanted_rounds(slowdown);
    if (slowdown->sent == 0)
        return usual.message * wanted_rounds(slowdown);
    return slowdown->took * fmin(1, bytes / (double)slowdown->sent);
}

/* ---- Windows ---- */

bool strag_slowdown_window(struct strag_slowdown *slowdown,
                           const struct strag_link_sample *meters, double elapsed)
{
    slowdown->elapsed = elapsed;
    slowdown->idle += elapsed;
    slowdown->held -= elapsed;
    slowdown->suspicion = 1;
    if (meters && meters->slowest[0].rank >= 0) {
        slowdown->metered = strag_link_sample_summary(meters).fast;
        const double fast = slowdown->reference > 0 ? slowdown->reference : slowdown->metered;
        slowdown->suspicion = fmax(1, fast / (double)meters->slowest[0].rate);
    }
    slowdown->rounds = 0;
    if (slowdown->hosts >= STRAG_PROBE_HOSTS_MIN && slowdown->held <= 0 &&
        expected(slowdown) <= effort(slowdown)->share * slowdown->idle)
        slowdown->rounds = wanted_rounds(slowdown);
    return slowdown->rounds > 0;
}

int strag_slowdown_rounds(const struct strag_slowdown *slowdown)
{
    return slowdown->rounds;
}

/* ---- Probes ---- */

/* What both probes say is so; of their factors the one that is closer to 1.
 * @return whether there is such a host; all of these are in force then */
static bool confirm(struct strag_slowdown *slowdown, const struct strag_deviation *found, int count)
{
    bool changed = false;
    for (int f = 0; f < count; f++) {
        for (int p = 0; p < slowdown->npending; p++) {
            struct strag_deviation both = slowdown->pending[p];
            if (both.rank != found[f].rank || (both.factor > 1) != (found[f].factor > 1))
                continue;
            if (fabs(log(found[f].factor)) < fabs(log(both.factor)))
                both.factor = found[f].factor;
            change_factor(slowdown, &both);
            changed = true;
        }
    }
    return changed;
}

/* If the link deviates by the factor or more. */
static void add_deviation(const struct strag_link *link, double reference, double factor,
                          struct strag_deviation *found, int *count)
{
    const double deviation = reference / (double)link->rate;
    if (factor > 1 ? deviation >= factor : deviation <= factor)
        found[(*count)++] = (struct strag_deviation){link->rank, deviation};
}

/* @param[out] found  [STRAG_SLOWDOWN_PENDING] @return how many */
static int find_deviations(struct strag_slowdown *slowdown, const struct strag_link_sample *sample,
                           struct strag_deviation *found)
{
    const struct strag_link_summary all = strag_link_sample_summary(sample);
    if (!(all.fast > 0))
        return 0;
    slowdown->reference = all.fast;
    slowdown->scatter = fmax(all.scatter, kept * slowdown->scatter);
    const double factor = fmax(least, 1 + sure * slowdown->scatter);
    if (strag_link_sample_below(sample, all.fast / factor) > 0.5)
        return 0;
    int count = 0;
    for (int i = 0; i < STRAG_LINK_SLOWEST && sample->slowest[i].rank >= 0; i++)
        add_deviation(&sample->slowest[i], all.fast, factor, found, &count);
    for (int i = 0; i < STRAG_LINK_FASTEST && sample->fastest[i].rank >= 0; i++)
        add_deviation(&sample->fastest[i], all.fast, 1 / factor, found, &count);
    return count;
}

bool strag_slowdown_probed(struct strag_slowdown *slowdown, const struct strag_link_sample *sample,
                           double took)
{
    struct strag_deviation found[STRAG_SLOWDOWN_PENDING];
    const bool first = slowdown->npending == 0;
    slowdown->sent = strag_slowdown_bytes(slowdown) * (size_t)slowdown->rounds;
    slowdown->took = took;
    slowdown->rounds = 0;
    const int count = find_deviations(slowdown, sample, found);
    const bool changed = confirm(slowdown, found, count);
    memcpy(slowdown->pending, found, (size_t)count * sizeof *found);
    slowdown->npending = changed ? 0 : count;
    if (changed) {
        slowdown->held = slowdown->hold = fmax(2 * slowdown->hold, first_hold * slowdown->elapsed);
        slowdown->refuted = 1;
    } else if (count == 0) {
        slowdown->refuted = slowdown->suspicion;
    } else if (first && is_suspicious(slowdown)) {
        slowdown->rounds = wanted_rounds(slowdown);
        return false;
    }
    slowdown->idle = 0;
    return changed;
}
