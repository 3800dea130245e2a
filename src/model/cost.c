/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Mode `rounds`: keep, of each round, the lines that are the longest at some size.
 */
#include "model/cost.h"

#include "base/text.h"
#include "model/traffic.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A profile while it is made: parts and lines grow. */
struct draft {
    struct strag_profile *profile;
    int parts_room, lines_room;
    int joins; /* the first round with the last straggler; the number of rounds if there is none */
    int joined[STRAG_JOINS_MAX]; /* [profile->joins]: the first round with an earlier one */
    const struct strag_attempt *attempt;
    int every; /* one of this many unique rounds is priced */
    bool pruned;
};

/* A round that is priced for `repeats` rounds. */
struct look {
    int round, repeats;
    bool same; /* the algorithm declares these rounds identical */
};

/* Rounds that are gathered together, in one visit of each rank. Rounds between them may be passed
 * over if they have fewer operations than a further visit is worth. */
enum { PASSED_OVER = 4 };
struct batch {
    int count;
    struct look look[STRAG_PLATFORM_ROUNDS];
};

/* Add a line unless another one of the part is at least as long at all sizes. Drop the lines to
 * which it is such a line. */
static bool add_line(struct draft *draft, struct strag_profile_part *part,
                     struct strag_cost_line line)
{
    struct strag_profile *profile = draft->profile;
    struct strag_cost_line *lines = profile->lines + part->first_line;
    int kept = 0;
    for (int l = 0; l < part->lines; l++) {
        if (lines[l].latency >= line.latency && lines[l].per_byte >= line.per_byte)
            return true; /* nothing was dropped: lines below this one are below the old one */
        if (lines[l].latency > line.latency || lines[l].per_byte > line.per_byte)
            lines[kept++] = lines[l];
    }
    part->lines = kept;
    profile->nlines = part->first_line + kept;
    if (!strag_array_grow(&profile->lines, &draft->lines_room, profile->nlines + 1, sizeof line))
        return false;
    profile->lines[profile->nlines++] = line;
    part->lines++;
    return true;
}

/* Add a straggler other than the last one. Without room it counts as late as the last one. */
static void add_join(struct draft *draft, double delay, int round)
{
    struct strag_profile *profile = draft->profile;
    int at = profile->njoins;
    if (at == STRAG_JOINS_MAX) {
        draft->joins = round < draft->joins ? round : draft->joins;
        return;
    }
    for (; at > 0 && draft->joined[at - 1] > round; at--) {
        draft->joined[at] = draft->joined[at - 1];
        profile->joins[at] = profile->joins[at - 1];
    }
    draft->joined[at] = round;
    profile->joins[at] = (struct strag_profile_join){.delay = delay};
    profile->njoins++;
}

/* Find the first rounds in which late ranks take part. Stragglers that join after the last one did
 * are dropped: they are there by then. */
static void find_joins(struct draft *draft, struct strag_traffic *traffic)
{
    const struct strag_instance *instance = &traffic->subject.instance;
    const struct strag_state *state = instance->problem.state;
    draft->joins = instance->claim.rounds;
    for (int i = 0; state && i < state->nstragglers; i++) {
        const double delay = state->straggler[i].delay;
        if (!(delay > 0))
            continue;
        const int round = strag_traffic_joins(traffic, state->straggler[i].rank);
        if (delay < draft->profile->delay)
            add_join(draft, delay, round);
        else if (round < draft->joins)
            draft->joins = round;
    }
    while (draft->profile->njoins > 0 && draft->joined[draft->profile->njoins - 1] >= draft->joins)
        draft->profile->njoins--;
}

/* Make an examined round a part. @return false when out of memory */
static bool add_part(struct draft *draft, const struct strag_traffic *traffic,
                     const struct look *look)
{
    struct strag_profile *profile = draft->profile;
    struct strag_profile_part part = {
        .repeats = look->repeats, .steady = look->same, .first_line = profile->nlines};
    for (int m = 0; m < traffic->messages; m++) {
        const struct strag_message *message = &traffic->platform->messages[m];
        const struct strag_cost_line line = {message->latency,
                                             message->per_byte + message->reducing};
        const struct strag_cost_line posts = {message->latency + traffic->overlaps,
                                              message->reducing};
        if (!add_line(draft, &part, line) ||
            (traffic->overlaps > 0 && !add_line(draft, &part, posts)))
            return false;
    }
    if (!strag_array_grow(&profile->parts, &draft->parts_room, profile->nparts + 1, sizeof part))
        return false;
    profile->parts[profile->nparts++] = part;
    profile->posting += part.repeats * traffic->posting;
    profile->before += look->round < draft->joins;
    for (int j = 0; j < profile->njoins; j++)
        profile->joins[j].before += look->round < draft->joined[j];
    return true;
}

