/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A probe, of the two ranks that stand for two hosts:
 *
 *     receiver   posts receives
 *     receiver   -- nothing -->  sender      it is there, and receives
 *     sender     -- pieces -->   receiver    sent one behind the other
 *
 * Before it all ranks have waited for each other: with a slow host ranks end a long call at
 * different times (measured: 12 MiB at 80 Mbit/s, up to a second), and their messages would be in
 * the way.
 *
 * The receiver measures from the end of an early piece to the end of the last one. So neither how
 * long the two waited for each other, nor what a buffer or a shaper lets pass at once is in it; and
 * a receiver that did not run meanwhile measures too low a rate, never one too high
 * (probe_clock.h).
 */
#include "links.h"

#include "compat/tags.h"

#include "transport.h"

#include "watch/probe_clock.h"

#include <stdlib.h>
#include <string.h>

enum {
    PIECE = 16 * 1024,  /* bytes: sent at once by every transport */
    SLOTS = 16,         /* pieces under way, each way */
    WARM_UP_PIECES = 3, /* pieces that are not measured: a shaper may let as much pass at once */
};

/* What arrives in a probe is of no interest, nor is what is sent. So all communicators' messages
 * use this room, even at the same time: it would be their largest part with few ranks. */
static char received[SLOTS * PIECE], sent[PIECE];

/* ---- Making it ---- */

void coll_strag_links_free(struct coll_strag_links *links)
{
    if (NULL == links)
        return;
    strag_slowdown_free(links->slowdown);
    free(links->gathered);
    free(links->rates);
    strag_meter_free(links->meter);
    strag_compact_free(&links->host_of);
    strag_probe_hosts_free(&links->probed);
    free(links);
}

static void find_partners(struct coll_strag_links *links, int me)
{
    const struct strag_probe_hosts *hosts = &links->probed;
    const int host = hosts->host_of[me];
    if (hosts->leader[host] != me)
        return;
    links->rounds = strag_probe_rounds(hosts->count);
    for (int r = 0; r < links->rounds; r++)
        links->partners[r] = (struct coll_strag_partners){
            .to = hosts->leader[strag_probe_to(hosts->count, r, host)],
            .from = hosts->leader[strag_probe_from(hosts->count, r, host)],
        };
}

static bool make(struct coll_strag_links *links, int me, const struct strag_topology *topology,
                 const struct strag_state_record *state)
{
    const size_t entry = STRAG_PROBE_ROUNDS * sizeof(float);
    struct strag_probe_hosts *all = &links->probed;
    links->meter = strag_meter_create(topology->hosts);
    if (NULL == links->meter || !strag_probe_hosts_make(topology, all) ||
        !strag_compact_make(all->host_of, all->ranks, &links->host_of))
        return false;
    find_partners(links, me);
    if (me != 0) {
        strag_probe_hosts_free(all);
        return true;
    }
    links->gathered = malloc((size_t)topology->n * entry);
    links->rates = malloc((size_t)topology->hosts * entry);
    links->slowdown = strag_slowdown_create(all, state, NULL);
    return links->gathered && links->rates && links->slowdown;
}

bool coll_strag_links_create(ompi_communicator_t *comm, const struct strag_topology *topology,
                             const struct strag_state_record *state, struct coll_strag_links **made)
{
    *made = NULL;
    if (NULL == topology || strag_probe_rounds(topology->hosts) == 0)
        return true;
    struct coll_strag_links *links = calloc(1, sizeof *links);
    if (NULL == links || !make(links, ompi_comm_rank(comm), topology, state)) {
        coll_strag_links_free(links);
        return false;
    }
    *made = links;
    return true;
}

/* ---- A probe ---- */

/* Pieces that are under way in one direction: number i is in slot i % SLOTS. */
struct stream {
    ompi_communicator_t *comm;
    const struct coll_strag_failure *failure;
    int peer;
    bool send;
    int pieces, posted, done;
    ompi_request_t *requests[SLOTS];
    struct strag_probe_clock clock; /* of what comes in */
};

