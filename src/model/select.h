/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What to run for which size: a table, made once per communicator from the cost model.
 */
#ifndef STRAG_SELECT_H
#define STRAG_SELECT_H

#include "algorithms/table.h"
#include "model/cost.h"
#include "model/sizes.h"

/* Up to this many ranks those who explain a choice compare all candidates, also those that cannot
 * win; with more that may take minutes. */
#define STRAG_EXPLAINED_RANKS 256

/* The candidates with their estimates, for those who want to know why. */
struct strag_candidate {
    const struct strag_algorithm *algorithm;
    int blocks;                    /* as in struct strag_entry */
    double bias;                   /* what its times are multiplied by before they are compared with
                                        those of the algorithm's other counts of blocks */
    struct strag_profile *profile; /* NULL: it cannot be planned here */
    struct strag_error refusal;    /* why not */
};

struct strag_selection {
    int candidates;
    struct strag_candidate *candidate; /* in the order of strag_algorithms, and of their choices:
                                          one for each count of blocks worth comparing */
    struct strag_table table;
    int64_t examined; /* operations and messages, for all candidates: what making it costs, on any
                         machine */
};

/** Seconds of a candidate that is priced, as they are compared with those of other algorithms: with
 * the margins below. */
double strag_select_rated(const struct strag_candidate *candidate, double bytes);

struct strag_select_options {
    /* Vectors shorter than this stay with the previous component, unless the best plan is modelled
     * to be STRAG_MINIMUM_GAIN times faster than the previous component, which is assumed to run
     * the best of the algorithms that Open MPI has (those with `stock`).
     * 0: strag runs everything. */
    size_t minimum;

    /* No exception: all shorter ones stay with the previous component. */
    bool strict;

    /* Compare its block counts only; NULL: all algorithms. */
    const struct strag_algorithm *only;

    /* Leave out what cannot be better at any size than the candidates before it, as soon as that is
     * clear. The table is the same, and sooner made. With more than 256 ranks at most 4 block
     * counts of an algorithm are compared, too; and if there are very many messages, some ranks
     * and some rounds stand for all (sample.h), so that the time for a table hardly grows with the
     * ranks. Implies short_plans. */
    bool quick;

    /* Leave out what takes a rank more than about a millisecond to plan, 4 with more than 16,384
     * ranks. */
    bool short_plans;

    /* Is given each algorithm that is priced, and its rounds; may be NULL. */
    const struct strag_progress *progress;
};

/** A short call takes little more than latencies, of which the model knows least: by this factor
 * strag must be modelled to be faster before it runs one that is below the minimum. */
#define STRAG_MINIMUM_GAIN 1.2

/** The model is not more exact than that, and it does not know who will be late: messages of ranks
 * that are ahead then take bandwidth from those that others wait for. (Measured, 8 hosts over TCP:
 * recursive halving takes 0.2 s longer than without a straggler and its delay, ring nothing.) */
#define STRAG_MODEL_MARGIN 0.02

/** ... nor how hosts are joined if nothing says so, but those next to each other are often near. An
 * algorithm whose bytes all leave groups of hosts is taken to be slower by this share, and others
 * by a part of it (strag_profile.distance). Real allocations on dragonflies: with the farthest
 * first recursive halving sends twice as many bytes between groups as with the nearest first. */
#define STRAG_DISTANCE_MARGIN 0.03

/** ... nor does it know that ranks are not in step. Some links then have nothing to do, unless they
 * are busy with another segment: a pipeline's first and last segment take longer than modelled.
 * (Measured, 16 MiB, flexreduce-pipelined on hosts of 3, 3 and 4 ranks over TCP: with 4 segments
 * all takes 12 % more than modelled, with 8 it is 5 %, with 16, 32 or 64 it is 2 %.) By this share
 * may twice as many segments be slower by the model; how many are enough depends on the hosts. */
#define STRAG_MORE_BLOCKS_MARGIN 0.01

/** About how many messages of a candidate a quick table examines, for `n` ranks: for
 * strag_attempt.messages. */
int strag_select_messages(int n);

/** The largest size that tables look at: 1 TiB, or 1 GiB of 32-bit addresses; above, the last entry
 * holds. */
#define STRAG_SELECT_BYTES_MAX ((size_t)1 << (sizeof(size_t) > 4 ? 40 : 30))

/**
 * Price every algorithm that can be planned for the problem, each with the block counts that are
 * worth comparing, and make the table: for every size the candidate with the least modelled time
 * (of equals the first). An algorithm that is `straggler_tolerant`, one that `prefers_more_blocks`,
 * and one that goes ahead without a straggler are taken within STRAG_MODEL_MARGIN of it; one that
 * prefers more blocks with the larger count of blocks that is within STRAG_MORE_BLOCKS_MARGIN for
 * each doubling.
 *
 * @param[out] selection  the caller's to free with strag_selection_free; untouched on failure
 * @return STRAG_OK, STRAG_ERR_UNSUPPORTED where no algorithm fits, STRAG_ERR_MEMORY
 */
int strag_select(const struct strag_problem *problem, const struct strag_model *model,
                 const struct strag_select_options *options, struct strag_selection **selection,
                 struct strag_error *err);

/**
 * The table of one algorithm for all sizes: with the blocks of the problem where it says how many,
 * else with those that the model finds best for each size.
 *
 * @return STRAG_OK, or as strag_algorithm_claim; then the table is as it was
 */
int strag_select_one(const struct strag_algorithm *algorithm, const struct strag_problem *problem,
                     const struct strag_model *model, struct strag_table *table,
                     struct strag_error *err);

/**
 * Modelled seconds of a vector, from the last arrival on.
 *
 * @param selection  NULL: nothing is known
 * @param algorithm  with that count of blocks; NULL: the previous component, which runs the best of
 *                   Open MPI's own
 * @param delay      the last straggler's, seconds; below 0: as it was priced
 * @return INFINITY: unknown
 */
double strag_selection_seconds(const struct strag_selection *selection,
                               const struct strag_algorithm *algorithm, int blocks, size_t bytes,
                               double delay);

/** NULL is allowed. */
void strag_selection_free(struct strag_selection *selection);

#endif
