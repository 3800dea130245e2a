/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Virtual time goes from one arrival to the next. A connection has one piece of its bytes on the
 * links at a time, since they arrive in order.
 */
#include "wires.h"

#include "machines.h"
#include "model/flows.h"
#include "run/engine.h"

#include <math.h>

enum {
    ELEMENT = 1024,      /* bytes that an element stands for; of memory it takes one */
    SEGMENT = 64 * 1024, /* bytes, of messages */
    PIECE = 8 * 1024,    /* bytes, on the links */
    DEPTH = 2,
    SLOTS = 8,    /* of the engine, as the component has them between hosts */
    POSTED = 512, /* messages of one connection in flight */
};

struct posted {
    struct strag_transfer *transfer;
    double end; /* bytes of the connection, up to and with this message */
    size_t bytes;
};

/* A queue of messages. */
struct queue {
    struct posted list[POSTED];
    unsigned first, count;
    double bytes; /* of all that ever were in it */
};

/* From one rank to another. */
struct connection {
    struct queue sends, receives;
    double arrived, flying; /* bytes */
};

struct endpoint {
    struct strag_transport super;
    struct run *run;
    int rank;
    bool begun, done;
    struct strag_engine *engine;
    struct strag_plan *plan;
};

struct run {
    struct wires *wires;
    double start;
    struct strag_links *links;
    struct strag_flows *flows;
    struct endpoint ends[WIRES_RANKS];
    struct connection *connections; /* [from * n + to] */
    char *memory;
    bool moved;
};

static double uniform(struct rng *rng)
{
    return (double)(rng_next(rng) >> 11) * 0x1p-53;
}

static int host_of(const struct wires *wires, int rank)
{
    return rank / wires->ranks_per_host;
}

void wires_make(struct wires *wires, int hosts, int ranks_per_host, struct rng *rng)
{
    *wires = (struct wires){.n = hosts * ranks_per_host,
                            .hosts = hosts,
                            .ranks_per_host = ranks_per_host,
                            .bandwidth = 100e6 / 8,
                            .buffer = 128 * 1024,
                            .rng = rng};
    assert_in_range(hosts, 2, WIRES_HOSTS);
    assert_in_range(wires->n, 2, WIRES_RANKS);
    wires->topology = machine_flat(wires->n, ranks_per_host);
    for (int h = 0; h < hosts; h++)
        wires->factor[h] = 1;
}

void wires_free(struct wires *wires)
{
    strag_topology_free(wires->topology);
}

/* ---- The links ---- */

/* How slow each host is in this call. */
static struct strag_links *make_links(const struct wires *wires)
{
    struct strag_error err = {""};
    struct strag_slow slow[WIRES_HOSTS];
    struct strag_state state = {.nslow = wires->hosts, .slow = slow};
    struct strag_model model = strag_model_default(STRAG_NETWORK_TREE);
    struct strag_links *links;
    model.bandwidth = wires->bandwidth;
    model.local_bandwidth = 1000 * wires->bandwidth;
    for (int h = 0; h < wires->hosts; h++)
        slow[h] = (struct strag_slow){h * wires->ranks_per_host,
                                      wires->factor[h] * (1 + wires->jitter * uniform(wires->rng))};
    if (strag_links_create(wires->topology, &model, &state, &links, &err) != STRAG_OK)
        fail_msg("%s", err.text);
    return links;
}

static struct connection *connection(struct run *run, int from, int to)
{
    return &run->connections[from * run->wires->n + to];
}

/* Messages whose bytes are through have ended. @param through  bytes */
static void finish(struct run *run, struct queue *queue, double through, int rank, int host)
{
    while (queue->count > 0 && queue->list[queue->first].end <= through) {
        struct posted *message = &queue->list[queue->first];
        queue->first = (queue->first + 1) % POSTED;
        queue->count--;
        if (host >= 0)
            strag_meter_end(&run->wires->meters[rank], host, message->bytes, run->wires->now);
        run->moved = true;
        message->transfer->complete(message->transfer, STRAG_OK);
    }
}

