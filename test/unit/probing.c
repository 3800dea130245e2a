/* SPDX-License-Identifier: BSD-3-Clause */
#include "probing.h"

#include <math.h>

struct strag_probe_hosts probing_hosts(int hosts)
{
    const size_t count = (size_t)hosts;
    struct strag_probe_hosts made = {
        .ranks = hosts,
        .count = hosts,
        .host_of = calloc(count, sizeof *made.host_of),
        .leader = calloc(count, sizeof *made.leader),
        .narrower = calloc(count, sizeof *made.narrower),
    };
    assert_true(made.host_of && made.leader && made.narrower);
    for (int h = 0; h < hosts; h++)
        made.host_of[h] = made.leader[h] = h;
    return made;
}

void probing_make(struct probing *probing, const struct strag_probe_hosts *hosts,
                  const struct strag_state_record *known,
                  double (*rate)(const struct probing *probing, int from, int to), void *context)
{
    static const struct strag_state_record none;
    *probing = (struct probing){.ranks_per_host = hosts->ranks / hosts->count,
                                .hosts = hosts,
                                .rate = rate,
                                .context = context,
                                .before = calloc((size_t)hosts->count, sizeof *probing->before)};
    assert_non_null(probing->before);
    strag_slowdown_init(&probing->slowdown, hosts, known ? known : &none, 0);
}

void probing_free(struct probing *probing)
{
    free(probing->before);
}

double probing_factor(const struct probing *probing, int host)
{
    struct strag_state_record state;
    strag_slowdown_state(&probing->slowdown, &state);
    for (int s = 0; s < state.nslow; s++) {
        if (state.slow[s].rank == probing->hosts->leader[host])
            return state.slow[s].factor;
    }
    return 1;
}

void probing_sample(struct probing *probing, int rounds, struct strag_link_sample *sample)
{
    const struct strag_probe_hosts *hosts = probing->hosts;
    const size_t count = (size_t)hosts->count;
    struct strag_link_best *in = calloc(2 * count, sizeof *in), *out = in + count;
    assert_non_null(in);
    for (int r = 0; r < rounds; r++) {
        const int shift = strag_probe_shift(hosts->count, probing->round++);
        for (int from = 0; from < hosts->count; from++) {
            const int to = (from + shift) % hosts->count;
            const double measured = probing->rate(probing, from, to);
            const int *narrower = hosts->narrower;
            if (narrower[to] <= narrower[from])
                strag_link_best_add(&out[from], measured * exp(narrower[from] / 1000.0));
            if (narrower[from] <= narrower[to])
                strag_link_best_add(&in[to], measured * exp(narrower[to] / 1000.0));
        }
    }
    strag_link_sample_clear(sample);
    for (int h = 0; h < hosts->count; h++) {
        const uint16_t now = strag_link_rate(fmin(in[h].rate, out[h].rate));
        struct strag_link_sample own;
        strag_link_sample_clear(&own);
        strag_link_sample_add(&own, hosts->leader[h], now, probing->before[h],
                              probing_factor(probing, h));
        strag_link_sample_gap(&own, &in[h]);
        strag_link_sample_gap(&own, &out[h]);
        strag_link_sample_merge(sample, &own);
        probing->before[h] = now;
    }
    free(in);
}

bool probing_probe(struct probing *probing, double took)
{
    const int rounds = strag_slowdown_rounds(&probing->slowdown);
    struct strag_link_sample sample;
    probing_sample(probing, rounds > 0 ? rounds : 3, &sample);
    return strag_slowdown_probed(&probing->slowdown, &sample, took);
}

bool probing_window(struct probing *probing, double elapsed, double took)
{
    bool changed = false;
    (void)strag_slowdown_window(&probing->slowdown, NULL, elapsed, INFINITY);
    while (strag_slowdown_rounds(&probing->slowdown) > 0)
        changed = probing_probe(probing, took) || changed;
    return changed;
}
