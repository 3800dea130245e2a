/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The numbers behind an estimate: how fast links and ranks are.
 */
#ifndef STRAG_MODEL_H
#define STRAG_MODEL_H

#include "machine/topology.h"

/* What to do if both ways round a ring of a torus are equally long. */
enum strag_ties {
    STRAG_TIES_SPLIT, /* half of the bytes each way */
    STRAG_TIES_PLUS,  /* all upwards */
};

struct strag_model {
    double alpha;       /* seconds of latency of a message between hosts */
    double local_alpha; /* the same within a host */
    double overhead;  /* seconds that either end takes for a message to or from another host, if its
                         latency is hidden: for further messages of a round, and in rounds that do
                         not wait for one another (o of LogGP) */
    double bandwidth; /* bytes per second of a link of the network, each direction */
    double injection_bandwidth; /* bytes per second of a grid's host over all of its links, each
                                   direction; 0 for no limit */
    double local_bandwidth;     /* bytes per second of a rank's copying within its host */
    double link_latency;        /* seconds for each link of the network that a message crosses */
    double hop_latency;         /* ... and for each host or switch that it then enters */
    double reduce_bandwidth;    /* bytes per second that a rank reduces; 0 if reducing is free */
    enum strag_ties ties;

    /* Ranks of a host send by writing into memory that all of them read. A rank writes data that it
     * sends unchanged to several ranks once; receivers reduce from where it was written, and copy
     * out only data that is not reduced. A rank does these one after the other. For mode `rounds`
     * (cost.h). */
    bool written_once;
};

/* The overhead relative to alpha, if none is given. */
#define STRAG_MODEL_OVERHEAD_SHARE 0.2

/**
 * The defaults of the component, the command and the library. Between hosts: 1 us, a fifth of it as
 * overhead, and 100 Gbit/s; on grids 100 ns per link and 300 ns per hop, on trees none (alpha
 * covers them). Within a host: shared memory as strag-tune measured it with 2 and 4 ranks, 0.4 us,
 * and 160 Gbit/s for copying and for reducing.
 */
struct strag_model strag_model_default(enum strag_network network);

/** Set the numbers within hosts for the PML in place of shared memory, as strag-tune measured it
 * with 2 and 4 ranks: 4 us, and 128 Gbit/s for copying and for reducing. (Whole operations, which
 * run in order, take less through shared memory, but algorithms overtake each other at the right
 * sizes.) */
void strag_model_use_pml(struct strag_model *model);

/** strag_model.written_once of n ranks that share a host's memory. With a processor for each rank,
 * a call takes as long as ranks copy and sum up; up to 4 ranks the choice without it is as
 * measured.
 */
static inline bool strag_model_is_written_once(int n, int processors)
{
    return n > 4 && n <= processors;
}

#endif