/* Let a connection go on: the next piece sets out, and finished messages end. */
static void go_on(struct run *run, int from, int to)
{
    struct wires *wires = run->wires;
    struct connection *c = connection(run, from, to);
    bool far = host_of(wires, from) != host_of(wires, to);
    double room = run->ends[to].begun ? INFINITY : wires->buffer;
    double ready = fmin(c->sends.bytes, room) - c->arrived;
    if (!far) {
        c->arrived = c->sends.bytes;
    } else if (!(c->flying > 0) && ready > 0) {
        c->flying = fmin(PIECE, ready);
        assert_int_equal(
            strag_flows_start(run->flows, wires->now, from, to, c->flying, from * wires->n + to),
            STRAG_OK);
    }
    finish(run, &c->sends, c->arrived + wires->buffer, from, far ? host_of(wires, to) : -1);
    finish(run, &c->receives, c->arrived, to, -1);
}

/* ---- The transport ---- */

static void post(struct queue *queue, struct strag_transfer *transfer, size_t elements)
{
    assert_true(queue->count < POSTED);
    queue->bytes += (double)(elements * ELEMENT);
    queue->list[(queue->first + queue->count++) % POSTED] =
        (struct posted){transfer, queue->bytes, elements * ELEMENT};
}

static int wire_send(struct strag_transport *base, struct strag_transfer *transfer, int peer,
                     const void *buffer, size_t elements)
{
    struct endpoint *end = (struct endpoint *)base;
    struct wires *wires = end->run->wires;
    if (host_of(wires, end->rank) != host_of(wires, peer))
        strag_meter_begin(&wires->meters[end->rank], host_of(wires, peer));
    post(&connection(end->run, end->rank, peer)->sends, transfer, elements);
    go_on(end->run, end->rank, peer);
    return STRAG_OK;
}

static int wire_receive(struct strag_transport *base, struct strag_transfer *transfer, int peer,
                        void *buffer, size_t elements)
{
    struct endpoint *end = (struct endpoint *)base;
    post(&connection(end->run, peer, end->rank)->receives, transfer, elements);
    go_on(end->run, peer, end->rank);
    return STRAG_OK;
}

static int wire_progress(struct strag_transport *base)
{
    return STRAG_OK;
}

static int wire_cancel(struct strag_transport *base, struct strag_transfer *transfer)
{
    return STRAG_PENDING;
}

/* ---- The reducers ---- */

static void *allocate(struct strag_reducer *reducer, size_t elements)
{
    return malloc(elements * sizeof(uint64_t));
}

static void release(struct strag_reducer *reducer, void *buffer, int lost)
{
    free(buffer);
}

static int reduce(struct strag_reducer *reducer, void *out, const void *left, const void *right,
                  size_t elements, uint64_t *ticket)
{
    return STRAG_OK;
}

static int copy(struct strag_reducer *reducer, void *out, const void *in, size_t elements)
{
    return STRAG_OK;
}

struct strag_reducer wires_nothing = {allocate, release, reduce, copy, NULL};

static int add(struct strag_reducer *reducer, void *out, const void *left, const void *right,
               size_t elements, uint64_t *ticket)
{
    const uint64_t *a = left, *b = right;
    for (size_t i = 0; i < elements; i++)
        ((uint64_t *)out)[i] = a[i] + b[i];
    return STRAG_OK;
}

static int copy_sums(struct strag_reducer *reducer, void *out, const void *in, size_t elements)
{
    memcpy(out, in, elements * sizeof(uint64_t));
    return STRAG_OK;
}

struct strag_reducer wires_sums = {allocate, release, add, copy_sums, NULL};

/* ---- A call ---- */

