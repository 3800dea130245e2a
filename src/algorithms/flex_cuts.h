/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where FlexReduce cuts the vector into blocks: the ends of all ranges, and which block begins at
 * one of them. For flex_plan.c.
 */
#ifndef STRAG_FLEX_CUTS_H
#define STRAG_FLEX_CUTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * Sort values that are a few ascending runs, many of them with the same values, and keep each once.
 *
 * @param spare  as much room again, for use meanwhile
 * @return how many are kept, at the start
 */
size_t strag_merge_runs(int64_t *values, size_t count, int64_t *spare);

/* The numbers of cuts, by hash. */
struct strag_cut_table {
    const int64_t *cuts; /* somebody else's */
    int bits;
    int32_t *number; /* [2^bits]: at the cut's hash, or behind it; -1: none */
};

/**
 * @param cuts   different ones; must outlive the table
 * @param[out] table  the caller's to close, also on failure
 * @return false when out of memory
 */
bool strag_cut_table_open(const int64_t *cuts, int count, struct strag_cut_table *table);

/** The number of a cut, which must be in the table. */
int32_t strag_cut_table_find(const struct strag_cut_table *table, int64_t cut);

/** A table that is all zero is allowed. */
void strag_cut_table_close(struct strag_cut_table *table);

#endif
