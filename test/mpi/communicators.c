/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every way to make a communicator, and every collective on each: strag must be used where there
 * are two ranks or more, also on a parent that is used again, and after it was freed. Then a few
 * hundred communicators at once, freed in another order.
 *
 * Expects a pinned algorithm.
 */
#include "suite.h"

#include <stdio.h>
#include <stdlib.h>

#define MANY 500

/* Use and free. Ranks that are not members have MPI_COMM_NULL. */
static void use(MPI_Comm comm, const char *name)
{
    if (MPI_COMM_NULL == comm)
        return;
    suite_intra(comm, name, SUITE_BLOCKING, 3);
    suite_intra(comm, name, SUITE_BLOCKING, 5000);
    suite_intra(comm, name, SUITE_NONBLOCKING, 5000);
    TEST_MPI(MPI_Comm_free(&comm));
}

static void run_dups(void)
{
    MPI_Comm comm, second;
    MPI_Request request;
    MPI_Info info;
    TEST_MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    use(comm, "dup");
    TEST_MPI(MPI_Comm_idup(MPI_COMM_WORLD, &comm, &request));
    TEST_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    use(comm, "idup");
    TEST_MPI(MPI_Info_create(&info));
    TEST_MPI(MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm));
    TEST_MPI(MPI_Info_free(&info));
    use(comm, "dup_with_info");
    TEST_MPI(MPI_Comm_dup(MPI_COMM_SELF, &comm));
    use(comm, "dup of MPI_COMM_SELF");
    TEST_MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    TEST_MPI(MPI_Comm_dup(comm, &second));
    TEST_MPI(MPI_Comm_free(&comm));
    use(second, "dup of a freed dup");
}

static void run_splits(void)
{
    MPI_Comm comm;
    TEST_MPI(MPI_Comm_split(MPI_COMM_WORLD, test.rank % 2, -test.rank, &comm));
    use(comm, "split into even and odd, in reverse order");
    TEST_MPI(MPI_Comm_split(MPI_COMM_WORLD, 0 == test.rank ? MPI_UNDEFINED : 0, 0, &comm));
    use(comm, "split without rank 0");
    TEST_MPI(MPI_Comm_split(MPI_COMM_WORLD, test.rank, 0, &comm));
    use(comm, "split into single ranks");
    TEST_MPI(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm));
    use(comm, "split_type");
}

static void run_groups(void)
{
    MPI_Group world, group;
    MPI_Comm comm = MPI_COMM_NULL;
    int range[1][3] = {{test.n - 1, 0, -2}}; /* every second rank, from the last */
    TEST_MPI(MPI_Comm_group(MPI_COMM_WORLD, &world));
    TEST_MPI(MPI_Group_range_incl(world, 1, range, &group));
    TEST_MPI(MPI_Comm_create(MPI_COMM_WORLD, group, &comm));
    use(comm, "create");
    int member;
    TEST_MPI(MPI_Group_rank(group, &member));
    comm = MPI_COMM_NULL;
    if (MPI_UNDEFINED != member)
        TEST_MPI(MPI_Comm_create_group(MPI_COMM_WORLD, group, 3, &comm));
    use(comm, "create_group");
    TEST_MPI(MPI_Group_free(&world));
    TEST_MPI(MPI_Group_free(&group));
}

static void run_topologies(void)
{
    int size = test.n, periodic = 1, keep = 0;
    MPI_Comm ring, line;
    TEST_MPI(MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 1, &ring));
    TEST_MPI(MPI_Cart_sub(ring, &keep, &line));
    use(line, "cart_sub of single ranks");
    use(ring, "cart");
}

static void run_merge(void)
{
    MPI_Comm half, inter, merged;
    if (test.n < 2)
        return;
    TEST_MPI(MPI_Comm_split(MPI_COMM_WORLD, test.rank % 2, test.rank, &half));
    TEST_MPI(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - test.rank % 2, 9, &inter));
    TEST_MPI(MPI_Intercomm_merge(inter, test.rank % 2, &merged));
    suite_inter(inter, "intercomm_create", SUITE_BLOCKING, 100);
    TEST_MPI(MPI_Comm_free(&inter));
    use(half, "half");
    use(merged, "intercomm_merge");
}

/* Many at once, each used; freed in reverse order, the parent still works. */
static void run_many(void)
{
    MPI_Comm *comms = test_allocate(MANY * sizeof(*comms));
    int wrong = 0;
    for (int k = 0; k < MANY; k++) {
        TEST_MPI(MPI_Comm_dup(0 == k ? MPI_COMM_WORLD : comms[k - 1], &comms[k]));
        test_pass_first_calls(comms[k]);
    }
    const struct test_counters before = test_counters_read();
    for (int k = 0; k < MANY; k++) {
        int in[2] = {suite_value(test.rank, k, 0), suite_value(test.rank, k, 1)}, out[2];
        TEST_MPI(MPI_Allreduce(in, out, 2, MPI_INT, MPI_SUM, comms[k]));
        wrong += suite_sum(test.n, k, 0) != out[0] || suite_sum(test.n, k, 1) != out[1];
    }
    for (int k = MANY - 1; k >= 0; k--)
        TEST_MPI(MPI_Comm_free(&comms[k]));
    TEST_CHECK(0 == wrong, "%d of %d communicators: wrong", wrong, MANY);
    test_counters_moved(before, test.n > 1 ? MANY : 0, 0, "500 communicators at once");
    free(comms);
}

int main(int argc, char **argv)
{
    test_start(&argc, &argv, "communicators", MPI_THREAD_SINGLE, NULL);
    run_dups();
    run_splits();
    run_groups();
    run_topologies();
    run_merge();
    run_many();
    run_many();
    suite_intra(MPI_COMM_WORLD, "MPI_COMM_WORLD in the end", SUITE_BLOCKING, 5000);
    return test_finish();
}
