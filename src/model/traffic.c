/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A round's messages are the receives of all ranks. First their bytes are added to the links of
 * their routes; then each message is as slow as the most loaded of its links. The receives of
 * several rounds are gathered together, since algorithms do much before a rank's first operation.
 */
#include "model/traffic.h"

#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Pricing is given up with more operations than this many per message. A visit of a rank takes as
 * long as this many operations, and an operation as long as this many hops. */
enum { OPERATIONS_PER_MESSAGE = 8, OPERATIONS_PER_VISIT = 8, HOPS_PER_OPERATION = 8 };

/* Foreseen numbers of operations may be wrong by this factor, since ranks differ. */
static const double UNSURE = 1.5;

/* An algorithm with this many different rounds does not go by dimensions, so a grid's lines
 * differ. */
enum { ROUNDS_ON_GRIDS = 256 };

/* Rounds are gathered as long as the messages of this many ranks take no more memory than one round
 * of a large job does. */
enum { GATHERED_RANKS = 1 << 17 };

static const double NOT_OWN = -1;

enum { NONE = -1 };

/* ---- Subjects ---- */

int strag_subject_open(struct strag_subject *subject, const struct strag_algorithm *algorithm,
                       const struct strag_problem *problem, struct strag_links *links,
                       strag_visit_fn *visit, void *context, struct strag_error *err)
{
    *subject = (struct strag_subject){.links = links, .chained = 1};
    int status = strag_instance_open(&subject->instance, algorithm, problem, err);
    const struct strag_claim *claim = &subject->instance.claim;
    if (status == STRAG_OK && claim->chain > 0 && claim->chain < claim->rounds)
        subject->chained = (double)claim->chain / claim->rounds;
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
    return strag_fail(err, STRAG_ERR_UNSUPPORTED, "%s has more messages than are examined",
                      traffic->subject.instance.algorithm->name);
}

/* Seconds per byte of a link between two ranks, by the model. */
static double link_seconds(const struct strag_traffic *traffic, int from, int to)
{
    return strag_topology_same_host(traffic->subject.links->topology, from, to)
               ? traffic->local_pace
               : traffic->pace;
}

/* Is a message read from where its sender has written it? */
static bool is_written(const struct strag_traffic *traffic, int from, int to)
{
    return traffic->written && strag_topology_same_host(traffic->subject.links->topology, from, to);
}

/* Does the visited rank have to write this range, or has it done so already? The rounds between two
 * examined ones may be unknown. */
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

/* A receive changes the range that the rank has written. */
static void note_change(struct strag_traffic *traffic, const struct strag_op *op)
{
    struct strag_written *last = &traffic->written[traffic->rank];
    if (op->first < last->first + last->count && last->first < op->first + op->count)
        last->count = 0;
}

/* @return the number of messages of the round that the rank reads before this one */
static int read_before(struct strag_traffic *traffic, const struct strag_op *op)
{
    struct strag_written *rank = &traffic->written[traffic->rank];
    rank->read = rank->read_round == op->round + 1 ? rank->read + 1 : 0;
    rank->read_round = op->round + 1;
    return rank->read;
}

/* A send counts only if its receiver is not examined. */
static bool counts(const struct strag_traffic *traffic, const struct strag_op *op)
{
    const struct strag_sample *sample = traffic->sample;
    return op->kind != STRAG_SEND || (sample && sample->sends && sample->unit[op->peer] < 0);
}

/* Seconds per byte of the vector that a message keeps its receiver busy after its arrival. */
static double receiving(const struct strag_traffic *traffic, const struct strag_gathered *message)
{
    const struct strag_model *model = &traffic->subject.links->model;
    if (message->kind == STRAG_RECV && is_written(traffic, message->from, message->to))
        return message->amount / model->local_bandwidth;
    return message->kind == STRAG_RECV_REDUCE && model->reduce_bandwidth > 0
               ? message->amount / model->reduce_bandwidth
               : 0;
}

/* @param number  of the round @return the message, to which the receiver's kind is to be added;
 * NULL if out of memory */
