/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A probe, of the two ranks that stand for two hosts:
 *
 *     receiver   posts receives
 *     receiver   -- nothing -->  sender      it is there, and receives
 *     sender     -- pieces -->   receiver    sent one behind the other
 *
 * The receiver measures from the end of an early piece to the end of the last one. So neither how
 * long the two waited for each other, nor what a buffer or a shaper lets pass at once is in it.
 */
#include "coll_strag_links.h"

#include "watch/link_speed.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    PIECE = 16 * 1024, /* bytes: sent at once by every transport */
    SLOTS = 16,        /* pieces under way, each way */
    PASSED = 3,        /* pieces that are not measured: a shaper may let as much pass at once */
};

/* A host's reported speed that is less than so many times below the usual one is no news. */
static const double least_factor = 1.05;

/* ---- Making it ---- */

void coll_strag_links_free(struct coll_strag_links *links)
{
    if (NULL == links)
        return;
    strag_slowdown_free(links->slowdown);
    free(links->gathered);
    free(links->rates);
    strag_meter_free(links->meter);
    free(links->room);
    free(links->leader);
    free(links->host_of);
    free(links);
}

static void number_hosts(struct coll_strag_links *links, const struct strag_topology *topology)
{
    int host = -1, node = -1;
    for (int leaf = 0; leaf < topology->n; leaf++) {
        int rank = topology->leaf_rank[leaf];
        if (topology->host_node[rank] != node) {
            node = topology->host_node[rank];
            links->leader[++host] = rank;
        }
        links->host_of[rank] = host;
    }
}

static struct strag_slowdown *make_slowdown(const struct coll_strag_links *links,
                                            const struct strag_topology *topology,
                                            const struct strag_state_record *state)
{
    double *nominal = malloc((size_t)links->hosts * sizeof *nominal), fastest = 0;
    if (NULL == nominal)
        return NULL;
    for (int host = 0; host < links->hosts; host++) {
        nominal[host] = topology->nodes[topology->host_node[links->leader[host]]].uplink;
        fastest = nominal[host] > fastest ? nominal[host] : fastest;
    }
    struct strag_slowdown *slowdown = strag_slowdown_create(
        links->host_of, topology->n, links->hosts, fastest > 0 ? nominal : NULL, NULL);
    for (int s = 0; slowdown && s < state->nslow; s++)
        strag_slowdown_known(slowdown, links->host_of[state->slow[s].rank], state->slow[s].factor);
    free(nominal);
    return slowdown;
}

static bool make_judge(struct coll_strag_links *links, const struct strag_topology *topology,
                       const struct strag_state_record *state)
{
    const size_t entry = STRAG_PROBE_ROUNDS * sizeof(float);
    links->gathered = malloc((size_t)topology->n * entry);
    links->rates = malloc((size_t)links->hosts * entry);
    links->slowdown = make_slowdown(links, topology, state);
    return links->gathered && links->rates && links->slowdown;
}

