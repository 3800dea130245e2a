/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The expected rate of a message between two hosts is the reference (bytes per second of a fast
 * link in the last probe) times the lower of both hosts' nominal rates over their factors.
 */
#include "watch/slowdown.h"

#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Two probes agree on a host if their factors differ by less. */
static const double agreement = 1.12;

/* What is left of a probe's scatter after another one. */
static const double scatter_kept = 0.8;

/* A message of a probe takes so long on a fast link, and where calls take long with a suspicion, or
 * to confirm what a probe has found, up to so long: what ranks wait for a processor is a smaller
 * part of that. */
static const double usual_message = 1e-3, thorough_message = 30e-3;

/* Bytes of a message: always, and while nothing is known of links but what meters say. */
enum { SHORTEST_MESSAGE = 128 << 10, LONGEST_MESSAGE = 4 << 20, FIRST_MESSAGE = 1 << 20 };

/* A meter's rate counts if its messages waited for more than this part of the calls' time. */
static const double least_wait = 0.02;

struct host {
    double nominal; /* the fastest one's is 1 */
    double factor;  /* in force; 1: not slow */
    double pending; /* the factor by the last probe */
    double last;    /* the rate of its slower link in the last probe, relative to the reference,
                     * since longer messages may be faster or slower; 0: there was none */
    double out, in; /* scratch: the best rates; 0: unknown */
    double seen;    /* the factor by the meters of the last window, or 1 */
};

struct strag_slowdown {
    struct strag_slowdown_options options;
    struct strag_probe_hosts of;
    int hosts;
    struct host *host;
    double *sorted; /* [hosts] */

    double reference;  /* bytes per second of a fast link; 0: unknown */
    double metered;    /* the same, by the meters of the last window */
    double scatter;    /* of fast links' rates in the last probes, relative */
    double took, idle; /* seconds of a probe; since the last one */
    size_t bytes;      /* of each of that one's messages; 0: there was none */
    size_t asked;      /* the same of the one that is under way */
    double tolerated;  /* a suspicion of this strength was refuted */
    int remembered;    /* windows left for which this holds */
    double suspicion;  /* of the last window, 1: none */
    bool is_pending;
};

struct strag_slowdown_options strag_slowdown_default(void)
{
    return (struct strag_slowdown_options){
        .least = 1.1, .sure = 4, .share = 0.003, .more = 0.08, .thought = 2e-3, .remember = 16};
}

/* ---- Making one ---- */

void strag_slowdown_free(struct strag_slowdown *slowdown)
{
    if (!slowdown)
        return;
    free(slowdown->host);
    free(slowdown->sorted);
    free(slowdown);
}

struct strag_slowdown *strag_slowdown_create(const struct strag_probe_hosts *hosts,
                                             const struct strag_state_record *known,
                                             const struct strag_slowdown_options *options)
{
    struct strag_slowdown *made = calloc(1, sizeof *made);
    double fastest = 0;
    if (!made)
        return NULL;
    made->options = options ? *options : strag_slowdown_default();
    made->of = *hosts;
    made->hosts = hosts->count;
    made->host = malloc((size_t)hosts->count * sizeof *made->host);
    made->sorted = malloc((size_t)hosts->count * sizeof *made->sorted);
    if (!made->host || !made->sorted) {
        strag_slowdown_free(made);
        return NULL;
    }
    for (int h = 0; h < hosts->count; h++)
        fastest = fmax(fastest, hosts->uplink[h]);
    for (int h = 0; h < hosts->count; h++)
        made->host[h] = (struct host){
            .nominal = hosts->uplink[h] > 0 ? hosts->uplink[h] / fastest : 1,
            .factor = 1,
            .seen = 1,
        };
    for (int s = 0; s < known->nslow; s++)
        made->host[hosts->host_of[known->slow[s].rank]].factor = known->slow[s].factor;
    made->took = made->options.thought;
    made->tolerated = made->suspicion = 1;
    return made;
}

/* ---- A topology's hosts ---- */