static struct strag_gathered *add_message(struct strag_traffic *traffic, int number, int from,
                                          int to, double amount)
{
    struct strag_platform *platform = traffic->platform;
    struct strag_round *round = &traffic->round[number];
    const int message = traffic->gathered;
    if (message >= platform->gathered_room &&
        !strag_array_grow(&platform->gathered, &platform->gathered_room, message + 1,
                          sizeof *platform->gathered)) {
        traffic->failed = true;
        return NULL;
    }
    traffic->gathered++;
    const double takes = from != to ? amount * link_seconds(traffic, from, to) : 0;
    if (takes > round->heaviest_takes) {
        round->heaviest = message;
        round->heaviest_takes = takes;
    }
    if (round->count++ == 0)
        round->first = message;
    else
        platform->gathered[round->last].next = message;
    round->last = message;
    struct strag_gathered *made = &platform->gathered[message];
    *made = (struct strag_gathered){from, to, NONE, 0, STRAG_SEND, amount};
    return made;
}

/* Count a message that a rank posts, since it posts one after the other. */
static void note_posted(struct strag_traffic *traffic, struct strag_round *round,
                        const struct strag_op *op)
{
    if (strag_topology_same_host(traffic->subject.links->topology, traffic->rank, op->peer))
        return;
    if (round->poster != traffic->rank)
        round->posts = (struct strag_posts){0};
    round->poster = traffic->rank;
    (void)strag_post(&round->posts, op);
    const int posted = strag_posts_further(&round->posts);
    if (posted > round->posted)
        round->posted = posted;
}

/* Seconds of the rank with the most posts for those beyond the first. */
static double posting(const struct strag_traffic *traffic, int number)
{
    return traffic->round[number].posted * traffic->subject.links->model.overhead;
}

/* Add an operation to a round that is examined. Writing is a message from a rank to itself. */
static void gather(struct strag_traffic *traffic, int number, const struct strag_op *op,
                   bool counted)
{
    const bool sends = op->kind == STRAG_SEND;
    const int from = sends ? traffic->rank : op->peer, to = sends ? op->peer : traffic->rank;
    const double amount =
        strag_block_fraction(&traffic->subject.instance.shape.bounds, op->first, op->count);
    if (traffic->written && !sends)
        note_change(traffic, op);
    if (sends && is_written(traffic, from, to) && writes(traffic, op))
        add_message(traffic, number, from, from, amount);
    struct strag_gathered *made = counted ? add_message(traffic, number, from, to, amount) : NULL;
    if (!made || sends)
        return;
    made->kind = op->kind;
    if (is_written(traffic, from, to))
        made->before = (unsigned)read_before(traffic, op);
}

static void visit(void *context, const struct strag_op *op)
{
    struct strag_traffic *traffic = context;
    traffic->visited++;
    traffic->platform->examined++;
    if (traffic->counts_only) {
        if (op->round < traffic->first_seen)
            traffic->first_seen = op->round;
        return;
    }
    const int number = traffic->number_of[op->round - traffic->round[0].round];
    const bool counted = counts(traffic, op);
    if (number != NONE && traffic->subject.links->model.overhead > 0)
        note_posted(traffic, &traffic->round[number], op);
    if (number != NONE && (counted || traffic->written) && !traffic->failed)
        gather(traffic, number, op, counted);
}

/* Are all hosts directly below the root, so that only their order shows distances? */
static bool is_in_order(const struct strag_topology *topology)
{
    return topology->network == STRAG_NETWORK_TREE && topology->hosts > 2 &&
           topology->nodes[topology->host_node[0]].parent == 0 &&
           topology->nodes[topology->host_node[topology->n - 1]].parent == 0;
}

int strag_traffic_open(struct strag_traffic *traffic, const struct strag_algorithm *algorithm,
                       const struct strag_problem *problem, struct strag_platform *platform,
                       struct strag_error *err)
{
    *traffic = (struct strag_traffic){
        .platform = platform,
        .receivers = problem->n,
        .examined_least = INT64_MAX,
        .visited_most = INT64_MAX,
        .pace = 1 / platform->links->model.bandwidth,
        .local_pace = 1 / platform->links->model.local_bandwidth,
    };
    int status = strag_subject_open(&traffic->subject, algorithm, problem, platform->links, visit,
                                    traffic, err);
    if (status != STRAG_OK)
        return status;
    platform->traffics++;
    traffic->in_order = is_in_order(platform->links->topology);
    if (platform->links->model.written_once) {
        traffic->written = calloc((size_t)problem->n, sizeof *traffic->written);
        if (!traffic->written)
            return strag_traffic_close(traffic, no_memory(traffic, err), err);
    }
    return STRAG_OK;
}

