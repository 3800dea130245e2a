/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The neighbourhood collectives on a Cartesian grid or a distributed graph; see suite.h.
 */
#include "suite.h"

#define NEIGHBOURS 8

static void find_neighbours(struct suite *s)
{
    int kind;
    TEST_MPI(MPI_Topo_test(s->comm, &kind));
    if (MPI_CART == kind) {
        int dimensions;
        TEST_MPI(MPI_Cartdim_get(s->comm, &dimensions));
        for (int d = 0; d < dimensions; d++) {
            TEST_MPI(MPI_Cart_shift(s->comm, d, 1, &s->in[2 * d], &s->in[2 * d + 1]));
            s->out[2 * d] = s->in[2 * d];
            s->out[2 * d + 1] = s->in[2 * d + 1];
        }
        s->nin = 2 * dimensions;
        s->nout = 2 * dimensions;
        return;
    }
    int weighted, in_weights[NEIGHBOURS], out_weights[NEIGHBOURS];
    TEST_MPI(MPI_Dist_graph_neighbors_count(s->comm, &s->nin, &s->nout, &weighted));
    TEST_MPI(MPI_Dist_graph_neighbors(s->comm, NEIGHBOURS, s->in, in_weights, NEIGHBOURS, s->out,
                                      out_weights));
}

static void prepare(struct suite *s)
{
    for (int k = 0; k < s->nout; k++)
        suite_fill(s, s->send + k * s->count, s->rank, s->out[k]);
    suite_clear(s->receive, NEIGHBOURS * s->count);
}

/* Block k of what was received is at displacement[k]; `everywhere` >= 0: all got the same. */
static void check(const struct suite *s, const char *operation, const int *displacements,
                  int everywhere)
{
    for (int k = 0; k < s->nin; k++) {
        const int *block = s->receive + displacements[k];
        if (MPI_PROC_NULL == s->in[k]) {
            TEST_CHECK(-1 == block[0] && -1 == block[s->count - 1],
                       "%s, %s: what no neighbour sent was written", s->name, operation);
        } else {
            suite_check(s, operation, block, s->in[k], everywhere >= 0 ? everywhere : s->rank);
        }
    }
}

void suite_neighbours(MPI_Comm comm, const char *name, enum suite_mode mode, int count)
{
    struct suite suite = suite_create(comm, name, mode, count), *s = &suite;
    int counts[NEIGHBOURS], forward[NEIGHBOURS], backward[NEIGHBOURS];
    MPI_Aint forward_bytes[NEIGHBOURS], backward_bytes[NEIGHBOURS];
    MPI_Datatype types[NEIGHBOURS];
    find_neighbours(s);
    for (int k = 0; k < NEIGHBOURS; k++) {
        counts[k] = count;
        types[k] = MPI_INT;
        forward[k] = k * count;
        backward[k] = (NEIGHBOURS - 1 - k) * count;
        forward_bytes[k] = forward[k] * (MPI_Aint)sizeof(int);
        backward_bytes[k] = backward[k] * (MPI_Aint)sizeof(int);
    }

    prepare(s);
    suite_fill(s, s->send, s->rank, 0);
    SUITE_RUN(s, Neighbor_allgather, Ineighbor_allgather, s->send, count, MPI_INT, s->receive,
              count, MPI_INT, comm);
    check(s, "Neighbor_allgather", forward, 0);
    prepare(s);
    suite_fill(s, s->send, s->rank, 0);
    SUITE_RUN(s, Neighbor_allgatherv, Ineighbor_allgatherv, s->send, count, MPI_INT, s->receive,
              counts, backward, MPI_INT, comm);
    check(s, "Neighbor_allgatherv", backward, 0);
    prepare(s);
    SUITE_RUN(s, Neighbor_alltoall, Ineighbor_alltoall, s->send, count, MPI_INT, s->receive, count,
              MPI_INT, comm);
    check(s, "Neighbor_alltoall", forward, -1);
    prepare(s);
    SUITE_RUN(s, Neighbor_alltoallv, Ineighbor_alltoallv, s->send, counts, forward, MPI_INT,
              s->receive, counts, backward, MPI_INT, comm);
    check(s, "Neighbor_alltoallv", backward, -1);
    prepare(s);
    SUITE_RUN(s, Neighbor_alltoallw, Ineighbor_alltoallw, s->send, counts, forward_bytes, types,
              s->receive, counts, backward_bytes, types, comm);
    check(s, "Neighbor_alltoallw", backward, -1);
    suite_free(s);
}
