/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processes that were not there at the start: spawned ones, merged with their parents; and two
 * halves of the job that accept and connect. Checked calls (caller.h) on all communicators that
 * come of that. The intercommunicators are disconnected; those of both jobs' ranks are freed, since
 * to disconnect them hangs in Open MPI 4.1.4 (PMIx_Fence), also without strag.
 *
 *     spawn [--children N] [--rounds N] [--fault KIND:N]
 *
 * --children  spawned in each round (default 2)
 * --rounds    (default 1)
 * --fault     the last rank does something wrong after N calls (caller.h), which must be noticed
 *
 * The children run this program; a failure of theirs is counted by the parents.
 */
#include "caller.h"
#include "shapes.h"

enum { BYTES = 1 << 18, CALLS = 40 };

static struct caller caller;

/* Checked calls on a communicator, and on a duplicate of it. */
static void use(MPI_Comm comm, const char *name, uint64_t seed)
{
    MPI_Comm dup;
    struct caller_comm opened = caller_open(comm, name);
    for (uint64_t i = 0; i < CALLS; i++)
        caller_call(&caller, &opened, seed + i);
    caller_compare(&caller, &opened);
    TEST_MPI(MPI_Comm_dup(comm, &dup));
    struct caller_comm second = caller_open(dup, name);
    for (uint64_t i = 0; i < CALLS; i++)
        caller_call(&caller, &second, seed + CALLS + i);
    caller_compare(&caller, &second);
    TEST_MPI(MPI_Comm_free(&dup));
}

/* Each side of an intercommunicator gets the sum of the other one's ranks, counted from 1. */
static void use_inter(MPI_Comm inter, const char *name)
{
    int rank, remote, sum = 0;
    TEST_MPI(MPI_Comm_rank(inter, &rank));
    TEST_MPI(MPI_Comm_remote_size(inter, &remote));
    rank++;
    TEST_MPI(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, inter));
    TEST_CHECK(remote * (remote + 1) / 2 == sum, "%s: the sum is %d, not %d", name, sum,
               remote * (remote + 1) / 2);
}

/* Both sides of an intercommunicator, as one. @param high  this side's ranks come behind */
static void use_merged(MPI_Comm inter, bool high, const char *name, uint64_t seed)
{
    MPI_Comm merged;
    use_inter(inter, name);
    TEST_MPI(MPI_Intercomm_merge(inter, high, &merged));
    use(merged, name, seed);
    TEST_MPI(MPI_Comm_free(&merged));
}

/* The children's failures, and the checks that they made, are their parents' too. */
static void collect(MPI_Comm inter, bool child)
{
    long mine[2] = {caller.checks, caller.wrong}, sum[2] = {0, 0};
    const int root = child ? 0 : 0 == test.rank ? MPI_ROOT : MPI_PROC_NULL;
    TEST_MPI(MPI_Reduce(mine, sum, 2, MPI_LONG, MPI_SUM, root, inter));
    if (child || 0 != test.rank)
        return;
    TEST_CHECK(sum[0] > 0, "the children checked nothing");
    test.checks += sum[0];
    test.failures += sum[1];
}

static void say(const char *what, int round)
{
    if (0 != test.rank)
        return;
    printf("spawn: %s, round %d\n", what, round);
    fflush(stdout);
}

static void spawn(const char *command, int children, int round)
{
    char seed[32], number[32], expect[] = "1";
    char options[3][16] = {"--seed", "--child", "--expect-strag"};
    MPI_Comm inter;
    snprintf(seed, sizeof(seed), "%llu", (unsigned long long)test.seed);
    snprintf(number, sizeof(number), "%d", round);
    char *arguments[] = {options[0], seed, options[1], number, options[2], expect, NULL};
    expect[0] = test.expect_strag ? '1' : '0';
    say("spawning", round); /* the script looks for this: see there */
    TEST_MPI(MPI_Comm_spawn(command, arguments, children, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter,
                            MPI_ERRCODES_IGNORE));
    say("spawned", round);
    use_merged(inter, false, "parents and children", (uint64_t)round << 32);
    collect(inter, false);
    TEST_MPI(MPI_Comm_disconnect(&inter));
}

/* What a spawned process does; the round's number comes from its parents. */
static int live_as_child(MPI_Comm parents, long round)
{
    const struct test_counters before = test_counters_read();
    use(MPI_COMM_WORLD, "the children's MPI_COMM_WORLD", (uint64_t)round);
    use_merged(parents, true, "parents and children", (uint64_t)round << 32);
    caller_ran(before, (unsigned long long)caller.made);
    collect(parents, true);
    TEST_MPI(MPI_Comm_disconnect(&parents));
    caller_count(&caller);
    return test_finish();
}

/* The even ranks accept the odd ones. */
static void accept_and_connect(int round)
{
    char port[MPI_MAX_PORT_NAME] = "";
    const int side = test.rank % 2;
    MPI_Comm half, inter;
    if (test.n < 2)
        return;
    TEST_MPI(MPI_Comm_split(MPI_COMM_WORLD, side, 0, &half));
    if (0 == test.rank)
        TEST_MPI(MPI_Open_port(MPI_INFO_NULL, port));
    TEST_MPI(MPI_Bcast(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, MPI_COMM_WORLD));
    if (0 == side)
        TEST_MPI(MPI_Comm_accept(port, MPI_INFO_NULL, 0, half, &inter));
    else
        TEST_MPI(MPI_Comm_connect(port, MPI_INFO_NULL, 0, half, &inter));
    use_merged(inter, 1 == side, "two halves, connected", 7 + (uint64_t)round);
    TEST_MPI(MPI_Comm_disconnect(&inter));
    if (0 == test.rank)
        TEST_MPI(MPI_Close_port(port));
    TEST_MPI(MPI_Comm_free(&half));
}

int main(int argc, char **argv)
{
    const char *children = "2", *rounds = "1", *fault = "none", *child = "0";
    const struct test_option options[] = {{"children", &children},
                                          {"rounds", &rounds},
                                          {"fault", &fault},
                                          {"child", &child}, /* of this round; for ourselves */
                                          {NULL, NULL}};
    MPI_Comm parents;
    test_start(&argc, &argv, "spawn", MPI_THREAD_SINGLE, options);
    caller_prepare();
    caller_create(&caller, BYTES);
    TEST_MPI(MPI_Comm_get_parent(&parents));
    if (MPI_COMM_NULL != parents)
        return live_as_child(parents, test_number("child", child, 0, 1000000));
    if (test.rank == test.n - 1)
        caller_spoil(&caller, fault);
    const struct test_counters before = test_counters_read();
    for (int round = 0; round < test_number("rounds", rounds, 1, 1000000); round++) {
        spawn(argv[0], (int)test_number("children", children, 1, 1000), round);
        accept_and_connect(round);
    }
    use(MPI_COMM_WORLD, "MPI_COMM_WORLD in the end", 0);
    caller_ran(before, (unsigned long long)caller.made);
    caller_count(&caller);
    caller_free(&caller);
    shapes_free();
    return test_finish();
}
