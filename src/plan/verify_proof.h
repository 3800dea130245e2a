/* SPDX-License-Identifier: BSD-3-Clause */
/* What the parts of the proof of all plans together share. For verify.c, verify_match.c and
 * verify_run.c. */
#ifndef STRAG_VERIFY_PROOF_H
#define STRAG_VERIFY_PROOF_H

#include "plan/expression.h"
#include "plan/verify_plan.h"

/* ---- The simulated run: every rank in lock step with its own rounds. ---- */

/* One operation in the simulated run. */
struct strag_proof_event {
    int32_t partner; /* the peer's operation it matches */
    int32_t chain;   /* messages in a row that led to what it leaves, itself among them */

    /* The operations of the same round that have to be done before it is posted, or
     * STRAG_PROOF_NONE: the last one in the same direction with the same peer, and the last one
     * that needs a slot. Those before these were done before these were posted. */
    int32_t before_peer, before_slot;

    int32_t watchers; /* the list of operations to look at when it is done, or STRAG_PROOF_NONE */
    int32_t next;     /* in the list it is in: its rank's ready ones, or another one's watchers */
    bool listed;      /* it is in one of these */
    uint8_t progress; /* enum progress of verify_run.c */
    int32_t *values;  /* ARRIVED: the expressions that came, one per block */
};

enum { STRAG_PROOF_NONE = -1 };

/* One rank in the simulated run: it works on the operations begin .. end-1 of its current round. */
struct strag_proof_runner {
    int begin, end;
    int left;      /* operations of the round that are not done */
    int32_t ready; /* the head of the list of operations to look at, or STRAG_PROOF_NONE */
    bool queued;   /* in the list of ranks to look at */
};

struct strag_proof {
    int n, blocks;
    struct strag_plan *const *plans; /* during the proof only */
    struct strag_expression_table *table;
    int32_t *held; /* [rank][block]: the expression it holds */
    struct strag_proof_event **events;
    struct strag_proof_runner *runners;
    int32_t *queue; /* ranks to look at: a ring of n */
    int queue_head, queue_length;
    int32_t *left, *right; /* the expressions, for the caller */
    int64_t operations, operations_done;
    int chain;                             /* the longest one */
    const struct strag_progress *progress; /* during the proof only */
    struct strag_error *err;
};

/** @return STRAG_ERR_MEMORY */
static inline int strag_proof_no_memory(struct strag_error *err)
{
    return strag_fail(err, STRAG_ERR_MEMORY, "out of memory for the proof");
}

/** As strag_fail_op, of a rank's operation. */
static inline int strag_proof_wrong(const struct strag_proof *proof, int rank, int op,
                                    const char *what)
{
    return strag_fail_op(proof->plans[rank], op, what, proof->err);
}

/** Find each message's other side: the i-th send of a to b is the i-th receive of b from a.
 * @return STRAG_OK, STRAG_ERR_FALSE or STRAG_ERR_MEMORY */
int strag_proof_match(struct strag_proof *proof);

/** Run all operations, which are matched: nothing deadlocks, and `held` is what each rank ends
 * with.
 * @return STRAG_OK, STRAG_ERR_FALSE or STRAG_ERR_MEMORY */
int strag_proof_run(struct strag_proof *proof);

#endif
