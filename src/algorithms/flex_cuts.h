/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where FlexReduce cuts the vector into blocks: at the ends of all ranges; and the block that
 * begins at an end. For flex_plan.c.
 */
#ifndef STRAG_FLEX_CUTS_H
#define STRAG_FLEX_CUTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * Sort values that form a few ascending runs with many equal values, and keep each value once.
 *
 * @param spare  room for as many values, used during the call
 * @return how many are kept, at the start of `values`
 */
size_t strag_merge_runs(int64_t *values, size_t count, int64_t *spare);

/* The numbers of cuts, by hash. */
struct strag_cut_table {
    const int64_t *cuts; /* of the caller */
    int bits;
    int32_t *number; /* [2^bits]: a cut's number is at its hash, or behind it; -1 if free */
};

/**
 * @param cuts   all different; must outlive the table
 * @param[out] table  the caller's to close, also on failure
 * @return false when out of memory
 */
bool strag_cut_table_open(const int64_t *cuts, int count, struct strag_cut_table *table);

/** The number of a cut, which must be in the table. */
int32_t strag_cut_table_find(const struct strag_cut_table *table, int64_t cut);

/** A table that is all zero is allowed. */
void strag_cut_table_close(struct strag_cut_table *table);

#endif
