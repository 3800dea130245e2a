/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the programs that run in SimGrid's SMPI. */
#ifndef STRAG_SIM_H
#define STRAG_SIM_H

#include "machine/topology.h"

/** Print a line and end the job. */
void sim_give_up(const char *what);

/** A torus like 8x8 with a rank at each position. */
int sim_torus(const char *dims, struct strag_topology **topology, struct strag_error *err);

/** Groups of hosts with a rank on each, and every group's uplink in Gbit/s: 4@100,2@50. */
int sim_groups(const char *text, struct strag_topology **topology, struct strag_error *err);

#endif
