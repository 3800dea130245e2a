/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A probe between two hosts, each represented by one rank:
 *
 *     receiver   posts receives
 *     receiver   -- ready -->    sender      the message's content is not used
 *     sender     -- pieces -->   receiver    sent one behind the other
 *     receiver   -- rate -->     sender      how fast they came: each host knows both directions
 *
 * Before a probe all ranks have waited for each other: with a slow host, ranks end a long call at
 * different times (measured: 12 MiB at 80 Mbit/s, up to a second), and the call's messages would
 * disturb the probe. detect/probe_clock.h says what the receiver measures.
 */
#include "links.h"

#include "compat/tags.h"

#include "wire/exchange.h"
#include "wire/transport.h"

#include "detect/probe_clock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    PIECE = 16 * 1024,  /* bytes: sent at once by every transport */
    SLOTS = 16,         /* pieces in flight, each way */
    WARM_UP_PIECES = 3, /* pieces that are not measured: a shaper may let them pass at once */
};

_Static_assert(STRAG_PROBE_SHORTEST / PIECE >= 2 * WARM_UP_PIECES, "too little is measured");

/* The content of pieces is not used, so all communicators share these buffers, even at once. */
static char received[SLOTS * PIECE], sent[PIECE];

/* ---- Making it ---- */

void coll_strag_links_free(struct coll_strag_links *links)
{
    if (NULL == links)
        return;
    free(links->slowdown);
    strag_compact_free(&links->host_of);
    strag_compact_free(&links->narrower);
    free(links);
}

static void find_partners(struct coll_strag_links *links, const struct strag_probe_hosts *hosts)
{
    links->leads = hosts->leader[links->host] == links->me;
    for (unsigned i = 0; links->leads && i < STRAG_PROBE_PARTNERS; i++) {
        const int shift = strag_probe_shift(links->hosts, i);
        links->partners[i] = (struct coll_strag_partners){
            .to = hosts->leader[(links->host + shift) % links->hosts],
            .from = hosts->leader[(links->host + links->hosts - shift) % links->hosts],
        };
    }
}

static bool make(struct coll_strag_links *links, const struct strag_probe_hosts *hosts,
                 const struct strag_state_record *state, double bandwidth)
{
    links->hosts = hosts->count;
    links->host = hosts->host_of[links->me];
    if (!strag_compact_make(hosts->host_of, hosts->ranks, &links->host_of) ||
        !strag_compact_make(hosts->narrower, hosts->count, &links->narrower))
        return false;
    find_partners(links, hosts);
    if (links->me != 0)
        return true;
    links->slowdown = malloc(sizeof *links->slowdown);
    if (links->slowdown)
        strag_slowdown_init(links->slowdown, hosts, state, bandwidth);
    return NULL != links->slowdown;
}

bool coll_strag_links_create(ompi_communicator_t *comm, const struct strag_topology *topology,
                             const struct strag_state_record *state, double bandwidth,
                             struct coll_strag_links **made)
{
    *made = NULL;
    if (NULL == topology || topology->hosts < STRAG_PROBE_HOSTS_MIN)
        return true;
    struct strag_probe_hosts hosts = {0};
    struct coll_strag_links *links = calloc(1, sizeof *links);
    if (links)
        links->me = ompi_comm_rank(comm);
    if (links && strag_probe_hosts_make(topology, &hosts) && make(links, &hosts, state, bandwidth))
        *made = links;
    else
        coll_strag_links_free(links);
    strag_probe_hosts_free(&hosts);
    return NULL != *made;
}

/* ---- Expected rates ---- */

/* The factor by which a host counts as slow; 1 if it does not. */
static double factor_of(const struct coll_strag_links *links,
                        const struct strag_state_record *state, int host)
{
    double factor = 1;
    for (int s = 0; s < state->nslow; s++) {
        if (strag_compact_at(&links->host_of, state->slow[s].rank) == host)
            factor = fmax(factor, state->slow[s].factor);
    }
    return factor;
}