bool strag_probe_hosts_make(const struct strag_topology *topology, struct strag_probe_hosts *hosts)
{
    int host = -1, node = -1;
    *hosts = (struct strag_probe_hosts){
        .ranks = topology->n,
        .count = topology->hosts,
        .host_of = malloc((size_t)topology->n * sizeof *hosts->host_of),
        .leader = malloc((size_t)topology->hosts * sizeof *hosts->leader),
        .uplink = malloc((size_t)topology->hosts * sizeof *hosts->uplink),
    };
    if (!hosts->host_of || !hosts->leader || !hosts->uplink)
        return false;
    for (int leaf = 0; leaf < topology->n; leaf++) {
        int rank = topology->leaf_rank[leaf];
        if (topology->host_node[rank] != node) {
            node = topology->host_node[rank];
            hosts->leader[++host] = rank;
            hosts->uplink[host] = topology->nodes[node].uplink;
        }
        hosts->host_of[rank] = host;
    }
    return true;
}

void strag_probe_hosts_free(struct strag_probe_hosts *hosts)
{
    free(hosts->host_of);
    free(hosts->leader);
    free(hosts->uplink);
    *hosts = (struct strag_probe_hosts){0};
}

void strag_slowdown_state(const struct strag_slowdown *slowdown, struct strag_state_record *state)
{
    state->nslow = 0;
    for (int h = 0; h < slowdown->hosts; h++)
        strag_state_add_slow(state, slowdown->of.leader[h], slowdown->host[h].factor);
}

/* ---- Rates ---- */

/* Rate of a message between two hosts, relative to the fastest ones. */
static double nominal(const struct strag_slowdown *slowdown, int a, int b)
{
    return fmin(slowdown->host[a].nominal, slowdown->host[b].nominal);
}

/* The same, with the factors in force. */
static double expected(const struct strag_slowdown *slowdown, int a, int b)
{
    const struct host *from = &slowdown->host[a], *to = &slowdown->host[b];
    return fmin(from->nominal / from->factor, to->nominal / to->factor);
}

static void forget_best(struct strag_slowdown *slowdown)
{
    for (int h = 0; h < slowdown->hosts; h++)
        slowdown->host[h].out = slowdown->host[h].in = 0;
}

static void take_best(struct strag_slowdown *slowdown, int from, int to, double rate)
{
    struct host *out = &slowdown->host[from], *in = &slowdown->host[to];
    out->out = fmax(out->out, rate);
    in->in = fmax(in->in, rate);
}

/* Of slowdown->sorted. */
static double upper_quartile(struct strag_slowdown *slowdown, int count)
{
    qsort(slowdown->sorted, (size_t)count, sizeof *slowdown->sorted, strag_compare_double);
    return slowdown->sorted[(3 * count - 1) / 4];
}

/* ---- Suspicion ---- */

/* Each host's best rates by the meters. */
static void read_meters(struct strag_slowdown *slowdown, const char *notes, size_t stride,
                        double calls)
{
    forget_best(slowdown);
    for (int rank = 0; rank < slowdown->of.ranks; rank++) {
        struct strag_meter_note note;
        int from = slowdown->of.host_of[rank];
        memcpy(&note, notes + (size_t)rank * stride, sizeof note);
        for (int i = 0; i < STRAG_METER_HOSTS; i++) {
            const struct strag_drained *drained = &note.to[i];
            int to = drained->host;
            if (to < 0 || to >= slowdown->hosts || to == from ||
                !((double)drained->seconds > least_wait * calls))
                continue;
            double rate = (double)drained->bytes / (double)drained->seconds;
            take_best(slowdown, from, to, rate / expected(slowdown, from, to));
        }
    }
}

/* By what factor is a rate below the reference? 1 for an unknown rate. */
static double slower(double rate, double reference)
{
    return rate > 0 ? reference / rate : 1;
}

/* A slow host's link may also have become faster. */
static double deviation(const struct host *host, double rate, double reference)
{
    double factor = slower(rate, reference);
    return host->factor > 1 ? fmax(factor, 1 / factor) : factor;
}

/* @return the factor by which the most suspicious link deviates from its expected rate; 1: none */
static double suspect(struct strag_slowdown *slowdown, const void *notes, size_t stride,
                      double calls)
{
    double most = 1, reference = slowdown->reference;
    int count = 0;
    read_meters(slowdown, notes, stride, calls);
    for (int h = 0; h < slowdown->hosts; h++) {
        const struct host *host = &slowdown->host[h];
        if (host->out > 0 || host->in > 0)
            slowdown->sorted[count++] = fmax(host->out, host->in);
    }
    slowdown->metered = count > 0 ? upper_quartile(slowdown, count) : 0;
    if (!(reference > 0))
        reference = slowdown->metered;
    for (int h = 0; h < slowdown->hosts; h++) {
        struct host *host = &slowdown->host[h];
        most = fmax(most, deviation(host, host->out, reference));
        most = fmax(most, deviation(host, host->in, reference));
        host->seen = fmax(slower(host->out, reference), slower(host->in, reference));
    }
    return most;
}

