/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The program that params.sh runs with all kinds of parameters: allreduces of a few sizes, each
 * three times, on MPI_COMM_WORLD and on a duplicate, all elements checked. strag's counters are
 * printed for the script to judge:
 *
 *     sizes: calls 24, delegated 0
 *
 * without the duplicate's first two calls, which are made before.
 *
 *     --keys "K=V;K=V"   info keys of the duplicate, which is made by
 *     --how dup          MPI_Comm_dup_with_info
 *           split-type   MPI_Comm_split_type
 *           halves       MPI_Comm_split, without keys
 *           set-info     MPI_Comm_dup, then MPI_Comm_set_info
 *     --who RANK         this rank alone gives them
 *     --times N          it is made N times, and used that often (1)
 *     --descending 1     the longest vector first: shorter ones find strag set up
 *     --short N          instead: N allreduces of 1 KiB on MPI_COMM_WORLD
 */
#include "suite.h"

/* 4, 4000, 40000 and 1200000 bytes: auto delegates two of them and runs two. */
static const int counts[] = {1, 1000, 10000, 300000};

static bool descending;
static struct test_counters uncounted; /* first calls */

static void run(MPI_Comm comm, const char *name)
{
    for (int k = 0; k < 4; k++)
        suite_allreduce(comm, name, counts[descending ? 3 - k : k], 3);
}

/* @param list  "K=V;K=V" */
static MPI_Info make_info(const char *list)
{
    MPI_Info info;
    char *copy = strdup(list), *rest = NULL;
    TEST_MPI(MPI_Info_create(&info));
    for (char *key = strtok_r(copy, ";", &rest); key; key = strtok_r(NULL, ";", &rest)) {
        char *value = strchr(key, '=');
        if (NULL == value)
            test_die("--keys: %s has no value", key);
        *value = '\0';
        TEST_MPI(MPI_Info_set(info, key, value + 1));
    }
    free(copy);
    return info;
}

static MPI_Comm make_second(const char *keys, const char *how)
{
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Info info = make_info(keys);
    if (strcmp(how, "dup") == 0)
        TEST_MPI(MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm));
    else if (strcmp(how, "split-type") == 0)
        TEST_MPI(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, info, &comm));
    else if (strcmp(how, "set-info") == 0)
        TEST_MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    else if (strcmp(how, "halves") == 0)
        TEST_MPI(MPI_Comm_split(MPI_COMM_WORLD, 2 * test.rank < test.n, 0, &comm));
    else
        test_die("--how %s: dup, split-type, set-info and halves are accepted", how);
    if (strcmp(how, "set-info") == 0)
        TEST_MPI(MPI_Comm_set_info(comm, info));
    TEST_MPI(MPI_Info_free(&info));
    return comm;
}

static void pass_first_calls(MPI_Comm comm)
{
    const struct test_counters before = test_counters_read();
    test_pass_first_calls(comm);
    const struct test_counters now = test_counters_read();
    uncounted.calls += now.calls - before.calls;
    uncounted.delegated += now.delegated - before.delegated;
}

static void run_two(const char *keys, const char *how, long times)
{
    run(MPI_COMM_WORLD, "MPI_COMM_WORLD");
    for (long i = 0; i < times; i++) {
        MPI_Comm dup = make_second(keys, how);
        TEST_MPI(MPI_Comm_set_name(dup, "the duplicate"));
        pass_first_calls(dup);
        run(dup, "the duplicate");
        TEST_MPI(MPI_Comm_free(&dup));
    }
}

int main(int argc, char **argv)
{
    const char *text = "0", *keys = "", *how = "dup", *times = "1", *order = "0", *who = "-1";
    const struct test_option options[] = {
        {"short", &text},  {"keys", &keys},        {"how", &how}, {"who", &who},
        {"times", &times}, {"descending", &order}, {NULL, NULL}};
    test_start(&argc, &argv, "sizes", MPI_THREAD_SINGLE, options);
    const int calls = (int)test_number("short", text, 0, 1000000);
    descending = test_number("descending", order, 0, 1);
    const long only = test_number("who", who, -1, test.n - 1);
    if (only >= 0 && only != test.rank)
        keys = "";
    const struct test_counters before = test_counters_read();
    if (calls)
        suite_allreduce(MPI_COMM_WORLD, "MPI_COMM_WORLD", 256, calls);
    else
        run_two(keys, how, test_number("times", times, 1, 1000));
    const struct test_counters now = test_counters_read();
    if (0 == test.rank) {
        printf("sizes: calls %llu, delegated %llu\n", now.calls - before.calls - uncounted.calls,
               now.delegated - before.delegated - uncounted.delegated);
    }
    return test_finish();
}
