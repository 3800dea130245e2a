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

/* By how much more operations than there should be messages make it not worth going on; to visit a
 * rank takes as long as so many operations, an operation as long as so many hops. */
enum { OPERATIONS_PER_MESSAGE = 32, OPERATIONS_PER_VISIT = 8, HOPS_PER_OPERATION = 8 };

/* What goes through so many rounds that are not alike knows nothing of dimensions: a grid's lines
 * are not alike for it. */
enum { ROUNDS_ON_GRIDS = 256 };

/* Rounds are gathered as long as the messages of so many ranks take no more memory than one round
 * of a large job does. */
enum { GATHERED_RANKS = 1 << 17 };

static const double NOT_OWN = -1;

/* ---- Subjects ---- */

int strag_subject_open(struct strag_subject *subject, const struct strag_algorithm *algorithm,
                       const struct strag_problem *problem, struct strag_links *links,
                       strag_visit_fn *visit, void *context, struct strag_error *err)
{
    *subject = (struct strag_subject){.links = links};
    int status = strag_instance_open(&subject->instance, algorithm, problem, err);
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
    strag_instance_close(&subject->instance);
    return status;
}

/* ---- Rounds ---- */

static int no_memory(const struct strag_traffic *traffic, struct strag_error *err)
{
    return strag_fail(err, STRAG_ERR_MEMORY, "out of memory for the messages of %d ranks",
                      traffic->subject.instance.problem.n);
}

static int too_many(const struct strag_traffic *traffic, struct strag_error *err)
{
    return strag_fail(err, STRAG_ERR_UNSUPPORTED, "%s has more messages than are looked at",
                      traffic->subject.instance.algorithm->name);
}

/* As the model has it. */
static double link_bandwidth(const struct strag_subject *subject, int from, int to)
{
    const struct strag_links *links = subject->links;
    return strag_topology_same_host(links->topology, from, to) ? links->model.local_bandwidth
                                                               : links->model.bandwidth;
}

/* Between ranks that read what others have written? */
static bool is_written(const struct strag_traffic *traffic, int from, int to)
{
    return traffic->written && strag_topology_same_host(traffic->subject.links->topology, from, to);
}

/* Has the rank that is visited to write this, or is it there already? The rounds between two that
 * are looked at may be unknown. */
static bool writes(struct strag_traffic *traffic, const struct strag_op *op)
{
    struct strag_written *last = &traffic->written[traffic->rank];
    const bool again =
        last->count == op->count && last->first == op->first && last->round >= op->round - 1;
    last->first = op->first;
    last->count = op->count;
    last->round = op->round;
    return !again;
}

/* What the rank receives changes what it has. */
static void note_change(struct strag_traffic *traffic, const struct strag_op *op)
{
    struct strag_written *last = &traffic->written[traffic->rank];
    if (op->first < last->first + last->count && last->first < op->first + op->count)
        last->count = 0;
}

/* @return how many messages of the round the rank reads before this one */
static int read_before(struct strag_traffic *traffic, const struct strag_op *op)
{
    struct strag_written *rank = &traffic->written[traffic->rank];
    rank->read = rank->read_round == op->round + 1 ? rank->read + 1 : 0;
    rank->read_round = op->round + 1;
    return rank->read;
}

/* What is sent counts where a rank is looked at, and the one that receives it is not. */
static bool counts(const struct strag_traffic *traffic, const struct strag_op *op)
{
    const struct strag_sample *sample = traffic->sample;
    return op->kind != STRAG_SEND || (sample && sample->sends && sample->unit[op->peer] < 0);
}

/* Seconds per byte of the vector that a receiver is busy with a message that has arrived. */
static double receiving(const struct strag_traffic *traffic, const struct strag_op *op,
                        double amount)
{
    const struct strag_model *model = &traffic->subject.links->model;
    if (op->kind == STRAG_RECV && is_written(traffic, op->peer, traffic->rank))
        return amount / model->local_bandwidth;
    return op->kind == STRAG_RECV_REDUCE && model->reduce_bandwidth > 0
               ? amount / model->reduce_bandwidth
               : 0;
}

/* Seconds until the receiver comes to a message. */
static double waiting(struct strag_traffic *traffic, const struct strag_op *op)
{
    return op->kind != STRAG_SEND && is_written(traffic, op->peer, traffic->rank)
               ? read_before(traffic, op) * traffic->subject.links->model.local_alpha
               : 0;
}

