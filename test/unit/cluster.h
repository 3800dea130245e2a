/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A job in virtual time whose calls are judged: samples of all ranks are merged, the window orders
 * are followed, and probes are made, as the component does it. Its clock runs CLUSTER_SCALE times
 * slower than the model's.
 */
#ifndef STRAG_TEST_CLUSTER_H
#define STRAG_TEST_CLUSTER_H

#include "learn/judge.h"
#include "probing.h"
#include "support.h"

enum { CLUSTER_HOSTS = 8, CLUSTER_NOBODY = -1, CLUSTER_OPERATION = 7 };

#define CLUSTER_SCALE 3.0

/* What is watched. */
struct cluster_kind {
    int ranks; /* that are sampled; plans and links are those of the first CLUSTER_HOSTS */
    bool stragglers, links, experiments, same_window;
    enum strag_dynamic_use dynamic;
};

struct cluster {
    struct cluster_kind kind;
    struct strag_topology *topology;
    struct strag_probe_hosts hosts;
    struct probing probing;
    struct strag_judge_options options;
    struct strag_judge *judge;
    const struct strag_algorithm *began; /* what calls ran at first */
    struct strag_window window;
    struct strag_call_sample sent[STRAG_WINDOW_CALLS];
    struct strag_link_sample meters;
    int filled; /* calls that were sent */
    uint64_t in_mode;
    struct rng rng;

    /* How it is */
    size_t bytes;
    int straggler; /* CLUSTER_NOBODY: all are in time */
    double delay;
    int also;                     /* above 0: this rank is late, too, by half as much */
    bool rotates;                 /* another one in each call */
    double everyone;              /* if above 0, all are late: exponentially, by this in the mean */
    double scatter;               /* of ranks' ends, of a call's time at most */
    double seconds;               /* of a call; 0: CLUSTER_SCALE times what is modelled */
    double others;                /* this many times as long with another algorithm than at first */
    double factor[CLUSTER_HOSTS]; /* of hosts' links */
    bool useless;                 /* tables for a straggler are as those without */
    double window_costs, next_costs; /* seconds: each window, and the next one alone */

    /* What came of it */
    struct strag_judgement last;
    long calls, windows, looks, probes;
    long elsewhere;      /* calls of another algorithm than at first */
    int made;            /* tables */
    double total, spent; /* seconds: of rank 0 in calls, of watching */
    double longest;      /* seconds of the processor that a judgement took at most */
};

/** Ends the test if anything fails. Free it with cluster_free. */
struct cluster *cluster_make(const struct cluster_kind *kind);
void cluster_free(struct cluster *cluster);

/** What a vector of the job's size runs now. */
const struct strag_entry *cluster_runs(const struct cluster *cluster);

/** One call of all ranks, and what follows it. */
enum strag_change cluster_call(struct cluster *cluster);

/** Calls until something changes. @return how many; most + 1: nothing has */
int cluster_until(struct cluster *cluster, enum strag_change *change, int most);

#endif
