/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How the result of a block is computed, as a proof has found: an expression tree, shared between
 * blocks and ranks. Node e < n is rank e's input; another one is its left operand reduced with its
 * right one.
 */
#ifndef STRAG_TEST_EXPRESSIONS_H
#define STRAG_TEST_EXPRESSIONS_H

#include "plan/verify_proof.h"

struct strag_expressions {
    int n;
    const struct strag_expression_table *table;
    const int32_t *result; /* indexed by block: the node that every rank ends with */
};

/** The expressions of a proof of all ranks' plans; they live as long as the proof. */
static inline void strag_proof_expressions(const struct strag_proof *proof,
                                           struct strag_expressions *expressions)
{
    *expressions = (struct strag_expressions){
        .n = proof->n,
        .table = proof->table,
        .result = proof->held, /* rank 0's; the others end with the same */
    };
}

#endif
