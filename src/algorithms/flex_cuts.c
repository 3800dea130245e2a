/* SPDX-License-Identifier: BSD-3-Clause */
#include "algorithms/flex_cuts.h"

#include <stdlib.h>
#include <string.h>

enum { NONE = -1 };

/* The end of the ascending run that begins at `first`. */
static size_t run_end(const int64_t *values, size_t first, size_t count)
{
    size_t end = first + 1;
    while (end < count && values[end] > values[end - 1])
        end++;
    return end;
}

/* Merge two runs, and keep values that are in both once. @return how many values there are */
static size_t merge(const int64_t *a, size_t na, const int64_t *b, size_t nb, int64_t *merged)
{
    size_t i = 0, j = 0, count = 0;
    while (i < na && j < nb) { /* without an unpredictable branch */
        int64_t x = a[i], y = b[j], value = x < y ? x : y;
        i += x == value;
        j += y == value;
        merged[count++] = value;
    }
    memcpy(merged + count, a + i, (na - i) * sizeof *a);
    count += na - i;
    memcpy(merged + count, b + j, (nb - j) * sizeof *b);
    return count + nb - j;
}

size_t strag_merge_runs(int64_t *values, size_t count, int64_t *spare)
{
    while (run_end(values, 0, count) < count) {
        size_t kept = 0;
        for (size_t first = 0; first < count;) {
            size_t middle = run_end(values, first, count);
            size_t end = middle < count ? run_end(values, middle, count) : middle;
            kept +=
                merge(values + first, middle - first, values + middle, end - middle, spare + kept);
            first = end;
        }
        memcpy(values, spare, kept * sizeof *values);
        count = kept;
    }
    return count;
}

static size_t hash_of(const struct strag_cut_table *table, int64_t cut)
{
    return (size_t)((uint64_t)cut * UINT64_C(0x9e3779b97f4a7c15) >> (64 - table->bits));
}

bool strag_cut_table_open(const int64_t *cuts, int count, struct strag_cut_table *table)
{
    *table = (struct strag_cut_table){.cuts = cuts, .bits = 1};
    while (table->bits < 31 && (INT64_C(1) << table->bits) < 2 * (int64_t)count)
        table->bits++;
    size_t size = (size_t)1 << table->bits;
    table->number = malloc(size * sizeof *table->number);
    for (size_t i = 0; table->number && i < size; i++)
        table->number[i] = NONE;
    for (int c = 0; table->number && c < count; c++) {
        size_t at = hash_of(table, cuts[c]);
        while (table->number[at] != NONE)
            at = (at + 1) & (size - 1);
        table->number[at] = c;
    }
    return table->number != NULL;
}

int32_t strag_cut_table_find(const struct strag_cut_table *table, int64_t cut)
{
    size_t at = hash_of(table, cut), mask = ((size_t)1 << table->bits) - 1;
    while (table->cuts[table->number[at]] != cut)
        at = (at + 1) & mask;
    return table->number[at];
}

void strag_cut_table_close(struct strag_cut_table *table)
{
    free(table->number);
    *table = (struct strag_cut_table){0};
}
