/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How communicators are set up that are made from others: from the locations of another one's
 * ranks, or by asking all ranks. strag's counters say which. All results are checked.
 *
 *     inherit [--late RANK]    with a rank that is late in 40 calls on MPI_COMM_WORLD, so that its
 *                              table changes before it is duplicated
 *     inherit --share N [--late RANK]
 *                              N dups and three communicators of the same ranks in use at the same
 *                              time; then the rank is late on the last dup. inherit.sh counts plans
 */
#include "common.h"

#include <pthread.h>
#include <time.h>

enum { COUNT = 16384, THREADS = 3, ROUNDS = 20 };

struct setups {
    unsigned long long asked, derived;
};

static struct setups read_setups(void)
{
    return (struct setups){test_counter_read("coll_strag_setups_asked"),
                           test_counter_read("coll_strag_setups_derived")};
}

/* Rank r contributes (r + 1) * (i % 7 + 1), so that every element depends on who is who. */
static void call(MPI_Comm comm, const char *what)
{
    int rank, n;
    long *values = test_allocate(COUNT * sizeof *values);
    TEST_MPI(MPI_Comm_rank(comm, &rank));
    TEST_MPI(MPI_Comm_size(comm, &n));
    for (long i = 0; i < COUNT; i++)
        values[i] = (rank + 1) * (i % 7 + 1);
    TEST_MPI(MPI_Allreduce(MPI_IN_PLACE, values, COUNT, MPI_LONG, MPI_SUM, comm));
    long wrong = 0;
    for (long i = 0; i < COUNT; i++)
        wrong += values[i] != (long)n * (n + 1) / 2 * (i % 7 + 1);
    TEST_CHECK(wrong == 0, "%s: %ld of %d elements are wrong", what, wrong, COUNT);
    free(values);
}

/* Often enough that it is set up. */
static void use(MPI_Comm comm, const char *what)
{
    for (int i = 0; i < 3; i++)
        call(comm, what);
}

static void expect(struct setups before, unsigned asked, unsigned derived, const char *what)
{
    const struct setups now = read_setups();
    TEST_CHECK(now.asked - before.asked == asked && now.derived - before.derived == derived,
               "%s: %llu asked, %llu derived; %u, %u were expected", what, now.asked - before.asked,
               now.derived - before.derived, asked, derived);
}

/* Use a communicator, and a dup of it. */
static void use_twice(MPI_Comm comm, const char *what)
{
    MPI_Comm dup;
    use(comm, what);
    struct setups before = read_setups();
    int n;
    TEST_MPI(MPI_Comm_size(comm, &n));
    TEST_MPI(MPI_Comm_dup(comm, &dup));
    use(dup, what);
    expect(before, 0, n > 1, what);
    TEST_MPI(MPI_Comm_free(&dup));
}

static void dups(void)
{
    struct setups before = read_setups();
    MPI_Comm comm, second;
    MPI_Request request;
    TEST_MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    use(comm, "dup");
    TEST_MPI(MPI_Comm_dup(comm, &second));
    TEST_MPI(MPI_Comm_free(&comm));
    use(second, "dup of a dup that is gone");
    TEST_MPI(MPI_Comm_free(&second));
    expect(before, 0, 2, "dups");
    TEST_MPI(MPI_Comm_idup(MPI_COMM_WORLD, &comm, &request));
    TEST_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    use(comm, "idup");
    TEST_MPI(MPI_Comm_free(&comm));
    const struct setups now = read_setups();
    TEST_CHECK(now.asked == before.asked, "idup: all ranks were asked");
}

/* The first two calls of a communicator that the program has made are not strag's, whatever they
 * are, but for persistent ones. */
static void first_calls(void)
{
    const struct setups before = read_setups();
    struct test_counters counters = test_counters_read();
    MPI_Comm comm;
    MPI_Request request;
    long one = 1, sum = 0;
    TEST_MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    call(comm, "first");
    TEST_MPI(MPI_Iallreduce(&one, &sum, 1, MPI_LONG, MPI_SUM, comm, &request));
    TEST_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    TEST_CHECK(sum == test.n, "the second call: %ld", sum);
    test_counters_moved(counters, 0, 2, "the first two calls");
    expect(before, 0, 0, "the first two calls");
    call(comm, "third");
    test_counters_moved(counters, 1, 2, "the third call");
    expect(before, 0, 1, "the third call");
    TEST_MPI(MPI_Comm_free(&comm));
}

static void splits(void)
{
    struct setups before = read_setups();
    MPI_Comm comm, part;
    MPI_Group group;
    TEST_MPI(MPI_Comm_split(MPI_COMM_WORLD, 0, -test.rank, &comm));
    use(comm, "reversed");
    expect(before, 0, 1, "reversed");
    use_twice(comm, "a dup of reversed");
    before = read_setups();
    TEST_MPI(MPI_Comm_split(comm, test.rank % 2, 0, &part));
    int n;
    TEST_MPI(MPI_Comm_size(part, &n));
    use(part, "half of reversed");
    expect(before, 0, n > 1, "half of reversed");
    use_twice(part, "a dup of half of reversed");
    TEST_MPI(MPI_Comm_free(&part));
    TEST_MPI(MPI_Comm_free(&comm));
    before = read_setups();
    TEST_MPI(MPI_Comm_group(MPI_COMM_WORLD, &group));
    TEST_MPI(MPI_Comm_create_group(MPI_COMM_WORLD, group, 1, &comm));
    TEST_MPI(MPI_Group_free(&group));
    use(comm, "create_group");
    expect(before, 0, 1, "create_group");
    TEST_MPI(MPI_Comm_free(&comm));
}

