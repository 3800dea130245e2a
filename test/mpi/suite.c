/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All collectives of an intracommunicator; see suite.h.
 */
#include "suite.h"

static const char *const mode_names[] = {"blocking", "nonblocking", "persistent"};

void suite_fill(const struct suite *suite, int *buffer, int from, int to)
{
    for (int i = 0; i < suite->count; i++)
        buffer[i] = suite_value(from, to, i);
}

void suite_clear(int *buffer, int elements)
{
    for (int i = 0; i < elements; i++)
        buffer[i] = -1;
}

static void check_element(const struct suite *suite, const char *operation, int i, int got,
                          int want, bool *good)
{
    if (*good && got != want) {
        *good = false;
        test_fail("%s, %s %s of %d elements: element %d is %d, not %d", suite->name,
                  mode_names[suite->mode], operation, suite->count, i, got, want);
    }
}

void suite_check(const struct suite *suite, const char *operation, const int *buffer, int from,
                 int to)
{
    bool good = true;
    for (int i = 0; i < suite->count; i++)
        check_element(suite, operation, i, buffer[i], suite_value(from, to, i), &good);
    test.checks += good;
}

void suite_check_sum(const struct suite *suite, const char *operation, const int *buffer, int n,
                     int to)
{
    bool good = true;
    for (int i = 0; i < suite->count; i++)
        check_element(suite, operation, i, buffer[i], suite_sum(n, to, i), &good);
    test.checks += good;
}

struct suite suite_create(MPI_Comm comm, const char *name, enum suite_mode mode, int count)
{
    struct suite suite = {.comm = comm, .name = name, .mode = mode, .count = count};
    int inter;
    TEST_MPI(MPI_Comm_rank(comm, &suite.rank));
    TEST_MPI(MPI_Comm_size(comm, &suite.n));
    TEST_MPI(MPI_Comm_test_inter(comm, &inter));
    if (inter)
        TEST_MPI(MPI_Comm_remote_size(comm, &suite.remote));
    const int blocks = (suite.n > suite.remote ? suite.n : suite.remote) + 8;
    suite.send = test_allocate((size_t)(blocks * count) * sizeof(int));
    suite.receive = test_allocate((size_t)(blocks * count) * sizeof(int));
    return suite;
}

void suite_free(struct suite *suite)
{
    free(suite->send);
    free(suite->receive);
}

void suite_allreduce(MPI_Comm comm, const char *name, int count, int rounds)
{
    struct suite suite = suite_create(comm, name, SUITE_BLOCKING, count);
    for (int round = 0; round < rounds; round++) {
        suite_fill(&suite, suite.send, suite.rank, round);
        suite_clear(suite.receive, suite.count);
        TEST_MPI(MPI_Allreduce(suite.send, suite.receive, suite.count, MPI_INT, MPI_SUM, comm));
        suite_check_sum(&suite, "Allreduce", suite.receive, suite.n, round);
    }
    suite_free(&suite);
}

void suite_persistent(MPI_Comm comm, const char *name, int count)
{
#ifdef TEST_HAVE_PERSISTENT
    struct suite suite = suite_create(comm, name, SUITE_BLOCKING, count);
    MPI_Request request;
    TEST_MPI(TEST_PERSISTENT(Allreduce_init)(suite.send, suite.receive, suite.count, MPI_INT,
                                             MPI_SUM, comm, MPI_INFO_NULL, &request));
    for (int round = 0; round < 3; round++) {
        suite_fill(&suite, suite.send, suite.rank, round);
        suite_clear(suite.receive, suite.count);
        TEST_MPI(MPI_Start(&request));
        TEST_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
        suite_check_sum(&suite, "Allreduce_init", suite.receive, suite.n, round);
    }
    TEST_MPI(MPI_Request_free(&request));
    suite_free(&suite);
#else
    (void)comm;
    (void)name;
    (void)count;
#endif
}

/* Fill one block for every rank, and clear what is received. */
static void prepare(struct suite *s)
{
    for (int to = 0; to < s->n; to++)
        suite_fill(s, s->send + to * s->count, s->rank, to);
    suite_clear(s->receive, s->n * s->count);
}

