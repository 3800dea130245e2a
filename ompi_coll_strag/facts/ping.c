/* SPDX-License-Identifier: BSD-3-Clause */
/*
 *     rank 0   -- how many pieces, of how many bytes -->  peer
 *     rank 0   -- the pieces -->                          peer
 *     rank 0   <-- done --                                peer
 *
 * is one exchange. Exchanges are repeated until the time is up; then rank 0 sends -1 pieces. The
 * first exchange makes the connection, and does not count. An exchange without pieces is a round
 * trip, and the shortest one is twice alpha. The time that a burst of 16 single bytes takes longer
 * is 16 times the overhead of a message; the time that more pieces of 16 KiB take longer gives the
 * bandwidth. Nothing is allocated, so this cannot fail for want of memory.
 */
#include "ping.h"

#include "compat/tags.h"
#include "wire/transport.h"

#include <math.h>

enum { PIECE = 16 * 1024, ROUND_TRIPS = 5, BURSTS = 3, BURST = 16, STOP = -1 };
enum { TWICE = 2 }; /* one exchange may be disturbed: no train takes longer than such a trip */

/* Rank 0 sends this first. Plain data. */
struct train {
    int32_t pieces, bytes; /* bytes of a piece, at most PIECE */
};

/* Pieces of each exchange that measures the bandwidth; together less than 1 MiB. */
static const int32_t trains[] = {1, 4, 16, 32};
enum { TRAINS = sizeof trains / sizeof *trains };

/* After `most_seconds` only the first exchange of each kind begins (two short ones), and the
 * second train if it is estimated to end within `second_seconds`: many networks let the first tens
 * of KiB pass at once (a token bucket), so only the difference between two trains gives the
 * bandwidth. */
static const double most_seconds = 2e-3, second_seconds = 10e-3;

/* Wait for a message, unless a rank has failed: then the peer may have given up.
 * @param code  returned if the message could not be posted */
static int wait_for(const struct coll_strag_failure *failure, int code, ompi_request_t *request)
{
    if (code != OMPI_SUCCESS)
        return code;
    while (!REQUEST_COMPLETE(request) && code == OMPI_SUCCESS) {
        opal_progress();
        code = coll_strag_failed(failure);
    }
    if (code == OMPI_SUCCESS)
        return ompi_request_wait(&request, MPI_STATUS_IGNORE);
    ompi_request_cancel(request);
    ompi_request_free(&request); /* takes effect when it completes */
    return code;
}

static int send_bytes(const struct coll_strag_failure *failure, int peer, const void *data,
                      size_t bytes)
{
    ompi_request_t *request;
    const int code = MCA_PML_CALL(isend((void *)data, bytes, MPI_BYTE, peer, COLL_STRAG_TAG_CALLS,
                                        MCA_PML_BASE_SEND_STANDARD, failure->comm, &request));
    return wait_for(failure, code, request);
}

static int recv_bytes(const struct coll_strag_failure *failure, int peer, void *data, size_t bytes)
{
    ompi_request_t *request;
    const int code = MCA_PML_CALL(
        irecv(data, bytes, MPI_BYTE, peer, COLL_STRAG_TAG_CALLS, failure->comm, &request));
    return wait_for(failure, code, request);
}

/* Rank 0's part of an exchange. @param[out] seconds  that it took */
static int exchange(const struct coll_strag_failure *failure, int peer, int pieces, int bytes,
                    double *seconds)
{
    static const char piece[PIECE];
    const struct train train = {pieces, bytes};
    char done;
    const double start = coll_strag_seconds();
    int code = send_bytes(failure, peer, &train, sizeof train);
    for (int i = 0; i < pieces && code == OMPI_SUCCESS; i++)
        code = send_bytes(failure, peer, piece, (size_t)bytes);
    if (code == OMPI_SUCCESS)
        code = recv_bytes(failure, peer, &done, sizeof done);
    *seconds = coll_strag_seconds() - start;
    return code;
}

