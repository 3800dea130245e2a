/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Some ranks that tell how a large job's rounds go, where looking at all of them would take too
 * long.
 *
 * On a tree: some units, all ranks of each. A unit is a host, or a part of one with very many
 * ranks. What a unit's own links carry is known exactly, from what its ranks send and receive; of
 * equal units with equal parts it does not matter which one is examined. They are the first, the
 * last, and those between them at distances from either end that grow; and all that differ: with a
 * slow host or a late rank, the largest, the smallest, the slowest. Of switches, some are
 * examined, and of the units below each some again at growing distances; these stand for those
 * around them.
 *
 *     units below a switch     0 1 2 3 4 5 6 7 8 9 a b c d e f
 *     examined, and for how    * *   *     *       *     *   * *
 *     many each stands         1 1   2     4       4     2   1 1
 *
 * So a ring, of which one rank sends out of the switch, differs from an exchange of halves, in
 * which all do.
 *
 * On a grid: some lines of hosts in every dimension, all hosts of each. Lines of a dimension are
 * taken to be equal, and what a line's links carry is the mean of the sampled ones: for
 * algorithms that go dimension by dimension each is like the other, for others it is an estimate.
 *
 * What is found is exact for links of units that were sampled, an estimate for switches and
 * grids, and nothing is known of what only others do.
 */
#ifndef STRAG_SAMPLE_H
#define STRAG_SAMPLE_H

#include "model/network.h"

/* The parts of a topology that are examined as a whole, in the order of the tree. */
struct strag_sample_units {
    int count;
    int32_t *node;             /* [unit]: host, or below one */
    int32_t *at;               /* [unit]: its first place in the order of the tree; [count]: n */
    int most, fewest, slowest; /* units */

    /* Trees: the nodes above units that are examined. */
    int rows;
    int32_t *row_node; /* [row] */
    int32_t *row;      /* [node]: STRAG_ROW_*, or its row */
};

struct strag_sample {
    int wanted;    /* ranks that were asked for; 0: there is no sample */
    int count;     /* ranks that are examined */
    int32_t *rank; /* [0 .. count) */
    int chosen;    /* units that are examined */
    int32_t *unit; /* [rank]: the number of its unit among these; -1: it is not examined */
    bool sends;    /* what they send to others counts as well as what they receive */

    /* By which number what a unit's rank sends over the link of a node above units is multiplied.
     */
    const int32_t *row; /* those of the units */
    float *weight;      /* [row * chosen + unit] */

    /* Grids: links of lines, as classes. */
    int classes;
    int class_start[STRAG_DIMS_MAX]; /* of a dimension's classes */
    float part[STRAG_DIMS_MAX];      /* of what its lines' ranks receive, what a link carries */
    uint8_t *lines;                  /* [unit]: a bit for each dimension */
    double *pace;                    /* [class]: of the slowest link */
};

enum { STRAG_ROW_EXACT = -1, STRAG_ROW_UNKNOWN = -2 };

/** @param state  whose slow and late ranks' units have their nodes above examined; NULL: none
 * @return false when out of memory; then nothing is left */
bool strag_units_open(const struct strag_links *links, const struct strag_state *state,
                      struct strag_sample_units *units);

/** Units that are all zero are allowed. */
void strag_units_close(struct strag_sample_units *units);

/**
 * Choose ranks.
 *
 * @param state   whose slow and late ranks are among them; NULL: none
 * @param wanted  about this many; there are more if that is needed for all that differ
 * @param[out] sample  the caller's to close; all zero on failure
 * @return false when out of memory
 */
bool strag_sample_open(const struct strag_links *links, const struct strag_sample_units *units,
                       const struct strag_state *state, int wanted, struct strag_sample *sample);

/** A sample that is all zero is allowed. */
void strag_sample_close(struct strag_sample *sample);

/* How a hop counts. */
struct strag_sampled_hop {
    int link;      /* or links->nlinks + the class */
    double weight; /* for what it carries; 0: this message tells nothing of it */
};

/** As strag_sample_hop, of a link of a grid. */
struct strag_sampled_hop strag_sample_class(const struct strag_sample *sample,
                                            const struct strag_links *links, int to, int link);

/** What a message tells of a link on its route. At least one of its ranks is sampled. */
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
