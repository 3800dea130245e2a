/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writing values into slots: through the caches, or around them.
 *
 * A processor that writes a line which another one has in its cache must first take it away from
 * there. If both share a third-level cache, that is cheap, and slots used in turn have left the
 * second-level caches by then (shm/room.c). If they share none, it takes ten times as long as the
 * rest of a message. Data written around the caches, into memory, takes no line away; the receiver
 * reads it from memory, which is no slower than from a far cache, but slower than from a common
 * one. Microseconds for 32 KiB (EPYC 9004), when many such messages follow each other:
 *
 *                          write  read    around: write  read
 *     a common cache         1.2   0.7              1.1   2.0
 *     none                    13   1.8              1.1   2.0
 *
 * The system does not say reliably which ranks share a cache: a virtual machine may report anything
 * and may move, and so may ranks that are not bound. So writes are timed. Messages go through the
 * caches as long as that takes less than TIMES as long as around them, which leaves enough for the
 * receiver's reading; from time to time messages go through the caches again, as a trial. Each rank
 * decides for itself: how a message was written does not matter to the receiver.
 *
 * A part of all messages is timed, and the median counts. (Consecutive messages would say little:
 * the cost of the first ones depends on how earlier ones were written.) They are chosen at random:
 * every fourth message could always go to the same one of a plan's four partners. All partners use
 * the same way, though some may be near and others far.
 */
#include "base/text.h"
#include "shm/layout.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

enum {
    LONG = 4096,     /* bytes: shorter messages go through the caches, and are not timed */
    FIRST = 128,     /* messages through the caches at first, while the memory is new */
    LEARN = 128,     /* messages around the caches, to measure their cost */
    AGAIN = 65536,   /* messages around the caches, before the other way is tried again */
    LATER = 1 << 20, /* messages through the caches, before the other way is measured again */
    EVERY = 4,       /* one message in this many is timed, in the mean */
    TIMES = 4,
    EXPENSIVE =
        3, /* medians in a row above TIMES the other way's, before messages go around the caches */
};

_Static_assert(LEARN >= STRAG_SHM_SAMPLES * (2 * EVERY - 1), "enough of them to be timed");

/* ---- Copying ---- */

/* Slots begin at a cache line, so all stores are aligned. */
static void copy_around(char *slot, const char *values, size_t bytes)
{
    size_t done = 0;
#if defined(__SSE2__)
    for (; done + STRAG_SHM_LINE <= bytes; done += STRAG_SHM_LINE) {
        const __m128i *from = (const void *)(values + done);
        __m128i *to = (void *)(slot + done);
        const __m128i a = _mm_loadu_si128(from), b = _mm_loadu_si128(from + 1),
                      c = _mm_loadu_si128(from + 2), d = _mm_loadu_si128(from + 3);
        _mm_stream_si128(to, a);
        _mm_stream_si128(to + 1, b);
        _mm_stream_si128(to + 2, c);
        _mm_stream_si128(to + 3, d);
    }
    _mm_sfence(); /* else they might be visible only after the announcement */
#endif
    memcpy(slot + done, values + done, bytes - done);
}

static void copy(bool around, void *slot, const void *values, size_t bytes)
{
    if (around)
        copy_around(slot, values, bytes);
    else
        memcpy(slot, values, bytes);
}

static double nanoseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

void strag_shm_write(struct strag_shm_writing *writing, void *slot, const void *values,
                     size_t bytes)
{
    if (bytes < LONG) {
        memcpy(slot, values, bytes);
        return;
    }
    const bool around = strag_shm_writes_around(writing);
    if (!strag_shm_times_write(writing)) {
        copy(around, slot, values, bytes);
        return;
    }
    const double start = nanoseconds();
    copy(around, slot, values, bytes);
    strag_shm_note_write(writing, (nanoseconds() - start) / (double)bytes);
}

/* ---- Which way ---- */

struct strag_shm_writing strag_shm_writing_begin(void)
{
    return (struct strag_shm_writing){.around = false, .left = FIRST, .chance = 1};
}

static void change(struct strag_shm_writing *writing, bool around, unsigned messages)
{
    writing->around = around;
    writing->left = messages;
    writing->timed = 0;
    writing->expensive = 0;
}

bool strag_shm_writes_around(struct strag_shm_writing *writing)
{
    if (writing->left > 0 && --writing->left == 0)
        change(writing, !writing->around, writing->around ? LATER : LEARN);
    return writing->around;
}

/* Leave out 0 to 2 * EVERY - 2 messages at random, by a linear congruential generator. */
bool strag_shm_times_write(struct strag_shm_writing *writing)
{
    if (writing->untimed > 0) {
        writing->untimed--;
        return false;
    }
    writing->chance = writing->chance * 1664525 + 1013904223;
    writing->untimed = (writing->chance >> 16) % (2 * EVERY - 1);
    return true;
}

void strag_shm_note_write(struct strag_shm_writing *writing, double cost)
{
    writing->costs[writing->timed++] = (float)cost;
    if (writing->timed < STRAG_SHM_SAMPLES)
        return;
    writing->timed = 0;
    qsort(writing->costs, STRAG_SHM_SAMPLES, sizeof *writing->costs, strag_compare_float);
    const float median = writing->costs[STRAG_SHM_SAMPLES / 2];
    if (writing->around)
        writing->around_cost = median;
    else if (!(writing->around_cost > 0) || median <= TIMES * writing->around_cost)
        writing->expensive = 0;
    else if (++writing->expensive == EXPENSIVE)
        change(writing, true, AGAIN);
}
