/* SPDX-License-Identifier: BSD-3-Clause */
/* Which algorithm runs at which size. */
#ifndef STRAG_SIZES_H
#define STRAG_SIZES_H

#include "plan/algorithm.h"

/* From a size on, up to the next entry's. */
struct strag_entry {
    size_t from;                             /* bytes; the first entry's is 0 */
    const struct strag_algorithm *algorithm; /* NULL: leave it to the previous component */
    int blocks; /* problem.blocks for it; 0: the algorithm's own choice */
};

#define STRAG_TABLE_MAX 48

struct strag_table {
    int entries; /* at least 1 */
    struct strag_entry entry[STRAG_TABLE_MAX];
};

/** The entry that holds for a size. */
const struct strag_entry *strag_table_entry(const struct strag_table *table, size_t bytes);

/** Its algorithm. @return NULL: the previous component */
const struct strag_algorithm *strag_table_find(const struct strag_table *table, size_t bytes);

/** Do both say the same, in the same entries? */
bool strag_table_is_same(const struct strag_table *a, const struct strag_table *b);

/**
 * Append an entry, unless it says what the last one says. One that begins where the last one does
 * takes its place.
 *
 * @param from  bytes; no less than the last entry's
 * @param what  its `from` does not count
 * @return false: the table is full, and stays as it is
 */
bool strag_table_append(struct strag_table *table, size_t from, const struct strag_entry *what);

/** Append what another table says from one size to before another, from < end. @return as above,
 * but some of it may be there */
bool strag_table_append_part(struct strag_table *table, const struct strag_table *other,
                             size_t from, size_t end);

/** Put an algorithm into a table, from one size to before another. If that does not fit into the
 * table, it stays as it is.
 * @param from, to  bytes, from < to
 * @param entry  its `from` does not count */
void strag_table_put(struct strag_table *table, size_t from, size_t to,
                     const struct strag_entry *entry);

#endif
