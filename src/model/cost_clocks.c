/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Mode `clocks`: every rank goes from round to round on its own, as a simulation of events.
 *
 *     rank enters a round      its messages of the round wait for the other side
 *     both sides are there     the message's latency begins
 *     latency has passed       its bytes start to flow (flows.h)
 *     bytes have arrived       the sender is done with it; the receiver, if it reduces, later
 *     all messages are done    the rank enters its next round
 *
 * A message that one side has reached first waits in the other side's list, in order of arrival:
 * the i-th send of a to b in a round matches the i-th receive of b from a.
 */
#include "model/cost.h"

#include "base/text.h"
#include "model/flows.h"
#include "model/traffic.h"

#include <math.h>
#include <stdlib.h>

enum { NONE = -1 };

/* An event is the end of a flow. Its tag is r if rank r enters its next round; from n on there are
 * two tags for each message. */
enum event { SET_OUT, ARRIVE, EVENTS };

struct message {
    int from, to, round;
    double amount;   /* bytes of it per byte of the vector */
    double posting;  /* seconds that the first side takes for its messages before it */
    bool reduced;    /* by the receiver; known once the receiver has reached the message */
    bool from_is_in; /* the sender has reached it first */
    int next;        /* in the list of the rank that it waits for, or of spare messages */
};

struct rank {
    int round;                /* the current one */
    int open;                 /* messages of the round that have not ended */
    double reduced;           /* time at which it has reduced all that has arrived */
    double done;              /* time at which the last message so far ended */
    double set_out;           /* time at which the last of the round's messages set out, or will */
    int first, last;          /* of the messages that wait for it */
    struct strag_posts posts; /* of the round */
};

struct clocks {
    struct strag_subject subject;
    struct strag_flows *flows;
    double bytes; /* of the vector */
    double now;
    int entering; /* the rank whose operations are being visited */
    bool failed;  /* out of memory */

    struct strag_hop *route; /* scratch */
    struct rank *ranks;
    int nspare, nmessages, room; /* nspare: head of the list of spare messages */
    struct message *messages;
};

static int message_tag(const struct clocks *clocks, int m, enum event event)
{
    return clocks->subject.instance.problem.n + EVENTS * m + (int)event;
}

static void happens(struct clocks *clocks, double time, int tag)
{
    if (strag_flows_wait(clocks->flows, time, tag) != STRAG_OK)
        clocks->failed = true;
}

/* ---- Messages ---- */

/* @return NONE if out of memory */
static int new_message(struct clocks *clocks)
{
    int m = clocks->nspare;
    if (m != NONE) {
        clocks->nspare = clocks->messages[m].next;
        return m;
    }
    clocks->failed = !strag_array_grow(&clocks->messages, &clocks->room, clocks->nmessages + 1,
                                       sizeof *clocks->messages);
    return clocks->failed ? NONE : clocks->nmessages++;
}

/* Take the message that the other side has reached already off the rank's list. @return NONE if
 * there is none
 */
static int find_waiting(struct clocks *clocks, struct rank *rank, int from, int to, bool from_is_in)
{
    int before = NONE;
    for (int m = rank->first; m != NONE; before = m, m = clocks->messages[m].next) {
        const struct message *message = &clocks->messages[m];
        if (message->from != from || message->to != to || message->round != rank->round ||
            message->from_is_in != from_is_in)
            continue;
        if (before == NONE)
            rank->first = message->next;
        else
            clocks->messages[before].next = message->next;
        if (rank->last == m)
            rank->last = before;
        return m;
    }
    return NONE;
}

static void wait_for(struct clocks *clocks, int peer, int m)
{
    struct rank *rank = &clocks->ranks[peer];
    clocks->messages[m].next = NONE;
    if (rank->first == NONE)
        rank->first = m;
    else
        clocks->messages[rank->last].next = m;
    rank->last = m;
}

