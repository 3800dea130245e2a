/* SPDX-License-Identifier: BSD-3-Clause */
/* Which algorithm runs at which size. */
#ifndef STRAG_SIZES_H
#define STRAG_SIZES_H

#include "plan/algorithm.h"

/* What runs from a size up to the next entry's. */
struct strag_entry {
    size_t from;                             /* bytes; the first entry's is 0 */
    const struct strag_algorithm *algorithm; /* NULL for the previous component */
    int blocks;                              /* problem.blocks; 0 for the algorithm's own choice */
};

#define STRAG_TABLE_MAX 48

struct strag_table {
    int entries; /* at least 1 */
    struct strag_entry entry[STRAG_TABLE_MAX];
};

/** The entry that applies to a size. */
const struct strag_entry *strag_table_entry(const struct strag_table *table, size_t bytes);

/** The algorithm for a size. @return NULL for the previous component */
const struct strag_algorithm *strag_table_find(const struct strag_table *table, size_t bytes);

/** Do both tables have the same entries? */
bool strag_table_is_same(const struct strag_table *a, const struct strag_table *b);

/**
 * Append an entry, unless it equals the last one. It replaces one that begins at the same size.
 *
 * @param from  bytes; at least the last entry's
 * @param what  its `from` does not count
 * @return false if the table is full; then it is unchanged
 */
bool strag_table_append(struct strag_table *table, size_t from, const struct strag_entry *what);

/** Append the entries of another table for the sizes [from, end), from < end. @return false if the
 * table is full; then some entries may have been appended */
bool strag_table_append_part(struct strag_table *table, const struct strag_table *other,
                             size_t from, size_t end);

/** Put an algorithm into a table for the sizes [from, to). If there is no room, nothing changes.
 * @param from, to  bytes, from < to
 * @param entry  its `from` does not count */
void strag_table_put(struct strag_table *table, size_t from, size_t to,
                     const struct strag_entry *entry);

#endif