static int post_piece(struct stream *stream, size_t bytes, ompi_request_t **request)
{
    if (stream->send)
        return MCA_PML_CALL(isend(sent, bytes, MPI_BYTE, stream->peer, COLL_STRAG_TAG_CALLS,
                                  MCA_PML_BASE_SEND_STANDARD, stream->comm, request));
    return MCA_PML_CALL(irecv(received + (size_t)(stream->posted % SLOTS) * PIECE, bytes, MPI_BYTE,
                              stream->peer, COLL_STRAG_TAG_CALLS, stream->comm, request));
}

/* Post what there is room for, and take off what is done. */
static int advance(struct stream *stream)
{
    const double now = coll_strag_seconds();
    int code = coll_strag_failed(stream->failure);
    while (code == OMPI_SUCCESS && stream->done < stream->posted &&
           REQUEST_COMPLETE(stream->requests[stream->done % SLOTS])) {
        code = ompi_request_wait(&stream->requests[stream->done++ % SLOTS], MPI_STATUS_IGNORE);
    }
    if (code != OMPI_SUCCESS)
        return code;
    strag_probe_clock_look(&stream->clock, now, stream->done);
    while (code == OMPI_SUCCESS && stream->posted < stream->pieces &&
           stream->posted < stream->done + SLOTS) {
        code = post_piece(stream, PIECE, &stream->requests[stream->posted % SLOTS]);
        stream->posted += code == OMPI_SUCCESS;
    }
    return code;
}

/* An empty message from the receiver to the sender. What comes in meanwhile is taken off when it
 * comes: the own receiver may be still busy with the round before. */
static int send_ready(struct stream *in, struct stream *out)
{
    ompi_request_t *requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    int code = MCA_PML_CALL(
        irecv(NULL, 0, MPI_BYTE, out->peer, COLL_STRAG_TAG_CALLS, out->comm, &requests[0]));
    if (code == OMPI_SUCCESS)
        code = advance(in);
    if (code == OMPI_SUCCESS)
        code = MCA_PML_CALL(isend(NULL, 0, MPI_BYTE, in->peer, COLL_STRAG_TAG_CALLS,
                                  MCA_PML_BASE_SEND_STANDARD, in->comm, &requests[1]));
    for (int i = 0; i < 2 && code == OMPI_SUCCESS; i++) {
        while (code == OMPI_SUCCESS && !REQUEST_COMPLETE(requests[i])) {
            opal_progress();
            code = advance(in);
        }
        if (code == OMPI_SUCCESS)
            code = ompi_request_wait(&requests[i], MPI_STATUS_IGNORE);
    }
    return code;
}

/* @param[out] rate  bytes per second that came in */
static int probe_round(const struct coll_strag_partners *partners, ompi_communicator_t *comm,
                       const struct coll_strag_failure *failure, int pieces, float *rate)
{
    struct stream in = {
        .comm = comm,
        .failure = failure,
        .peer = partners->from,
        .pieces = pieces,
        .clock = strag_probe_clock_start(pieces, WARM_UP_PIECES, coll_strag_seconds()),
    };
    struct stream out = {
        .comm = comm, .failure = failure, .peer = partners->to, .pieces = pieces, .send = true};
    int code = send_ready(&in, &out);
    while (code == OMPI_SUCCESS && (in.done < pieces || out.done < pieces)) {
        code = advance(&in);
        if (code == OMPI_SUCCESS)
            code = advance(&out);
        opal_progress();
    }
    *rate = (float)strag_probe_clock_rate(&in.clock, PIECE);
    return code;
}

void coll_strag_links_sort(struct coll_strag_links *links)
{
    const size_t rounds = STRAG_PROBE_ROUNDS;
    for (size_t host = 0; host < (size_t)links->probed.count; host++)
        memcpy(links->rates + host * rounds,
               links->gathered + (size_t)links->probed.leader[host] * rounds,
               rounds * sizeof *links->rates);
}

int coll_strag_links_probe(struct coll_strag_links *links, ompi_communicator_t *comm,
                           const struct coll_strag_failure *failure, size_t bytes, float *own)
{
    const int pieces = bytes / PIECE > WARM_UP_PIECES ? (int)(bytes / PIECE) : WARM_UP_PIECES + 1;
    int code = OMPI_SUCCESS;
    memset(own, 0, STRAG_PROBE_ROUNDS * sizeof *own);
    for (int r = 0; r < links->rounds && code == OMPI_SUCCESS; r++)
        code = probe_round(&links->partners[r], comm, failure, pieces, &own[r]);
    return code;
}