/* A lower bound on the gathered rounds from this one on. */
static struct strag_cost_line least_of_rest(struct strag_traffic *traffic,
                                            const struct batch *batch, int number)
{
    struct strag_cost_line rest = {0, 0};
    for (; number < batch->count; number++) {
        const struct strag_message alone = strag_traffic_alone(traffic, number);
        const int repeats = batch->look[number].repeats;
        rest.latency += repeats * alone.latency;
        rest.per_byte += repeats * (alone.per_byte + alone.reducing);
    }
    return rest;
}

/* @return whether to examine further rounds */
static bool goes_on(struct draft *draft, struct strag_traffic *traffic, const struct batch *batch,
                    int number)
{
    if (draft->attempt->prune) {
        const struct strag_partial_profile partial = {draft->profile,
                                                      least_of_rest(traffic, batch, number)};
        draft->pruned = draft->attempt->prune(draft->attempt->context, &partial);
    }
    return !draft->pruned;
}

/* prune() is asked less and less often, so that asking takes no more time than examining rounds. */
static bool is_time_to_ask(const struct draft *draft)
{
    int parts = draft->profile->nparts, every = 1;
    while (every < parts / 16)
        every *= 2;
    return parts % every == 0;
}

/* Examine the collected rounds, and empty the batch. */
static int look_at(struct draft *draft, struct strag_traffic *traffic, struct batch *batch,
                   struct strag_error *err)
{
    int rounds[STRAG_PLATFORM_ROUNDS] = {0}, count = batch->count;
    for (int i = 0; i < count; i++)
        rounds[i] = batch->look[i].round;
    strag_progress_part(draft->attempt->progress, rounds[0],
                        traffic->subject.instance.claim.rounds);
    int status = strag_traffic_gather(traffic, rounds, count, err);
    for (int i = 0; i < count && status == STRAG_OK; i++) {
        if (is_time_to_ask(draft) && !goes_on(draft, traffic, batch, i))
            break;
        status = strag_traffic_round(traffic, i, batch->look[i].repeats, err);
        if (status == STRAG_OK && !add_part(draft, traffic, &batch->look[i]))
            status = strag_fail(err, STRAG_ERR_MEMORY, "out of memory for the costs of %d rounds",
                                traffic->subject.instance.claim.rounds);
    }
    batch->count = 0;
    return status;
}

/* May a round be gathered together with the one before it? */
static bool is_near(const struct draft *draft, const struct strag_traffic *traffic, int passed_over)
{
    const int rounds = traffic->subject.instance.claim.rounds;
    return passed_over == 0 ||
           (int64_t)passed_over * draft->profile->operations < (int64_t)PASSED_OVER * rounds;
}

/* Collect one more round. If it cannot be gathered with the others, they are examined first. */
static int add_look(struct draft *draft, struct strag_traffic *traffic, struct batch *batch,
                    struct look look, struct strag_error *err)
{
    int status = STRAG_OK, count = batch->count;
    if (count > 0 && (count == strag_traffic_most(traffic) ||
                      look.round - batch->look[0].round >= STRAG_PLATFORM_SPAN ||
                      !is_near(draft, traffic, look.round - batch->look[count - 1].round - 1)))
        status = look_at(draft, traffic, batch, err);
    batch->look[batch->count++] = look;
    return status;
}

/* Add the rounds in order. One unique round is examined for several of them; which one varies,
 * since rounds may alternate. */