/* ---- One rank to all, all to one ---- */

static void barrier_bcast(struct suite *s, int root)
{
    SUITE_RUN(s, Barrier, Ibarrier, s->comm);
    suite_clear(s->receive, s->count);
    if (root == s->rank)
        suite_fill(s, s->receive, root, 0);
    SUITE_RUN(s, Bcast, Ibcast, s->receive, s->count, MPI_INT, root, s->comm);
    suite_check(s, "Bcast", s->receive, root, 0);
}

static void gather_scatter(struct suite *s, int root)
{
    prepare(s);
    SUITE_RUN(s, Gather, Igather, s->send + root * s->count, s->count, MPI_INT, s->receive,
              s->count, MPI_INT, root, s->comm);
    for (int from = 0; from < s->n && root == s->rank; from++)
        suite_check(s, "Gather", s->receive + from * s->count, from, root);
    prepare(s);
    SUITE_RUN(s, Scatter, Iscatter, s->send, s->count, MPI_INT, s->receive, s->count, MPI_INT, root,
              s->comm);
    suite_check(s, "Scatter", s->receive, root, s->rank);
}

static void reduce(struct suite *s, int root)
{
    prepare(s);
    SUITE_RUN(s, Reduce, Ireduce, s->send, s->receive, s->count, MPI_INT, MPI_SUM, root, s->comm);
    if (root == s->rank)
        suite_check_sum(s, "Reduce", s->receive, s->n, 0);
}

/* ---- With counts and displacements: blocks are in reverse order ---- */

#define LAYOUT_RANKS 64

struct layout {
    int counts[LAYOUT_RANKS], displacements[LAYOUT_RANKS], bytes[LAYOUT_RANKS];
    MPI_Datatype types[LAYOUT_RANKS];
};

/* All entries are filled: on a grid, Open MPI 4.1's MPI_Ialltoallw reads a type per neighbour, be
 * there fewer ranks or not. */
static struct layout reversed(const struct suite *s)
{
    struct layout layout = {{0}, {0}, {0}, {0}};
    if (s->n > LAYOUT_RANKS)
        test_die("%d ranks: at most %d are accepted", s->n, LAYOUT_RANKS);
    for (int k = 0; k < LAYOUT_RANKS; k++)
        layout.types[k] = MPI_INT;
    for (int k = 0; k < s->n; k++) {
        layout.counts[k] = s->count;
        layout.displacements[k] = (s->n - 1 - k) * s->count;
        layout.bytes[k] = layout.displacements[k] * (int)sizeof(int);
    }
    return layout;
}

static void prepare_reversed(struct suite *s)
{
    for (int to = 0; to < s->n; to++)
        suite_fill(s, s->send + (s->n - 1 - to) * s->count, s->rank, to);
    suite_clear(s->receive, s->n * s->count);
}

static void check_reversed(const struct suite *s, const char *operation, int to)
{
    for (int from = 0; from < s->n; from++)
        suite_check(s, operation, s->receive + (s->n - 1 - from) * s->count, from, to);
}

static void vectors_rooted(struct suite *s, int root)
{
    const struct layout l = reversed(s);
    prepare(s);
    SUITE_RUN(s, Gatherv, Igatherv, s->send + root * s->count, s->count, MPI_INT, s->receive,
              l.counts, l.displacements, MPI_INT, root, s->comm);
    if (root == s->rank)
        check_reversed(s, "Gatherv", root);
    prepare_reversed(s);
    SUITE_RUN(s, Scatterv, Iscatterv, s->send, l.counts, l.displacements, MPI_INT, s->receive,
              s->count, MPI_INT, root, s->comm);
    suite_check(s, "Scatterv", s->receive, root, s->rank);
}

