/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writing values into slots: which way long messages go, by what they are said to cost, and that
 * they arrive whole and leave what is next to them alone.
 */
#include "shm/layout.h"
#include "support.h"

enum { LONG = 4096, MARGIN = 64 };

/* ---- Which way ---- */

/* What a message costs, nanoseconds a byte. */
struct machine {
    double caches, around;
};

static const struct machine near = {0.04, 0.05}, far = {0.4, 0.05};

/* Write many messages. @return how many of them went around the caches */
static long write_many(struct strag_shm_writing *writing, const struct machine *machine,
                       long messages)
{
    long around = 0;
    for (long i = 0; i < messages; i++) {
        const bool goes_around = strag_shm_writes_around(writing);
        strag_shm_note_write(writing, goes_around ? machine->around : machine->caches);
        around += goes_around;
    }
    return around;
}

/* If that costs no more, messages go through the caches, but for some to know what others cost.
 */
TEST(through_the_caches_is_usual)
{
    struct strag_shm_writing writing = strag_shm_writing_begin();
    assert_int_equal(write_many(&writing, &near, 100), 0);
    assert_in_range(write_many(&writing, &near, 10000), 1, 200);
    assert_int_equal(write_many(&writing, &near, 100000), 0);
}

/* If it costs much more, they go around, and seldom are others tried. */
TEST(around_where_that_is_faster)
{
    struct strag_shm_writing writing = strag_shm_writing_begin();
    write_many(&writing, &far, 300);
    assert_in_range(write_many(&writing, &far, 1000000), 990000, 999999);
}

/* A little slower is not enough: the receiver's reading costs something, too. */
TEST(around_only_where_that_is_much_faster)
{
    const struct machine between = {0.15, 0.05};
    struct strag_shm_writing writing = strag_shm_writing_begin();
    write_many(&writing, &between, 300);
    assert_int_equal(write_many(&writing, &between, 100000), 0);
}

/* Ranks move to other processors, both ways. */
TEST(ranks_may_move)
{
    struct strag_shm_writing writing = strag_shm_writing_begin();
    write_many(&writing, &near, 10000);
    write_many(&writing, &far, 100);
    assert_int_equal(write_many(&writing, &far, 1000), 1000);
    write_many(&writing, &near, 70000);
    assert_int_equal(write_many(&writing, &near, 100000), 0);
}

/* Now and then somebody else has the processor in the midst of a message. */
TEST(what_is_held_up_does_not_count)
{
    struct strag_shm_writing writing = strag_shm_writing_begin();
    struct rng rng = {support_seed("held up")};
    write_many(&writing, &near, 300);
    for (int i = 0; i < 10000; i++) {
        assert_false(strag_shm_writes_around(&writing));
        strag_shm_note_write(&writing, rng_one_in(&rng, 10) ? 1e4 : near.caches);
    }
}

/* Every fourth message goes to another partner than the rest: what most of them cost counts. */
TEST(one_partner_of_four)
{
    struct strag_shm_writing one_near = strag_shm_writing_begin(), one_far = one_near;
    long around_near = 0, around_far = 0;
    for (long i = 0; i < 20000; i++) {
        const bool same = i % 4 == 0;
        const bool a = strag_shm_writes_around(&one_near), b = strag_shm_writes_around(&one_far);
        if (strag_shm_times_write(&one_near))
            strag_shm_note_write(&one_near, a ? far.around : same ? near.caches : far.caches);
        if (strag_shm_times_write(&one_far))
            strag_shm_note_write(&one_far, b ? far.around : same ? far.caches : near.caches);
        around_near += a;
        around_far += b;
    }
    assert_true(around_near >= 18000);
    assert_true(around_far <= 1000);
}

/* ---- What arrives ---- */

/* Both ways, from any address, of any length. */
TEST(messages_arrive_whole)
{
    static _Alignas(STRAG_SHM_LINE) unsigned char slot[STRAG_SHM_LONGEST + MARGIN];
    static unsigned char values[STRAG_SHM_LONGEST + MARGIN];
    struct rng rng = {support_seed("messages")};
    struct strag_shm_writing writing = strag_shm_writing_begin();
    long around = 0;
    for (size_t i = 0; i < sizeof values; i++)
        values[i] = (unsigned char)rng_next(&rng);
    for (int i = 0; i < 2000; i++) {
        const size_t offset = rng_below(&rng, MARGIN);
        const size_t bytes = rng_one_in(&rng, 4)   ? 1 + rng_below(&rng, LONG)
                             : rng_one_in(&rng, 4) ? STRAG_SHM_LONGEST
                                                   : LONG + rng_below(&rng, 3 * MARGIN);
        if (i % 2 == 0)
            writing = (struct strag_shm_writing){.around = rng_one_in(&rng, 2)};
        around += writing.around && bytes >= LONG;
        memset(slot, 0x5a, sizeof slot);
        strag_shm_write(&writing, slot, values + offset, bytes);
        assert_memory_equal(slot, values + offset, bytes);
        for (size_t b = bytes; b < bytes + MARGIN && b < sizeof slot; b++)
            assert_int_equal(slot[b], 0x5a);
    }
    assert_in_range(around, 500, 1500);
}
