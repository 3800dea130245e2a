/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The hosts' links to the network, as algorithms for slow links need them: which ranks share a
 * link, and how fast it is relative to the fastest.
 *
 * A link's rate comes from the topology (a host's uplink; if it is not given, the fastest that is)
 * and from the state (factors of slow hosts). It is rounded to a whole number of 1/65536 of the
 * fastest, so that all results are exact, and the same on all ranks. A host that is at most 2 %
 * slower than the fastest counts as fast: a plan that treats both as equal loses no more than this.
 *
 * If hosts have different numbers of ranks, every rank counts as a host of its own, with its part
 * of the link.
 */
#ifndef STRAG_UPLINKS_H
#define STRAG_UPLINKS_H

#include "plan/algorithm.h"

enum { STRAG_UPLINK_FULL = 65536 };

/* Counts of hosts, for which no memory is allocated. */
struct strag_uplinks_count {
    int ranks_per_host;
    int fast, slow;   /* hosts */
    int32_t slowest;  /* the lowest rate */
    int slowest_ones; /* how many slow hosts have it */
    int64_t total;    /* the sum of all rates */
};

/** @param problem  whose state has been checked (strag_state_check) */
struct strag_uplinks_count strag_uplinks_count(const struct strag_problem *problem);

/** The check of algorithms for slow links: for n >= 2 there must be two hosts. */
int strag_uplinks_check(const struct strag_problem *problem, struct strag_error *err);

struct strag_uplinks {
    int hosts;
    int ranks_per_host;
    int32_t *rate;    /* of STRAG_UPLINK_FULL, [place]: the ring's hosts in the order of the tree,
                         then the others, the slowest first */
    int32_t *rank_at; /* [place * ranks_per_host + i] */
    int32_t *place;   /* [rank]: the place of its host */
    int32_t *index;   /* [rank]: its number within the host */
};

/**
 * @param ring  how many hosts come first: the fastest ones; of equal ones, the last in the tree
 * @param[out] uplinks  the caller's to close with strag_uplinks_close; all zero on failure
 * @return STRAG_OK or STRAG_ERR_MEMORY
 */
int strag_uplinks_open(const struct strag_problem *problem, int ring, struct strag_uplinks *uplinks,
                       struct strag_error *err);

/** Do slow hosts exchange with too many others to price all messages quickly? (`takes_long` of
 * algorithms for slow links.) */
bool strag_uplinks_many(const struct strag_problem *problem);

/** Does every host have one rank, and are no links known to differ in speed? */
bool strag_uplinks_equal(const struct strag_problem *problem);

/** How many segments an algorithm for slow links cuts the vector into by default: 16, or fewer, but
 * at least `least`, if 16 would have too many rounds (`body` for each). */
int strag_uplinks_segments(int least, int body);

/**
 * The result of a `choices` function: the blocks of `least` segments, of twice as many, and so on,
 * ascending; or only 0, the algorithm's own choice, if no link is slow.
 *
 * @param blocks_of  how many blocks a number of segments makes
 * @param of         passed to blocks_of
 */
int strag_uplinks_choices(int slow, int least, int body,
                          int64_t (*blocks_of)(void *of, int segments), void *of, int *blocks);

/** Uplinks that are all zero are allowed. */
void strag_uplinks_close(struct strag_uplinks *uplinks);

/** The rank with this number within the host at a place. */
static inline int strag_uplinks_rank(const struct strag_uplinks *uplinks, int place, int index)
{
    return uplinks->rank_at[place * uplinks->ranks_per_host + index];
}

#endif