static void add_message(struct strag_traffic *traffic, int round,
                        const struct strag_message *message)
{
    struct strag_messages *messages = strag_traffic_messages(traffic, round);
    double takes = message->amount / link_bandwidth(&traffic->subject, message->from, message->to);
    if (messages->count >= messages->room &&
        !strag_array_grow(&messages->list, &messages->room, messages->count + 1,
                          sizeof *messages->list)) {
        traffic->failed = true;
        return;
    }
    if (message->from != message->to && takes > messages->heaviest_takes) {
        messages->heaviest = messages->count;
        messages->heaviest_takes = takes;
    }
    messages->list[messages->count++] = *message;
}

/* Writing is a message from a rank to itself. */
static void visit(void *context, const struct strag_op *op)
{
    struct strag_traffic *traffic = context;
    const bool sends = op->kind == STRAG_SEND;
    traffic->visited++;
    if (op->round < traffic->first_seen)
        traffic->first_seen = op->round;
    if (traffic->counts_only || traffic->failed)
        return;
    const bool counted = counts(traffic, op);
    if (!counted && !traffic->written)
        return;
    const double amount =
        strag_block_fraction(&traffic->subject.instance.shape.bounds, op->first, op->count);
    if (traffic->written && !sends)
        note_change(traffic, op);
    if (sends && is_written(traffic, traffic->rank, op->peer) && writes(traffic, op))
        add_message(traffic, op->round,
                    &(struct strag_message){traffic->rank, traffic->rank, .amount = amount});
    if (counted)
        add_message(traffic, op->round,
                    &(struct strag_message){
                        .from = sends ? traffic->rank : op->peer,
                        .to = sends ? op->peer : traffic->rank,
                        .amount = amount,
                        .latency = waiting(traffic, op),
                        .reducing = receiving(traffic, op, amount),
                    });
}

/* @return how many ranks stand for all */
static int count_receivers(const struct strag_traffic *traffic)
{
    int n = traffic->subject.instance.problem.n, receivers = 0;
    for (int r = 0; r < n; r++)
        receivers += strag_traffic_like(traffic, r) == r;
    return receivers;
}

int strag_traffic_open(struct strag_traffic *traffic, const struct strag_algorithm *algorithm,
                       const struct strag_problem *problem, struct strag_platform *platform,
                       struct strag_error *err)
{
    *traffic = (struct strag_traffic){.platform = platform, .visited_most = INT64_MAX};
    int status = strag_subject_open(&traffic->subject, algorithm, problem, platform->links, visit,
                                    traffic, err);
    if (status != STRAG_OK)
        return status;
    platform->traffics++;
    status =
        strag_symmetry_open(&traffic->subject.instance, platform->links, &traffic->symmetry, err);
    if (status != STRAG_OK)
        return strag_traffic_close(traffic, status, err);
    traffic->receivers = count_receivers(traffic);
    if (platform->links->model.written_once) {
        traffic->written = calloc((size_t)problem->n, sizeof *traffic->written);
        if (!traffic->written)
            return strag_traffic_close(traffic, no_memory(traffic, err), err);
    }
    return STRAG_OK;
}

int strag_traffic_narrow(struct strag_traffic *traffic, int messages, int rounds,
                         struct strag_error *err)
{
    const struct strag_problem *problem = &traffic->subject.instance.problem;
    traffic->visited_most = (int64_t)OPERATIONS_PER_MESSAGE * messages;
    if ((int64_t)traffic->receivers * rounds < messages || traffic->symmetry.rank)
        return STRAG_OK;
    if (rounds > ROUNDS_ON_GRIDS &&
        traffic->platform->links->topology->network != STRAG_NETWORK_TREE)
        return too_many(traffic, err);
    traffic->sample = strag_platform_sample(traffic->platform, problem, messages / rounds);
    if (!traffic->sample)
        return no_memory(traffic, err);
    if (traffic->sample->count >= problem->n)
        traffic->sample = NULL;
    else
        traffic->receivers = traffic->sample->count;
    return STRAG_OK;
}

/* Room for one more route. */
static bool grow_hops(struct strag_platform *platform, size_t used)
{
    size_t needed = used + (size_t)platform->links->longest;
    if (needed <= platform->hops_room)
        return true;
    void *moved = realloc(platform->hops, 2 * needed * sizeof *platform->hops);
    if (!moved)
        return false;
    platform->hops = moved;
    platform->hops_room = 2 * needed;
    return true;
}