static void start_rank(struct run *run, int rank, const struct strag_algorithm *algorithm,
                       const struct strag_problem *problem, size_t elements)
{
    struct strag_error err = {""};
    struct endpoint *end = &run->ends[rank];
    *end = (struct endpoint){
        .super = {wire_send, wire_receive, wire_progress, wire_cancel}, .run = run, .rank = rank};
    const struct strag_call call = {
        .input = run->memory,
        .output = run->memory,
        .count = elements,
        .extent = 1,
        .lanes = {{SEGMENT / ELEMENT, SLOTS}, {SEGMENT / ELEMENT, SLOTS}},
        .transport = &end->super,
        .reducer = &wires_nothing,
    };
    if (strag_plan_create(algorithm, problem, rank, &end->plan, &err) != STRAG_OK ||
        strag_engine_create(end->plan, DEPTH, &end->engine, &err) != STRAG_OK)
        fail_msg("%s: %s", algorithm->name, err.text);
    assert_int_equal(strag_engine_start(end->engine, &call), STRAG_OK);
}

/* From now on the rank takes what comes. */
static void arrive(struct run *run, int rank)
{
    run->ends[rank].begun = true;
    for (int peer = 0; peer < run->wires->n; peer++)
        go_on(run, peer, rank);
}

/* Everybody does all it can now. @return whether all are done */
static bool progress(struct run *run)
{
    struct wires *wires = run->wires;
    bool all = true;
    do {
        run->moved = false;
        all = true;
        for (int rank = 0; rank < wires->n; rank++) {
            struct endpoint *end = &run->ends[rank];
            if (wires->now < run->start + wires->straggler[rank]) {
                all = false;
                continue;
            }
            if (!end->begun)
                arrive(run, rank);
            if (!end->done) {
                int status = strag_engine_progress(end->engine);
                assert_true(status == STRAG_OK || status == STRAG_PENDING);
                end->done = status == STRAG_OK;
            }
            all = all && end->done;
        }
    } while (run->moved);
    return all;
}

/* To the next moment at which something happens. */
static void wait_for_something(struct run *run)
{
    struct wires *wires = run->wires;
    double next = strag_flows_next(run->flows);
    for (int rank = 0; rank < wires->n; rank++) {
        double arrival = run->start + wires->straggler[rank];
        if (arrival > wires->now)
            next = fmin(next, arrival);
    }
    assert_true(next < INFINITY); /* or it hangs */
    wires->now = fmax(wires->now, next);
    for (int tag; (tag = strag_flows_end(run->flows, wires->now)) >= 0;) {
        struct connection *c = &run->connections[tag];
        c->arrived += c->flying;
        c->flying = 0;
        go_on(run, tag / wires->n, tag % wires->n);
    }
}

double wires_call(struct wires *wires, const char *algorithm, const struct strag_state *known,
                  size_t bytes)
{
    const struct strag_problem problem = {
        .n = wires->n, .topology = wires->topology, .state = known};
    struct run run = {.wires = wires, .start = wires->now, .links = make_links(wires)};
    run.flows = strag_flows_create(run.links);
    run.connections = calloc((size_t)wires->n * (size_t)wires->n, sizeof *run.connections);
    run.memory = calloc(bytes / ELEMENT, 1);
    assert_true(run.flows && run.connections && run.memory);
    for (int rank = 0; rank < wires->n; rank++)
        start_rank(&run, rank, support_algorithm(algorithm), &problem, bytes / ELEMENT);
    while (!progress(&run))
        wait_for_something(&run);
    for (int rank = 0; rank < wires->n; rank++) {
        strag_engine_free(run.ends[rank].engine);
        strag_plan_free(run.ends[rank].plan);
    }
    free(run.memory);
    free(run.connections);
    strag_flows_free(run.flows);
    strag_links_free(run.links);
    return wires->now - run.start;
}

double wires_rate(const struct wires *wires, int from, int to)
{
    const double factor = fmax(wires->factor[from], wires->factor[to]);
    return wires->bandwidth / (factor * (1 + wires->jitter * uniform(wires->rng)));
}