/* Seconds that the entering rank takes for the round's messages that it posts before this one. */
static double posting(struct clocks *clocks, const struct strag_op *op)
{
    const struct strag_links *links = clocks->subject.links;
    struct rank *rank = &clocks->ranks[clocks->entering];
    if (strag_topology_same_host(links->topology, clocks->entering, op->peer))
        return 0;
    return clocks->subject.chained * links->model.overhead * strag_post(&rank->posts, op);
}

/* The entering rank reaches one of its messages. */
static void visit(void *context, const struct strag_op *op)
{
    struct clocks *clocks = context;
    int me = clocks->entering;
    struct rank *rank = &clocks->ranks[me];
    bool sends = op->kind == STRAG_SEND;
    int from = sends ? me : op->peer, to = sends ? op->peer : me;
    if (clocks->failed)
        return;
    rank->open++;
    const double posts = posting(clocks, op);
    int m = find_waiting(clocks, rank, from, to, !sends);
    if (m == NONE) {
        m = new_message(clocks);
        if (m == NONE)
            return;
        clocks->messages[m] = (struct message){
            .from = from,
            .to = to,
            .round = rank->round,
            .amount =
                strag_block_fraction(&clocks->subject.instance.shape.bounds, op->first, op->count),
            .posting = posts,
            .reduced = op->kind == STRAG_RECV_REDUCE,
            .from_is_in = sends,
        };
        wait_for(clocks, op->peer, m);
        return;
    }
    if (op->kind == STRAG_RECV_REDUCE)
        clocks->messages[m].reduced = true;
    struct strag_route route = strag_links_route(clocks->subject.links, from, to, clocks->route);
    const bool local = strag_topology_same_host(clocks->subject.links->topology, from, to);
    const double latency =
        local ? route.latency : strag_subject_latency(&clocks->subject, route.latency);
    const double at = clocks->now + clocks->messages[m].posting + posts + latency;
    rank->set_out = fmax(rank->set_out, at);
    clocks->ranks[op->peer].set_out = fmax(clocks->ranks[op->peer].set_out, at);
    happens(clocks, at, message_tag(clocks, m, SET_OUT));
}

/* ---- Ranks ---- */

/* Enter the next round that has messages: rounds without messages take no time. */
static void enter(struct clocks *clocks, int r)
{
    struct strag_subject *subject = &clocks->subject;
    struct rank *rank = &clocks->ranks[r];
    clocks->entering = r;
    rank->done = rank->set_out = clocks->now;
    rank->posts = (struct strag_posts){0};
    while (rank->open == 0 && ++rank->round < subject->instance.claim.rounds && !clocks->failed)
        strag_subject_visit(subject, r, (struct strag_rounds){rank->round, rank->round + 1});
}

/* Seconds for which a rank posts the round's further messages while bytes are in flight. */
static double still_posting(const struct clocks *clocks, const struct rank *rank)
{
    return (1 - clocks->subject.chained) * clocks->subject.links->model.overhead *
           strag_posts_further(&rank->posts);
}

/* A message has ended for one of its sides. */
static void finish(struct clocks *clocks, int r, double time)
{
    struct rank *rank = &clocks->ranks[r];
    rank->done = time > rank->done ? time : rank->done;
    rank->open--;
    if (rank->open == 0)
        happens(clocks, fmax(rank->done, rank->set_out + still_posting(clocks, rank)), r);
}

static void arrive(struct clocks *clocks, int m)
{
    const struct message message = clocks->messages[m];
    double reduce = clocks->subject.links->model.reduce_bandwidth;
    double time = clocks->now;
    clocks->messages[m].next = clocks->nspare;
    clocks->nspare = m;
    finish(clocks, message.from, time);
    if (message.reduced && reduce > 0) {
        struct rank *rank = &clocks->ranks[message.to];
        time = fmax(time, rank->reduced) + message.amount * clocks->bytes / reduce;
        rank->reduced = time;
    }
    finish(clocks, message.to, time);
}

/* ---- Running ---- */

