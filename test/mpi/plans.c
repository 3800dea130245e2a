/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Plans from files give the same bits as the algorithms that they were written from: blocking,
 * nonblocking and persistent calls, in place and not, of lengths that no block divides, on a
 * communicator with the info key coll_strag_plan and on one with coll_strag_algorithm.
 *
 *     plans --folder FOLDER --algorithms A,B      FOLDER/A.json, FOLDER/B.json
 *     plans --wrong FILE                          as with auto
 *     plans --world ALGORITHM                     without keys: MPI_COMM_WORLD, a dup, and its
 * ranks in reverse; long and short calls
 */
#include "common.h"

static const char *folder = "", *algorithms = "", *wrong = "", *world = "";

enum { LONGEST = 70001 };

/* How a call is made. */
enum way { BLOCKING, IN_PLACE, NONBLOCKING, PERSISTENT, WAYS };
static const char *const names[WAYS] = {"blocking", "in place", "nonblocking", "persistent"};

static float input[LONGEST], output[2][LONGEST];

static void call_persistent(float *result, int count, MPI_Comm comm)
{
#ifdef TEST_HAVE_PERSISTENT
    MPI_Request request;
    TEST_MPI(TEST_PERSISTENT(Allreduce_init)(input, result, count, MPI_FLOAT, MPI_SUM, comm,
                                             MPI_INFO_NULL, &request));
    for (int start = 0; start < 2; start++) {
        TEST_MPI(MPI_Start(&request));
        TEST_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    TEST_MPI(MPI_Request_free(&request));
#else
    TEST_MPI(MPI_Allreduce(input, result, count, MPI_FLOAT, MPI_SUM, comm));
#endif
}

static void call(enum way way, float *result, int count, MPI_Comm comm)
{
    MPI_Request request;
    memset(result, 0xee, (size_t)count * sizeof *result);
    switch (way) {
    case IN_PLACE:
        memcpy(result, input, (size_t)count * sizeof *result);
        TEST_MPI(MPI_Allreduce(MPI_IN_PLACE, result, count, MPI_FLOAT, MPI_SUM, comm));
        break;
    case NONBLOCKING:
        TEST_MPI(MPI_Iallreduce(input, result, count, MPI_FLOAT, MPI_SUM, comm, &request));
        TEST_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
        break;
    case PERSISTENT:
        call_persistent(result, count, comm);
        break;
    default:
        TEST_MPI(MPI_Allreduce(input, result, count, MPI_FLOAT, MPI_SUM, comm));
    }
}

static void compare(const char *algorithm, MPI_Comm given, MPI_Comm built_in)
{
    const int counts[] = {LONGEST, 1, 2, test.n - 1, test.n, 7, 1000, 16384};
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        for (enum way way = BLOCKING; way < WAYS; way++) {
            call(way, output[0], counts[c], given);
            call(way, output[1], counts[c], built_in);
            const size_t bytes = (size_t)counts[c] * sizeof(float);
            TEST_CHECK(memcmp(output[0], output[1], bytes) == 0, "%s, %s, %d floats: other bits",
                       algorithm, names[way], counts[c]);
        }
    }
}

/* A first call that is not blocking begins with setup, and what runs it only setup knows. */
static void begin_nonblocking(const char *file)
{
    MPI_Comm comm = test_with_key(MPI_COMM_WORLD, "coll_strag_plan", file);
    for (int i = 0; i < 40; i++)
        call(NONBLOCKING, output[0], LONGEST, comm);
    call(BLOCKING, output[1], LONGEST, comm);
    const void *nonblocking = output[0], *blocking = output[1];
    TEST_CHECK(memcmp(nonblocking, blocking, sizeof output[0]) == 0,
               "%s: nonblocking and blocking calls differ", file);
    TEST_MPI(MPI_Comm_free(&comm));
}

static void test_algorithm(const char *algorithm)
{
    char file[512];
    snprintf(file, sizeof file, "%s/%s.json", folder, algorithm);
    MPI_Comm given = test_with_key(MPI_COMM_WORLD, "coll_strag_plan", file);
    MPI_Comm built_in = test_pinned(MPI_COMM_WORLD, algorithm);
    compare(algorithm, given, built_in);
    begin_nonblocking(file);
    TEST_MPI(MPI_Comm_free(&given));
    TEST_MPI(MPI_Comm_free(&built_in));
}

/* It runs as without it. */
static void test_wrong(void)
{
    MPI_Comm given = test_with_key(MPI_COMM_WORLD, "coll_strag_plan", wrong);
    MPI_Comm plain = test_pinned(MPI_COMM_WORLD, "auto");
    compare("auto", given, plain);
    TEST_MPI(MPI_Comm_free(&given));
    TEST_MPI(MPI_Comm_free(&plain));
}

/* Integers, whose sum is the same in any order: by the component underneath, which no plan is for.
 */
static void compare_integers(MPI_Comm comm, int which)
{
    static int numbers[LONGEST], sums[2][LONGEST];
    MPI_Comm previous = test_pinned(comm, "previous");
    for (int i = 0; i < LONGEST; i++)
        numbers[i] = (int)(test_value(test.rank, (uint64_t)i) >> 40);
    TEST_MPI(MPI_Allreduce(numbers, sums[0], LONGEST, MPI_INT, MPI_SUM, comm));
    TEST_MPI(MPI_Allreduce(numbers, sums[1], LONGEST, MPI_INT, MPI_SUM, previous));
    TEST_CHECK(memcmp(sums[0], sums[1], sizeof sums[0]) == 0, "communicator %d: wrong sums", which);
    TEST_MPI(MPI_Comm_free(&previous));
}

/* Parameters and rules say what runs. */
static void test_world(const char *algorithm)
{
    const int counts[] = {LONGEST, 1000};
    MPI_Comm comms[3] = {MPI_COMM_WORLD};
    TEST_MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]));
    TEST_MPI(MPI_Comm_split(MPI_COMM_WORLD, 0, -test.rank, &comms[2]));
    for (int i = 0; i < 3; i++) {
        MPI_Comm built_in = test_pinned(comms[i], algorithm);
        for (int c = 0; c < 2; c++) {
            call(BLOCKING, output[0], counts[c], comms[i]);
            call(BLOCKING, output[1], counts[c], built_in);
            TEST_CHECK(memcmp(output[0], output[1], (size_t)counts[c] * sizeof(float)) == 0,
                       "communicator %d, %d floats: other bits than %s", i, counts[c], algorithm);
        }
        compare_integers(comms[i], i);
        TEST_MPI(MPI_Comm_free(&built_in));
        if (i)
            TEST_MPI(MPI_Comm_free(&comms[i]));
    }
}

int main(int argc, char **argv)
{
    const struct test_option options[] = {{"folder", &folder},
                                          {"algorithms", &algorithms},
                                          {"wrong", &wrong},
                                          {"world", &world},
                                          {NULL, NULL}};
    char name[64];
    test_start(&argc, &argv, "plans", MPI_THREAD_SINGLE, options);
    for (int i = 0; i < LONGEST; i++)
        input[i] = (float)(test_value(test.rank, (uint64_t)i) >> 40) * 1e-6F;
    if (wrong[0])
        test_wrong();
    if (world[0])
        test_world(world);
    for (const char *next = algorithms; *next; next += strcspn(next, ","), next += *next == ',') {
        snprintf(name, sizeof name, "%.*s", (int)strcspn(next, ","), next);
        test_algorithm(name);
    }
    return test_finish();
}
