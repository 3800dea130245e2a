/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the parts of the proof that take all plans together: verify.c, verify_match.c,
 * verify_run.c. */
#ifndef STRAG_VERIFY_PROOF_H
#define STRAG_VERIFY_PROOF_H

#include "plan/expression.h"
#include "plan/verify_plan.h"

/* ---- The simulated run: every rank runs its rounds strictly one after another ---- */

/* One operation in the simulated run. */
struct strag_proof_event {
    int32_t partner; /* the peer's operation that it matches */
    int32_t chain;   /* the longest chain of messages that led to its result, itself included */

    /* The operations of the same round that have to be done before it is posted, or
     * STRAG_PROOF_NONE: the last one before it in the same direction with the same peer, and the
     * last recv_reduce before it. Earlier ones were done before these were posted. */
    int32_t before_peer, before_slot;

    int32_t watchers; /* the list of operations to examine when it is done, or STRAG_PROOF_NONE */
    int32_t next;     /* in its list: its rank's ready ones, or another operation's watchers */
    bool listed;      /* it is in one of these lists */
    uint8_t progress; /* enum progress of verify_run.c */
    int32_t *values;  /* if ARRIVED: the expressions that came, one per block */
};

enum { STRAG_PROOF_NONE = -1 };

/* One rank in the simulated run: its current round has operations begin .. end-1. */
struct strag_proof_runner {
    int begin, end;
    int left;      /* operations of the round that are not done */
    int32_t ready; /* the head of the list of operations to examine, or STRAG_PROOF_NONE */
    bool queued;   /* it is in the queue of ranks */
};

/*
 * If every rank does what rank 0 does, turned (`turns` in struct strag_algorithm), rank 0 is proved
 * for all. A turn maps rank r to r + 1 modulo n and block b to b + shift modulo the blocks; n turns
 * map everything to itself. Operation k of rank r is operation k of rank 0, turned r times. No
 * range wraps around after the last block, so ranges are turned as a whole, and so are their
 * overlaps, and with them the waits in the plan of rank r. Then:
 *   - form, hazards, ports, counts: what is true of a plan is true of the turned plan.
 *   - matching: the sends of rank r to r + d are those of 0 to d, turned r times, and the receives
 *     of r + d from r are those of 0 from -d, turned r + d times. They match for all r if the i-th
 *     send of 0 to d, turned -d times, has the range and the round of the i-th receive of 0 from
 *     -d.
 *   - progress: an operation is posted or done once certain others are, and nothing is taken back,
 *     so the set of operations that get done does not depend on the order. Take operation k of all
 *     ranks in one step. If one rank can take it, all can, since the operations that it needs are
 *     turned as well and were done by all ranks in the same steps. So rank 0 alone, whose messages
 *     all go to and come from itself, takes the steps of all ranks.
 *   - sums: after each step, what rank r holds of a block is what rank 0 holds of the block that r
 *     turns map to it, with r added to its inputs. A step delivers n messages, none of which reads
 *     what another one writes: if a rank's receive touches the range of its send, one of them waits
 *     for the other and is not delivered in the same step (if two ranks swap a range, the values
 *     that come are kept aside until then). So the values that come to rank 0 from -d are those
 *     that it sends to d in that step, with -d added to their inputs.
 *   - bits: all ranks end with the same expressions if rank 1 ends with those of rank 0: turned r
 *     times, this means that rank r + 1 ends with those of rank r.
 */
struct strag_proof {
    int n, blocks;
    int ranks;                       /* plans that are proved: n, or 1 if rank 0 stands for all */
    int shift;                       /* if ranks is 1: of `turns` */
    struct strag_plan *const *plans; /* [ranks], during the proof only */
    struct strag_effort *effort;     /* what is left, during the proof only */
    struct strag_expression_table *table;
    int32_t *held;  /* [rank][block]: the expression that the rank holds */
    int32_t *moved; /* [block]: room for turned values of a message */
    struct strag_proof_event **events;
    struct strag_proof_runner *runners;
    int32_t *queue; /* ranks with ready operations: a ring of `ranks` */
    int queue_head, queue_length;
    int64_t operations, operations_done;
    int chain;                             /* the longest one */
    const struct strag_progress *progress; /* during the proof only */
    struct strag_error *err;
};

/** @return STRAG_ERR_LIMIT or STRAG_ERR_MEMORY */
static inline int strag_proof_stopped(const struct strag_effort *effort, struct strag_error *err)
{
    return strag_effort_is_left(effort)
               ? strag_fail(err, STRAG_ERR_MEMORY, "out of memory for the proof")
               : strag_fail(err, STRAG_ERR_LIMIT, "the proof takes more than it may");
}

/** The rank whose plan stands for a rank's. */
static inline int strag_proof_rank(const struct strag_proof *proof, int rank)
{
    return proof->ranks == 1 ? 0 : rank;
}

/** The first block of a rank's operation. */
static inline int strag_proof_first(const struct strag_proof *proof, int rank, int op)
{
    const int first = proof->plans[strag_proof_rank(proof, rank)]->ops[op].first;
    return proof->ranks == proof->n ? first
                                    : (int)((first + (int64_t)proof->shift * rank) % proof->blocks);
}

/** As strag_fail_op, for a rank's operation. */
static inline int strag_proof_wrong(const struct strag_proof *proof, int rank, int op,
                                    const char *what)
{
    return strag_fail_op(proof->plans[rank], op, what, proof->err);
}

/** Find each message's other side: the i-th send of a to b is the i-th receive of b from a.
 * @return STRAG_OK, STRAG_ERR_FALSE, STRAG_ERR_LIMIT or STRAG_ERR_MEMORY */
int strag_proof_match(struct strag_proof *proof);

/** Run all operations, which are matched, and prove that nothing deadlocks. Sets `held` to what
 * each rank ends with. @return STRAG_OK, STRAG_ERR_FALSE, STRAG_ERR_LIMIT or STRAG_ERR_MEMORY */
int strag_proof_run(struct strag_proof *proof);

#endif