/* A dup that is used, and a dup of that: it has not the key, and so not what it decided. @param who
 * only this rank gives the key; below 0: all do */
static void use_with_key(const char *key, const char *value, int who)
{
    MPI_Comm comm, dup;
    MPI_Info info;
    TEST_MPI(MPI_Info_create(&info));
    if (who < 0 || who == test.rank)
        TEST_MPI(MPI_Info_set(info, key, value));
    TEST_MPI(MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm));
    TEST_MPI(MPI_Info_free(&info));
    use(comm, key);
    TEST_MPI(MPI_Comm_dup(comm, &dup));
    TEST_MPI(MPI_Comm_free(&comm));
    use(dup, key);
    TEST_MPI(MPI_Comm_free(&dup));
}

/* Keys of the watch are asked for, others are rank 0's when it decides. */
static void keys(const char *key, const char *value, int who, bool asked)
{
    const struct setups before = read_setups();
    use_with_key(key, value, who);
    expect(before, asked, 1 + !asked, key);
}

/* An algorithm that one rank alone asks for: all are asked, and there is a warning. */
static void disagreement(int who)
{
    const struct setups before = read_setups();
    use_with_key("coll_strag_algorithm", "ring", who);
    const struct setups now = read_setups();
    const unsigned long long asked = now.asked - before.asked,
                             derived = now.derived - before.derived;
    TEST_CHECK(asked == 1 && derived == 1,
               "rank %d alone has an algorithm: %llu asked, %llu derived", who, asked, derived);
}

static void *work(void *argument)
{
    MPI_Comm *comm = argument, made;
    int rank;
    TEST_MPI(MPI_Comm_rank(*comm, &rank));
    for (int i = 0; i < ROUNDS; i++) {
        if (i % 3 == 2)
            TEST_MPI(MPI_Comm_split(*comm, 0, i % 2 ? -rank : rank, &made));
        else
            TEST_MPI(MPI_Comm_dup(*comm, &made));
        use(made, "threads");
        use(*comm, "threads");
        TEST_MPI(MPI_Comm_free(&made));
    }
    return NULL;
}

static void threads(void)
{
    pthread_t thread[THREADS];
    MPI_Comm comms[THREADS];
    for (int t = 0; t < THREADS; t++)
        TEST_MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comms[t]));
    for (int t = 0; t < THREADS; t++)
        if (pthread_create(&thread[t], NULL, work, &comms[t]) != 0)
            test_die("a thread could not be started");
    for (int t = 0; t < THREADS; t++)
        pthread_join(thread[t], NULL);
    for (int t = 0; t < THREADS; t++)
        TEST_MPI(MPI_Comm_free(&comms[t]));
}

static void be_late(MPI_Comm comm, int who)
{
    /* Much longer than a busy machine makes the others wait. */
    const struct timespec delay = {.tv_nsec = 25000000};
    for (int i = 0; i < 40; i++) {
        if (test.rank == who)
            nanosleep(&delay, NULL);
        call(comm, "late");
    }
}

/* The last three: split in the same order, of the group, and split in the reverse order. */
static void make_identical(MPI_Comm *comms, int dups)
{
    MPI_Group group;
    for (int c = 0; c < dups; c++)
        TEST_MPI(MPI_Comm_dup(c % 2 ? comms[c - 1] : MPI_COMM_WORLD, &comms[c]));
    TEST_MPI(MPI_Comm_split(MPI_COMM_WORLD, 0, test.rank, &comms[dups]));
    TEST_MPI(MPI_Comm_group(MPI_COMM_WORLD, &group));
    TEST_MPI(MPI_Comm_create_group(MPI_COMM_WORLD, group, 1, &comms[dups + 1]));
    TEST_MPI(MPI_Group_free(&group));
    TEST_MPI(MPI_Comm_split(MPI_COMM_WORLD, 0, -test.rank, &comms[dups + 2]));
}

static void share(int dups, int late)
{
    const int all = dups + 3;
    MPI_Comm *comms = test_allocate((size_t)all * sizeof *comms);
    make_identical(comms, dups);
    for (int c = 0; c < all; c++)
        use(comms[c], "identical");
    if (late >= 0)
        be_late(comms[dups - 1], late);
    for (int c = 0; c < all; c++)
        use(comms[c], "identical, again");
    for (int c = 0; c < all; c++)
        TEST_MPI(MPI_Comm_free(&comms[c]));
    free(comms);
}

int main(int argc, char **argv)
{
    const char *late = "-1", *shared = "0";
    const struct test_option options[] = {{"late", &late}, {"share", &shared}, {NULL, NULL}};
    test_start(&argc, &argv, "inherit", MPI_THREAD_MULTIPLE, options);
    struct setups before = read_setups();
    call(MPI_COMM_WORLD, "world");
    expect(before, 1, 0, "world");
    const int who = (int)test_number("late", late, -1, test.n - 1);
    const int dups_wanted = (int)test_number("share", shared, 0, 1000);
    if (dups_wanted > 0) {
        share(dups_wanted, who);
        return test_finish();
    }
    if (who >= 0)
        be_late(MPI_COMM_WORLD, who);
    first_calls();
    dups();
    splits();
    keys("coll_strag_report", "0", -1, true);
    keys("coll_strag_straggler", "none", 0, true);
    keys("coll_strag_ports", "1", -1, false);
    keys("coll_strag_ports", "1", 0, false); /* on rank 0 alone */
    keys("coll_strag_algorithm", "ring", -1, false);
    disagreement(0);
    disagreement(test.n - 1);
    threads();
    return test_finish();
}
