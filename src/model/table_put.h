/* SPDX-License-Identifier: BSD-3-Clause */
/* What runs at some sizes, in the place of what a table says. */
#ifndef STRAG_TABLE_PUT_H
#define STRAG_TABLE_PUT_H

#include "model/select.h"

/** Put an algorithm into a table, from one size to before another. Entries that then say what the
 * one before says are left out; if that does not fit into the table, it stays as it is.
 * @param from, to  bytes, from < to
 * @param entry  its `from` does not count */
void strag_table_put(struct strag_table *table, size_t from, size_t to,
                     const struct strag_entry *entry);

#endif
