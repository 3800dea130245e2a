/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/table_put.h"

/* Add an entry unless it says what the one before says; one that begins where the last one does
 * takes its place. */
static void append(struct strag_table *table, struct strag_entry entry)
{
    if (table->entries > 0 && table->entry[table->entries - 1].from >= entry.from)
        table->entries--;
    const struct strag_entry *last = table->entries > 0 ? &table->entry[table->entries - 1] : NULL;
    if (last && last->algorithm == entry.algorithm && last->blocks == entry.blocks)
        return;
    if (table->entries < STRAG_TABLE_MAX)
        table->entry[table->entries++] = entry;
}

void strag_table_put(struct strag_table *table, size_t from, size_t to,
                     const struct strag_entry *entry)
{
    struct strag_table made = {.entries = 0};
    struct strag_entry behind = *strag_table_entry(table, to);
    behind.from = to;
    for (int e = 0; e < table->entries && table->entry[e].from < from; e++)
        append(&made, table->entry[e]);
    append(&made, (struct strag_entry){from, entry->algorithm, entry->blocks});
    append(&made, behind);
    for (int e = 0; e < table->entries; e++) {
        if (table->entry[e].from > to)
            append(&made, table->entry[e]);
    }
    if (made.entries < STRAG_TABLE_MAX)
        *table = made;
}
