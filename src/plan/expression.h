/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Expressions over the ranks' inputs, for exact bookkeeping.
 *
 * Expression e < n is rank e's input; any other is a pair, left (op) right. Equal expressions are
 * the same number, so comparing bits on all ranks is comparing numbers. Each expression carries the
 * exact set of ranks in it; a pair of two that share a rank cannot be made.
 *
 * Sets are binary trees over the ranks, 64 ranks to a leaf, and equal subtrees are one number too:
 * the sums a ring or a tree goes through share nearly all of theirs.
 *
 * Expressions may also be turned: r is added, modulo n, to the number of each input. If every
 * rank's expressions are rank 0's, turned, a table of its own kind keeps an expression as its
 * shape, which is the expression turned so that its leftmost input is 0, and by how much that is
 * turned. Two expressions are equal if and only if both are. Each shape has its set as n bits.
 */
#ifndef STRAG_EXPRESSION_H
#define STRAG_EXPRESSION_H

#include "plan/effort.h"

#include <stdint.h>

struct strag_expression_table;

enum { STRAG_EXPRESSION_MEMORY = -1, STRAG_EXPRESSION_TWICE = -2 };

/** A table that knows the n inputs. @param left  what it may take; its owner keeps it
 * @return NULL when out of memory, or of what is left */
struct strag_expression_table *strag_expressions_create(int n, struct strag_effort *left);

/** The same for expressions that are turned; input 0 is expression 0. What becomes of operands is
 * not asked of it. */
struct strag_expression_table *strag_expressions_create_turned(int n, struct strag_effort *left);
void strag_expressions_free(struct strag_expression_table *table);

/** @return the pair, or STRAG_EXPRESSION_TWICE if a rank is in both, or _MEMORY (or nothing is
 * left)
 */
int32_t strag_expression_pair(struct strag_expression_table *table, int32_t left, int32_t right);

/** Of a table for such: `expression` with `by` (0 .. n-1) added to its inputs. @return it, or
 * STRAG_EXPRESSION_MEMORY */
int32_t strag_expression_turn(struct strag_expression_table *table, int32_t expression, int by);

/** How many expressions there are, the n inputs included. */
int32_t strag_expression_count(const struct strag_expression_table *table);

/** The operands of a pair, expression >= n. */
void strag_expression_operands(const struct strag_expression_table *table, int32_t expression,
                               int32_t *left, int32_t *right);

/** How many ranks are in it. */
int strag_expression_ranks(const struct strag_expression_table *table, int32_t expression);

/** The lowest rank that is in both, or -1. */
int strag_expression_common(const struct strag_expression_table *table, int32_t a, int32_t b);

#endif
