/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes a table of what to run for each size, once per communicator, from the cost model.
 */
#ifndef STRAG_SELECT_H
#define STRAG_SELECT_H

#include "algorithms/table.h"
#include "model/cost.h"
#include "model/sizes.h"

/* Up to this many ranks, explanations of a choice compare all candidates, also those that cannot
 * win; with more ranks this may take minutes. */
#define STRAG_EXPLAINED_RANKS 256

/* A candidate with its estimate. */
struct strag_candidate {
    const struct strag_algorithm *algorithm;
    int blocks;                    /* as in struct strag_entry */
    double bias;                   /* factor on its times when they are compared with those of other
                                      numbers of blocks of the same algorithm */
    struct strag_profile *profile; /* NULL if it cannot be planned here */
    struct strag_error refusal;    /* the reason, if it cannot */
};

struct strag_selection {
    int candidates;
    struct strag_candidate *candidate; /* in the order of strag_algorithms and of their choices: one
                                          for each number of blocks worth comparing */
    struct strag_table table;
    int64_t examined; /* operations and messages of all candidates: the cost of making it, on any
                         machine */
};

/** Seconds of a priced candidate with the margins below, for comparison with other algorithms. */
double strag_select_rated(const struct strag_candidate *candidate, double bytes);

struct strag_select_options {
    /* Vectors shorter than this stay with the previous component, unless the best plan is modelled
     * to be STRAG_MINIMUM_GAIN times faster than the previous component, which is assumed to run
     * the best of the algorithms that Open MPI has (those with `stock`). With 0, strag runs
     * everything. */
    size_t minimum;

    /* Make no exception: all shorter vectors stay with the previous component. */
    bool strict;

    /* Compare only the numbers of blocks of this algorithm; NULL for all algorithms. */
    const struct strag_algorithm *only;

    /* Drop a candidate as soon as it is clear that it is better at no size than those before it.
     * The table is the same, and is made sooner. With more than 256 ranks, also compare at most 4
     * numbers of blocks of an algorithm. If there are very many messages, some ranks and rounds
     * stand for all (sample.h), so the time for a table hardly grows with the ranks. Implies
     * short_plans. */
    bool quick;

    /* Leave out candidates that a rank plans in more than about a millisecond, or 4 ms with more
     * than 16,384 ranks. */
    bool short_plans;

    /* Receives each algorithm that is priced, and its rounds; may be NULL. */
    const struct strag_progress *progress;
};

/** The factor by which strag must be faster, by the model, to run a call below the minimum. A short
 * call takes little more than latencies, which the model knows least exactly. */
#define STRAG_MINIMUM_GAIN 1.2

/** The model is not more exact than this, and it does not know who will be late: then messages of
 * ranks that are ahead take bandwidth from those that others wait for. (Measured, 8 hosts over TCP:
 * recursive halving takes 0.2 s longer than without a straggler and its delay, ring nothing.) */
#define STRAG_MODEL_MARGIN 0.02

/** Without a layout the model does not know how hosts are joined, but consecutive ones are often
 * near. An algorithm whose bytes all leave groups of hosts counts as slower by this share, and
 * others by a part of it (strag_profile.distance). Real allocations on dragonflies: with the
 * farthest first recursive halving sends twice as many bytes between groups as with the nearest
 * first. */
#define STRAG_DISTANCE_MARGIN 0.03

/** Between a tree's groups of hosts other jobs' bytes travel, too; and mode `rounds` estimates
 * plans that send the fewest there above mode `clocks`, as it lets ranks reduce only when all links
 * rest. (Recorded jobs of 6 to 40 hosts in 2 to 8 groups: flexreduce-direct 5 to 25 % at 1 MiB, 1
 * to 12 % at 64 MiB, others 0. Where uplinks are tapered to 1/2 or 1/4 it is faster by clocks than
 * what is faster by up to 15 % in rounds.) So the bytes of a plan that sends twice the fewest
 * there, or more, count as slower by this share, and others' by a part of it
 * (strag_profile.crossing). */
#define STRAG_CROSSING_MARGIN 0.1

/** The model does not know that ranks are out of step. Some links are then idle unless they are
 * busy with another segment, so a pipeline's first and last segment take longer than modelled.
 * (Measured, 16 MiB, flexreduce-pipelined on hosts of 3, 3 and 4 ranks over TCP: with 4 segments
 * all takes 12 % more than modelled, with 8 it is 5 %, with 16, 32 or 64 it is 2 %.) So twice as
 * many segments may be slower by this share; how many are enough depends on the hosts. */
#define STRAG_MORE_BLOCKS_MARGIN 0.01

/** strag_attempt.messages of a quick table for `n` ranks. */
int strag_select_messages(int n);

/** The largest size that is examined for a table: 1 TiB, or 1 GiB with 32-bit addresses. The last
 * entry also applies above it. */
#define STRAG_SELECT_BYTES_MAX ((size_t)1 << (sizeof(size_t) > 4 ? 40 : 30))

/**
 * Price every algorithm that can be planned for the problem, each with the block counts that are
 * worth comparing, and make the table: for every size the candidate with the least modelled time
 * (the first of equal ones). An algorithm that is `straggler_tolerant`, `prefers_more_blocks`, or
 * goes ahead without a straggler is chosen if its time is within STRAG_MODEL_MARGIN of the least.
 * One that prefers more blocks gets the largest number that is within STRAG_MORE_BLOCKS_MARGIN per
 * doubling.
 *
 * @param[out] selection  the caller's to free with strag_selection_free; untouched on failure
 * @return STRAG_OK, STRAG_ERR_UNSUPPORTED if no algorithm fits, STRAG_ERR_MEMORY
 */
int strag_select(const struct strag_problem *problem, const struct strag_model *model,
                 const struct strag_select_options *options, struct strag_selection **selection,
                 struct strag_error *err);

/**
 * Make the table of one algorithm for all sizes, with the problem's number of blocks if it has one,
 * else with the best number for each size by the model. With more than 256 ranks as for a quick
 * table; if that takes too long, the algorithm's usual number is taken.
 *
 * @return STRAG_OK, or as strag_algorithm_claim; then the table is unchanged
 */
int strag_select_one(const struct strag_algorithm *algorithm, const struct strag_problem *problem,
                     const struct strag_model *model, struct strag_table *table,
                     struct strag_error *err);

/**
 * Modelled seconds of a vector, from the last arrival on.
 *
 * @param selection  may be NULL: then no time is known
 * @param algorithm  with `blocks` blocks; NULL for the previous component, which is assumed to run
 *                   the best of Open MPI's own
 * @param delay      the last straggler's, seconds; below 0 for the one it was priced with
 * @return INFINITY if unknown
 */
double strag_selection_seconds(const struct strag_selection *selection,
                               const struct strag_algorithm *algorithm, int blocks, size_t bytes,
                               double delay);

/** NULL is allowed. */
void strag_selection_free(struct strag_selection *selection);

#endif