static bool is_suspicious(const struct strag_slowdown *slowdown)
{
    return slowdown->suspicion > slowdown->options.least * slowdown->tolerated;
}

static bool any_slow(const struct strag_slowdown *slowdown)
{
    for (int h = 0; h < slowdown->hosts; h++) {
        if (slowdown->host[h].factor > 1)
            return true;
    }
    return false;
}

/* What a probe would take: at most as long as the last one, whose messages may have been longer. */
static double thought(const struct strag_slowdown *slowdown)
{
    if (slowdown->bytes == 0)
        return slowdown->took;
    return slowdown->took *
           fmin(1, (double)strag_slowdown_bytes(slowdown) / (double)slowdown->bytes);
}

bool strag_slowdown_window(struct strag_slowdown *slowdown, const void *notes, size_t stride,
                           double calls, double elapsed)
{
    const struct strag_slowdown_options *options = &slowdown->options;
    slowdown->idle += elapsed;
    if (slowdown->remembered > 0 && --slowdown->remembered == 0)
        slowdown->tolerated = 1;
    if (strag_probe_rounds(slowdown->hosts) == 0)
        return false;
    slowdown->suspicion = suspect(slowdown, notes, stride, calls);
    const bool more = is_suspicious(slowdown) || any_slow(slowdown);
    const bool probe =
        slowdown->is_pending ||
        thought(slowdown) <= (more ? options->more : options->share) * slowdown->idle;
    if (probe)
        slowdown->asked = strag_slowdown_bytes(slowdown);
    return probe;
}

/* ---- Probes ---- */

int strag_probe_rounds(int hosts)
{
    if (hosts < STRAG_PROBE_HOSTS_MIN)
        return 0;
    return hosts - 1 < STRAG_PROBE_ROUNDS ? hosts - 1 : STRAG_PROBE_ROUNDS;
}

/* By what factor the slowest link is thought to be slower than the fastest; not too low. */
static double slowest(const struct strag_slowdown *slowdown)
{
    double most = slowdown->suspicion, nominal = 1;
    for (int h = 0; h < slowdown->hosts; h++) {
        const struct host *host = &slowdown->host[h];
        most = fmax(most, fmax(host->factor, slowdown->is_pending ? host->pending : 1));
        nominal = fmin(nominal, host->nominal);
    }
    return most / nominal;
}

/* All rounds take as long as the slowest link does, and together the share that is granted. What
 * meters say of a link alone, which may have let some bytes pass at once, is not trusted far. */
size_t strag_slowdown_bytes(const struct strag_slowdown *slowdown)
{
    const bool known = slowdown->reference > 0;
    const double granted =
        slowdown->options.more * slowdown->idle / (STRAG_PROBE_ROUNDS * slowest(slowdown));
    double bytes = slowdown->reference * usual_message;
    if (slowdown->is_pending || is_suspicious(slowdown))
        bytes = fmax(bytes, (known ? slowdown->reference : slowdown->metered) *
                                fmin(granted, thorough_message));
    return (size_t)fmin(fmax(bytes, SHORTEST_MESSAGE), known ? LONGEST_MESSAGE : FIRST_MESSAGE);
}

/* Each host's best rates. @return false: one was not measured */
static bool read_probe(struct strag_slowdown *slowdown, const float *rates)
{
    forget_best(slowdown);
    for (int to = 0; to < slowdown->hosts; to++) {
        for (int round = 0; round < strag_probe_rounds(slowdown->hosts); round++) {
            double rate = (double)rates[to * STRAG_PROBE_ROUNDS + round];
            int from = strag_probe_from(slowdown->hosts, round, to);
            if (!(rate > 0) || isinf(rate))
                return false;
            take_best(slowdown, from, to, rate / nominal(slowdown, from, to));
        }
    }
    return true;
}

static double speed(const struct host *host)
{
    return fmin(host->out, host->in);
}