static int answer(const struct coll_strag_failure *failure)
{
    static char piece[PIECE]; /* after an error a message may still be written to it */
    const char done = 0;
    struct train train = {0, 0};
    int code = OMPI_SUCCESS;
    while (code == OMPI_SUCCESS) {
        code = recv_bytes(failure, 0, &train, sizeof train);
        if (code == OMPI_SUCCESS && train.pieces == STOP)
            break;
        for (int32_t i = 0; i < train.pieces && code == OMPI_SUCCESS; i++)
            code = recv_bytes(failure, 0, piece, (size_t)train.bytes);
        if (code == OMPI_SUCCESS)
            code = send_bytes(failure, 0, &done, sizeof done);
    }
    return code;
}

/* @param trip  seconds of a round trip
 * @param[out] bandwidth  bytes per second; unchanged if it could not be measured
 * @return OMPI_SUCCESS, or an error */
static int run_trains(const struct coll_strag_failure *failure, int peer, double start, double trip,
                      double *bandwidth)
{
    double before = trip, pieces = 0;
    int code = OMPI_SUCCESS;
    for (int t = 0; t < TRAINS && code == OMPI_SUCCESS; t++) {
        const double left = t == 1 ? second_seconds : start + most_seconds - coll_strag_seconds();
        double seconds;
        if (t > 0 &&
            left < trip + 4 * fmax(0, before - trip)) /* what is sent takes longer, not alpha */
            break;
        code = exchange(failure, peer, trains[t], PIECE, &seconds);
        if (code == OMPI_SUCCESS && t == 0) { /* twice, like round trips */
            double again;
            code = exchange(failure, peer, trains[t], PIECE, &again);
            seconds = fmin(seconds, again);
        }
        if (code != OMPI_SUCCESS)
            break;
        if (seconds > before)
            *bandwidth = (trains[t] - pieces) * PIECE / (seconds - before);
        before = seconds;
        pieces = trains[t];
    }
    return code;
}

/* The shortest of `least` to `most` exchanges. @param start  when the first exchange that counts
 * began
 */
static int find_shortest(const struct coll_strag_failure *failure, int peer, int pieces, int least,
                         int most, double start, double *shortest)
{
    int code = OMPI_SUCCESS;
    *shortest = INFINITY;
    for (int i = 0; i < most && code == OMPI_SUCCESS &&
                    (i < least || coll_strag_seconds() - start < most_seconds / 2);
         i++) {
        double seconds;
        code = exchange(failure, peer, pieces, 1, &seconds);
        if (code == OMPI_SUCCESS)
            *shortest = fmin(*shortest, seconds);
    }
    return code;
}

int coll_strag_ping(const struct coll_strag_failure *failure, int peer, double number[])
{
    const struct train stop = {STOP, 0};
    double trip, burst = 0, seconds;
    if (ompi_comm_rank(failure->comm) == peer)
        return answer(failure);
    int code = exchange(failure, peer, 0, 0, &seconds);
    const double start = coll_strag_seconds();
    if (code == OMPI_SUCCESS)
        code = find_shortest(failure, peer, 0, TWICE, ROUND_TRIPS, start, &trip);
    if (code == OMPI_SUCCESS)
        code = find_shortest(failure, peer, BURST, TWICE, BURSTS, start, &burst);
    if (code == OMPI_SUCCESS)
        code = run_trains(failure, peer, start, trip, &number[STRAG_MODEL_BANDWIDTH]);
    if (code == OMPI_SUCCESS)
        code = send_bytes(failure, peer, &stop, sizeof stop);
    if (code != OMPI_SUCCESS)
        return code;
    number[STRAG_MODEL_ALPHA] = trip / 2;
    number[STRAG_MODEL_OVERHEAD] = fmax(0, burst - trip) / BURST;
    return code;
}