int strag_traffic_narrow(struct strag_traffic *traffic, int messages, int rounds, int64_t at_once,
                         struct strag_error *err)
{
    const struct strag_problem *problem = &traffic->subject.instance.problem;
    traffic->visited_most = (int64_t)OPERATIONS_PER_MESSAGE * messages;
    if (at_once * traffic->receivers * rounds < messages)
        return STRAG_OK;
    if (rounds > ROUNDS_ON_GRIDS &&
        traffic->platform->links->topology->network != STRAG_NETWORK_TREE)
        return too_many(traffic, err);
    traffic->sample =
        strag_platform_sample(traffic->platform, problem, (int)(messages / rounds / at_once));
    if (!traffic->sample)
        return no_memory(traffic, err);
    if (traffic->sample->count >= problem->n)
        traffic->sample = NULL;
    else
        traffic->receivers = traffic->sample->count;
    return at_once > 1 && at_once * traffic->receivers > messages ? too_many(traffic, err)
                                                                  : STRAG_OK;
}

int strag_traffic_foresee(const struct strag_traffic *traffic, int64_t visits, int64_t operations,
                          struct strag_error *err)
{
    const double each = (double)visits * OPERATIONS_PER_VISIT + (double)operations;
    return traffic->receivers * each > UNSURE * (double)traffic->visited_most
               ? too_many(traffic, err)
               : STRAG_OK;
}

/* Make room for one more route. */
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

/* Is this one of the two links that only the rank itself uses? */
static bool is_own(const struct strag_traffic *traffic, int rank, int link)
{
    return link / 2 == traffic->subject.links->topology->leaf_node[rank];
}

/* If messages are written, a rank's own links stand for its work: the upward one for writing, which
 * is a message of its own, the downward one for reading. @return seconds per byte of the vector;
 * NOT_OWN for other links */
static double own_work(const struct strag_traffic *traffic, const struct strag_message *message,
                       int link)
{
    if (message->from == message->to || !is_written(traffic, message->from, message->to))
        return NOT_OWN;
    return is_own(traffic, message->from, link) ? 0
           : is_own(traffic, message->to, link) ? message->reducing
                                                : NOT_OWN;
}

/* Begin a link's load in a round, and in a candidate if it has none yet. */
static void begin_load(const struct strag_platform *platform, int link)
{
    struct strag_load *load = &platform->load[link];
    load->round = platform->rounds;
    load->busy = 0;
    if (load->traffic != platform->traffics) {
        load->traffic = platform->traffics;
        load->total = 0;
    }
    if (!(load->pace > 0))
        load->pace = strag_platform_pace(platform, link);
}

/* @param busy  seconds per byte of the vector, or NOT_OWN if they follow from the bytes */
static inline void add_load(struct strag_traffic *traffic, int link, double bytes, double busy,
                            int repeats)
{
    struct strag_platform *platform = traffic->platform;
    struct strag_load *load = &platform->load[link];
    if (load->round != platform->rounds)
        begin_load(platform, link);
    load->busy += busy == NOT_OWN ? bytes * load->pace : busy;
    load->total += bytes * repeats;
    if (load->total > traffic->busiest)
        traffic->busiest = load->total;
}

/* The link that stands for one on a message's route, and the weight of the message there. */
static inline struct strag_sampled_hop stand_in(const struct strag_traffic *traffic, int from,
                                                int to, int link)
{
    return traffic->sample
               ? strag_sample_hop(traffic->sample, traffic->subject.links, from, to, link)
               : (struct strag_sampled_hop){link, 1};
}

