/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Expressions over the ranks' inputs, for exact bookkeeping.
 *
 * Expression e < n is rank e's input; any other is a pair, left (op) right. Equal expressions have
 * the same number, so comparing numbers compares the bits on all ranks. Each expression carries the
 * exact set of ranks in it; two expressions that share a rank cannot be made a pair.
 *
 * Sets are binary trees over the ranks, 64 ranks to a leaf. Equal subtrees have one number, too:
 * the partial sums of a ring or a tree share nearly all of their subtrees.
 *
 * Expressions may also be turned: r is added, modulo n, to the number of each input. If every
 * rank's expressions are rank 0's, turned, a table of turned expressions is used. It keeps an
 * expression as its shape, which is the expression turned so that its leftmost input is 0, and the
 * distance by which the shape is turned. Two expressions are equal if and only if both are. Each
 * shape has its set as n bits.
 */
#ifndef STRAG_EXPRESSION_H
#define STRAG_EXPRESSION_H

#include "plan/effort.h"

#include <stdint.h>

struct strag_expression_table;

enum { STRAG_EXPRESSION_MEMORY = -1, STRAG_EXPRESSION_TWICE = -2 };

/** A table with the n inputs. @param left  the effort it may take; must live as long as the table
 * @return NULL when out of memory or effort */
struct strag_expression_table *strag_expressions_create(int n, struct strag_effort *left);

/** A table of turned expressions; input 0 is expression 0. It has no strag_expression_operands. */
struct strag_expression_table *strag_expressions_create_turned(int n, struct strag_effort *left);
void strag_expressions_free(struct strag_expression_table *table);

/** @return the pair, STRAG_EXPRESSION_TWICE if a rank is in both, or _MEMORY (also without effort)
 */
int32_t strag_expression_pair(struct strag_expression_table *table, int32_t left, int32_t right);

/** In a table of turned expressions: `expression` with `by` (0 .. n-1) added to its inputs, or
 * STRAG_EXPRESSION_MEMORY. */
int32_t strag_expression_turn(struct strag_expression_table *table, int32_t expression, int by);

/** How many expressions there are, the n inputs included. */
int32_t strag_expression_count(const struct strag_expression_table *table);

/** The operands of a pair, expression >= n. */
void strag_expression_operands(const struct strag_expression_table *table, int32_t expression,
                               int32_t *left, int32_t *right);

/** How many ranks are in it. */
int strag_expression_ranks(const struct strag_expression_table *table, int32_t expression);

/** The lowest rank that is in both, or -1 if there is none. */
int strag_expression_common(const struct strag_expression_table *table, int32_t a, int32_t b);

#endif
