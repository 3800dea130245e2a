/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Vectors whose count or bytes are at the edge of an int: 2^31 - 1 one-byte elements in place,
 * 540 M ints (2.16 GB) from one buffer to another, and as many in elements with a gap, which have
 * to be packed. Every element is checked. Needs memory: exits 77 where there is too little. Meant
 * for 2 ranks.
 *
 *     huge [--vectors bytes,ints,gaps] [--fault 0|1]
 *
 * --vectors  which of them (default bytes,ints)
 * --fault    1: the last rank spoils an element of the last vector, which must be noticed
 */
#define _GNU_SOURCE /* memfd_create */
#include "common.h"

#include <limits.h>
#include <sys/mman.h>
#include <unistd.h>

#define INTS        540000000
#define BYTES       ((size_t)INTS * sizeof(int))
#define INTS_PERIOD ((size_t)257 * 16384) /* whole pages of up to 64 KiB */
#define SLACK_KB    (2L << 20) /* beyond the vectors: for MPI, and the machine's other programs */
#define PERIOD      251        /* a prime: the period of the bytes' values */

/* Elements with a gap: 15 ints, and 4 bytes that are nobody's. */
enum { WORDS = 15, STRIDE = 16, GAPPED = INTS / WORDS };
#define GAPPED_BYTES ((size_t)GAPPED * STRIDE * sizeof(int))

static bool spoils; /* this rank, one element */

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
static unsigned *map_repeated(size_t bytes)
{
    const size_t period = INTS_PERIOD * sizeof(int);
    const int file = memfd_create("huge", 0);
    unsigned *memory = mmap(NULL, bytes + period, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (file < 0 || ftruncate(file, (off_t)period) != 0 || MAP_FAILED == memory)
        test_die("no memory for %zu bytes", bytes);
    for (size_t at = 0; at < bytes; at += period)
        if (MAP_FAILED == mmap((char *)memory + at, period, PROT_READ | PROT_WRITE,
                               MAP_SHARED | MAP_FIXED, file, 0))
            test_die("no memory for %zu bytes", bytes);
    close(file);
    for (size_t i = 0; i < INTS_PERIOD; i++)
        memory[i] = int_value(test.rank, i);
    return memory;
}

static unsigned int_sum(size_t index)
{
    const unsigned n = (unsigned)test.n;
    return n * int_value(0, index) + n * (n - 1) / 2 * 40503u;
}

/* A period of what all ranks' values sum up to. @param gaps  every 16th word is nobody's, and 0 */
static unsigned *map_sums(bool gaps)
{
    unsigned *sums = map(INTS_PERIOD * sizeof *sums);
    for (size_t i = 0; i < INTS_PERIOD; i++)
        sums[i] = gaps && i % STRIDE == WORDS ? 0 : int_sum(i);
    return sums;
}

/* A period at a time: a division for each of 540 M words would take most of the test's time. */
static void check_words(const char *vector, const unsigned *got, size_t words, bool gaps)
{
    unsigned *want = map_sums(gaps);
    size_t length;
    for (size_t at = 0; at < words; at += length) {
        length = INTS_PERIOD < words - at ? INTS_PERIOD : words - at;
        if (memcmp(got + at, want, length * sizeof *want) == 0)
            continue;
        size_t i = 0;
        while (got[at + i] == want[i])
            i++;
        test_fail("%s: word %zu is %u, not %u", vector, at + i, got[at + i], want[i]);
        break;
    }
    test.checks++;
    munmap(want, INTS_PERIOD * sizeof *want);
}

static void run_ints(unsigned *receive)
{
    unsigned *send = map_repeated(BYTES);
    TEST_MPI(MPI_Allreduce(send, receive, INTS, MPI_UNSIGNED, MPI_SUM, MPI_COMM_WORLD));
    receive[INTS / 2] += spoils;
    check_words("540 M ints", receive, INTS, false);
    for (size_t i = 0; i < INTS_PERIOD; i++)
        TEST_CHECK(int_value(test.rank, i) == send[i], "540 M ints: input %zu was changed", i);
    munmap(send, BYTES + INTS_PERIOD * sizeof(int));
}

static MPI_Datatype gapped;

/* The sum of elements with a gap, which the operator leaves alone. */
static void sum_gapped(void *in, void *inout, int *length, MPI_Datatype *type)
{
    const unsigned *left = in;
    unsigned *right = inout;
    if (*type != gapped || *length < 1 || *length > GAPPED)
        test_die("the operator got another type, or a length of %d", *length);
    for (int i = 0; i < *length; i++, left += STRIDE, right += STRIDE)
        for (int k = 0; k < WORDS; k++)
            right[k] += left[k];
}

/* What is received into has zeros in its gaps, what is sent has not. */
static void run_gaps(unsigned *receive)
{
    unsigned *send = map_repeated(GAPPED_BYTES);
    MPI_Datatype words;
    MPI_Op sum;
    TEST_MPI(MPI_Type_contiguous(WORDS, MPI_UNSIGNED, &words));
    TEST_MPI(MPI_Type_create_resized(words, 0, STRIDE * sizeof(int), &gapped));
    TEST_MPI(MPI_Type_commit(&gapped));
    TEST_MPI(MPI_Op_create(sum_gapped, 1, &sum));
    TEST_MPI(MPI_Allreduce(send, receive, GAPPED, gapped, sum, MPI_COMM_WORLD));
    receive[(size_t)GAPPED / 2 * STRIDE] += spoils;
    check_words("36 M elements with a gap", receive, (size_t)GAPPED * STRIDE, true);
    TEST_MPI(MPI_Op_free(&sum));
    TEST_MPI(MPI_Type_free(&gapped));
    TEST_MPI(MPI_Type_free(&words));
    munmap(send, GAPPED_BYTES + INTS_PERIOD * sizeof(int));
}

/* Bytes and ints share a buffer. @return calls */
static unsigned run_plain(bool bytes, bool ints)
{
    void *vector = map(BYTES);
    if (bytes)
        run_bytes(vector);
    if (ints)
        run_ints(vector);
    munmap(vector, BYTES);
    return (unsigned)bytes + (unsigned)ints;
}

int main(int argc, char **argv)
{
    const char *vectors = "bytes,ints", *fault = "0";
    const struct test_option options[] = {{"vectors", &vectors}, {"fault", &fault}, {NULL, NULL}};
    test_start(&argc, &argv, "huge", MPI_THREAD_SINGLE, options);
    const bool bytes = strstr(vectors, "bytes"), ints = strstr(vectors, "ints");
    const bool gaps = strstr(vectors, "gaps");
    spoils = 1 == test_number("fault", fault, 0, 1) && test.rank == test.n - 1;
    const long needed_kb = (long)((gaps ? GAPPED_BYTES : BYTES) / 1024) * test.n + SLACK_KB;
    int enough = available_kb() >= needed_kb; /* all ranks use rank 0's value */
    TEST_MPI(MPI_Bcast(&enough, 1, MPI_INT, 0, MPI_COMM_WORLD));
    if (!enough) {
        if (0 == test.rank)
            printf("huge: skipped: %ld MB of available memory are needed\n", needed_kb / 1024);
        return test_finish() == 0 ? TEST_SKIP : 1;
    }

    const struct test_counters before = test_counters_read();
    unsigned calls = bytes || ints ? run_plain(bytes, ints) : 0;
    if (gaps) {
        void *vector = map(GAPPED_BYTES);
        run_gaps(vector);
        munmap(vector, GAPPED_BYTES);
        calls++;
    }
    test_counters_moved(before, test.n > 1 ? calls : 0, 0, "huge vectors");
    return test_finish();
}
