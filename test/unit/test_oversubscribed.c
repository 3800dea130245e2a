/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks that share processors: how many sum up, for any number of ranks, processors and size.
 */
#include "model/oversubscribed.h"

#include "support.h"

/* The longest vectors that are tried: 1 TiB, or 1 GiB of 32-bit addresses. */
#define SIZE_ALL ((size_t)1 << (sizeof(size_t) > 4 ? 40 : 30))

static const struct strag_oversubscribed sixty_four = {64, 2, 256 << 10};

TEST(few_blocks_for_short_vectors_and_more_for_long_ones)
{
    static const struct {
        size_t bytes;
        int blocks;
    } known[] = {{8, 1},         {32 << 10, 1}, {64 << 10, 2}, {256 << 10, 2},
                 {512 << 10, 4}, {1 << 20, 8},  {4 << 20, 32}, {64 << 20, 64}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        assert_int_equal(strag_oversubscribed_blocks(&sixty_four, known[i].bytes), known[i].blocks);
}

TEST(one_block_where_few_share_a_processor)
{
    for (int processors = 1; processors <= 64; processors++) {
        const struct strag_oversubscribed oversubscribed = {3 * processors, processors, 2 << 20};
        for (size_t bytes = 1; bytes <= SIZE_ALL; bytes *= 2)
            assert_int_equal(strag_oversubscribed_blocks(&oversubscribed, bytes), 1);
    }
}

/* Longer messages than that stand still, unless every rank has a block already; a longer vector
 * never has fewer blocks. */
TEST(messages_fit_what_may_be_under_way)
{
    for (int n = 7; n <= 1024; n += n < 64 ? 1 : n / 5) {
        for (size_t window = 16 << 10; window <= 4 << 20; window *= 2) {
            const struct strag_oversubscribed oversubscribed = {n, 2, window};
            int before = 1;
            for (size_t bytes = 16; bytes <= SIZE_ALL; bytes += bytes / 16) {
                const int blocks = strag_oversubscribed_blocks(&oversubscribed, bytes);
                assert_in_range(blocks, before, n);
                if (bytes >= 1 << 20 && blocks < n)
                    assert_in_range(bytes / (size_t)blocks, 1, window);
                before = blocks;
            }
            assert_int_equal(before, n);
        }
    }
}

/* More processors: sums are made by more ranks. */
TEST(blocks_grow_with_the_processors)
{
    int before = 1;
    for (int processors = 1; processors <= 32; processors *= 2) {
        const struct strag_oversubscribed oversubscribed = {128, processors, 192 << 10};
        const int blocks = strag_oversubscribed_blocks(&oversubscribed, 64 << 10);
        assert_in_range(blocks, before, 128);
        before = blocks;
    }
    assert_in_range(before, 4, 64);
}

TEST(table_has_the_same)
{
    const struct strag_algorithm *algorithm = strag_algorithm_fewest_switches();
    static const size_t froms[] = {0, 1, 5000, 1 << 20, SIZE_ALL};
    for (size_t f = 0; f < sizeof froms / sizeof *froms; f++) {
        struct strag_table table;
        strag_oversubscribed_table(&sixty_four, algorithm, froms[f], &table);
        assert_in_range(table.entries, 1, STRAG_TABLE_MAX);
        for (size_t bytes = 1; bytes <= SIZE_ALL; bytes *= 2) {
            const struct strag_entry *entry = strag_table_entry(&table, bytes);
            assert_ptr_equal(entry->algorithm, bytes < froms[f] ? NULL : algorithm);
            if (entry->algorithm)
                assert_int_equal(entry->blocks, strag_oversubscribed_blocks(&sixty_four, bytes));
        }
        for (int e = 1; e < table.entries; e++)
            assert_true(table.entry[e].from > table.entry[e - 1].from);
    }
}