/* Add a message to a link on its route. The hop then has the link that stands for it. */
static void load_hop(struct strag_traffic *traffic, const struct strag_message *message,
                     struct strag_hop *hop, double amount, int repeats)
{
    const double own = traffic->written ? own_work(traffic, message, hop->link) : NOT_OWN;
    const struct strag_sampled_hop counted =
        stand_in(traffic, message->from, message->to, hop->link);
    hop->link = counted.link;
    add_load(traffic, counted.link, hop->share * amount * counted.weight,
             own == NOT_OWN ? NOT_OWN : own * counted.weight, repeats);
}

/* As strag_links_route and load_hop in one, for a message on a tree if messages are not written
 * once. @return the number of hops */
static int load_on_tree(struct strag_traffic *traffic, const struct strag_gathered *gathered,
                        struct strag_message *message, struct strag_hop *hops, int repeats)
{
    const struct strag_links *links = traffic->subject.links;
    const struct strag_topology *topology = links->topology;
    const struct strag_node *nodes = topology->nodes;
    const int from = gathered->from, to = gathered->to;
    int up = topology->host_node[from], down = topology->host_node[to], count = 0;
    const bool local = up == down;
    if (local) {
        up = topology->leaf_node[from];
        down = topology->leaf_node[to];
    }
    while (up != down) {
        const bool climbs = up > down;
        const int link = climbs ? 2 * up : 2 * down + 1;
        const struct strag_sampled_hop counted = stand_in(traffic, from, to, link);
        add_load(traffic, counted.link, gathered->amount * counted.weight, NOT_OWN, repeats);
        hops[count++].link = counted.link;
        if (climbs)
            up = nodes[up].parent;
        else
            down = nodes[down].parent;
    }
    *message = (struct strag_message){
        .from = from,
        .to = to,
        .latency =
            local ? links->model.local_alpha
                  : strag_subject_latency(&traffic->subject,
                                          links->model.alpha + count * (links->model.link_latency +
                                                                        links->model.hop_latency)),
        .reducing = receiving(traffic, gathered),
    };
    const int pair = strag_links_pair(links, topology->host_node[from], topology->host_node[to]);
    if (pair >= 0) {
        const struct strag_sampled_hop counted = stand_in(traffic, from, to, pair);
        add_load(traffic, counted.link, gathered->amount * counted.weight, NOT_OWN, repeats);
        hops[count++].link = counted.link;
    }
    return count;
}

/* @return the number of hops */
static int find_route(const struct strag_traffic *traffic, const struct strag_gathered *gathered,
                      struct strag_message *message, struct strag_hop *hops)
{
    struct strag_links *links = traffic->subject.links;
    struct strag_route route = {0, 1};
    if (gathered->from != gathered->to)
        route = strag_links_route(links, gathered->from, gathered->to, hops);
    if (!strag_topology_same_host(links->topology, gathered->from, gathered->to))
        route.latency = strag_subject_latency(&traffic->subject, route.latency);
    if (gathered->from == gathered->to)
        hops[0] = (struct strag_hop){2 * links->topology->leaf_node[gathered->from], 1};
    *message = (struct strag_message){
        .from = gathered->from,
        .to = gathered->to,
        .latency = route.latency + gathered->before * links->model.local_alpha,
        .reducing = receiving(traffic, gathered),
    };
    return route.nhops;
}

/* @return the number of hops */
static int load_route(struct strag_traffic *traffic, const struct strag_gathered *gathered,
                      struct strag_message *message, struct strag_hop *hops, int repeats)
{
    int nhops = find_route(traffic, gathered, message, hops);
    for (int h = 0; h < nhops; h++)
        load_hop(traffic, message, &hops[h], gathered->amount, repeats);
    return nhops;
}

/* How much likelier does a message over `away` hosts, in their order, leave a group of hosts than
 * one between neighbours? Groups are blocks of g consecutive hosts, with g unknown: on a
 * logarithmic scale all g from 1 to all hosts are equally likely. A message over d hosts leaves its
 * group with probability min(1, d / g). So the result is (ln d - (d - 1) / hosts) / ln hosts, here
 * without the divisor. The logarithm to base 2 is interpolated linearly between powers of two. */
static double leaving(int away, int hosts)
{
    int log = 0;
    while (away >> log > 1)
        log++;
    const double base2 = log + (double)away / (1 << log) - 1;
    return M_LN2 * base2 - (double)(away - 1) / hosts;
}

