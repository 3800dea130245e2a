/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hosts on one switch, in virtual time, for tests of what is measured: the engines of all ranks run
 * their plans over connections such as TCP's, and every rank's meter records its sends.
 *
 * A send completes when the last of its bytes is in the connection's buffer; the buffer's bytes
 * share the hosts' links fairly with those of all other connections (flows.h). A rank that has not
 * begun its call yet takes no more than a buffer either. Nothing is computed.
 */
#ifndef STRAG_TEST_WIRES_H
#define STRAG_TEST_WIRES_H

#include "detect/meter.h"
#include "run/reducer.h"
#include "support.h"

enum { WIRES_HOSTS = 16, WIRES_RANKS = 32 };

struct wires {
    int n, hosts, ranks_per_host;
    struct strag_topology *topology;
    double bandwidth;              /* bytes per second of a healthy link, each direction */
    double factor[WIRES_HOSTS];    /* at least 1: this many times slower is a host's link */
    double buffer;                 /* bytes, of each connection */
    double straggler[WIRES_RANKS]; /* seconds that a rank comes late to the next call */
    double jitter; /* of every call's links: slower by up to this part of themselves */
    double now;
    struct rng *rng;
    struct strag_meter meters[WIRES_RANKS];
};

/** 100 Mbit/s, buffers of 128 KiB. Free it with wires_free; do not copy it. */
void wires_make(struct wires *wires, int hosts, int ranks_per_host, struct rng *rng);
void wires_free(struct wires *wires);

/** One allreduce of `bytes` bytes. `known`: the state for which it is planned. @return seconds */
double wires_call(struct wires *wires, const char *algorithm, const struct strag_state *known,
                  size_t bytes);

/** The rate of a message of a probe between two hosts, as it really is, but for the jitter. */
double wires_rate(const struct wires *wires, int from, int to);

/** A reducer that computes nothing; its space has 8 bytes for each element. */
extern struct strag_reducer wires_nothing;

/** Sums of 64-bit numbers. It has no state: many threads may use it at a time. */
extern struct strag_reducer wires_sums;

#endif