static void vectors_all(struct suite *s)
{
    const struct layout l = reversed(s);
    prepare(s);
    SUITE_RUN(s, Allgatherv, Iallgatherv, s->send, s->count, MPI_INT, s->receive, l.counts,
              l.displacements, MPI_INT, s->comm);
    check_reversed(s, "Allgatherv", 0);
    prepare_reversed(s);
    SUITE_RUN(s, Alltoallv, Ialltoallv, s->send, l.counts, l.displacements, MPI_INT, s->receive,
              l.counts, l.displacements, MPI_INT, s->comm);
    check_reversed(s, "Alltoallv", s->rank);
    prepare_reversed(s);
    SUITE_RUN(s, Alltoallw, Ialltoallw, s->send, l.counts, l.bytes, l.types, s->receive, l.counts,
              l.bytes, l.types, s->comm);
    check_reversed(s, "Alltoallw", s->rank);
}

/* ---- All to all ---- */

static void exchange(struct suite *s)
{
    prepare(s);
    SUITE_RUN(s, Allgather, Iallgather, s->send, s->count, MPI_INT, s->receive, s->count, MPI_INT,
              s->comm);
    for (int from = 0; from < s->n; from++)
        suite_check(s, "Allgather", s->receive + from * s->count, from, 0);
    prepare(s);
    SUITE_RUN(s, Alltoall, Ialltoall, s->send, s->count, MPI_INT, s->receive, s->count, MPI_INT,
              s->comm);
    for (int from = 0; from < s->n; from++)
        suite_check(s, "Alltoall", s->receive + from * s->count, from, s->rank);
}

static void reduce_scatter(struct suite *s)
{
    const struct layout l = reversed(s);
    prepare(s);
    SUITE_RUN(s, Reduce_scatter, Ireduce_scatter, s->send, s->receive, l.counts, MPI_INT, MPI_SUM,
              s->comm);
    suite_check_sum(s, "Reduce_scatter", s->receive, s->n, s->rank);
    prepare(s);
    SUITE_RUN(s, Reduce_scatter_block, Ireduce_scatter_block, s->send, s->receive, s->count,
              MPI_INT, MPI_SUM, s->comm);
    suite_check_sum(s, "Reduce_scatter_block", s->receive, s->n, s->rank);
}

static void scans(struct suite *s)
{
    prepare(s);
    SUITE_RUN(s, Scan, Iscan, s->send, s->receive, s->count, MPI_INT, MPI_SUM, s->comm);
    suite_check_sum(s, "Scan", s->receive, s->rank + 1, 0);
    prepare(s);
    SUITE_RUN(s, Exscan, Iexscan, s->send, s->receive, s->count, MPI_INT, MPI_SUM, s->comm);
    if (s->rank > 0)
        suite_check_sum(s, "Exscan", s->receive, s->rank, 0);
}

/* The operation that strag provides, in all three modes: two calls, of which none may be delegated.
 * The communicator has been set up: a blocking one comes first. */
static void allreduce(struct suite *s)
{
    const struct test_counters before = test_counters_read();
    prepare(s);
    SUITE_RUN(s, Allreduce, Iallreduce, s->send, s->receive, s->count, MPI_INT, MPI_SUM, s->comm);
    suite_check_sum(s, "Allreduce", s->receive, s->n, 0);
    prepare(s);
    SUITE_RUN(s, Allreduce, Iallreduce, MPI_IN_PLACE, s->send, s->count, MPI_INT, MPI_SUM, s->comm);
    suite_check_sum(s, "Allreduce in place", s->send, s->n, 0);
    test_counters_moved(before, s->n > 1 ? 2 : 0, 0, s->name);
}

void suite_intra(MPI_Comm comm, const char *name, enum suite_mode mode, int count)
{
    struct suite suite = suite_create(comm, name, mode, count);
    test_pass_first_calls(comm);
    for (int k = 0; k < 2; k++) { /* two roots, which may be the same */
        const int root = 0 == k ? 0 : suite.n - 1;
        barrier_bcast(&suite, root);
        gather_scatter(&suite, root);
        reduce(&suite, root);
        vectors_rooted(&suite, root);
    }
    vectors_all(&suite);
    exchange(&suite);
    reduce_scatter(&suite);
    scans(&suite);
    allreduce(&suite);
    suite_free(&suite);
}