static int add_rounds(struct draft *draft, struct strag_traffic *traffic, struct strag_error *err)
{
    const struct strag_instance *instance = &traffic->subject.instance;
    struct batch batch = {0};
    int looks = 0, status = STRAG_OK;
    for (int round = 0; round < instance->claim.rounds && status == STRAG_OK && !draft->pruned;) {
        int period, repeats = strag_instance_same_rounds(instance, round, &period);
        int strangers = strag_instance_single_rounds(instance, round, draft->every);
        if (strangers > 1) {
            unsigned turn = (unsigned)looks++ * 2654435761u >> 16;
            const struct look one = {round + (int)(turn % (unsigned)strangers), strangers, false};
            status = add_look(draft, traffic, &batch, one, err);
            round += strangers;
            continue;
        }
        for (int i = 0; i < period && status == STRAG_OK && !draft->pruned; i++, looks++) {
            const struct look one = {round + i, repeats, repeats > 1};
            status = add_look(draft, traffic, &batch, one, err);
        }
        round += period * repeats;
    }
    if (status == STRAG_OK && !draft->pruned && batch.count > 0)
        status = look_at(draft, traffic, &batch, err);
    return status;
}

/* The number of rounds without repetitions of identical ones. */
static int count_looks(const struct strag_instance *instance)
{
    int looks = 0;
    for (int round = 0; round < instance->claim.rounds;) {
        int period, repeats = strag_instance_same_rounds(instance, round, &period);
        looks += period;
        round += period * repeats;
    }
    return looks;
}

/* Count the operations of two ranks, since the first one often works for others. */
static int check_operations(const struct draft *draft, struct strag_traffic *traffic,
                            struct strag_error *err)
{
    const struct strag_instance *instance = &traffic->subject.instance;
    int most = draft->attempt->operations;
    const int ranks[] = {0, instance->problem.n / 2};
    for (int i = 0; most > 0 && i < 2 && draft->profile->operations <= most; i++) {
        int64_t operations = strag_traffic_operations(traffic, ranks[i], most);
        if (operations > draft->profile->operations)
            draft->profile->operations = operations;
    }
    if (most > 0 && draft->profile->operations > most)
        return strag_fail(err, STRAG_ERR_UNSUPPORTED,
                          "%s has more than %d operations for each of %d ranks",
                          instance->algorithm->name, most, instance->problem.n);
    return STRAG_OK;
}

/* Is it clear that too much would have to be visited? Judged by the rank with fewer operations,
 * since the other one may work for many. */
static int foresee(const struct draft *draft, const struct strag_traffic *traffic, int looks,
                   struct strag_error *err)
{
    const int64_t taken = (looks + draft->every - 1) / draft->every;
    const int64_t operations = traffic->examined > 0 ? traffic->examined_least : 0;
    if (is_near(draft, traffic, draft->every - 1))
        return strag_traffic_foresee(traffic, 1 + taken / STRAG_PLATFORM_ROUNDS, operations, err);
    return strag_traffic_foresee(traffic, taken, operations / draft->every, err);
}

/* If ranks have more than DENSE messages in a round, few ranks stand for all, and at most
 * DENSE_MESSAGES are examined. Smaller jobs than DENSE_RANKS are excluded: there the estimates of
 * flexreduce-direct would be 9 % wrong (test_scale). */
enum { DENSE = 16, DENSE_MESSAGES = 1 << 13, DENSE_RANKS = 200 };

/* Examine fewer ranks and rounds if there would be too many messages. */
static int narrow(struct draft *draft, struct strag_traffic *traffic, int looks,
                  struct strag_error *err)
{
    int messages = draft->attempt->messages;
    if (messages == 0 || looks == 0)
        return STRAG_OK;
    int64_t at_once = traffic->examined / 2 / looks;
    if (at_once <= DENSE || traffic->subject.instance.problem.n <= DENSE_RANKS)
        at_once = 1;
    else if (messages > DENSE_MESSAGES)
        messages = DENSE_MESSAGES;
    int status = strag_traffic_narrow(traffic, messages, looks, at_once, err);
    int64_t more = traffic->receivers * at_once * looks / messages;
    draft->every = more < looks ? 1 + (int)more : looks;
    return status == STRAG_OK ? foresee(draft, traffic, looks, err) : status;
}

/* For strag_profile.crossing. Any allreduce moves 2 (G - 1) vectors between G groups. Of a sample
 * the bytes are estimates, which no choice should rest on. */
static double find_crossing(const struct strag_traffic *traffic)
{
    const struct strag_platform *platform = traffic->platform;
    const struct strag_topology *topology = platform->links->topology;
    const struct strag_node *root = topology->nodes;
    if (traffic->sample || topology->network != STRAG_NETWORK_TREE)
        return 0;
    while (root->children == 1)
        root = &topology->nodes[root->first_child];
    double sent = 0;
    bool grouped = false;
    for (int c = 0; c < root->children; c++) {
        const int group = root->first_child + c;
        const struct strag_load *load = &platform->load[2 * group];
        sent += load->traffic == platform->traffics ? load->total : 0;
        grouped |= topology->nodes[group].level > STRAG_LEVEL_HOST;
    }
    return grouped ? fmin(1, fmax(0, sent / (2 * (root->children - 1)) - 1)) : 0;
}