/* How many times slower than a full link the host's link is by nature. */
static double narrower(const struct coll_strag_links *links, int host)
{
    return exp(strag_compact_at(&links->narrower, host) / 1000.0);
}

/* Do messages from and to `host` measure this host's link, or is the other one narrower? */
static bool is_measured_by(const struct coll_strag_links *links, int host)
{
    return strag_compact_at(&links->narrower, host) <=
           strag_compact_at(&links->narrower, links->host);
}

struct expected {
    const struct coll_strag_links *links;
    const struct strag_state_record *state;
};

/* As in strag_meter_take. */
static double slower(const void *context, int host)
{
    const struct expected *expected = context;
    const struct coll_strag_links *links = expected->links;
    if (!is_measured_by(links, host))
        return 0;
    return fmax(narrower(links, host) * factor_of(links, expected->state, host),
                narrower(links, links->host) * factor_of(links, expected->state, links->host));
}

uint16_t coll_strag_links_meter(struct coll_strag_links *links,
                                const struct strag_state_record *state, double seconds)
{
    static const double least = 0.02; /* part of the calls' time: shorter waits say little */
    const struct expected expected = {links, state};
    return strag_link_rate(strag_meter_take(&links->meter, least * seconds, slower, &expected));
}

/* ---- A probe ---- */

/* Pieces in flight in one direction: number i is in slot i % SLOTS. */
struct stream {
    ompi_communicator_t *comm;
    const struct coll_strag_failure *failure;
    int peer;
    bool send;
    int pieces, posted, done;
    ompi_request_t *requests[SLOTS];
    struct strag_probe_clock clock; /* of a stream that is received */
};

static int post_piece(struct stream *stream, ompi_request_t **request)
{
    if (stream->send)
        return MCA_PML_CALL(isend(sent, PIECE, MPI_BYTE, stream->peer, COLL_STRAG_TAG_CALLS,
                                  MCA_PML_BASE_SEND_STANDARD, stream->comm, request));
    return MCA_PML_CALL(irecv(received + (size_t)(stream->posted % SLOTS) * PIECE, PIECE, MPI_BYTE,
                              stream->peer, COLL_STRAG_TAG_CALLS, stream->comm, request));
}

/* Take off pieces that are done, and post others in their slots. */
static int advance(struct stream *stream)
{
    const double now = coll_strag_seconds();
    int code = coll_strag_failed(stream->failure);
    while (code == OMPI_SUCCESS && stream->done < stream->posted &&
           REQUEST_COMPLETE(stream->requests[stream->done % SLOTS])) {
        code = ompi_request_wait(&stream->requests[stream->done % SLOTS], MPI_STATUS_IGNORE);
        stream->done += code == OMPI_SUCCESS;
    }
    if (code != OMPI_SUCCESS)
        return code;
    strag_probe_clock_look(&stream->clock, now, stream->done);
    while (code == OMPI_SUCCESS && stream->posted < stream->pieces &&
           stream->posted < stream->done + SLOTS) {
        code = post_piece(stream, &stream->requests[stream->posted % SLOTS]);
        stream->posted += code == OMPI_SUCCESS;
    }
    return code;
}

/* After an error: no message may arrive later, and requests that are not freed would keep the
 * communicator. One in flight cannot be cancelled. It is not freed either: if it then failed, Open
 * MPI would end the job. */
static void drop(ompi_request_t **request)
{
    if (MPI_REQUEST_NULL == *request)
        return;
    ompi_request_cancel(*request);
    if (REQUEST_COMPLETE(*request))
        ompi_request_free(request);
}

static void drop_pieces(struct stream *stream)
{
    for (; stream->done < stream->posted; stream->done++)
        drop(&stream->requests[stream->done % SLOTS]);
}

/* Send a rate to the rank from which this one receives, and receive one from the rank to which it
 * sends. Pieces are received meanwhile: that rank may still be busy with the round before.
 * @param rates  [0] is sent, [1] received */
