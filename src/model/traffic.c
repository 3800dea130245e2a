/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One round at a time: all ranks' receives are the messages. Their bytes are first added to the
 * links of their routes, then each message is as slow as the most loaded of its links. The receives
 * are gathered for several rounds together, since algorithms look at much before they append a
 * rank's first operation.
 */
#include "model/traffic.h"

#include "base/text.h"

#include <stdlib.h>

/* Rounds are gathered as long as the messages of so many ranks take no more memory than one round
 * of a large job does. */
enum { GATHERED_RANKS = 1 << 17 };

/* ---- Subjects ---- */

int strag_subject_open(struct strag_subject *subject, const struct strag_algorithm *algorithm,
                       const struct strag_problem *problem, const struct strag_model *model,
                       strag_visit_fn *visit, void *context, struct strag_error *err)
{
    *subject = (struct strag_subject){.links = NULL};
    int status = strag_instance_open(&subject->instance, algorithm, problem, err);
    if (status == STRAG_OK)
        status = strag_links_of(problem, model, &subject->links, err);
    if (status == STRAG_OK)
        subject->visitor = strag_visitor_create(&subject->instance.shape, visit, context);
    if (status == STRAG_OK && !subject->visitor)
        status = strag_fail(err, STRAG_ERR_MEMORY, "out of memory for the messages of %d ranks",
                            problem->n);
    return status == STRAG_OK ? status : strag_subject_close(subject, status, err);
}

void strag_subject_visit(struct strag_subject *subject, int rank, struct strag_rounds rounds)
{
    strag_visitor_aim(subject->visitor, rank, rounds);
    strag_instance_build(&subject->instance, rank, subject->visitor);
}

int strag_subject_close(struct strag_subject *subject, int status, struct strag_error *err)
{
    if (subject->visitor) {
        int bug = strag_visitor_finish(subject->visitor, status == STRAG_OK ? err : NULL);
        status = status == STRAG_OK ? bug : status;
    }
    strag_links_free(subject->links);
    strag_instance_close(&subject->instance);
    return status;
}

/* ---- Rounds ---- */

static int no_memory(const struct strag_traffic *traffic, struct strag_error *err)
{
    return strag_fail(err, STRAG_ERR_MEMORY, "out of memory for the messages of %d ranks",
                      traffic->subject.instance.problem.n);
}

/* As the model has it. */
static double link_bandwidth(const struct strag_subject *subject, int from, int to)
{
    const struct strag_links *links = subject->links;
    return strag_topology_same_host(links->topology, from, to) ? links->model.local_bandwidth
                                                               : links->model.bandwidth;
}

static void visit(void *context, const struct strag_op *op)
{
    struct strag_traffic *traffic = context;
    if (op->kind == STRAG_SEND || traffic->failed)
        return;
    const struct strag_subject *subject = &traffic->subject;
    struct strag_messages *messages = strag_traffic_messages(traffic, op->round);
    if (!strag_array_grow(&messages->list, &messages->room, messages->count + 1,
                          sizeof *messages->list)) {
        traffic->failed = true;
        return;
    }
    double amount = strag_block_fraction(&subject->instance.shape.bounds, op->first, op->count);
    double takes = amount / link_bandwidth(subject, op->peer, traffic->receiver);
    double reducing = subject->links->model.reduce_bandwidth;
    if (takes > messages->heaviest_takes) {
        messages->heaviest = messages->count;
        messages->heaviest_takes = takes;
    }
    messages->list[messages->count++] = (struct strag_message){
        .from = op->peer,
        .to = traffic->receiver,
        .amount = amount,
        .reducing = op->kind == STRAG_RECV_REDUCE && reducing > 0 ? amount / reducing : 0,
    };
}

int strag_traffic_open(struct strag_traffic *traffic, const struct strag_algorithm *algorithm,
                       const struct strag_problem *problem, const struct strag_model *model,
                       struct strag_error *err)
{
    *traffic = (struct strag_traffic){0};
    int status =
        strag_subject_open(&traffic->subject, algorithm, problem, model, visit, traffic, err);
    if (status != STRAG_OK)
        return status;
    const struct strag_links *links = traffic->subject.links;
    status = strag_symmetry_open(&traffic->subject.instance, links, &traffic->symmetry, err);
    if (status != STRAG_OK)
        return strag_traffic_close(traffic, status, err);
    size_t nlinks = (size_t)links->nlinks;
    traffic->load = calloc(nlinks, sizeof *traffic->load);
    if (!traffic->load)
        return strag_traffic_close(traffic, no_memory(traffic, err), err);
    for (size_t l = 0; l < nlinks; l++)
        traffic->load[l].pace = 1 / links->bandwidth[l];
    return STRAG_OK;
}

