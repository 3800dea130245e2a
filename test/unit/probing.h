/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Probes for tests: what hosts measure of each other, and how it is merged, as the component does
 * it. Hosts' leaders are ranks h times the ranks of a host.
 */
#ifndef STRAG_TEST_PROBING_H
#define STRAG_TEST_PROBING_H

#include "detect/slowdown.h"
#include "support.h"

struct probing {
    int ranks_per_host;
    const struct strag_probe_hosts *hosts;
    struct strag_slowdown slowdown;
    unsigned round;   /* of all probes, the next one */
    uint16_t *before; /* [host] */

    /* Of a message, bytes per second. */
    double (*rate)(const struct probing *probing, int from, int to);
    void *context;
};

/** Hosts of one rank each, all equal. Free it with strag_probe_hosts_free. */
struct strag_probe_hosts probing_hosts(int hosts);

/** Free it with probing_free. */
void probing_make(struct probing *probing, const struct strag_probe_hosts *hosts,
                  const struct strag_state_record *known,
                  double (*rate)(const struct probing *probing, int from, int to), void *context);
void probing_free(struct probing *probing);

/** By how much a host counts as slow; 1: it does not. */
double probing_factor(const struct probing *probing, int host);

/** A probe of `rounds` rounds. */
void probing_sample(struct probing *probing, int rounds, struct strag_link_sample *sample);

/** The probe that is wanted, or one of three rounds. @param took  seconds @return whether the state
 * has changed */
bool probing_probe(struct probing *probing, double took);

/** A window without messages that waited, and the probes that are wanted then.
 * @return whether the state has changed */
bool probing_window(struct probing *probing, double elapsed, double took);

#endif