/* How much fast links' rates scatter: how far the faster half of the hosts, of which
 * slowdown->sorted has the speeds in rising order, are from their slowest, and how far most hosts
 * have moved since the last probe. Of a normal distribution both are the standard deviation. */
static void find_scatter(struct strag_slowdown *slowdown)
{
    static const double of_mean = 1.2533, of_median = 1.4826;
    const int hosts = slowdown->hosts, first = hosts / 2;
    double sum = 0, moved = 0;
    for (int h = first; h < hosts; h++)
        sum += log(slowdown->sorted[h] / slowdown->sorted[first]);
    for (int h = 0; h < hosts; h++) {
        struct host *host = &slowdown->host[h];
        const double relative = speed(host) / slowdown->reference;
        slowdown->sorted[h] = host->last > 0 ? fabs(log(relative / host->last)) : 0;
        host->last = relative;
    }
    qsort(slowdown->sorted, (size_t)hosts, sizeof *slowdown->sorted, strag_compare_double);
    moved = of_median * slowdown->sorted[hosts / 2] / sqrt(2);
    slowdown->scatter =
        fmax(fmax(of_mean * sum / (hosts - first), moved), scatter_kept * slowdown->scatter);
}

/* From which factor on a host is slow that was not. */
static double least_factor(const struct strag_slowdown *slowdown)
{
    return fmax(slowdown->options.least, 1 + slowdown->options.sure * slowdown->scatter);
}

/* A host's factor by a probe, or 1. A slow host needs less to remain slow. */
static double judge(const struct strag_slowdown *slowdown, const struct host *host)
{
    double factor = slowdown->reference / speed(host), least = least_factor(slowdown);
    if (host->factor > 1)
        least = 1 + (slowdown->options.least - 1) / 2;
    return factor >= least ? factor : 1;
}

static bool agree(double a, double b)
{
    return (a > 1) == (b > 1) && a < b * agreement && b < a * agreement;
}

/* If most hosts are slow none has been degraded: it is the machine. */
static bool most_are_slow(const struct strag_slowdown *slowdown)
{
    int slow = 0;
    for (int h = 0; h < slowdown->hosts; h++)
        slow += judge(slowdown, &slowdown->host[h]) > 1;
    return 2 * slow > slowdown->hosts;
}

static void adopt(struct strag_slowdown *slowdown)
{
    slowdown->tolerated = 1;
    slowdown->remembered = 0;
    for (int h = 0; h < slowdown->hosts; h++) {
        struct host *host = &slowdown->host[h];
        host->factor = host->pending > 1 ? round(20 * host->pending) / 20 : 1;
    }
}

/* Compare every host's factor by a probe with the one in force and with the previous probe's.
 * @param[out] sure  changes are confirmed
 * @return whether there are any */
static bool compare(struct strag_slowdown *slowdown, bool *sure)
{
    bool changed = false, none = most_are_slow(slowdown);
    *sure = true;
    for (int h = 0; h < slowdown->hosts; h++) {
        struct host *host = &slowdown->host[h];
        double factor = none ? 1 : judge(slowdown, host);
        bool other = !agree(factor, host->factor);
        bool again = slowdown->is_pending && agree(factor, host->pending);
        bool seen = factor > host->factor && host->seen >= least_factor(slowdown);
        changed = changed || other;
        *sure = *sure && (!other || again || seen);
        host->pending = again ? sqrt(factor * host->pending) : factor;
    }
    return changed;
}

bool strag_slowdown_probed(struct strag_slowdown *slowdown, const float *rates, double took)
{
    bool changed = false, sure = false;
    slowdown->bytes = slowdown->asked;
    slowdown->took = took;
    slowdown->idle = 0;
    if (read_probe(slowdown, rates)) {
        for (int h = 0; h < slowdown->hosts; h++)
            slowdown->sorted[h] = speed(&slowdown->host[h]);
        slowdown->reference = upper_quartile(slowdown, slowdown->hosts);
        find_scatter(slowdown);
        changed = compare(slowdown, &sure);
        if (!changed && slowdown->suspicion > slowdown->tolerated) {
            slowdown->tolerated = slowdown->suspicion;
            slowdown->remembered = slowdown->options.remember;
        }
    }
    slowdown->is_pending = changed && !sure;
    if (changed && sure)
        adopt(slowdown);
    return changed && sure;
}