/* Nodes of hosts are numbered in the hosts' order. The last host counts as next to the first. */
static void note_distance(struct strag_traffic *traffic, const struct strag_gathered *gathered,
                          int repeats)
{
    const struct strag_topology *topology = traffic->subject.links->topology;
    const int ahead = abs(topology->host_node[gathered->to] - topology->host_node[gathered->from]);
    const int away = ahead <= topology->hosts / 2 ? ahead : topology->hosts - ahead;
    if (away == 0)
        return;
    traffic->moved += gathered->amount * repeats;
    traffic->leaving += gathered->amount * repeats * leaving(away, topology->hosts);
}

/* Hops count as operations, too: on a ring of very many hosts messages cross thousands of links. */
static int load_links(struct strag_traffic *traffic, const struct strag_round *round, int repeats,
                      struct strag_error *err)
{
    struct strag_platform *platform = traffic->platform;
    const bool on_tree =
        !traffic->written && traffic->subject.links->topology->network == STRAG_NETWORK_TREE;
    size_t used = 0;
    for (int g = round->first; g != NONE; g = platform->gathered[g].next) {
        struct strag_message *message = &platform->messages[traffic->messages++];
        if (!grow_hops(platform, used))
            return no_memory(traffic, err);
        const struct strag_gathered *gathered = &platform->gathered[g];
        if (traffic->in_order)
            note_distance(traffic, gathered, repeats);
        struct strag_hop *hops = platform->hops + used;
        int nhops = 0;
        if (on_tree)
            nhops = load_on_tree(traffic, gathered, message, hops, repeats);
        else
            nhops = load_route(traffic, gathered, message, hops, repeats);
        used += (size_t)nhops;
        message->hops_end = used;
        traffic->visited += nhops / HOPS_PER_OPERATION;
        if (traffic->visited > traffic->visited_most)
            return too_many(traffic, err);
    }
    return STRAG_OK;
}

/* A rank reduces one message after another, so all of its messages, which are consecutive here, end
 * when it has reduced the last one. */
static void add_up_reducing(const struct strag_traffic *traffic)
{
    struct strag_message *messages = traffic->platform->messages;
    for (int first = 0, end; first < traffic->messages; first = end) {
        double reducing = 0;
        for (end = first; end < traffic->messages && messages[end].to == messages[first].to; end++)
            reducing += messages[end].reducing;
        for (int m = first; m < end; m++)
            messages[m].reducing = reducing;
    }
}