static void handle(struct clocks *clocks, int tag)
{
    int which = tag - clocks->subject.instance.problem.n, m = which / EVENTS;
    if (which < 0) {
        enter(clocks, tag);
    } else if (which % EVENTS == ARRIVE) {
        arrive(clocks, m);
    } else {
        const struct message *message = &clocks->messages[m];
        clocks->failed = strag_flows_start(clocks->flows, clocks->now, message->from, message->to,
                                           message->amount * clocks->bytes,
                                           message_tag(clocks, m, ARRIVE)) != STRAG_OK;
    }
}

/* Handle the events in order of time until there are none. */
static void run(struct clocks *clocks)
{
    for (double next; !clocks->failed && (next = strag_flows_next(clocks->flows)) < INFINITY;) {
        clocks->now = fmax(clocks->now, next);
        for (int tag;
             !clocks->failed && (tag = strag_flows_end(clocks->flows, clocks->now)) != NONE;)
            handle(clocks, tag);
    }
}

static void set_out(struct clocks *clocks)
{
    const struct strag_state *state = clocks->subject.instance.problem.state;
    for (int r = 0; r < clocks->subject.instance.problem.n; r++) {
        double delay = 0;
        for (int i = 0; state && i < state->nstragglers; i++) {
            if (state->straggler[i].rank == r)
                delay = fmax(delay, state->straggler[i].delay);
        }
        clocks->ranks[r] = (struct rank){.round = -1, .first = NONE, .last = NONE};
        happens(clocks, delay, r);
    }
}

/* @return the last rank's end, or NAN if a rank waits for a message that nobody sends */
static double last_end(const struct clocks *clocks)
{
    double last = 0;
    for (int r = 0; r < clocks->subject.instance.problem.n; r++) {
        if (clocks->ranks[r].open > 0 ||
            clocks->ranks[r].round < clocks->subject.instance.claim.rounds)
            return NAN;
        last = fmax(last, clocks->ranks[r].done);
    }
    return last;
}

static int run_size(struct clocks *clocks, size_t bytes, double *seconds, struct strag_error *err)
{
    clocks->bytes = (double)bytes;
    clocks->now = 0;
    clocks->flows = strag_flows_create(clocks->subject.links);
    if (clocks->flows) {
        set_out(clocks);
        run(clocks);
    }
    bool done = clocks->flows && !clocks->failed;
    strag_flows_free(clocks->flows);
    if (!done)
        return strag_fail(err, STRAG_ERR_MEMORY, "out of memory for the clocks of %d ranks",
                          clocks->subject.instance.problem.n);
    *seconds = last_end(clocks);
    if (isnan(*seconds))
        return strag_fail(err, STRAG_ERR_ARGUMENT,
                          "%s has a bug: a rank waits for a message that is not sent",
                          clocks->subject.instance.algorithm->name);
    return STRAG_OK;
}

int strag_cost_clocks(const struct strag_algorithm *algorithm, const struct strag_problem *problem,
                      const struct strag_model *model, const size_t *bytes, int sizes,
                      double *seconds, struct strag_error *err)
{
    struct clocks clocks = {.nspare = NONE};
    struct strag_links *links;
    int status = strag_links_of(problem, model, &links, err);
    if (status != STRAG_OK)
        return status;
    status = strag_subject_open(&clocks.subject, algorithm, problem, links, visit, &clocks, err);
    if (status != STRAG_OK) {
        strag_links_free(links);
        return status;
    }
    clocks.ranks = calloc((size_t)problem->n, sizeof *clocks.ranks);
    clocks.route = malloc(((size_t)clocks.subject.links->longest + 1) * sizeof *clocks.route);
    if (!clocks.ranks || !clocks.route)
        status = strag_fail(err, STRAG_ERR_MEMORY, "out of memory for the clocks of %d ranks",
                            problem->n);
    for (int s = 0; status == STRAG_OK && s < sizes; s++)
        status = run_size(&clocks, bytes[s], &seconds[s], err);
    free(clocks.route);
    free(clocks.ranks);
    free(clocks.messages);
    status = strag_subject_close(&clocks.subject, status, err);
    strag_links_free(links);
    return status;
}