static int tell_sender(struct stream *in, struct stream *out, double rates[2])
{
    ompi_request_t *requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    int code = MCA_PML_CALL(irecv(&rates[1], sizeof *rates, MPI_BYTE, out->peer,
                                  COLL_STRAG_TAG_CALLS, out->comm, &requests[0]));
    if (code == OMPI_SUCCESS)
        code = advance(in);
    if (code == OMPI_SUCCESS)
        code =
            MCA_PML_CALL(isend(&rates[0], sizeof *rates, MPI_BYTE, in->peer, COLL_STRAG_TAG_CALLS,
                               MCA_PML_BASE_SEND_STANDARD, in->comm, &requests[1]));
    for (int i = 0; i < 2 && code == OMPI_SUCCESS; i++) {
        while (code == OMPI_SUCCESS && !REQUEST_COMPLETE(requests[i])) {
            opal_progress();
            code = advance(in);
        }
        if (code == OMPI_SUCCESS)
            code = ompi_request_wait(&requests[i], MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < 2 && code != OMPI_SUCCESS; i++)
        drop(&requests[i]);
    return code;
}

/* @param[out] rates  of the pieces received, and of those sent, bytes per second */
static int probe_round(const struct coll_strag_partners *partners,
                       const struct coll_strag_failure *failure, int pieces, double rates[2])
{
    struct stream in = {
        .comm = failure->comm,
        .failure = failure,
        .peer = partners->from,
        .pieces = pieces,
        .clock = strag_probe_clock_start(pieces, WARM_UP_PIECES, coll_strag_seconds()),
    };
    struct stream out = {.comm = failure->comm,
                         .failure = failure,
                         .peer = partners->to,
                         .pieces = pieces,
                         .send = true};
    int code = tell_sender(&in, &out, rates);
    while (code == OMPI_SUCCESS && (in.done < pieces || out.done < pieces)) {
        code = advance(&in);
        if (code == OMPI_SUCCESS)
            code = advance(&out);
        opal_progress();
    }
    rates[0] = strag_probe_clock_rate(&in.clock, PIECE);
    if (code == OMPI_SUCCESS)
        code = tell_sender(&in, &out, rates);
    if (code != OMPI_SUCCESS) {
        drop_pieces(&in);
        drop_pieces(&out);
    }
    return code;
}

/* This rank's host takes part in a probe. */
static int probe_host(struct coll_strag_links *links, const struct coll_strag_failure *failure,
                      double factor, int rounds, int pieces, struct strag_link_sample *sample)
{
    struct strag_link_best in = {0}, out = {0};
    int code = OMPI_SUCCESS;
    for (int r = 0; r < rounds && code == OMPI_SUCCESS; r++) {
        const int shift = strag_probe_shift(links->hosts, links->round + (unsigned)r);
        const int to = (links->host + shift) % links->hosts;
        const int from = (links->host + links->hosts - shift) % links->hosts;
        code = probe_round(&links->partners[shift - 1], failure, pieces, links->rates);
        if (is_measured_by(links, from))
            strag_link_best_add(&in, links->rates[0] * narrower(links, links->host));
        if (is_measured_by(links, to))
            strag_link_best_add(&out, links->rates[1] * narrower(links, links->host));
    }
    const uint16_t now = strag_link_rate(fmin(in.rate, out.rate));
    strag_link_sample_add(sample, links->me, now, links->before, factor);
    strag_link_sample_gap(sample, &in);
    strag_link_sample_gap(sample, &out);
    links->before = now;
    return code;
}

/* As in struct strag_agreement. */
static void merge(void *context, void *sample, const void *other)
{
    (void)context;
    strag_link_sample_merge(sample, other);
}

int coll_strag_links_probe(struct coll_strag_links *links, const struct coll_strag_failure *failure,
                           const struct strag_state_record *state, int rounds, size_t bytes,
                           struct strag_link_sample *sample)
{
    int code = OMPI_SUCCESS;
    strag_link_sample_clear(sample);
    if (links->leads)
        code = probe_host(links, failure, factor_of(links, state, links->host), rounds,
                          (int)(bytes / PIECE), sample);
    links->round += (unsigned)rounds;
    return code == OMPI_SUCCESS ? coll_strag_agree(failure, sample, sizeof *sample, merge) : code;
}