static int add_parts(struct draft *draft, struct strag_traffic *traffic, struct strag_error *err)
{
    int status = check_operations(draft, traffic, err);
    if (status == STRAG_OK)
        status = narrow(draft, traffic, count_looks(&traffic->subject.instance), err);
    if (status == STRAG_OK)
        status = add_rounds(draft, traffic, err);
    draft->profile->busiest = traffic->busiest;
    if (traffic->moved > 0)
        draft->profile->distance =
            traffic->leaving / traffic->moved / log(traffic->platform->links->topology->hosts);
    draft->profile->crossing = find_crossing(traffic);
    return status;
}

/* Set the number of blocks by which the profile may be resized. */
static void note_unit(struct strag_profile *profile, const struct strag_instance *instance)
{
    if (instance->problem.n < 2 || !instance->algorithm->unit)
        return;
    profile->unit = instance->algorithm->unit(&instance->problem);
    const int middle = profile->blocks / profile->unit / 2 * profile->unit;
    profile->units = 1 / strag_block_fraction(&instance->shape.bounds, middle, profile->unit);
}

int strag_profile_attempt(const struct strag_algorithm *algorithm,
                          const struct strag_problem *problem, const struct strag_attempt *attempt,
                          struct strag_profile **profile, struct strag_error *err)
{
    struct strag_traffic traffic;
    int status = strag_traffic_open(&traffic, algorithm, problem, attempt->platform, err);
    if (status != STRAG_OK)
        return status;
    struct draft draft = {
        .profile = calloc(1, sizeof *draft.profile), .attempt = attempt, .every = 1};
    if (!draft.profile)
        status = strag_fail(err, STRAG_ERR_MEMORY, "out of memory for an estimate");
    else {
        const struct strag_instance *instance = &traffic.subject.instance;
        draft.profile->delay = strag_state_delay(problem->state);
        find_joins(&draft, &traffic);
        draft.profile->blocks = instance->claim.blocks;
        draft.profile->ports = instance->claim.ports;
        note_unit(draft.profile, instance);
        status = add_parts(&draft, &traffic, err);
    }
    status = strag_traffic_close(&traffic, status, err);
    if (status != STRAG_OK || draft.pruned) {
        strag_profile_free(draft.profile);
        draft.profile = NULL;
    }
    if (status == STRAG_OK)
        *profile = draft.profile;
    return status;
}

int strag_profile_create(const struct strag_algorithm *algorithm,
                         const struct strag_problem *problem, const struct strag_model *model,
                         struct strag_profile **profile, struct strag_error *err)
{
    struct strag_attempt attempt = {.messages = 0};
    int status = strag_platform_create(problem, model, &attempt.platform, err);
    if (status == STRAG_OK)
        status = strag_profile_attempt(algorithm, problem, &attempt, profile, err);
    strag_platform_free(attempt.platform);
    return status;
}

/* Find how many more repetitions of its steady rounds a profile has with this many blocks. @return
 * false if it differs in more than these */
static bool find_longer(const struct strag_profile *from, int blocks, int *longer)
{
    int steady = 0;
    if (from->unit == 0 || (blocks - from->blocks) % from->unit != 0)
        return false;
    *longer = (blocks - from->blocks) / from->unit;
    for (int p = 0; p < from->nparts; p++) {
        steady += from->parts[p].steady;
        if (from->parts[p].steady && from->parts[p].repeats + *longer < 1)
            return false;
    }
    return steady > 0;
}

int strag_profile_rounds(const struct strag_profile *profile)
{
    int rounds = 0;
    for (int p = 0; p < profile->nparts; p++)
        rounds += profile->parts[p].repeats;
    return rounds;
}