bool coll_strag_links_create(mca_coll_strag_module_t *module, ompi_communicator_t *comm,
                             const struct strag_state_record *state, struct coll_strag_links **made)
{
    const struct strag_topology *topology = module->topology;
    const int me = ompi_comm_rank(comm);
    *made = NULL;
    if (NULL == topology || strag_probe_rounds(topology->hosts) == 0)
        return true;
    struct coll_strag_links *links = calloc(1, sizeof *links);
    if (NULL == links)
        return false;
    links->hosts = topology->hosts;
    links->host_of = malloc((size_t)topology->n * sizeof *links->host_of);
    links->leader = malloc((size_t)links->hosts * sizeof *links->leader);
    links->meter = strag_meter_create(links->hosts);
    bool all = links->host_of && links->leader && links->meter;
    if (all)
        number_hosts(links, topology);
    if (all && links->leader[links->host_of[me]] == me)
        all = NULL != (links->room = calloc(SLOTS + 1, PIECE));
    if (all && me == 0)
        all = make_judge(links, topology, state);
    if (!all) {
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
    int peer;
    bool send;
    char *room;
    int pieces, posted, done;
    ompi_request_t *requests[SLOTS];
    double begin, end; /* when piece PASSED - 1 was done, and the last one */
};

static int post_piece(struct stream *stream, size_t bytes, ompi_request_t **request)
{
    if (stream->send)
        return MCA_PML_CALL(isend(stream->room + (size_t)SLOTS * PIECE, bytes, MPI_BYTE,
                                  stream->peer, MCA_COLL_BASE_TAG_ALLREDUCE,
                                  MCA_PML_BASE_SEND_STANDARD, stream->comm, request));
    return MCA_PML_CALL(irecv(stream->room + (size_t)(stream->posted % SLOTS) * PIECE, bytes,
                              MPI_BYTE, stream->peer, MCA_COLL_BASE_TAG_ALLREDUCE, stream->comm,
                              request));
}

/* Post what there is room for, and take off what is done. */
static int advance(struct stream *stream)
{
    int code = OMPI_SUCCESS;
    while (stream->done < stream->posted &&
           REQUEST_COMPLETE(stream->requests[stream->done % SLOTS])) {
        code = ompi_request_wait(&stream->requests[stream->done++ % SLOTS], MPI_STATUS_IGNORE);
        if (code != OMPI_SUCCESS)
            return code;
        if (stream->done == PASSED)
            stream->begin = coll_strag_seconds();
        if (stream->done == stream->pieces)
            stream->end = coll_strag_seconds();
    }
    while (code == OMPI_SUCCESS && stream->posted < stream->pieces &&
           stream->posted < stream->done + SLOTS) {
        code = post_piece(stream, PIECE, &stream->requests[stream->posted % SLOTS]);
        stream->posted += code == OMPI_SUCCESS;
    }
    return code;
}

/* An empty message from the receiver to the sender. */
static int say_ready(struct stream *in, struct stream *out)
{
    ompi_request_t *requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    int code = MCA_PML_CALL(
        irecv(NULL, 0, MPI_BYTE, out->peer, MCA_COLL_BASE_TAG_ALLREDUCE, out->comm, &requests[0]));
    if (code == OMPI_SUCCESS)
        code = advance(in);
    if (code == OMPI_SUCCESS)
        code = MCA_PML_CALL(isend(NULL, 0, MPI_BYTE, in->peer, MCA_COLL_BASE_TAG_ALLREDUCE,
                                  MCA_PML_BASE_SEND_STANDARD, in->comm, &requests[1]));
    for (int i = 0; i < 2 && code == OMPI_SUCCESS; i++)
        code = ompi_request_wait(&requests[i], MPI_STATUS_IGNORE);
    return code;
}

/* @param[out] rate  bytes per second that came in */
static int probe_round(const struct coll_strag_links *links, ompi_communicator_t *comm, int round,
                       int pieces, float *rate)
{
    const int host = links->host_of[ompi_comm_rank(comm)];
    struct stream in = {.comm = comm,
                        .peer = links->leader[strag_probe_from(links->hosts, round, host)],
                        .room = links->room,
                        .pieces = pieces};
    struct stream out = in;
    out.peer = links->leader[strag_probe_to(links->hosts, round, host)];
    out.send = true;
    int code = say_ready(&in, &out);
    while (code == OMPI_SUCCESS && (in.done < pieces || out.done < pieces)) {
        code = advance(&in);
        if (code == OMPI_SUCCESS)
            code = advance(&out);
        opal_progress();
    }
    if (in.end > in.begin)
        *rate = (float)((double)(pieces - PASSED) * PIECE / (in.end - in.begin));
    return code;
}

/* Ranks' rates become hosts'. */
static bool judge(const struct coll_strag_links *links, double took)
{
    const size_t rounds = STRAG_PROBE_ROUNDS;
    for (size_t host = 0; host < (size_t)links->hosts; host++)
        memcpy(links->rates + host * rounds, links->gathered + (size_t)links->leader[host] * rounds,
               rounds * sizeof *links->rates);
    return strag_slowdown_probed(links->slowdown, links->rates, took);
}

int coll_strag_links_probe(struct coll_strag_links *links, ompi_communicator_t *comm, size_t bytes,
                           bool *changed)
{
    const int pieces = bytes / PIECE > PASSED ? (int)(bytes / PIECE) : PASSED + 1;
    float mine[STRAG_PROBE_ROUNDS] = {0};
    double start = coll_strag_seconds();
    int code = OMPI_SUCCESS;
    *changed = false;
    for (int r = 0; links->room && r < strag_probe_rounds(links->hosts) && code == OMPI_SUCCESS;
         r++)
        code = probe_round(links, comm, r, pieces, &mine[r]);
    if (code == OMPI_SUCCESS)
        code = comm->c_coll->coll_gather(mine, sizeof mine, MPI_BYTE, links->gathered, sizeof mine,
                                         MPI_BYTE, 0, comm, comm->c_coll->coll_gather_module);
    if (code == OMPI_SUCCESS && links->slowdown)
        *changed = judge(links, coll_strag_seconds() - start);
    return code;
}

void coll_strag_links_found(const struct coll_strag_links *links, struct strag_state_record *state)
{
    state->nslow = 0;
    for (int host = 0; host < links->hosts && state->nslow < STRAG_SLOW_MAX; host++) {
        double factor = strag_slowdown_factor(links->slowdown, host);
        if (factor > 1)
            state->slow[state->nslow++] = (struct strag_slow){links->leader[host], factor};
    }
}

/* ---- What the system reports ---- */

/* Has the user said how fast hosts' links are? Then what the system says does not count. */
static bool is_told(const struct strag_topology *topology)
{
    for (int rank = 0; rank < topology->n; rank++) {
        if (topology->nodes[topology->host_node[rank]].uplink > 0)
            return true;
    }
    return false;
}

void coll_strag_links_reported(const struct strag_topology *topology,
                               const struct strag_rank_location *ranks, int n,
                               struct strag_state_record *state)
{
    double *speeds = malloc((size_t)n * sizeof *speeds);
    if (NULL == speeds)
        return; /* all are alike, then */
    for (int rank = 0; rank < n; rank++)
        speeds[rank] = ranks[rank].link_speed;
    double usual = strag_link_speed_usual(speeds, n);
    free(speeds);
    int node = -1;
    for (int leaf = 0; usual > 0 && !is_told(topology) && leaf < n; leaf++) {
        int rank = topology->leaf_rank[leaf];
        double speed = ranks[rank].link_speed;
        if (topology->host_node[rank] != node && speed > 0 && usual > least_factor * speed &&
            state->nslow < STRAG_SLOW_MAX)
            state->slow[state->nslow++] = (struct strag_slow){rank, usual / speed};
        node = topology->host_node[rank];
    }
}
