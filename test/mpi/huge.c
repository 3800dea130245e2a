/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Vectors whose count or bytes are at the edge of an int: 2^31 - 1 one-byte elements in place, and
 * 540 M ints (2.16 GB) from one buffer to another. Every element is checked. Needs memory: exits 77
 * where there is too little. Meant for 2 ranks.
 */
#define _GNU_SOURCE /* memfd_create */
#include "common.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define INTS        540000000
#define BYTES       ((size_t)INTS * sizeof(int))
#define INTS_PERIOD ((size_t)257 * 16384) /* whole pages of up to 64 KiB */
#define SLACK_KB    (2L << 20) /* beyond the vectors: for MPI, and the machine's other programs */
#define PERIOD      251        /* a prime: the period of the bytes' values */

/* kB of available memory; LONG_MAX if it is unknown. */
static long available_kb(void)
{
    long kb = LONG_MAX;
    char line[256];
    FILE *file = fopen("/proc/meminfo", "r");
    while (NULL != file && NULL != fgets(line, sizeof(line), file))
        if (1 == sscanf(line, "MemAvailable: %ld kB", &kb))
            break;
    if (NULL != file)
        fclose(file);
    return kb;
}

static void *map(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (MAP_FAILED == memory)
        test_die("no memory for %zu bytes", bytes);
    madvise(memory, bytes, MADV_HUGEPAGE); /* for speed only */
    return memory;
}

/* Sums over 2 ranks stay below 127; over more, too, as the ranks' values are small. */
static signed char byte_value(int rank, size_t index)
{
    return (signed char)((int)(index % PERIOD) % (120 / test.n) - rank % 2);
}

static void run_bytes(signed char *vector)
{
    signed char want[PERIOD] = {0};
    const size_t count = INT_MAX;
    for (size_t i = 0; i < PERIOD; i++) {
        vector[i] = byte_value(test.rank, i);
        for (int rank = 0; rank < test.n; rank++)
            want[i] = (signed char)(want[i] + byte_value(rank, i));
    }
    for (size_t done = PERIOD; done < count; done *= 2) /* the period, over and over */
        memcpy(vector + done, vector, done < count - done ? done : count - done);
    TEST_MPI(MPI_Allreduce(MPI_IN_PLACE, vector, INT_MAX, MPI_INT8_T, MPI_SUM, MPI_COMM_WORLD));
    for (size_t i = 0; i < count; i += PERIOD) {
        const size_t length = PERIOD < count - i ? PERIOD : count - i;
        if (!TEST_CHECK(0 == memcmp(want, vector + i, length),
                        "2^31 - 1 bytes: wrong within %td bytes of element %zu", (ptrdiff_t)PERIOD,
                        i))
            return;
    }
}

/* Different within a period, which no block nor segment is a multiple of. */
static unsigned int_value(int rank, size_t index)
{
    return (unsigned)(index % INTS_PERIOD) * 2654435761u + (unsigned)rank * 40503u;
}

/* One period of memory, over and over: so a send buffer takes no more than that. */
static unsigned *map_repeated(void)
{
    const size_t period = INTS_PERIOD * sizeof(int);
    const int file = memfd_create("huge", 0);
    unsigned *memory = mmap(NULL, BYTES + period, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (file < 0 || ftruncate(file, (off_t)period) != 0 || MAP_FAILED == memory)
        test_die("no memory for %zu bytes", BYTES);
    for (size_t at = 0; at < BYTES; at += period)
        if (MAP_FAILED == mmap((char *)memory + at, period, PROT_READ | PROT_WRITE,
                               MAP_SHARED | MAP_FIXED, file, 0))
            test_die("no memory for %zu bytes", BYTES);
    close(file);
    for (size_t i = 0; i < INTS_PERIOD; i++)
        memory[i] = int_value(test.rank, i);
    return memory;
}

static void run_ints(unsigned *receive)
{
    unsigned *send = map_repeated();
    TEST_MPI(MPI_Allreduce(send, receive, INTS, MPI_UNSIGNED, MPI_SUM, MPI_COMM_WORLD));
    const unsigned n = (unsigned)test.n;
    for (size_t i = 0; i < INTS; i++) {
        const unsigned want = n * int_value(0, i) + n * (n - 1) / 2 * 40503u;
        if (receive[i] != want) {
            test_fail("540 M ints: element %zu is %u, not %u", i, receive[i], want);
            return;
        }
    }
    test.checks++;
    for (size_t i = 0; i < INTS_PERIOD; i++)
        TEST_CHECK(int_value(test.rank, i) == send[i], "540 M ints: input %zu was changed", i);
    munmap(send, BYTES + INTS_PERIOD * sizeof(int));
}

int main(int argc, char **argv)
{
    test_start(&argc, &argv, "huge", MPI_THREAD_SINGLE, NULL);
    const long needed_kb = (long)(BYTES / 1024) * test.n + SLACK_KB;
    int enough = available_kb() >= needed_kb; /* all ranks use rank 0's value */
    TEST_MPI(MPI_Bcast(&enough, 1, MPI_INT, 0, MPI_COMM_WORLD));
    if (!enough) {
        if (0 == test.rank)
            printf("huge: skipped: %ld MB of available memory are needed\n", needed_kb / 1024);
        return test_finish() == 0 ? TEST_SKIP : 1;
    }

    void *vector = map(BYTES);
    const struct test_counters before = test_counters_read();
    run_bytes(vector);
    run_ints(vector);
    test_counters_moved(before, test.n > 1 ? 2 : 0, 0, "huge vectors");
    munmap(vector, BYTES);
    return test_finish();
}
