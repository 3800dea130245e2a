/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What operators may do that a call has to live with:
 *
 * - One of the user's may write its first argument as well. Neither the send buffer nor a message
 *   that other ranks read, too, may be that argument.
 * - Open MPI's vectorized ones handle the last few elements of a buffer in another way than those
 *   before them: NaN, -0, and sums of short integers that overflow. All ranks must have the same
 *   bits all the same, although they do not cut a vector at the same places.
 *
 *     operators --algorithms A,B,..      each pinned on a communicator in turn
 */
#include "common.h"

enum { COUNT_MAX = 100003, SPOILT = -1, UNTOUCHED = -2 };

#define COUNTED(array_) (int)(sizeof(array_) / sizeof((array_)[0]))

static MPI_Comm comm; /* with the algorithm at hand */
static const char *pinned;
static unsigned long long calls; /* expected */
static int *in, *out, *first;    /* room for 2 * COUNT_MAX numbers of 32 bits */

/* ---- An operator that writes its first argument ---- */

enum mode { BLOCKING, NONBLOCKING, PERSISTENT, MODES };

static const char *const mode_names[MODES] = {"blocking", "nonblocking", "persistent"};

/* An element is one integer; `stride` of them later comes the next one. */
struct layout {
    const char *name;
    int stride;
    MPI_Datatype type;
    MPI_Op op;
};

static void spoil(int *a, int *b, int count, int stride)
{
    for (int i = 0; i < count * stride; i += stride) {
        b[i] += a[i];
        a[i] = SPOILT;
    }
}

static void spoiling_sum(void *a, void *b, int *count, MPI_Datatype *type)
{
    spoil(a, b, *count, 1);
}

static void spoiling_sum_with_gaps(void *a, void *b, int *count, MPI_Datatype *type)
{
    spoil(a, b, *count, 2);
}

static int value(int rank, int i)
{
    return (i + 7 * rank) % 997;
}

static void fill(int *buffer, int count, int stride)
{
    for (int i = 0; i < count * stride; i++)
        buffer[i] = i % stride ? UNTOUCHED : value(test.rank, i);
}

static int sum(int i)
{
    int total = 0;
    for (int rank = 0; rank < test.n; rank++)
        total += value(rank, i);
    return total;
}