int strag_profile_resize(const struct strag_profile *from, int blocks, int operations,
                         struct strag_profile **profile, struct strag_error *err)
{
    int longer;
    const double more = (double)blocks / from->blocks;
    *profile = NULL;
    if (!find_longer(from, blocks, &longer))
        return STRAG_OK;
    if (operations > 0 && more * (double)from->operations > operations)
        return strag_fail(err, STRAG_ERR_UNSUPPORTED, "%d blocks make more than %d operations",
                          blocks, operations);
    struct strag_profile *made = malloc(sizeof *made);
    struct strag_profile_part *parts = malloc((size_t)from->nparts * sizeof *parts);
    struct strag_cost_line *lines = malloc((size_t)from->nlines * sizeof *lines);
    if (!made || !parts || !lines) {
        free(made);
        free(parts);
        free(lines);
        return strag_fail(err, STRAG_ERR_MEMORY, "out of memory for the costs of %d blocks",
                          blocks);
    }
    *made = *from;
    made->blocks = blocks;
    made->operations = (int64_t)(more * (double)from->operations);
    made->units = from->units + longer;
    made->parts = memcpy(parts, from->parts, (size_t)from->nparts * sizeof *parts);
    made->lines = memcpy(lines, from->lines, (size_t)from->nlines * sizeof *lines);
    for (int p = 0; p < made->nparts; p++)
        parts[p].repeats += parts[p].steady ? longer : 0;
    made->posting *= (double)strag_profile_rounds(made) / strag_profile_rounds(from);
    for (int l = 0; l < made->nlines; l++)
        lines[l].per_byte *= from->units / made->units;
    *profile = made;
    return STRAG_OK;
}

void strag_profile_free(struct strag_profile *profile)
{
    if (!profile)
        return;
    free(profile->parts);
    free(profile->lines);
    free(profile);
}

double strag_profile_end(const struct strag_profile *profile, int first, int end, double begin,
                         double bytes)
{
    for (int p = first; p < end; p++) {
        const struct strag_profile_part *part = &profile->parts[p];
        double longest = 0;
        for (int l = 0; l < part->lines; l++) {
            const struct strag_cost_line *line = &profile->lines[part->first_line + l];
            double message = line->latency + bytes * line->per_byte;
            if (message > longest)
                longest = message;
        }
        begin += part->repeats * longest;
    }
    return begin;
}

double strag_profile_seconds(const struct strag_profile *profile, double bytes)
{
    double begin = 0;
    int first = 0;
    for (int j = 0; j < profile->njoins; j++) {
        const struct strag_profile_join *join = &profile->joins[j];
        begin = fmax(strag_profile_end(profile, first, join->before, begin, bytes), join->delay);
        first = join->before;
    }
    begin = fmax(strag_profile_end(profile, first, profile->before, begin, bytes), profile->delay);
    return strag_profile_end(profile, profile->before, profile->nparts, begin, bytes);
}

/* The longest of a part's lines at a size. */
static struct strag_cost_line longest_line(const struct strag_profile *profile,
                                           const struct strag_profile_part *part, double bytes)
{
    struct strag_cost_line longest = {0, 0};
    for (int l = part->first_line; l < part->first_line + part->lines; l++) {
        struct strag_cost_line line = profile->lines[l];
        if (line.latency + bytes * line.per_byte > longest.latency + bytes * longest.per_byte)
            longest = line;
    }
    return longest;
}

/* Wait for the straggler: if the rounds before it end earlier than its delay, the delay counts. */
static struct strag_cost_line wait_for(struct strag_cost_line sum, double delay, double bytes)
{
    return sum.latency + bytes * sum.per_byte < delay ? (struct strag_cost_line){delay, 0} : sum;
}

/* Each part takes at least as long as any of its lines. If no straggler has joined so far, it may
 * join at any point of the rest, so the delay is compared at the end. */
struct strag_cost_line strag_partial_profile_line(const struct strag_partial_profile *partial,
                                                  double bytes)
{
    const struct strag_profile *so_far = partial->so_far;
    struct strag_cost_line sum = {0, 0};
    for (int p = 0; p < so_far->nparts; p++) {
        const struct strag_profile_part *part = &so_far->parts[p];
        struct strag_cost_line line = longest_line(so_far, part, bytes);
        if (p == so_far->before)
            sum = wait_for(sum, so_far->delay, bytes);
        sum.latency += part->repeats * line.latency;
        sum.per_byte += part->repeats * line.per_byte;
    }
    sum.latency += partial->rest.latency;
    sum.per_byte += partial->rest.per_byte;
    return so_far->before == so_far->nparts ? wait_for(sum, so_far->delay, bytes) : sum;
}
