/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/sizes.h"

#include <stdint.h>

const struct strag_entry *strag_table_entry(const struct strag_table *table, size_t bytes)
{
    int e = table->entries - 1;
    while (e > 0 && table->entry[e].from > bytes)
        e--;
    return &table->entry[e];
}

const struct strag_algorithm *strag_table_find(const struct strag_table *table, size_t bytes)
{
    return strag_table_entry(table, bytes)->algorithm;
}

static bool says_the_same(const struct strag_entry *a, const struct strag_entry *b)
{
    return a->algorithm == b->algorithm && a->blocks == b->blocks;
}

bool strag_table_is_same(const struct strag_table *a, const struct strag_table *b)
{
    bool same = a->entries == b->entries;
    for (int e = 0; same && e < a->entries; e++)
        same = a->entry[e].from == b->entry[e].from && says_the_same(&a->entry[e], &b->entry[e]);
    return same;
}

bool strag_table_append(struct strag_table *table, size_t from, const struct strag_entry *what)
{
    int at = table->entries;
    if (at > 0 && table->entry[at - 1].from == from)
        at--;
    const bool same = at > 0 && says_the_same(&table->entry[at - 1], what);
    if (!same && at == STRAG_TABLE_MAX)
        return false;
    if (!same)
        table->entry[at++] = (struct strag_entry){from, what->algorithm, what->blocks};
    table->entries = at;
    return true;
}

bool strag_table_append_part(struct strag_table *table, const struct strag_table *other,
                             size_t from, size_t end)
{
    bool fits = strag_table_append(table, from, strag_table_entry(other, from));
    for (int e = 0; fits && e < other->entries; e++) {
        const struct strag_entry *entry = &other->entry[e];
        if (entry->from > from && entry->from < end)
            fits = strag_table_append(table, entry->from, entry);
    }
    return fits;
}

void strag_table_put(struct strag_table *table, size_t from, size_t to,
                     const struct strag_entry *entry)
{
    struct strag_table made = {.entries = 0};
    if ((from == 0 || strag_table_append_part(&made, table, 0, from)) &&
        strag_table_append(&made, from, entry) &&
        strag_table_append_part(&made, table, to, SIZE_MAX))
        *table = made;
}