/* Written messages are read afterwards, by a rank that reads one after another. */
static void price_messages(struct strag_traffic *traffic, int number)
{
    const struct strag_platform *platform = traffic->platform;
    const double posted = posting(traffic, number), chained = traffic->subject.chained;
    size_t h = 0;
    traffic->overlaps = (1 - chained) * posted;
    traffic->posting = posted + 2 * (1 - chained) * platform->links->model.overhead;
    if (!traffic->written)
        add_up_reducing(traffic);
    for (int m = 0; m < traffic->messages; m++) {
        struct strag_message *message = &platform->messages[m];
        message->latency += chained * posted;
        const bool reads =
            message->from != message->to && is_written(traffic, message->from, message->to);
        for (; h < message->hops_end; h++) {
            double busy = platform->load[platform->hops[h].link].busy;
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

/* The number of unique rounds to count next: some at first, then as many as reach `most` if they
 * have as many operations as those so far. */
static int rounds_to_count(int round, int64_t operations, int64_t most)
{
    enum { FEWEST = 32, MOST = 1024 };
    const double wanted = operations > 0 ? (double)(most - operations) * round / (double)operations
                          : round > 0    ? MOST
                                         : FEWEST;
    return wanted < FEWEST ? FEWEST : wanted > MOST ? MOST : (int)wanted + 1;
}

int64_t strag_traffic_operations(struct strag_traffic *traffic, int rank, int64_t most)
{
    const struct strag_instance *instance = &traffic->subject.instance;
    const int64_t visited = traffic->visited;
    int64_t operations = 0, examined = 0;
    traffic->counts_only = true;
    for (int round = 0; round < instance->claim.rounds && operations <= most;) {
        const int64_t before = traffic->visited;
        int period =
            strag_instance_single_rounds(instance, round, rounds_to_count(round, operations, most));
        const int repeats = period > 0 ? 1 : strag_instance_same_rounds(instance, round, &period);
        const int end = round + period;
        strag_subject_visit(&traffic->subject, rank, (struct strag_rounds){round, end});
        operations += repeats * (traffic->visited - before);
        examined += traffic->visited - before;
        round += period * repeats;
    }
    traffic->counts_only = false;
    traffic->visited = visited;
    if (examined < traffic->examined_least)
        traffic->examined_least = examined;
    if (examined > traffic->examined)
        traffic->examined = examined;
    return operations;
}

/* @return STRAG_ERR_UNSUPPORTED if there are too many operations */
static int visit_ranks(struct strag_traffic *traffic, struct strag_rounds rounds,
                       struct strag_error *err)
{
    const struct strag_sample *sample = traffic->sample;
    int count = sample ? sample->count : traffic->subject.instance.problem.n;
    for (int i = 0; i < count; i++) {
        traffic->rank = sample ? sample->rank[i] : i;
        strag_subject_visit(&traffic->subject, traffic->rank, rounds);
        traffic->visited += OPERATIONS_PER_VISIT;
        if (traffic->visited > traffic->visited_most)
            return too_many(traffic, err);
    }
    return STRAG_OK;
}

int strag_traffic_most(const struct strag_traffic *traffic)
{
    int ranks = traffic->sample ? traffic->sample->count : traffic->subject.instance.problem.n;
    int most = GATHERED_RANKS / ranks;
    return most < 1 ? 1 : most > STRAG_PLATFORM_ROUNDS ? STRAG_PLATFORM_ROUNDS : most;
}

int strag_traffic_gather(struct strag_traffic *traffic, const int *rounds, int count,
                         struct strag_error *err)
{
    int first = rounds[0], span = rounds[count - 1] - first + 1;
    memset(traffic->number_of, NONE, (size_t)span * sizeof *traffic->number_of);
    traffic->rounds = count;
    traffic->gathered = 0;
    for (int i = 0; i < count; i++) {
        traffic->number_of[rounds[i] - first] = (int16_t)i;
        traffic->round[i] =
            (struct strag_round){rounds[i], 0, NONE, NONE, NONE, -1, .poster = NONE};
    }
    int status = visit_ranks(traffic, (struct strag_rounds){first, first + span}, err);
    if (status != STRAG_OK)
        return status;
    /* strag_traffic_alone needs room for a route. */
    return traffic->failed || !grow_hops(traffic->platform, 0) ? no_memory(traffic, err) : STRAG_OK;
}

struct strag_message strag_traffic_alone(struct strag_traffic *traffic, int number)
{
    const struct strag_round *round = &traffic->round[number];
    struct strag_message message = {0};
    if (round->count == 0)
        return message;
    const struct strag_gathered *heaviest = &traffic->platform->gathered[round->heaviest];
    struct strag_hop *hops = traffic->platform->hops;
    int nhops = find_route(traffic, heaviest, &message, hops);
    message.latency += traffic->subject.chained * posting(traffic, number);
    for (int h = 0; h < nhops; h++) {
        double busy =
            hops[h].share * heaviest->amount * strag_platform_pace(traffic->platform, hops[h].link);
        if (busy > message.per_byte && own_work(traffic, &message, hops[h].link) == NOT_OWN)
            message.per_byte = busy;
    }
    return message;
}

int strag_traffic_round(struct strag_traffic *traffic, int number, int repeats,
                        struct strag_error *err)
{
    struct strag_platform *platform = traffic->platform;
    const struct strag_round *round = &traffic->round[number];
    platform->rounds++;
    platform->examined += round->count;
    traffic->messages = 0;
    if (!strag_array_grow(&platform->messages, &platform->messages_room, round->count,
                          sizeof *platform->messages))
        return no_memory(traffic, err);
    int status = load_links(traffic, round, repeats, err);
    if (status == STRAG_OK)
        price_messages(traffic, number);
    return status;
}

int strag_traffic_close(struct strag_traffic *traffic, int status, struct strag_error *err)
{
    free(traffic->written);
    return strag_subject_close(&traffic->subject, status, err);
}
