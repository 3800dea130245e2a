/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every collective of MPI: blocking, nonblocking and persistent; on MPI_COMM_WORLD, MPI_COMM_SELF,
 * an intercommunicator, a grid and a graph. Expects a pinned algorithm, so that strag runs every
 * allreduce.
 */
#include "suite.h"

static const int counts[] = {1, 3, 5000};

/* A persistent allreduce that is started many times, with other values each time. */
static void restart_persistent(void)
{
#ifdef TEST_HAVE_PERSISTENT
    int in[100] = {0}, out[100];
    MPI_Request request;
    TEST_MPI(TEST_PERSISTENT(Allreduce_init)(in, out, 100, MPI_INT, MPI_SUM, MPI_COMM_WORLD,
                                             MPI_INFO_NULL, &request));
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < 100; i++) {
            in[i] = suite_value(test.rank, round, i);
            out[i] = -1;
        }
        TEST_MPI(MPI_Start(&request));
        TEST_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
        for (int i = 0; i < 100; i++)
            if (!TEST_CHECK(suite_sum(test.n, round, i) == out[i],
                            "persistent allreduce, start %d: element %d is wrong", round, i))
                break;
    }
    TEST_MPI(MPI_Request_free(&request));
#endif
}

/* Several nonblocking allreduces pending, and a blocking one of strag in between. */
static void overlap(void)
{
    enum { MANY = 8, COUNT = 3000 };
    static int in[MANY + 1][COUNT], out[MANY + 1][COUNT];
    MPI_Request requests[MANY];
    for (int k = 0; k <= MANY; k++)
        for (int i = 0; i < COUNT; i++)
            in[k][i] = suite_value(test.rank, k, i);
    for (int k = 0; k < MANY; k++) {
        TEST_MPI(
            MPI_Iallreduce(in[k], out[k], COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[k]));
    }
    const struct test_counters before = test_counters_read();
    TEST_MPI(MPI_Allreduce(in[MANY], out[MANY], COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    test_counters_moved(before, test.n > 1, 0, "amid nonblocking ones");
    TEST_MPI(MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE));
    for (int k = 0; k <= MANY; k++) {
        int wrong = 0;
        for (int i = 0; i < COUNT; i++)
            wrong += suite_sum(test.n, k, i) != out[k][i];
        TEST_CHECK(0 == wrong, "overlapping allreduce %d: %d elements are wrong", k, wrong);
    }
}

/* The even ranks against the odd ones; MPI_COMM_NULL with one rank. */
static MPI_Comm make_inter(void)
{
    MPI_Comm half, inter = MPI_COMM_NULL;
    TEST_MPI(MPI_Comm_split(MPI_COMM_WORLD, test.rank % 2, test.rank, &half));
    if (test.n > 1)
        TEST_MPI(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - test.rank % 2, 7, &inter));
    TEST_MPI(MPI_Comm_free(&half));
    return inter;
}

/* A grid with an edge: no rank is its own neighbour, or the same neighbour twice. */
static MPI_Comm make_grid(void)
{
    int sizes[2] = {0, 0}, periodic[2] = {0, 0};
    MPI_Comm grid;
    TEST_MPI(MPI_Dims_create(test.n, 2, sizes));
    TEST_MPI(MPI_Cart_create(MPI_COMM_WORLD, 2, sizes, periodic, 0, &grid));
    return grid;
}

/* Every rank receives from the one or two before it, and sends to those after it. */
static MPI_Comm make_graph(void)
{
    const int degree = test.n > 2 ? 2 : test.n - 1;
    const int weights[2] = {1, 1}; /* real ones: GCC warns about the constant MPI_UNWEIGHTED */
    int before[2] = {0}, after[2] = {0};
    MPI_Comm graph;
    for (int k = 0; k < degree; k++) {
        before[k] = (test.rank + test.n - 1 - k) % test.n;
        after[k] = (test.rank + 1 + k) % test.n;
    }
    TEST_MPI(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, degree, before, weights, degree, after,
                                            weights, MPI_INFO_NULL, 0, &graph));
    return graph;
}

static void run_mode(enum suite_mode mode, MPI_Comm inter, MPI_Comm grid, MPI_Comm graph)
{
    for (int k = 0; k < 3; k++) {
        suite_intra(MPI_COMM_WORLD, "MPI_COMM_WORLD", mode, counts[k]);
        suite_intra(MPI_COMM_SELF, "MPI_COMM_SELF", mode, counts[k]);
        suite_intra(grid, "the grid", mode, counts[k]);
        suite_neighbours(grid, "the grid", mode, counts[k]);
        suite_neighbours(graph, "the graph", mode, counts[k]);
        if (MPI_COMM_NULL != inter && SUITE_PERSISTENT != mode)
            suite_inter(inter, "the intercommunicator", mode, counts[k]);
    }
}

int main(int argc, char **argv)
{
    test_start(&argc, &argv, "collectives", MPI_THREAD_SINGLE, NULL);
    MPI_Comm inter = make_inter(), grid = make_grid(), graph = make_graph();
    run_mode(SUITE_BLOCKING, inter, grid, graph);
    run_mode(SUITE_NONBLOCKING, inter, grid, graph);
#ifdef TEST_HAVE_PERSISTENT
    run_mode(SUITE_PERSISTENT, inter, grid, graph);
#endif
    restart_persistent();
    overlap();
    if (MPI_COMM_NULL != inter)
        TEST_MPI(MPI_Comm_free(&inter));
    TEST_MPI(MPI_Comm_free(&grid));
    TEST_MPI(MPI_Comm_free(&graph));
    return test_finish();
}
