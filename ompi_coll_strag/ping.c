/* SPDX-License-Identifier: BSD-3-Clause */
/*
 *     rank 0   -- how many pieces -->  peer
 *     rank 0   -- the pieces -->       peer
 *     rank 0   <-- done --             peer
 *
 * again and again, with 0, 1, 4, 16 and 32 pieces, until the time is up; then -1. The first
 * exchange makes the connection, and does not count. Without pieces it is a round trip, the
 * shortest of which is twice alpha; what more pieces take longer tells the bandwidth. All is on the
 * stack: no rank can be out of memory for it.
 */
#include "ping.h"

#include "transport.h"

#include <math.h>

enum { PIECE = 16 * 1024, ROUND_TRIPS = 5, STOP = -1 };

/* Pieces of the exchanges that follow; together less than 1 MiB. */
static const int32_t trains[] = {1, 4, 16, 32};
enum { TRAINS = sizeof trains / sizeof *trains };

/* Nothing is begun later. */
static const double most_seconds = 2e-3;

static int send_bytes(ompi_communicator_t *comm, int peer, const void *data, size_t bytes)
{
    return MCA_PML_CALL(send((void *)data, bytes, MPI_BYTE, peer, MCA_COLL_BASE_TAG_ALLREDUCE,
                             MCA_PML_BASE_SEND_STANDARD, comm));
}

static int recv_bytes(ompi_communicator_t *comm, int peer, void *data, size_t bytes)
{
    return MCA_PML_CALL(
        recv(data, bytes, MPI_BYTE, peer, MCA_COLL_BASE_TAG_ALLREDUCE, comm, MPI_STATUS_IGNORE));
}

/* Rank 0's part. @param[out] seconds  that it took */
static int exchange(ompi_communicator_t *comm, int peer, int32_t pieces, double *seconds)
{
    static const char piece[PIECE];
    char done;
    const double start = coll_strag_seconds();
    int code = send_bytes(comm, peer, &pieces, sizeof pieces);
    for (int32_t i = 0; i < pieces && code == OMPI_SUCCESS; i++)
        code = send_bytes(comm, peer, piece, PIECE);
    if (code == OMPI_SUCCESS)
        code = recv_bytes(comm, peer, &done, sizeof done);
    *seconds = coll_strag_seconds() - start;
    return code;
}

static int answer(ompi_communicator_t *comm)
{
    char piece[PIECE];
    const char done = 0;
    int32_t pieces = 0;
    int code = OMPI_SUCCESS;
    while (code == OMPI_SUCCESS) {
        code = recv_bytes(comm, 0, &pieces, sizeof pieces);
        if (code == OMPI_SUCCESS && pieces == STOP)
            break;
        for (int32_t i = 0; i < pieces && code == OMPI_SUCCESS; i++)
            code = recv_bytes(comm, 0, piece, PIECE);
        if (code == OMPI_SUCCESS)
            code = send_bytes(comm, 0, &done, sizeof done);
    }
    return code;
}

/* A train begins only if it is thought to end in time, too. @param trip  seconds of a round trip
 * @return bytes per second; 0: not found out */
static int run_trains(ompi_communicator_t *comm, int peer, double start, double trip,
                      double *bandwidth)
{
    double before = trip, pieces = 0;
    int code = OMPI_SUCCESS;
    for (int t = 0; t < TRAINS && code == OMPI_SUCCESS; t++) {
        const double left = start + most_seconds - coll_strag_seconds();
        double seconds;
        if (left < (t > 0 ? 4 * before : 2 * trip))
            break;
        code = exchange(comm, peer, trains[t], &seconds);
        if (seconds > before)
            *bandwidth = (trains[t] - pieces) * PIECE / (seconds - before);
        before = seconds;
        pieces = trains[t];
    }
    return code;
}

int coll_strag_ping(ompi_communicator_t *comm, int peer, double *alpha, double *bandwidth)
{
    const int32_t stop = STOP;
    double trip = INFINITY, seconds;
    *alpha = *bandwidth = 0;
    if (ompi_comm_rank(comm) == peer)
        return answer(comm);
    int code = exchange(comm, peer, 0, &seconds);
    const double start = coll_strag_seconds();
    for (int i = 0; i < ROUND_TRIPS && code == OMPI_SUCCESS &&
                    (i == 0 || coll_strag_seconds() - start < most_seconds / 2);
         i++) {
        code = exchange(comm, peer, 0, &seconds);
        trip = fmin(trip, seconds);
    }
    if (code == OMPI_SUCCESS)
        code = run_trains(comm, peer, start, trip, bandwidth);
    if (code == OMPI_SUCCESS)
        code = send_bytes(comm, peer, &stop, sizeof stop);
    if (code == OMPI_SUCCESS)
        *alpha = trip / 2;
    return code;
}
