/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A sample: ranks that stand for all of a job that is too large to examine all of them.
 *
 * On a tree: some units, all ranks of each. A unit is a host, or a part of a host with very many
 * ranks. The load of a unit's own links is known exactly, from what its ranks send and receive;
 * among equal units with equal parts it does not matter which one is examined. The sample has the
 * first unit, the last, and those between them at growing distances from either end; and all units
 * that differ: with a slow host or a late rank, the largest, the smallest, the slowest. Some
 * switches are examined, too, with units below them at growing distances, which stand for those
 * around them.
 *
 *     units below a switch     0 1 2 3 4 5 6 7 8 9 a b c d e f
 *     examined, and for how    * *   *     *       *     *   * *
 *     many each stands         1 1   2     4       4     2   1 1
 *
 * So a ring, in which one rank sends out of the switch, differs from an exchange of halves, in
 * which all do.
 *
 * On a grid: some lines of hosts in every dimension, all hosts of each. All lines of a dimension
 * get the mean load of the sampled ones. For algorithms that go dimension by dimension all lines
 * are equal; for others this is an estimate.
 *
 * The result is exact for links of sampled units, and an estimate for switches and grids. Messages
 * that only other units have are missed.
 */
#ifndef STRAG_SAMPLE_H
#define STRAG_SAMPLE_H

#include "model/network.h"

/* The parts of a topology that are examined as a whole, in the order of the tree. */
struct strag_sample_units {
    int count;
    int32_t *node;             /* [unit]: host, or below one */
    int32_t *at;               /* [unit]: its first leaf in the order of the tree; [count] is n */
    int most, fewest, slowest; /* units */

    /* On trees: the nodes above units that are examined. */
    int rows;
    int32_t *row_node; /* [row] */
    int32_t *row;      /* [node]: STRAG_ROW_*, or its row */
};

struct strag_sample {
    int wanted;    /* ranks that were asked for; 0 if there is no sample */
    int count;     /* ranks that are examined */
    int32_t *rank; /* [0 .. count) */
    int chosen;    /* units that are examined */
    int32_t *unit; /* [rank]: the number of its unit among these; -1 if not examined */
    bool sends;    /* their messages to ranks that are not examined count, too */

    /* The weight of messages of a unit's ranks on the link of a node above units.
     */
    const int32_t *row; /* the units' `row` */
    float *weight;      /* [row * chosen + unit] */

    /* On grids: classes, each of the corresponding links of lines. */
    int classes;
    int class_start[STRAG_DIMS_MAX]; /* a dimension's first class */
    float part[STRAG_DIMS_MAX];      /* a link's share of what the dimension's lines receive */
    uint8_t *lines;                  /* [unit]: a bit for each dimension */
    double *pace;                    /* [class]: of the slowest link */
};

enum { STRAG_ROW_EXACT = -1, STRAG_ROW_UNKNOWN = -2 };

/** @param state  the nodes above its slow and late ranks' units are examined; may be NULL
 * @return false when out of memory; then nothing needs closing */
bool strag_units_open(const struct strag_links *links, const struct strag_state *state,
                      struct strag_sample_units *units);

/** Zeroed units are allowed. */
void strag_units_close(struct strag_sample_units *units);

/**
 * Choose ranks.
 *
 * @param state   its slow and late ranks are included; may be NULL
 * @param wanted  about how many; there are more if the units that differ need them
 * @param[out] sample  the caller's to close; zeroed on failure
 * @return false when out of memory
 */
bool strag_sample_open(const struct strag_links *links, const struct strag_sample_units *units,
                       const struct strag_state *state, int wanted, struct strag_sample *sample);

/** A zeroed sample is allowed. */
void strag_sample_close(struct strag_sample *sample);

/* How a hop counts. */
struct strag_sampled_hop {
    int link;      /* or links->nlinks + the class */
    double weight; /* of the message on it; 0 if the message does not count there */
};

/** As strag_sample_hop, for a link of a grid. */
struct strag_sampled_hop strag_sample_class(const struct strag_sample *sample,
                                            const struct strag_links *links, int to, int link);

/** How a message counts for a link on its route. At least one of its ranks is sampled. */
static inline struct strag_sampled_hop strag_sample_hop(const struct strag_sample *sample,
                                                        const struct strag_links *links, int from,
                                                        int to, int link)
{
    if (link >= links->in_tree)
        return strag_sample_class(sample, links, to, link);
    /* A link between two groups counts as the uplink of the one that sends. */
    const int pair = link - 2 * links->topology->nnodes;
    const int node =
        pair < 0 ? link / 2 : links->topology->nodes[0].first_child + pair / links->groups;
    int unit = sample->unit[pair < 0 && link % 2 ? to : from], row = sample->row[node];
    if (unit < 0 || row == STRAG_ROW_UNKNOWN)
        return (struct strag_sampled_hop){link, 0};
    double weight = row == STRAG_ROW_EXACT ? 1 : sample->weight[row * sample->chosen + unit];
    return (struct strag_sampled_hop){link, weight};
}

#endif
