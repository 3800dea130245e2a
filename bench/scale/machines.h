/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The machines of bench/scale: made from nodes, each named, up to 131,072 ranks.
 */
#ifndef STRAG_BENCH_SCALE_MACHINES_H
#define STRAG_BENCH_SCALE_MACHINES_H

#include "machine/topology.h"

struct machine {
    const char *name; /* as it is printed */
    int (*make)(const struct machine *machine, struct strag_topology **topology,
                struct strag_error *err);
    int a, b, c; /* what `make` needs: see there */
    const char *dims;
};

/** Ended by one without a name. */
extern const struct machine machines[];

#endif