static void run_mode(enum mode mode, const void *input, int count, const struct layout *layout)
{
    MPI_Request request = MPI_REQUEST_NULL;
    switch (mode) {
    case NONBLOCKING:
        TEST_MPI(MPI_Iallreduce(input, out, count, layout->type, layout->op, comm, &request));
        break;
#ifdef TEST_HAVE_PERSISTENT
    case PERSISTENT:
        TEST_MPI(TEST_PERSISTENT(Allreduce_init)(input, out, count, layout->type, layout->op, comm,
                                                 MPI_INFO_NULL, &request));
        TEST_MPI(MPI_Start(&request));
        TEST_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
        TEST_MPI(MPI_Request_free(&request));
        break;
#endif
    default:
        TEST_MPI(MPI_Allreduce(input, out, count, layout->type, layout->op, comm));
    }
    TEST_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

static void run_spoiling(enum mode mode, int count, bool in_place, const struct layout *layout)
{
    const int length = count * layout->stride;
    int changed = 0, wrong = 0;
    fill(in, count, layout->stride);
    fill(out, count, layout->stride);
    run_mode(mode, in_place ? MPI_IN_PLACE : in, count, layout);
    calls++;
    for (int i = 0; i < length; i++) {
        const bool is_gap = 0 != i % layout->stride;
        changed += in[i] != (is_gap ? UNTOUCHED : value(test.rank, i));
        wrong += out[i] != (is_gap ? UNTOUCHED : sum(i));
    }
    TEST_CHECK(0 == changed && 0 == wrong,
               "%s, %s, %d %s%s, by an operator that writes its first argument: %d are wrong, %d "
               "of the send buffer were changed",
               pinned, mode_names[mode], count, layout->name, in_place ? " in place" : "", wrong,
               changed);
}

static void run_all_spoiling(void)
{
    static const int counts[] = {1, 100, 100000};
    struct layout layouts[] = {{.name = "integers", .stride = 1},
                               {.name = "integers with gaps", .stride = 2}};
    TEST_MPI(MPI_Op_create(spoiling_sum, 1, &layouts[0].op));
    TEST_MPI(MPI_Op_create(spoiling_sum_with_gaps, 1, &layouts[1].op));
    for (int l = 0; l < COUNTED(layouts); l++) {
        const MPI_Aint extent = layouts[l].stride * (MPI_Aint)sizeof(int);
        TEST_MPI(MPI_Type_create_resized(MPI_INT, 0, extent, &layouts[l].type));
        TEST_MPI(MPI_Type_commit(&layouts[l].type));
        for (int c = 0; c < COUNTED(counts); c++)
            for (int mode = 0; mode < MODES; mode++)
                for (int places = 0; places < 3; places++) /* none, all, every other rank */
                    run_spoiling((enum mode)mode, counts[c],
                                 2 == places ? 0 != test.rank % 2 : 0 != places, &layouts[l]);
        TEST_MPI(MPI_Type_free(&layouts[l].type));
        TEST_MPI(MPI_Op_free(&layouts[l].op));
    }
}

/* ---- The same bits ---- */

static const struct {
    const char *name;
    MPI_Op op;
    MPI_Datatype type;
    int size; /* bytes of an element */
} pairs[] = {
    {"MPI_MAX of floats", MPI_MAX, MPI_FLOAT, 4},
    {"MPI_MIN of floats", MPI_MIN, MPI_FLOAT, 4},
    {"MPI_SUM of floats", MPI_SUM, MPI_FLOAT, 4},
    {"MPI_PROD of floats", MPI_PROD, MPI_FLOAT, 4},
    {"MPI_MAX of doubles", MPI_MAX, MPI_DOUBLE, 8},
    {"MPI_MIN of doubles", MPI_MIN, MPI_DOUBLE, 8},
    {"MPI_SUM of int16_t", MPI_SUM, MPI_INT16_T, 2},
    {"MPI_SUM of uint8_t", MPI_SUM, MPI_UINT8_T, 1},
};

/* 32 bits of a float, or the upper ones of a double: half of them are special. */
static uint32_t dense(uint64_t random, bool is_double)
{
    static const uint32_t floats[] = {0x7fc00001, 0xffc00002, 0x7fabcdef, 0x80000000,
                                      0x00000000, 0x7f800000, 0xff800000, 0x3f800000};
    static const uint32_t doubles[] = {0x7ff80001, 0xfff80002, 0x7ff12345, 0x80000000,
                                       0x00000000, 0x7ff00000, 0xfff00000, 0x3ff00000};
    if (random >> 40 & 1)
        return (uint32_t)random;
    return is_double ? doubles[random % 8] : floats[random % 8];
}

/* The lower half of a double is 0, so that its zeros and infinities are. */
static void fill_dense(int *buffer, int words, bool is_double)
{
    for (int i = 0; i < words; i++) {
        const uint32_t word = dense(test_value(test.rank, (uint64_t)i), is_double);
        buffer[i] = is_double && i % 2 == 0 ? 0 : (int)word;
    }
}

static void compare_bits(int pair, int count, bool in_place)
{
    const int size = pairs[pair].size;
    int different = 0;
    fill_dense(in_place ? out : in, (count * size + 3) / 4, 8 == size);
    TEST_MPI(MPI_Allreduce(in_place ? MPI_IN_PLACE : in, out, count, pairs[pair].type,
                           pairs[pair].op, comm));
    calls++;
    memcpy(first, out, (size_t)count * (size_t)size);
    TEST_MPI(MPI_Bcast(first, count * size, MPI_BYTE, 0, comm));
    for (int i = 0; i < count * size; i += size)
        different += 0 != memcmp((char *)out + i, (char *)first + i, (size_t)size);
    TEST_CHECK(0 == different, "%s, %s: %d of %d have other bits than on rank 0", pinned,
               pairs[pair].name, different, count);
}

static void compare_all_bits(void)
{
    static const int counts[] = {13, 4099, 20011, COUNT_MAX};
    for (int pair = 0; pair < COUNTED(pairs); pair++)
        for (int c = 0; c < COUNTED(counts); c++)
            compare_bits(pair, counts[c], 0 != (test.rank + c) % 3);
}

/* ---- The program ---- */

static void run_pinned(const char *algorithm)
{
    pinned = algorithm;
    calls = 0;
    comm = test_pinned(MPI_COMM_WORLD, algorithm);
    const struct test_counters before = test_counters_read();
    run_all_spoiling();
    compare_all_bits();
    test_counters_moved(before, calls, 0, algorithm);
    TEST_MPI(MPI_Comm_free(&comm));
}

int main(int argc, char **argv)
{
    const char *algorithms = "ring";
    const struct test_option options[] = {{"algorithms", &algorithms}, {NULL, NULL}};
    test_start(&argc, &argv, "operators", MPI_THREAD_SINGLE, options);
    in = test_allocate(2 * COUNT_MAX * sizeof(int));
    out = test_allocate(2 * COUNT_MAX * sizeof(int));
    first = test_allocate(2 * COUNT_MAX * sizeof(int));
    char *list = strdup(algorithms), *rest = NULL;
    for (char *name = strtok_r(list, ",", &rest); name; name = strtok_r(NULL, ",", &rest))
        run_pinned(name);
    free(list);
    free(in);
    free(out);
    free(first);
    return test_finish();
}