/* One of the two links that only a rank itself uses? */
static bool is_own(const struct strag_traffic *traffic, int rank, int link)
{
    return link / 2 == traffic->subject.links->topology->leaf_node[rank];
}

/* A rank's own links stand for the rank where it writes and reads: upwards it writes, which is a
 * message by itself, downwards it reads what others have written.
 * @return for how many seconds per byte of the vector; NOT_OWN: the link is another one */
static double own_work(const struct strag_traffic *traffic, const struct strag_message *message,
                       int link)
{
    if (message->from == message->to || !is_written(traffic, message->from, message->to))
        return NOT_OWN;
    return is_own(traffic, message->from, link) ? 0
           : is_own(traffic, message->to, link) ? message->reducing
                                                : NOT_OWN;
}

/* What a message adds to a link on its route; the hop then names the one that stands for it. */
static void load_hop(struct strag_traffic *traffic, const struct strag_message *message,
                     struct strag_hop *hop, int repeats)
{
    struct strag_platform *platform = traffic->platform;
    const double own = traffic->written ? own_work(traffic, message, hop->link) : NOT_OWN;
    double weight = 1;
    if (traffic->sample) {
        struct strag_sampled_hop sampled = strag_sample_hop(traffic->sample, platform->links,
                                                            message->from, message->to, hop->link);
        hop->link = sampled.link;
        weight = sampled.weight;
    } else if (traffic->symmetry.link) {
        hop->link = traffic->symmetry.link[hop->link];
        weight = strag_symmetry_weight(&traffic->symmetry, message->to, hop->link);
    }
    struct strag_load *load = &platform->load[hop->link];
    double bytes = hop->share * message->amount * weight;
    if (load->round != platform->rounds) {
        load->round = platform->rounds;
        load->busy = 0;
    }
    if (load->traffic != platform->traffics) {
        load->traffic = platform->traffics;
        load->total = 0;
    }
    if (!(load->pace > 0))
        load->pace = strag_platform_pace(platform, hop->link);
    load->busy += own == NOT_OWN ? bytes * load->pace : own * weight;
    load->total += bytes * repeats;
    if (load->total > traffic->busiest)
        traffic->busiest = load->total;
}

static struct strag_route route_of(const struct strag_traffic *traffic,
                                   const struct strag_message *message, struct strag_hop *hops)
{
    struct strag_links *links = traffic->subject.links;
    if (message->from != message->to)
        return strag_links_route(links, message->from, message->to, hops);
    hops[0] = (struct strag_hop){2 * links->topology->leaf_node[message->from], 1};
    return (struct strag_route){0, 1};
}

/* Long routes count as well: a ring of very many hosts has messages through thousands of links. */
static int load_links(struct strag_traffic *traffic, struct strag_messages *messages, int repeats,
                      struct strag_error *err)
{
    size_t used = 0;
    for (int m = 0; m < messages->count; m++) {
        struct strag_message *message = &messages->list[m];
        if (!grow_hops(traffic->platform, used))
            return no_memory(traffic, err);
        struct strag_hop *hops = traffic->platform->hops + used;
        struct strag_route route = route_of(traffic, message, hops);
        for (int h = 0; h < route.nhops; h++)
            load_hop(traffic, message, &hops[h], repeats);
        message->latency += route.latency;
        used += (size_t)route.nhops;
        message->hops_end = used;
        traffic->visited += route.nhops / HOPS_PER_OPERATION;
        if (traffic->visited > traffic->visited_most)
            return too_many(traffic, err);
    }
    return STRAG_OK;
}

/* What is written is read afterwards, by a rank that reads one message after another. */
static void price_messages(const struct strag_traffic *traffic, struct strag_messages *messages)
{
    size_t h = 0;
    for (int m = 0; m < messages->count; m++) {
        struct strag_message *message = &messages->list[m];
        const bool reads =
            message->from != message->to && is_written(traffic, message->from, message->to);
        for (; h < message->hops_end; h++) {
            double busy = traffic->platform->load[traffic->platform->hops[h].link].busy;
            if (reads && h + 1 == message->hops_end)
                message->reducing = busy;
            else if (busy > message->per_byte)
                message->per_byte = busy;
        }
    }
}

