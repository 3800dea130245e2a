/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All collectives of an intercommunicator; see suite.h. Values are those of the ranks in their own
 * group; a result is that of the other group.
 */
#include "suite.h"

static void prepare(struct suite *s)
{
    for (int to = 0; to < s->remote; to++)
        suite_fill(s, s->send + to * s->count, s->rank, to);
    suite_clear(s->receive, (s->n > s->remote ? s->n : s->remote) * s->count);
}

/* The first rank of group 0 is the root; the others of its group do not take part. */
static int root_argument(const struct suite *s, int group)
{
    if (1 == group)
        return 0;
    return 0 == s->rank ? MPI_ROOT : MPI_PROC_NULL;
}

static void rooted(struct suite *s, int group)
{
    const int root = root_argument(s, group);
    const bool is_root = MPI_ROOT == root;
    prepare(s);
    int *buffer = is_root ? s->send : s->receive;
    SUITE_RUN(s, Bcast, Ibcast, buffer, s->count, MPI_INT, root, s->comm);
    if (1 == group)
        suite_check(s, "Bcast", s->receive, 0, 0);
    prepare(s);
    SUITE_RUN(s, Gather, Igather, s->send, s->count, MPI_INT, s->receive, s->count, MPI_INT, root,
              s->comm);
    for (int from = 0; is_root && from < s->remote; from++)
        suite_check(s, "Gather", s->receive + from * s->count, from, 0);
    prepare(s);
    SUITE_RUN(s, Scatter, Iscatter, s->send, s->count, MPI_INT, s->receive, s->count, MPI_INT, root,
              s->comm);
    if (1 == group)
        suite_check(s, "Scatter", s->receive, 0, s->rank);
    prepare(s);
    SUITE_RUN(s, Reduce, Ireduce, s->send, s->receive, s->count, MPI_INT, MPI_SUM, root, s->comm);
    if (is_root)
        suite_check_sum(s, "Reduce", s->receive, s->remote, 0);
}

static void unrooted(struct suite *s)
{
    SUITE_RUN(s, Barrier, Ibarrier, s->comm);
    prepare(s);
    SUITE_RUN(s, Allgather, Iallgather, s->send, s->count, MPI_INT, s->receive, s->count, MPI_INT,
              s->comm);
    for (int from = 0; from < s->remote; from++)
        suite_check(s, "Allgather", s->receive + from * s->count, from, 0);
    prepare(s);
    SUITE_RUN(s, Alltoall, Ialltoall, s->send, s->count, MPI_INT, s->receive, s->count, MPI_INT,
              s->comm);
    for (int from = 0; from < s->remote; from++)
        suite_check(s, "Alltoall", s->receive + from * s->count, from, s->rank);
    const struct test_counters before = test_counters_read();
    prepare(s);
    SUITE_RUN(s, Allreduce, Iallreduce, s->send, s->receive, s->count, MPI_INT, MPI_SUM, s->comm);
    suite_check_sum(s, "Allreduce", s->receive, s->remote, 0);
    test_counters_moved(before, 0, 0, "an intercommunicator, which strag declines");
}

void suite_inter(MPI_Comm comm, const char *name, enum suite_mode mode, int count)
{
    struct suite suite = suite_create(comm, name, mode, count);
    int world;
    TEST_MPI(MPI_Comm_rank(MPI_COMM_WORLD, &world));
    rooted(&suite, world % 2); /* the groups are the even and the odd ranks */
    unrooted(&suite);
    suite_free(&suite);
}
