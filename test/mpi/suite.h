/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every collective operation on one communicator, with all results checked: blocking, nonblocking
 * or persistent. strag implements one of them, and all others must still work under the literal
 * `--mca coll strag`.
 */
#ifndef TEST_MPI_SUITE_H
#define TEST_MPI_SUITE_H

#include "common.h"

enum suite_mode { SUITE_BLOCKING, SUITE_NONBLOCKING, SUITE_PERSISTENT };

/* One run of the suite. */
struct suite {
    MPI_Comm comm;
    const char *name; /* of the communicator, for messages */
    enum suite_mode mode;
    int count;                    /* elements for each rank */
    int rank, n;                  /* in comm */
    int remote;                   /* ranks of the other group of an intercommunicator */
    int *send, *receive;          /* room for count elements per rank of a group, and count */
    int in[8], out[8], nin, nout; /* neighbours, in the communicator's topology */
};

/* Run one collective in the suite's mode: `blocking_` is its name (Bcast), `nonblocking_` the other
 * (Ibcast), and the arguments are the blocking one's. */
#ifdef TEST_HAVE_PERSISTENT
#define SUITE_START(request_, blocking_, ...)                                                      \
    do {                                                                                           \
        TEST_MPI(TEST_PERSISTENT(blocking_##_init)(__VA_ARGS__, MPI_INFO_NULL, request_));         \
        TEST_MPI(MPI_Start(request_));                                                             \
    } while (0)
#else
#define SUITE_START(request_, blocking_, ...) test_die("no persistent collectives in this MPI")
#endif
#define SUITE_RUN(suite_, blocking_, nonblocking_, ...)                                            \
    do {                                                                                           \
        MPI_Request request_;                                                                      \
        if (SUITE_BLOCKING == (suite_)->mode) {                                                    \
            TEST_MPI(MPI_##blocking_(__VA_ARGS__));                                                \
            break;                                                                                 \
        }                                                                                          \
        if (SUITE_NONBLOCKING == (suite_)->mode)                                                   \
            TEST_MPI(MPI_##nonblocking_(__VA_ARGS__, &request_));                                  \
        else                                                                                       \
            SUITE_START(&request_, blocking_, __VA_ARGS__);                                        \
        TEST_MPI(MPI_Wait(&request_, MPI_STATUS_IGNORE));                                          \
        if (SUITE_PERSISTENT == (suite_)->mode)                                                    \
            TEST_MPI(MPI_Request_free(&request_));                                                 \
    } while (0)

/** What rank `from` sends to rank `to` as its element i. */
static inline int suite_value(int from, int to, int i)
{
    return from * 1000003 + to * 10007 + i % 10007;
}

/** The sum over all senders below n of what they send to `to` as element i. */
static inline int suite_sum(int n, int to, int i)
{
    return n * (n - 1) / 2 * 1000003 + n * (to * 10007 + i % 10007);
}

/** Fill a buffer of count elements with what `from` sends to `to`. */
void suite_fill(const struct suite *suite, int *buffer, int from, int to);

/** Set this many elements to a value that no rank sends. */
void suite_clear(int *buffer, int elements);

/** Check count elements of what `from` sent to `to`. */
void suite_check(const struct suite *suite, const char *operation, const int *buffer, int from,
                 int to);

/** Check count elements of a sum over n senders. */
void suite_check_sum(const struct suite *suite, const char *operation, const int *buffer, int n,
                     int to);

/** Prepare for a communicator; free with suite_free. */
struct suite suite_create(MPI_Comm comm, const char *name, enum suite_mode mode, int count);
void suite_free(struct suite *suite);

/** Sums of `count` elements, repeated, each checked. */
void suite_allreduce(MPI_Comm comm, const char *name, int count, int rounds);

/** Likewise by a persistent request, started three times; nothing where MPI has none. */
void suite_persistent(MPI_Comm comm, const char *name, int count);

/** All collectives of an intracommunicator; strag must run its allreduces if there are 2 ranks. */
void suite_intra(MPI_Comm comm, const char *name, enum suite_mode mode, int count);

/** All collectives of an intercommunicator; without persistent ones. */
void suite_inter(MPI_Comm comm, const char *name, enum suite_mode mode, int count);

/** The neighbourhood collectives of a communicator with a topology. */
void suite_neighbours(MPI_Comm comm, const char *name, enum suite_mode mode, int count);

#endif
