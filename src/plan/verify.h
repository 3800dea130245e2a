/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The proof that the plans of all ranks are an allreduce, by exact bookkeeping.
 *
 * The value that a rank holds of a block is tracked as an expression: a leaf (a rank's own input)
 * or a pair (left operand, right operand). Equal expressions have the same number, so all ranks end
 * with identical bits if they end with the same number. Each expression also has the exact set of
 * ranks that went into it.
 *
 * Proved:
 *   - form: ranges, peers, rounds and waits are well formed (plan.h);
 *   - hazards: every two operations of a rank that touch the same block, one of them writing, are
 *     ordered by their waits;
 *   - matching: the i-th send of a to b is the i-th receive of b from a, with the same range and
 *     round;
 *   - progress: nothing waits in a circle under any arrival order. The proof assumes the least
 *     helpful run: a send completes only when the receive is posted; ranks run their rounds
 *     strictly one after another; of the messages to or from one peer, and of the recv_reduce
 *     operations, one has to be done before the next is posted; and since there may be temporary
 *     space for a single element only, values move only if they can be reduced at once (two ranks
 *     that swap a range do so element by element; values are kept aside for these only);
 *   - sum: every rank ends with every contribution exactly once in every block;
 *   - bits: all ranks end with the same expression, hence with identical bits;
 *   - claims: rounds, blocks, bytes sent and ports are as the algorithm states, the longest chain
 *     of messages is no longer, and the straggler's first round is right if the algorithm waits for
 *     one.
 */
#ifndef STRAG_VERIFY_H
#define STRAG_VERIFY_H

#include "plan/algorithm.h"
#include "plan/effort.h"

struct strag_measure {
    int n, blocks, rounds;
    double sent_max;   /* the most one rank sends, in vectors */
    double sent_total; /* all ranks together, in vectors */
    double reduce_max; /* the most one rank reduces, in vectors */
    int chain;         /* the longest chain of messages, each needing data of the one before */
    bool waits;        /* as claimed: the others start without a straggler, */
    int before;        /* which takes part from this round on */
};

struct strag_proof; /* plan/verify_proof.h */

/**
 * Prove that the plans are an allreduce.
 *
 * @param plans         one per rank, in rank order
 * @param n             how many
 * @param claim         what the algorithm promises; NULL to compare nothing
 * @param[out] measure  what was counted; may be NULL
 * @param[out] proof    the proof, with its expressions, the caller's to free; may be NULL
 * @return STRAG_OK, STRAG_ERR_FALSE with the first error found in err, or STRAG_ERR_MEMORY
 */
int strag_verify_plans(struct strag_plan *const *plans, int n, const struct strag_claim *claim,
                       struct strag_measure *measure, struct strag_proof **proof,
                       struct strag_error *err);

/** Build all plans of a problem and prove them against the algorithm's own claim. */
int strag_verify(const struct strag_algorithm *algorithm, const struct strag_problem *problem,
                 struct strag_measure *measure, struct strag_proof **proof,
                 struct strag_error *err);

/** As strag_verify, within limits, and with reports of its progress.
 *
 * @param[in,out] effort  what the plans' waits and the sums may take, then what is left of it;
 *                        other effort per operation is not counted
 * @param progress        may be NULL
 * @return as strag_verify, or STRAG_ERR_LIMIT if the proof takes more */
int strag_verify_within(const struct strag_algorithm *algorithm,
                        const struct strag_problem *problem, struct strag_effort *effort,
                        const struct strag_progress *progress, struct strag_measure *measure,
                        struct strag_proof **proof, struct strag_error *err);

/** NULL is allowed. */
void strag_proof_free(struct strag_proof *proof);

#endif