int strag_traffic_joins(struct strag_traffic *traffic, int rank)
{
    int rounds = traffic->subject.instance.claim.rounds;
    int64_t before = traffic->visited;
    traffic->counts_only = true;
    traffic->first_seen = rounds;
    for (int first = 0, end = 1; first < traffic->first_seen; first = end, end *= 2) {
        end = end < rounds ? end : rounds;
        strag_subject_visit(&traffic->subject, rank, (struct strag_rounds){first, end});
    }
    traffic->counts_only = false;
    traffic->visited = before;
    return traffic->first_seen;
}

int64_t strag_traffic_operations(struct strag_traffic *traffic, int rank, int64_t most)
{
    enum { AT_ONCE = 1024 };
    int rounds = traffic->subject.instance.claim.rounds;
    int64_t before = traffic->visited, operations = 0;
    traffic->counts_only = true;
    for (int round = 0; round < rounds && operations <= most; round += AT_ONCE) {
        int end = rounds - round > AT_ONCE ? round + AT_ONCE : rounds;
        strag_subject_visit(&traffic->subject, rank, (struct strag_rounds){round, end});
        operations = traffic->visited - before;
    }
    traffic->counts_only = false;
    traffic->visited = before;
    return operations;
}

/* @return STRAG_ERR_UNSUPPORTED where there are too many operations */
static int visit_ranks(struct strag_traffic *traffic, struct strag_rounds rounds,
                       struct strag_error *err)
{
    const struct strag_sample *sample = traffic->sample;
    int count = sample ? sample->count : traffic->subject.instance.problem.n;
    for (int i = 0; i < count; i++) {
        traffic->rank = sample ? sample->rank[i] : i;
        if (!sample && strag_traffic_like(traffic, i) != i)
            continue;
        strag_subject_visit(&traffic->subject, traffic->rank, rounds);
        traffic->visited += OPERATIONS_PER_VISIT;
        if (traffic->visited > traffic->visited_most)
            return too_many(traffic, err);
    }
    return STRAG_OK;
}

int strag_traffic_gather(struct strag_traffic *traffic, struct strag_rounds rounds,
                         struct strag_error *err)
{
    int ranks = traffic->sample ? traffic->sample->count : traffic->subject.instance.problem.n;
    int most = GATHERED_RANKS / ranks;
    most = most < 1 ? 1 : most > STRAG_PLATFORM_ROUNDS ? STRAG_PLATFORM_ROUNDS : most;
    if (rounds.end - rounds.first > most)
        rounds.end = rounds.first + most;
    traffic->gathered = rounds;
    for (int i = 0; i < rounds.end - rounds.first; i++) {
        traffic->platform->messages[i].count = traffic->platform->messages[i].heaviest = 0;
        traffic->platform->messages[i].heaviest_takes = 0;
    }
    int status = visit_ranks(traffic, rounds, err);
    if (status != STRAG_OK)
        return status;
    /* With room for a route, for strag_traffic_alone. */
    return traffic->failed || !grow_hops(traffic->platform, 0) ? no_memory(traffic, err) : STRAG_OK;
}

struct strag_message strag_traffic_alone(struct strag_traffic *traffic, int round)
{
    const struct strag_messages *messages = strag_traffic_messages(traffic, round);
    if (messages->count == 0)
        return (struct strag_message){0};
    struct strag_message message = messages->list[messages->heaviest];
    struct strag_hop *hops = traffic->platform->hops;
    struct strag_route route = route_of(traffic, &message, hops);
    message.latency = route.latency;
    for (int h = 0; h < route.nhops; h++) {
        double busy =
            hops[h].share * message.amount * strag_platform_pace(traffic->platform, hops[h].link);
        if (busy > message.per_byte && own_work(traffic, &message, hops[h].link) == NOT_OWN)
            message.per_byte = busy;
    }
    return message;
}

int strag_traffic_round(struct strag_traffic *traffic, int round, int repeats,
                        struct strag_error *err)
{
    struct strag_messages *messages = strag_traffic_messages(traffic, round);
    traffic->platform->rounds++;
    int status = load_links(traffic, messages, repeats, err);
    if (status == STRAG_OK)
        price_messages(traffic, messages);
    return status;
}

int strag_traffic_close(struct strag_traffic *traffic, int status, struct strag_error *err)
{
    free(traffic->written);
    strag_symmetry_close(&traffic->symmetry);
    return strag_subject_close(&traffic->subject, status, err);
}