/* Room for one more route. */
static bool grow_hops(struct strag_traffic *traffic, size_t used)
{
    size_t needed = used + (size_t)traffic->subject.links->longest;
    if (needed <= traffic->hops_room)
        return true;
    void *moved = realloc(traffic->hops, 2 * needed * sizeof *traffic->hops);
    if (!moved)
        return false;
    traffic->hops = moved;
    traffic->hops_room = 2 * needed;
    return true;
}

static bool load_links(struct strag_traffic *traffic, struct strag_messages *messages, int repeats)
{
    size_t used = 0;
    for (int m = 0; m < messages->count; m++) {
        struct strag_message *message = &messages->list[m];
        if (!grow_hops(traffic, used))
            return false;
        struct strag_hop *hops = traffic->hops + used;
        struct strag_route route =
            strag_links_route(traffic->subject.links, message->from, message->to, hops);
        for (int h = 0; traffic->symmetry.link && h < route.nhops; h++)
            hops[h].link = traffic->symmetry.link[hops[h].link];
        for (int h = 0; h < route.nhops; h++) {
            struct strag_load *load = &traffic->load[hops[h].link];
            double weight = strag_symmetry_weight(&traffic->symmetry, message->to, hops[h].link);
            double bytes = hops[h].share * message->amount * weight;
            if (load->round != traffic->rounds) {
                load->round = traffic->rounds;
                load->busy = 0;
            }
            load->busy += bytes * load->pace;
            load->total += bytes * repeats;
        }
        message->latency = route.latency;
        used += (size_t)route.nhops;
        message->hops_end = used;
    }
    return true;
}

static void price_messages(const struct strag_traffic *traffic, struct strag_messages *messages)
{
    size_t h = 0;
    for (int m = 0; m < messages->count; m++) {
        struct strag_message *message = &messages->list[m];
        for (; h < message->hops_end; h++) {
            double busy = traffic->load[traffic->hops[h].link].busy;
            if (busy > message->per_byte)
                message->per_byte = busy;
        }
    }
}

int strag_traffic_gather(struct strag_traffic *traffic, struct strag_rounds rounds,
                         struct strag_error *err)
{
    int n = traffic->subject.instance.problem.n, most = GATHERED_RANKS / n;
    most = most < 1 ? 1 : most > STRAG_TRAFFIC_ROUNDS ? STRAG_TRAFFIC_ROUNDS : most;
    if (rounds.end - rounds.first > most)
        rounds.end = rounds.first + most;
    traffic->gathered = rounds;
    for (int i = 0; i < rounds.end - rounds.first; i++) {
        traffic->messages[i].count = traffic->messages[i].heaviest = 0;
        traffic->messages[i].heaviest_takes = 0;
    }
    for (int r = 0; r < n; r++) {
        if (strag_traffic_like(traffic, r) != r)
            continue;
        traffic->receiver = r;
        strag_subject_visit(&traffic->subject, r, rounds);
    }
    /* With room for a route, for strag_traffic_alone. */
    return traffic->failed || !grow_hops(traffic, 0) ? no_memory(traffic, err) : STRAG_OK;
}

struct strag_message strag_traffic_alone(struct strag_traffic *traffic, int round)
{
    const struct strag_messages *messages = strag_traffic_messages(traffic, round);
    struct strag_links *links = traffic->subject.links;
    if (messages->count == 0)
        return (struct strag_message){0};
    struct strag_message message = messages->list[messages->heaviest];
    struct strag_hop *hops = traffic->hops;
    struct strag_route route = strag_links_route(links, message.from, message.to, hops);
    message.latency = route.latency;
    for (int h = 0; h < route.nhops; h++) {
        double busy = hops[h].share * message.amount * traffic->load[hops[h].link].pace;
        if (busy > message.per_byte)
            message.per_byte = busy;
    }
    return message;
}

int strag_traffic_round(struct strag_traffic *traffic, int round, int repeats,
                        struct strag_error *err)
{
    struct strag_messages *messages = strag_traffic_messages(traffic, round);
    traffic->rounds++;
    if (!load_links(traffic, messages, repeats))
        return no_memory(traffic, err);
    price_messages(traffic, messages);
    return STRAG_OK;
}

int strag_traffic_close(struct strag_traffic *traffic, int status, struct strag_error *err)
{
    strag_symmetry_close(&traffic->symmetry);
    for (int i = 0; i < STRAG_TRAFFIC_ROUNDS; i++)
        free(traffic->messages[i].list);
    free(traffic->hops);
    free(traffic->load);
    return strag_subject_close(&traffic->subject, status, err);
}
